// Takes a tar archive apart that comes in pieces: the bytes of each regular file, one after another.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace swinscope {

class TarMembers {
 public:
  struct Handler {
    std::function<bool(const std::string& name)> on_begin;  // whether the member's bytes are wanted
    std::function<void(std::string_view bytes)> on_bytes;
    std::function<void()> on_end;  // of a wanted member, also of one that is cut off
  };

  static constexpr std::size_t kBlockBytes = 512;

  explicit TarMembers(Handler handler) : handler_(std::move(handler)) {}

  // Whether a file that begins like this (with a block at least) is a tar archive (ustar, as GNU tar and Python write
  // it).
  static bool is_tar(std::string_view head);

  void feed(std::string_view piece);
  // There is no more.
  void finish();
  // The archive was closed, or ended behind a member.
  bool is_whole() const { return remaining_ == 0 && header_.empty(); }

 private:
  void begin_member();

  Handler handler_;
  std::string header_;
  std::uint64_t remaining_ = 0;  // bytes of the member
  std::uint64_t padding_ = 0;    // behind it
  bool is_wanted_ = false;
};

}  // namespace swinscope

// Records that were read out of a lane and are not stored yet: a burst is taken out of the program's memory as fast as
// it can be copied, so that the program finds room, and stored at the file's pace.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace swinscope {

// Used by one thread. The bytes of all backlogs of this process count together.
class Backlog {
 public:
  Backlog() = default;
  Backlog(const Backlog&) = delete;
  Backlog& operator=(const Backlog&) = delete;
  Backlog(Backlog&& other) noexcept = default;
  Backlog& operator=(Backlog&&) = delete;
  ~Backlog();

  // Records, one after the other, as they lie in a lane.
  void push(const std::byte* records, std::size_t bytes);
  // Calls take(record) for the oldest ones, until `max_bytes` have gone by. A record is consumed even when take throws.
  // Returns whether nothing is left. Its size is within what was pushed; where one makes no sense nothing is taken any
  // more.
  bool drain(std::size_t max_bytes, const std::function<void(const std::byte*)>& take);
  bool is_damaged() const { return is_damaged_; }

  static std::size_t bytes_of_all();

 private:
  using Chunk = std::vector<std::byte>;

  std::deque<Chunk> chunks_;
  std::size_t offset_ = 0;  // in the first one
  bool is_damaged_ = false;
};

}  // namespace swinscope

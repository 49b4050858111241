#include "analyzer/base/tar_members.h"

#include <algorithm>
#include <charconv>

namespace swinscope {
namespace {

// POSIX.1-1988: a header is one block; name at 0, size in octal at 124, type at 156, magic at 257, prefix at 345.
constexpr std::size_t kSizeAt = 124;
constexpr std::size_t kSizeBytes = 12;
constexpr std::size_t kTypeAt = 156;
constexpr std::size_t kMagicAt = 257;

std::string_view field(std::string_view block, std::size_t at, std::size_t size) {
  const std::string_view text = block.substr(at, size);
  return text.substr(0, text.find('\0'));
}

}  // namespace

bool TarMembers::is_tar(std::string_view head) {
  return head.size() >= kBlockBytes && head.substr(kMagicAt, 5) == "ustar";
}

void TarMembers::feed(std::string_view piece) {
  while (!piece.empty()) {
    std::size_t count = 0;
    if (remaining_ > 0) {
      count = static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, piece.size()));
      if (is_wanted_) handler_.on_bytes(piece.substr(0, count));
      remaining_ -= count;
      if (remaining_ == 0 && is_wanted_) handler_.on_end();
    } else if (padding_ > 0) {
      count = static_cast<std::size_t>(std::min<std::uint64_t>(padding_, piece.size()));
      padding_ -= count;
    } else {
      count = std::min(kBlockBytes - header_.size(), piece.size());
      header_.append(piece.substr(0, count));
      if (header_.size() == kBlockBytes) begin_member();
    }
    piece.remove_prefix(count);
  }
}

void TarMembers::begin_member() {
  const std::string block = std::move(header_);
  header_.clear();
  if (!is_tar(block)) return;  // the empty blocks at the end
  std::string_view digits = field(block, kSizeAt, kSizeBytes);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  remaining_ = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), remaining_, 8);
  padding_ = (kBlockBytes - remaining_ % kBlockBytes) % kBlockBytes;
  const char type = block[kTypeAt];
  is_wanted_ = (type == '0' || type == '\0') && remaining_ > 0 && handler_.on_begin(std::string(field(block, 0, 100)));
}

void TarMembers::finish() {
  if (remaining_ > 0 && is_wanted_) handler_.on_end();
}

}  // namespace swinscope

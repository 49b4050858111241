#include "mcp/line_reader.h"

#include <utility>

namespace swinscope::mcp {
namespace {

constexpr std::size_t kReadAtOnce = std::size_t{64} << 10U;

}  // namespace

bool LineReader::fill() {
  buffer_.resize(kReadAtOnce);
  buffer_.resize(read_(buffer_.data(), buffer_.size()));
  at_ = 0;
  return !buffer_.empty();
}

void LineReader::append(std::size_t count, Line& line) {
  if (!line.is_too_long && line.text.size() + count > longest_) {
    line.is_too_long = true;
    line.text = std::string();
  }
  if (!line.is_too_long) line.text.append(buffer_, at_, count);
  at_ += count;
}

std::optional<Line> LineReader::next() {
  Line line;
  bool has_any = false;
  while (at_ < buffer_.size() || fill()) {
    has_any = true;
    const std::size_t end = buffer_.find('\n', at_);
    append((end == std::string::npos ? buffer_.size() : end) - at_, line);
    if (end == std::string::npos) continue;
    ++at_;
    return line;
  }
  return has_any ? std::optional(std::move(line)) : std::nullopt;
}

}  // namespace swinscope::mcp

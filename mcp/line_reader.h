// Lines of a stream, of bounded length: what is longer is skipped to its end, so that no input takes more memory than
// the bound and what is read at once.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace swinscope::mcp {

struct Line {
  std::string text;  // without its line end; empty where it is too long
  bool is_too_long = false;
};

class LineReader {
 public:
  // Fills up to `size` bytes and returns how many; 0: the stream has ended.
  using Read = std::function<std::size_t(char* into, std::size_t size)>;

  LineReader(Read read, std::size_t longest) : read_(std::move(read)), longest_(longest) {}

  // The next one; nothing at the end. A last line without an end is one.
  std::optional<Line> next();

 private:
  bool fill();
  void append(std::size_t count, Line& line);

  Read read_;
  std::size_t longest_;
  std::string buffer_;
  std::size_t at_ = 0;  // of the buffer, what is next
};

}  // namespace swinscope::mcp

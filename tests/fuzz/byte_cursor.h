// Takes numbers and texts from the bytes of a fuzzer: zeros and nothing behind their end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace swinscope::fuzz {

class ByteCursor {
 public:
  ByteCursor(const std::uint8_t* data, std::size_t size) : left_(reinterpret_cast<const char*>(data), size) {}

  template <typename T>
  T number() {
    T value{};
    const std::string_view bytes = take(sizeof(value));
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  std::string_view take(std::size_t count) {
    const std::string_view bytes = left_.substr(0, std::min(count, left_.size()));
    left_.remove_prefix(bytes.size());
    return bytes;
  }
  // Behind its length.
  std::string_view text() { return take(number<std::uint8_t>()); }
  bool is_at_end() const { return left_.empty(); }

 private:
  std::string_view left_;
};

}  // namespace swinscope::fuzz

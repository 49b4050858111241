// Writes Thrift's compact protocol, which the metadata of Parquet files is in: fields in ascending order, each with the
// distance to the last one's number and a type in one byte, numbers as zigzag varints.
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace swinscope {

// LEB128: 7 bits a byte, the lowest first.
inline void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U)
    out += static_cast<char>((value & 0x7FU) | 0x80U);
  out += static_cast<char>(value);
}

class ThriftWriter {
 public:
  void i32(int field, std::int32_t value) { number(field, kI32, value); }
  void i64(int field, std::int64_t value) { number(field, kI64, value); }
  void text(int field, std::string_view value) {
    begin(field, kBinary);
    append_text(value);
  }
  void list_of_i32(int field, const std::vector<std::int32_t>& values) {
    begin_list(field, values.size(), kI32);
    for (const std::int32_t value : values)
      append_varint(out_, zigzag(value));
  }
  void list_of_text(int field, const std::vector<std::string_view>& values) {
    begin_list(field, values.size(), kBinary);
    for (const std::string_view value : values)
      append_text(value);
  }
  void begin_struct(int field) {
    begin(field, kStruct);
    last_fields_.push_back(0);
  }
  // So many structs follow, each between begin_element() and end_struct().
  void begin_list_of_structs(int field, std::size_t size) { begin_list(field, size, kStruct); }
  void begin_element() { last_fields_.push_back(0); }
  void end_struct() {
    out_ += '\0';
    last_fields_.pop_back();
  }
  // The bytes of the outermost struct.
  std::string take() {
    out_ += '\0';
    last_fields_ = {0};
    return std::exchange(out_, {});
  }

 private:
  enum Type : std::uint8_t { kI32 = 5, kI64 = 6, kBinary = 8, kList = 9, kStruct = 12 };

  static std::uint64_t zigzag(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
  }
  void append_text(std::string_view value) {
    append_varint(out_, value.size());
    out_ += value;
  }
  // Field numbers of Parquet's structs are at most 15 apart.
  void begin(int field, Type type) {
    out_ += static_cast<char>(((field - last_fields_.back()) << 4) | type);
    last_fields_.back() = field;
  }
  void number(int field, Type type, std::int64_t value) {
    begin(field, type);
    append_varint(out_, zigzag(value));
  }
  void begin_list(int field, std::size_t size, Type type) {
    begin(field, kList);
    if (size < 15) {
      out_ += static_cast<char>((size << 4U) | type);
    } else {
      out_ += static_cast<char>(0xF0 | type);
      append_varint(out_, size);
    }
  }

  std::string out_;
  std::vector<int> last_fields_ = {0};  // of the structs that are open
};

}  // namespace swinscope

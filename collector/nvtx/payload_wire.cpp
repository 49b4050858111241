#include "collector/nvtx/payload_wire.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "store/utf8.h"

namespace swinscope {
namespace {

// Counts bytes, and writes them where there is somewhere to.
class Out {
 public:
  explicit Out(std::byte* to) : to_(to) {}
  void number(std::uint64_t value) { raw(&value, sizeof(value)); }
  void text(const std::string& value) {
    number(value.size());
    raw(value.data(), value.size());
  }
  std::size_t bytes() const { return bytes_; }

 private:
  void raw(const void* from, std::size_t size) {
    if (to_ != nullptr && size != 0) std::memcpy(to_ + bytes_, from, size);
    bytes_ += size;
  }

  std::byte* to_;
  std::size_t bytes_ = 0;
};

class In {
 public:
  explicit In(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    if (bytes_.size() < sizeof(value)) {
      is_whole_ = false;
      return 0;
    }
    std::memcpy(&value, bytes_.data(), sizeof(value));
    bytes_.remove_prefix(sizeof(value));
    return value;
  }
  std::string text() {
    const std::uint64_t size = number();
    if (size > bytes_.size()) {
      is_whole_ = false;
      return {};
    }
    std::string value = replace_invalid_utf8(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return value;
  }
  // A number of things, each of which takes some bytes.
  std::uint64_t count() {
    const std::uint64_t value = number();
    if (value > bytes_.size()) is_whole_ = false;
    return is_whole_ ? value : 0;
  }
  bool is_whole() const { return is_whole_; }

 private:
  std::string_view bytes_;
  bool is_whole_ = true;
};

using Values = std::vector<std::pair<std::uint64_t, std::string>>;

void put(Out& out, const Values& values) {
  out.number(values.size());
  for (const auto& [value, name] : values) {
    out.number(value);
    out.text(name);
  }
}

Values take_values(In& in) {
  Values values;
  for (std::uint64_t left = in.count(); left > 0 && in.is_whole(); --left) {
    const std::uint64_t value = in.number();
    values.emplace_back(value, in.text());
  }
  return values;
}

void put(Out& out, const PayloadType& type) {
  for (const std::uint64_t field : {std::uint64_t{type.domain}, type.id, std::uint64_t{type.size},
                                    std::uint64_t{type.align}, type.kind, type.flags})
    out.number(field);
  out.text(type.name);
  put(out, type.values);
  put(out, type.flag_values);
  out.number(type.entries.size());
  for (const PayloadEntry& entry : type.entries) {
    for (const std::uint64_t field : {entry.flags, entry.type, entry.detail, std::uint64_t{entry.offset}})
      out.number(field);
    out.text(entry.name);
  }
}

}  // namespace

std::size_t wire_bytes(const PayloadType& type) {
  Out out(nullptr);
  put(out, type);
  return out.bytes();
}

void write_wire(const PayloadType& type, std::byte* to) {
  Out out(to);
  put(out, type);
}

std::optional<PayloadType> read_wire(std::string_view bytes, bool is_enum) {
  In in(bytes);
  PayloadType type;
  type.is_enum = is_enum;
  type.domain = static_cast<std::uint32_t>(in.number());
  type.id = in.number();
  type.size = in.number();
  type.align = in.number();
  type.kind = in.number();
  type.flags = in.number();
  type.name = in.text();
  type.values = take_values(in);
  type.flag_values = take_values(in);
  for (std::uint64_t left = in.count(); left > 0 && in.is_whole(); --left) {
    PayloadEntry entry;
    entry.flags = in.number();
    entry.type = in.number();
    entry.detail = in.number();
    entry.offset = in.number();
    entry.name = in.text();
    type.entries.push_back(std::move(entry));
  }
  if (!in.is_whole() || type.align == 0) return std::nullopt;
  return type;
}

}  // namespace swinscope

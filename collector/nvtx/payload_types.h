// Payload types that a program registered through NVTX's payload extension: schemas (structs) and enumerations.
//
// Sources: nvtx3/nvToolsExtPayload.h (the format), the headers' numbering is used as it is.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace swinscope {

struct PayloadEntry {
  std::uint64_t flags = 0;   // NVTX_PAYLOAD_ENTRY_FLAG_*
  std::uint64_t type = 0;    // NVTX_PAYLOAD_ENTRY_TYPE_* or the id of a registered type
  std::uint64_t detail = 0;  // array or string length, index of the entry with the length, or of the union's selector
  std::size_t offset = 0;    // as given, or by the rules of alignment
  std::string name;
};

// Memory behind a pointer that is to be copied together with the payload.
struct DeepCopy {
  std::size_t offset = 0;  // of the pointer in the payload
  std::size_t unit = 1;    // bytes of an element
  std::size_t count = 0;   // elements; 0: as many as come before a zero element
};

struct PayloadType {
  std::uint32_t domain = 0;
  std::uint64_t id = 0;
  std::string name;
  std::size_t size = 0;  // bytes of a value; 0 when values differ
  std::size_t align = 1;

  // An enumeration.
  bool is_enum = false;
  std::vector<std::pair<std::uint64_t, std::string>> values;
  std::vector<std::pair<std::uint64_t, std::string>> flag_values;  // bits, shown joined by " | "

  // A schema.
  std::uint64_t kind = 0;  // NVTX_PAYLOAD_SCHEMA_TYPE_*
  std::uint64_t flags = 0;
  std::vector<PayloadEntry> entries;
  std::vector<DeepCopy> deep_copies;
};

// Size and alignment of a predefined type; {0, 1} when it is none of fixed size.
struct TypeLayout {
  std::size_t size = 0;
  std::size_t align = 1;
};
TypeLayout predefined_layout(std::uint64_t type);

// Size of a code unit of a string type, 0 for other types.
std::size_t string_unit(std::uint64_t type);

// The registered types by domain and id. Any number of threads may add and look up at once, without a lock; nothing is
// freed before the table is, since a callback may be looking at it.
class PayloadTypeTable {
 public:
  PayloadTypeTable() = default;
  PayloadTypeTable(const PayloadTypeTable&) = delete;
  PayloadTypeTable& operator=(const PayloadTypeTable&) = delete;
  PayloadTypeTable(PayloadTypeTable&&) = delete;
  PayloadTypeTable& operator=(PayloadTypeTable&&) = delete;
  ~PayloadTypeTable();

  // Null when there is none.
  const PayloadType* find(std::uint32_t domain, std::uint64_t id) const;
  // A later type with the same id replaces the earlier one. Throws std::bad_alloc.
  void add(PayloadType type);

 private:
  struct Node {
    PayloadType type;
    Node* next;
  };
  static constexpr std::size_t kBuckets = 256;

  std::array<std::atomic<Node*>, kBuckets> buckets_ = {};
};

// Fills in offsets, size, alignment and what to copy, by the rules that C has for structs. Nested types must be
// registered.
void lay_out(PayloadType& schema, bool has_size, std::size_t pack_align, const PayloadTypeTable& types);

}  // namespace swinscope

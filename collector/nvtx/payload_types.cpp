#include "collector/nvtx/payload_types.h"

#include <algorithm>
#include <utility>

#include <nvtx3/nvToolsExtPayload.h>

namespace swinscope {
namespace {

std::size_t hash_of(std::uint32_t domain, std::uint64_t id) {
  std::uint64_t h = (id + domain * std::uint64_t{0x9E3779B97F4A7C15}) * 0xD6E8FEB86659FD93U;
  return h ^ (h >> 32U);
}

std::size_t round_up(std::size_t offset, std::size_t align) { return (offset + align - 1) / align * align; }

std::uint64_t array_kind(const PayloadEntry& entry) {
  constexpr std::uint64_t kArrayBits =
      NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX;
  return entry.flags & kArrayBits;
}

bool is_indirect(const PayloadEntry& entry) {
  return (entry.flags & (NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE |
                         NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE)) != 0;
}

// A string entry without length and flags is a `const char*`.
bool is_plain_string_pointer(const PayloadEntry& entry) {
  return string_unit(entry.type) != 0 && entry.detail == 0 && !is_indirect(entry) && array_kind(entry) == 0;
}

// What one entry takes in the payload itself. Size 0: known only from the data.
TypeLayout layout_of(const PayloadEntry& entry, std::uint32_t domain, const PayloadTypeTable& types) {
  if ((entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_POINTER) != 0 || is_plain_string_pointer(entry)) {
    return {sizeof(void*), alignof(void*)};
  }
  TypeLayout element = predefined_layout(entry.type);
  if (is_indirect(entry))
    return element.size == 0 ? TypeLayout{sizeof(std::uint64_t), alignof(std::uint64_t)} : element;
  const std::uint64_t array = array_kind(entry);
  if (const std::size_t unit = string_unit(entry.type); unit != 0) {
    const bool fixed = array == 0 || array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
    return {fixed ? unit * entry.detail : 0, unit};
  }
  if (element.size == 0) {
    const PayloadType* type = types.find(domain, entry.type);
    if (type != nullptr) element = {type->size, type->align};
  }
  if (array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE) element.size *= entry.detail;
  if (array != 0 && array != NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE) element.size = 0;
  return element;
}

void find_deep_copies(PayloadType& schema, const PayloadTypeTable& types) {
  for (const PayloadEntry& entry : schema.entries) {
    const bool flagged =
        (entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_POINTER) != 0 && (entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY) != 0;
    if (flagged || is_plain_string_pointer(entry)) {
      const std::size_t unit = std::max(string_unit(entry.type), predefined_layout(entry.type).size);
      const bool fixed = string_unit(entry.type) != 0 || array_kind(entry) == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
      const std::size_t count = fixed                                                                ? entry.detail
                                : array_kind(entry) == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED ? 0
                                                                                                     : 1;
      if (unit != 0) schema.deep_copies.push_back({entry.offset, unit, count});
    } else if (const PayloadType* nested = types.find(schema.domain, entry.type);
               nested != nullptr && !is_indirect(entry) && array_kind(entry) == 0) {
      for (DeepCopy copy : nested->deep_copies) {
        copy.offset += entry.offset;
        schema.deep_copies.push_back(copy);
      }
    }
  }
}

}  // namespace

TypeLayout predefined_layout(std::uint64_t type) {
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_UCHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT8:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT8:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR8:
    case NVTX_PAYLOAD_ENTRY_TYPE_BYTE:
      return {1, 1};
    case NVTX_PAYLOAD_ENTRY_TYPE_SHORT:
    case NVTX_PAYLOAD_ENTRY_TYPE_USHORT:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR16:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_BF16:
      return {2, 2};
    case NVTX_PAYLOAD_ENTRY_TYPE_INT:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_TF32:
    case NVTX_PAYLOAD_ENTRY_TYPE_WCHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR32:
    case NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY:
    case NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB:
    case NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32:
      return {4, 4};
    case NVTX_PAYLOAD_ENTRY_TYPE_LONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_ULONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_SIZE:
    case NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS:
    case NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID:
    case NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE:
      return {8, 8};
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE:
      return {sizeof(long double), alignof(long double)};
    case NVTX_PAYLOAD_ENTRY_TYPE_INT128:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT128:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128:
      return {16, 16};
    default:
      return {0, 1};
  }
}

std::size_t string_unit(std::uint64_t type) {
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8:
      return 1;
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16:
      return 2;
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32:
      return 4;
    default:
      return 0;
  }
}

PayloadTypeTable::~PayloadTypeTable() {
  for (auto& bucket : buckets_) {
    const Node* node = bucket.load(std::memory_order_acquire);
    while (node != nullptr)
      delete std::exchange(node, node->next);
  }
}

const PayloadType* PayloadTypeTable::find(std::uint32_t domain, std::uint64_t id) const {
  const Node* node = buckets_[hash_of(domain, id) % kBuckets].load(std::memory_order_acquire);
  while (node != nullptr && (node->type.domain != domain || node->type.id != id))
    node = node->next;
  return node == nullptr ? nullptr : &node->type;
}

void PayloadTypeTable::add(PayloadType type) {
  std::atomic<Node*>& bucket = buckets_[hash_of(type.domain, type.id) % kBuckets];
  Node* const node = new Node{std::move(type), bucket.load(std::memory_order_relaxed)};
  while (!bucket.compare_exchange_weak(node->next, node, std::memory_order_acq_rel)) {
  }
}

void lay_out(PayloadType& schema, bool has_size, std::size_t pack_align, const PayloadTypeTable& types) {
  const bool is_union = schema.kind == NVTX_PAYLOAD_SCHEMA_TYPE_UNION ||
                        schema.kind == NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR;
  std::size_t end = 0;
  std::size_t largest = 0;
  bool fixed = schema.kind != NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC;
  for (PayloadEntry& entry : schema.entries) {
    const TypeLayout layout = layout_of(entry, schema.domain, types);
    const std::size_t align = pack_align == 0 ? layout.align : std::min(layout.align, pack_align);
    schema.align = std::max(schema.align, align);
    if (entry.offset == 0 && !is_union) entry.offset = round_up(end, align);
    fixed = fixed && layout.size != 0;
    end = entry.offset + layout.size;
    largest = std::max(largest, end);
  }
  if (!has_size) schema.size = fixed ? round_up(largest, schema.align) : 0;
  if (schema.kind == NVTX_PAYLOAD_SCHEMA_TYPE_STATIC) find_deep_copies(schema, types);
}

}  // namespace swinscope

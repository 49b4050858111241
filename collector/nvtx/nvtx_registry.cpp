#include "collector/nvtx/nvtx_registry.h"

#include <cstring>
#include <functional>
#include <utility>

#include <nvtx3/nvToolsExtPayload.h>

#include "collector/base/text.h"
#include "collector/nvtx/payload_wire.h"

namespace swinscope {
namespace {

std::string text_or_empty(bool given, const char* text) {
  return given && text != nullptr ? std::string(text) : std::string();
}

PayloadEntry copy_entry(const nvtxPayloadSchemaEntry_t& entry) {
  PayloadEntry copy;
  copy.flags = entry.flags;
  copy.type = entry.type;
  copy.detail = entry.arrayOrUnionDetail;
  copy.offset = entry.offset;
  copy.name = text_or_empty(true, entry.name);
  return copy;
}

// FNV-1a.
std::uint32_t hash_of(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

std::uint32_t add_wide(const RegistrationLog& log, LogKind kind, std::uint32_t a, std::uint32_t b,
                       const wchar_t* text) {
  const std::size_t bytes = text == nullptr ? 0 : utf8_size(text);
  const RegistrationLog::Place place = log.append(kind, a, b, bytes);
  if (!place) return 0;
  if (bytes != 0) wide_to_utf8(text, reinterpret_cast<char*>(place.data()), bytes);
  RegistrationLog::publish(place);
  return place.id;
}

}  // namespace

void NvtxRegistry::move_to(const SegmentView& segment) {
  const SegmentView before = std::exchange(segment_, segment);
  log_ = RegistrationLog(segment);
  if (before) log_.copy_from(before);
}

void NvtxRegistry::count_loss(std::uint32_t id) const {
  if (id != 0) return;
  constexpr auto kName = static_cast<std::size_t>(DropKind::kName);
  segment_.header().drops[kName].fetch_add(1, std::memory_order_relaxed);
}

// The number of the domain; else 0, and where it may go.
std::uint32_t NvtxRegistry::find_domain(std::string_view name, std::uint32_t& first_free) const {
  for (first_free = 1; first_free + 1 < kMaxDomains; ++first_free) {
    const std::uint32_t id = segment_.header().domains[first_free].load(std::memory_order_acquire);
    if (id == 0) return 0;
    if (log_.text(id, LogKind::kDomain) == name) return first_free;
  }
  return 0;
}

std::uint32_t NvtxRegistry::add_domain(std::string_view name) {
  if (name.empty()) return 0;
  auto& domains = segment_.header().domains;
  for (;;) {
    std::uint32_t number = 0;
    const std::uint32_t known = find_domain(name, number);
    if (known != 0) return known;
    const bool is_full = number + 1 == kMaxDomains;
    if (is_full && domains[number].load(std::memory_order_acquire) != 0) return number;
    const std::uint32_t id = log_.add_text(LogKind::kDomain, number, 0, is_full ? kOverflowDomain : name);
    count_loss(id);
    if (id == 0) return 0;
    std::uint32_t none = 0;
    // Another thread may have taken the number meanwhile: what was appended then is nobody's.
    if (domains[number].compare_exchange_strong(none, id, std::memory_order_acq_rel)) return number;
  }
}

std::uint32_t NvtxRegistry::add_domain(const wchar_t* name) {
  // Through a string, which is compared as it is stored.
  const std::uint32_t text = add_string(name);
  return add_domain(string_text(text));
}

std::uint32_t NvtxRegistry::add_string(std::string_view text) {
  constexpr std::uint32_t kTries = 16;
  auto& slots = segment_.header().strings;
  const std::uint32_t hash = hash_of(text);
  for (std::uint32_t i = 0; i < kTries; ++i) {
    auto& slot = slots[(hash + i) % kStringSlots];
    std::uint32_t id = slot.load(std::memory_order_acquire);
    if (id != 0 && log_.text(id, LogKind::kString) == text) return id;
    if (id != 0) continue;
    const std::uint32_t added = log_.add_text(LogKind::kString, 0, 0, text);
    count_loss(added);
    if (added != 0) slot.compare_exchange_strong(id, added, std::memory_order_acq_rel);
    return added;
  }
  const std::uint32_t added = log_.add_text(LogKind::kString, 0, 0, text);
  count_loss(added);
  return added;
}

// Not looked for: the text does not exist before it is stored.
std::uint32_t NvtxRegistry::add_string(const wchar_t* text) {
  const std::uint32_t id = add_wide(log_, LogKind::kString, 0, 0, text);
  count_loss(id);
  return id;
}

std::string_view NvtxRegistry::string_text(std::uint32_t id) const {
  return log_.text(id, LogKind::kString).value_or(std::string_view());
}

void NvtxRegistry::name_category(std::uint32_t domain, std::uint32_t category, std::string_view name) {
  count_loss(log_.add_text(LogKind::kCategory, domain, category, name));
}
void NvtxRegistry::name_category(std::uint32_t domain, std::uint32_t category, const wchar_t* name) {
  count_loss(add_wide(log_, LogKind::kCategory, domain, category, name));
}
void NvtxRegistry::name_thread(std::uint32_t tid, std::string_view name) {
  count_loss(log_.add_text(LogKind::kThreadName, tid, 0, name));
}
void NvtxRegistry::name_thread(std::uint32_t tid, const wchar_t* name) {
  count_loss(add_wide(log_, LogKind::kThreadName, tid, 0, name));
}

std::uint64_t NvtxRegistry::add_type(PayloadType type, bool has_id) {
  if (!has_id) type.id = NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + types_added_.fetch_add(1);
  const std::uint64_t id = type.id;
  const RegistrationLog::Place place =
      log_.append(type.is_enum ? LogKind::kEnum : LogKind::kSchema, 0, 0, wire_bytes(type));
  count_loss(place.id);
  if (place) {
    write_wire(type, place.data());
    RegistrationLog::publish(place);
  }
  types_.add(std::move(type));
  return id;
}

std::uint64_t NvtxRegistry::add_schema(std::uint32_t domain, const nvtxPayloadSchemaAttr_t& attributes) {
  const std::uint64_t given = attributes.fieldMask;
  constexpr std::uint64_t kRequired = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                                      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  if ((given & kRequired) != kRequired || attributes.entries == nullptr) return 0;
  const bool has_id = (given & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID) != 0;
  const bool has_size = (given & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE) != 0 && attributes.payloadStaticSize != 0;
  const bool has_pack = (given & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT) != 0;
  PayloadType schema;
  schema.domain = domain;
  schema.id = has_id ? attributes.schemaId : 0;
  schema.name = text_or_empty((given & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME) != 0, attributes.name);
  schema.kind = attributes.type;
  schema.flags = (given & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS) != 0 ? attributes.flags : 0;
  schema.size = has_size ? attributes.payloadStaticSize : 0;
  for (std::size_t i = 0; i < attributes.numEntries; ++i)
    schema.entries.push_back(copy_entry(attributes.entries[i]));
  lay_out(schema, has_size, has_pack ? attributes.packAlign : 0, types_);
  return add_type(std::move(schema), has_id);
}

std::uint64_t NvtxRegistry::add_enum(std::uint32_t domain, const nvtxPayloadEnumAttr_t& attributes) {
  const std::uint64_t given = attributes.fieldMask;
  constexpr std::uint64_t kRequired = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES;
  if ((given & kRequired) != kRequired || attributes.entries == nullptr) return 0;
  const bool has_id = (given & NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID) != 0;
  const bool has_size = (given & NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE) != 0 && attributes.sizeOfEnum != 0;
  PayloadType type;
  type.domain = domain;
  type.id = has_id ? attributes.schemaId : 0;
  type.name = text_or_empty((given & NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME) != 0, attributes.name);
  type.is_enum = true;
  type.size = has_size ? attributes.sizeOfEnum : sizeof(int);  // C's size of an enum
  if (type.size > sizeof(std::uint64_t)) return 0;
  type.align = type.size;
  for (std::size_t i = 0; i < attributes.numEntries; ++i) {
    const nvtxPayloadEnum_t& entry = attributes.entries[i];
    (entry.isFlag != 0 ? type.flag_values : type.values).emplace_back(entry.value, text_or_empty(true, entry.name));
  }
  return add_type(std::move(type), has_id);
}

}  // namespace swinscope

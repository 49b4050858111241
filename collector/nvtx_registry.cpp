#include "collector/nvtx_registry.h"

#include <nvtx3/nvToolsExtPayload.h>

#include "store/utf8.h"

namespace swinscope {
namespace {

std::string text_or_empty(bool given, const char* text) {
  return given && text != nullptr ? replace_invalid_utf8(text) : std::string();
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

}  // namespace

NvtxRegistry::NvtxRegistry() : next_type_(NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START) {}

std::uint32_t NvtxRegistry::add_domain(std::string_view name) {
  const std::string text = replace_invalid_utf8(name);
  const std::lock_guard lock(mutex_);
  for (std::uint32_t id = 0; id < domains_.size(); ++id) {
    if (domains_.text(id) == text) return id;
  }
  const bool full = domains_.size() + 1 >= kMaxDomains;
  const std::uint32_t id = domains_.intern(full ? kOverflowDomain : std::string_view(text));
  domain_count_.store(domains_.size(), std::memory_order_release);
  return id;
}

std::uint32_t NvtxRegistry::add_string(std::string_view text) {
  const std::string valid = replace_invalid_utf8(text);
  const std::lock_guard lock(mutex_);
  // The empty string has an index of its own, since 0 means that no string is given.
  const std::uint32_t index = strings_.intern(valid.empty() ? std::string_view("\0", 1) : std::string_view(valid));
  string_count_.store(strings_.size(), std::memory_order_release);
  return index;
}

void NvtxRegistry::name_category(std::uint32_t domain, std::uint32_t category, std::string_view name) {
  Category named{domain, category, replace_invalid_utf8(name)};
  const std::lock_guard lock(mutex_);
  for (const Category& known : categories_) {
    // Each client library of a program tends to repeat the same names.
    if (known.domain == domain && known.category == category && known.name == named.name) return;
  }
  categories_.push_back(std::move(named));
}

void NvtxRegistry::name_thread(std::uint32_t tid, std::string_view name) {
  const std::string text = replace_invalid_utf8(name);
  const std::lock_guard lock(mutex_);
  thread_names_[tid] = text;
}

std::uint64_t NvtxRegistry::add_type(PayloadType type, bool has_id) {
  if (!has_id) type.id = next_type_++;
  const std::uint64_t id = type.id;
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
  const std::lock_guard lock(mutex_);
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
  const std::lock_guard lock(mutex_);
  return add_type(std::move(type), has_id);
}

std::vector<std::string> NvtxRegistry::domains_from(std::uint32_t first) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (std::uint32_t id = first; id < domains_.size(); ++id)
    names.emplace_back(domains_.text(id));
  return names;
}

std::string NvtxRegistry::string_text(std::uint32_t index) const {
  const std::lock_guard lock(mutex_);
  if (index >= strings_.size()) return {};
  const std::string_view text = strings_.text(index);
  return text == std::string_view("\0", 1) ? std::string() : std::string(text);
}

std::vector<NvtxRegistry::Category> NvtxRegistry::categories_from(std::size_t first) const {
  const std::lock_guard lock(mutex_);
  return first >= categories_.size()
             ? std::vector<Category>()
             : std::vector<Category>(categories_.begin() + static_cast<std::ptrdiff_t>(first), categories_.end());
}

std::map<std::uint32_t, std::string> NvtxRegistry::thread_names() const {
  const std::lock_guard lock(mutex_);
  return thread_names_;
}

}  // namespace swinscope

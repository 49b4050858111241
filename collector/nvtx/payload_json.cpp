#include "collector/nvtx/payload_json.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <nvtx3/nvToolsExtPayload.h>

#include "collector/base/text.h"
#include "collector/nvtx/payload_scalar.h"
#include "collector/segment/nvtx_event.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

constexpr std::uint64_t kArrayBits =
    NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX;
constexpr int kMaxDepth = 16;               // nested schemas
constexpr std::size_t kMaxElements = 4096;  // of one array
constexpr std::size_t kUnbounded = ~std::size_t{0};
// Of an event: values, bytes of strings and names, elements that are looked at. Types that hold themselves, several
// times, would go on for ever.
constexpr std::size_t kMaxWork = std::size_t{1} << 17U;

// A piece of memory and the payload that it lies in.
struct Place {
  const PayloadBlob* blob = nullptr;
  std::size_t offset = 0;

  std::size_t left() const { return blob == nullptr || offset > blob->size ? 0 : blob->size - offset; }
  // Only to be read where left() says so.
  const std::byte* data() const { return blob->data + (left() == 0 ? 0 : offset); }
  Place at(std::size_t distance) const {
    constexpr std::size_t kEnd = ~std::size_t{0};
    return {blob, distance > kEnd - offset ? kEnd : offset + distance};
  }
};

class Decoder {
 public:
  Decoder(const std::vector<PayloadBlob>& blobs, std::uint32_t domain, const PayloadTypeTable& types,
          const std::function<std::string(std::uint64_t)>& registered_string, PayloadText& result)
      : blobs_(blobs), domain_(domain), types_(types), registered_string_(registered_string), result_(result) {}

  // One payload of the event; empty when it is only there to be referred to.
  std::string payload(const PayloadBlob& blob) {
    const Place place{&blob, 0};
    if (blob.type == kCopiedMemory || blob.type == NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED) return {};
    const PayloadType* type = types_.find(domain_, blob.type);
    std::string json;
    if (type != nullptr && (type->flags & NVTX_PAYLOAD_SCHEMA_FLAG_REFERENCED) != 0) return {};
    if (type != nullptr) {
      value_of_type(json, *type, place, 0, true);
    } else if (const std::size_t unit = string_unit(blob.type); unit != 0) {
      append_json_string(json, string_at(place, blob.type, kUnbounded));
    } else if (predefined_layout(blob.type).size != 0) {
      scalar(json, blob.type, place);
    } else {
      hexadecimal(json, place);
    }
    return json;
  }

 private:
  bool has_room() const { return room_ > 0; }
  void spend(std::size_t work) { room_ -= std::min(room_, work); }

  // Where an entry's own bytes begin, and its index.
  struct Entry {
    const PayloadType& schema;
    Place base;                                 // of the schema's value
    const std::vector<std::size_t>* positions;  // of entries met so far, relative to base
    std::size_t index;
    const PayloadEntry& definition() const { return schema.entries[index]; }
  };

  // Returns the bytes that the value takes in its place.
  std::size_t value_of_type(std::string& json, const PayloadType& type, Place place, int depth, bool named = false) {
    if (depth > kMaxDepth) return null(json, 0);
    if (type.is_enum) return enumerator(json, type, place);
    if (type.kind == NVTX_PAYLOAD_SCHEMA_TYPE_UNION ||
        type.kind == NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR) {
      return null(json, type.size);  // which member it holds is known to the enclosing schema only
    }
    json += '{';
    if (named && !type.name.empty()) {
      json += "\"$schema\":";
      append_json_string(json, type.name);
    }
    std::vector<std::size_t> positions;
    std::size_t end = 0;
    for (std::size_t i = 0; i < type.entries.size() && has_room(); ++i) {
      const bool walks = type.kind == NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC;
      const std::size_t position = walks ? aligned(end, type.entries[i]) : type.entries[i].offset;
      positions.push_back(position);
      end = position + entry(json, {type, place, &positions, i}, depth);
    }
    json += '}';
    return type.size != 0 ? type.size : end;
  }

  std::size_t aligned(std::size_t end, const PayloadEntry& entry) const {
    std::size_t align = std::max<std::size_t>(string_unit(entry.type), predefined_layout(entry.type).align);
    if (const PayloadType* type = types_.find(domain_, entry.type)) align = type->align;
    if ((entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_POINTER) != 0) align = alignof(void*);
    return (end + align - 1) / align * align;
  }

  // "name":value, unless the entry is an attribute of the event. Returns the bytes that it takes.
  std::size_t entry(std::string& json, const Entry& e, int depth) {
    const PayloadEntry& definition = e.definition();
    spend(1 + definition.name.size());
    std::string value;
    const std::size_t size = entry_value(value, e, depth);
    if (take_attribute(definition, e.base.at((*e.positions)[e.index]), value)) return size;
    if (json.back() != '{') json += ',';
    append_json_string(json, definition.name.empty() ? fmt::format("{}", e.index) : definition.name);
    json += ':';
    json += value;
    return size;
  }

  bool take_attribute(const PayloadEntry& definition, Place place, const std::string& value) {
    std::uint32_t number = 0;
    if ((definition.flags & NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE) != 0) {
      if (last_string_) result_.message = *last_string_;
      return value != "null";
    }
    const bool is_category = definition.type == NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY;
    if (!is_category && definition.type != NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB) return false;
    if (place.left() < sizeof(number)) return false;
    std::memcpy(&number, place.data(), sizeof(number));
    (is_category ? result_.category : result_.color) = number;
    return true;
  }

  std::size_t entry_value(std::string& json, const Entry& e, int depth) {
    const PayloadEntry& definition = e.definition();
    const Place own = e.base.at((*e.positions)[e.index]);
    last_string_.reset();
    const bool plain_string =
        string_unit(definition.type) != 0 && definition.detail == 0 && (definition.flags & kArrayBits) == 0;
    if ((definition.flags & NVTX_PAYLOAD_ENTRY_FLAG_POINTER) != 0 || (plain_string && !has_offset(definition))) {
      elements(json, e, pointed_to(own), depth);
      return sizeof(void*);
    }
    if (has_offset(definition)) return behind_offset(json, e, own, depth);
    return elements(json, e, own, depth);
  }

  static bool has_offset(const PayloadEntry& definition) {
    return (definition.flags & (NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE)) !=
           0;
  }

  // The entry holds the distance of its value from the payload's base or from the end of the entry. The distance has
  // the size of the entry's type, 8 bytes for strings and schemas.
  std::size_t behind_offset(std::string& json, const Entry& e, Place own, int depth) {
    const PayloadEntry& definition = e.definition();
    const std::size_t predefined = predefined_layout(definition.type).size;
    const std::size_t size = predefined == 0 ? sizeof(std::uint64_t) : predefined;
    const std::optional<std::uint64_t> distance = unsigned_at(own, size);
    if (!distance) return null(json, size);
    const bool from_base = (definition.flags & NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE) != 0;
    elements(json, e, from_base ? Place{own.blob, *distance} : own.at(size + *distance), depth);
    return size;
  }

  Place pointed_to(Place own) const {
    const std::optional<std::uint64_t> address = unsigned_at(own, sizeof(void*));
    if (!address || *address == 0) return {};
    const auto found = std::find_if(blobs_.begin(), blobs_.end(), [&](const PayloadBlob& blob) {
      return *address >= blob.address && *address - blob.address < blob.size;
    });
    return found == blobs_.end() ? Place{} : Place{&*found, static_cast<std::size_t>(*address - found->address)};
  }

  // The value or values of an entry at their place. Returns the bytes they take there.
  std::size_t elements(std::string& json, const Entry& e, Place place, int depth) {
    const PayloadEntry& definition = e.definition();
    if (place.blob == nullptr) return null(json, 0);
    const std::uint64_t array = definition.flags & kArrayBits;
    if (string_unit(definition.type) != 0) return string_entry(json, e, place);
    if (array == 0) return element(json, e, place, depth);
    const std::optional<std::size_t> count = element_count(e, place);
    if (!count) return null(json, 0);
    json += '[';
    std::size_t used = 0;
    for (std::size_t i = 0; i < std::min(*count, kMaxElements) && has_room(); ++i) {
      spend(1);
      if (place.at(used).left() == 0) break;
      if (i != 0) json += ',';
      const std::size_t size = element(json, e, place.at(used), depth);
      if (size == 0) break;
      used += size;
    }
    json += ']';
    const bool terminated = array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED;
    return used + (terminated ? predefined_layout(definition.type).size : 0);
  }

  std::optional<std::size_t> element_count(const Entry& e, Place place) {
    const PayloadEntry& definition = e.definition();
    switch (definition.flags & kArrayBits) {
      case NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE:
        return definition.detail;
      case NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED: {
        const std::size_t unit = predefined_layout(definition.type).size;
        if (unit == 0) return std::nullopt;
        std::size_t count = 0;
        while (unsigned_at(place.at(count * unit), unit).value_or(0) != 0)
          ++count;
        spend(count);
        return count;
      }
      case NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX:
        return length_in(e.schema, e.base, e.positions, definition.detail);
      default:
        return length_in_payload(definition.detail);
    }
  }

  // The product of the lengths in an entry: one number, or an array of fixed size.
  std::optional<std::size_t> length_in(const PayloadType& schema, Place base, const std::vector<std::size_t>* positions,
                                       std::size_t index) {
    if (index >= schema.entries.size()) return std::nullopt;
    const PayloadEntry& length = schema.entries[index];
    const bool is_array = (length.flags & kArrayBits) == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
    const std::size_t dimensions = is_array ? length.detail : 1;
    const std::size_t size = predefined_layout(length.type).size;
    if (size == 0 || dimensions == 0 || dimensions > kMaxElements) return std::nullopt;
    const std::size_t position =
        positions != nullptr && index < positions->size() ? (*positions)[index] : length.offset;
    spend(dimensions);
    std::size_t product = 1;
    for (std::size_t i = 0; i < dimensions; ++i) {
      const std::optional<std::uint64_t> value = unsigned_at(base.at(position + i * size), size);
      if (!value) return std::nullopt;
      product *= *value;
    }
    return product;
  }

  std::optional<std::size_t> length_in_payload(std::size_t index) {
    if (index >= blobs_.size()) return std::nullopt;
    const PayloadBlob& blob = blobs_[index];
    const Place base{&blob, 0};
    if (const PayloadType* type = types_.find(domain_, blob.type)) return length_in(*type, base, nullptr, 0);
    const std::optional<std::uint64_t> value = unsigned_at(base, predefined_layout(blob.type).size);
    return value ? std::optional<std::size_t>(*value) : std::nullopt;
  }

  std::size_t element(std::string& json, const Entry& e, Place place, int depth) {
    const PayloadEntry& definition = e.definition();
    if (const PayloadType* type = types_.find(domain_, definition.type)) {
      const bool is_union = type->kind == NVTX_PAYLOAD_SCHEMA_TYPE_UNION;
      return is_union ? union_member(json, e, *type, place, depth) : value_of_type(json, *type, place, depth + 1);
    }
    return scalar(json, definition.type, place);
  }

  // The member that another entry of the same schema selects, as {"name":value}.
  std::size_t union_member(std::string& json, const Entry& e, const PayloadType& type, Place place, int depth) {
    if (depth > kMaxDepth) return null(json, type.size);
    spend(type.entries.size());
    const std::optional<std::size_t> selected = length_in(e.schema, e.base, e.positions, e.definition().detail);
    if (!selected || *selected >= type.entries.size()) return null(json, type.size);
    const std::vector<std::size_t> positions(type.entries.size(), 0);
    json += '{';
    entry(json, {type, place, &positions, *selected}, depth + 1);
    json += '}';
    return type.size;
  }

  std::size_t string_entry(std::string& json, const Entry& e, Place place) {
    const PayloadEntry& definition = e.definition();
    const std::size_t unit = string_unit(definition.type);
    const std::uint64_t array = definition.flags & kArrayBits;
    std::size_t limit = definition.detail == 0 ? kUnbounded : definition.detail;
    if (array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED) limit = kUnbounded;
    if (array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX ||
        array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX) {
      const std::optional<std::size_t> length = element_count(e, place);
      if (!length) return null(json, 0);
      limit = *length;
    }
    last_string_ = string_at(place, definition.type, limit);
    append_json_string(json, *last_string_);
    return limit != kUnbounded ? limit * unit : (terminated_length(place, unit) + 1) * unit;
  }

  // Code units before the terminator or the end of the payload.
  static std::size_t terminated_length(Place place, std::size_t unit) {
    std::size_t length = 0;
    while (unsigned_at(place.at(length * unit), unit).value_or(0) != 0)
      ++length;
    return length;
  }

  std::string string_at(Place place, std::uint64_t type, std::size_t limit) {
    const std::size_t unit = string_unit(type);
    const std::size_t terminated = terminated_length(place, unit);
    spend(terminated);
    const std::size_t length = std::min(terminated, limit);
    if (length == 0) return {};
    if (unit == 1) return replace_invalid_utf8({reinterpret_cast<const char*>(place.data()), length});
    // Copied out: the payload promises no alignment.
    if (unit == sizeof(char16_t)) {
      std::u16string text(length, u'\0');
      std::memcpy(text.data(), place.data(), length * unit);
      return utf16_to_utf8(text);
    }
    std::u32string text(length, U'\0');
    std::memcpy(text.data(), place.data(), length * unit);
    return utf32_to_utf8(text);
  }

  std::size_t scalar(std::string& json, std::uint64_t type, Place place) {
    const std::size_t size = predefined_layout(type).size;
    if (size == 0 || place.left() < size) return null(json, size);
    if (type != NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE) {
      append_payload_scalar(json, type, place.data());
      return size;
    }
    last_string_ = registered_string_(unsigned_at(place, size).value_or(0));
    append_json_string(json, *last_string_);
    return size;
  }

  // The name of the value, or the names of its bits; the number when it has none.
  std::size_t enumerator(std::string& json, const PayloadType& type, Place place) {
    spend((type.values.size() + type.flag_values.size()) / 16);  // which are looked at, not written
    const std::optional<std::uint64_t> value = unsigned_at(place, type.size);
    if (!value) return null(json, type.size);
    const auto named =
        std::find_if(type.values.begin(), type.values.end(), [&](const auto& v) { return v.first == *value; });
    if (named != type.values.end()) {
      spend(named->second.size());
      append_json_string(json, named->second);
      return type.size;
    }
    std::string bits;
    std::uint64_t rest = *value;
    for (const auto& [bit, name] : type.flag_values) {
      if (bit == 0 || (*value & bit) != bit) continue;
      bits += bits.empty() ? name : " | " + name;
      rest &= ~bit;
    }
    spend(bits.size());
    if (!bits.empty() && rest == 0) {
      append_json_string(json, bits);
    } else {
      fmt::format_to(std::back_inserter(json), "{}", *value);
    }
    return type.size;
  }

  static void hexadecimal(std::string& json, Place place) {
    json += '"';
    for (std::size_t i = 0; i < std::min(place.left(), kMaxElements); ++i) {
      fmt::format_to(std::back_inserter(json), "{:02x}", std::to_integer<unsigned>(place.data()[i]));
    }
    json += '"';
  }

  static std::optional<std::uint64_t> unsigned_at(Place place, std::size_t size) {
    if (size == 0 || size > sizeof(std::uint64_t) || place.left() < size) return std::nullopt;
    std::uint64_t value = 0;
    std::memcpy(&value, place.data(), size);
    return value;
  }

  static std::size_t null(std::string& json, std::size_t size) {
    json += "null";
    return size;
  }

  const std::vector<PayloadBlob>& blobs_;
  std::uint32_t domain_;
  const PayloadTypeTable& types_;
  const std::function<std::string(std::uint64_t)>& registered_string_;
  PayloadText& result_;
  std::size_t room_ = kMaxWork;
  std::optional<std::string> last_string_;  // of the entry decoded last
};

}  // namespace

PayloadText describe_payloads(const std::vector<PayloadBlob>& blobs, std::uint32_t domain,
                              const PayloadTypeTable& types,
                              const std::function<std::string(std::uint64_t)>& registered_string) {
  PayloadText result;
  Decoder decoder(blobs, domain, types, registered_string, result);
  std::vector<std::string> shown;
  for (const PayloadBlob& blob : blobs) {
    std::string json = decoder.payload(blob);
    if (!json.empty() && json != "{}") shown.push_back(std::move(json));
  }
  if (shown.size() == 1) {
    result.json = std::move(shown.front());
  } else if (!shown.empty()) {
    result.json = fmt::format("[{}]", fmt::join(shown, ","));
  }
  return result;
}

}  // namespace swinscope

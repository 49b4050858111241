#include "collector/nvtx/payload_scalar.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>

#include <fmt/format.h>
#include <nvtx3/nvToolsExtPayload.h>

#include "collector/base/text.h"
#include "collector/nvtx/payload_types.h"

namespace swinscope {
namespace {

template <typename T>
T load(const std::byte* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

template <typename T>
void number(std::string& json, T value) {
  fmt::format_to(std::back_inserter(json), "{}", value);
}

template <typename T>
void real(std::string& json, T value) {
  if (std::isfinite(value)) {
    fmt::format_to(std::back_inserter(json), "{}", value);
  } else {
    json += "null";
  }
}

// IEEE 754 binary16.
float half_to_float(std::uint16_t bits) {
  const int exponent = (bits >> 10U) & 0x1F;
  const int mantissa = bits & 0x3FF;
  const float sign = (bits & 0x8000U) != 0 ? -1.0F : 1.0F;
  if (exponent == 0x1F) return mantissa == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa + 0x400), exponent - 25);
}

void character(std::string& json, char32_t c) {
  char bytes[4];
  append_json_string(json, {bytes, encode_utf8(c, bytes)});
}

// In decimal, as a string: JSON readers keep 53 bits only.
void wide_integer(std::string& json, const std::byte* data, bool is_signed) {
  __extension__ using Wide = unsigned __int128;
  auto value = load<Wide>(data);
  const bool negative = is_signed && (value >> 127U) != 0;
  if (negative) value = ~value + 1;
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  } while (value != 0);
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  append_json_string(json, digits);
}

void signed_integer(std::string& json, std::size_t size, const std::byte* data) {
  switch (size) {
    case 1:
      return number(json, static_cast<int>(load<std::int8_t>(data)));
    case 2:
      return number(json, load<std::int16_t>(data));
    case 4:
      return number(json, load<std::int32_t>(data));
    default:
      return number(json, load<std::int64_t>(data));
  }
}

void unsigned_integer(std::string& json, std::size_t size, const std::byte* data) {
  std::uint64_t value = 0;
  std::memcpy(&value, data, size);
  number(json, value);
}

}  // namespace

void append_payload_scalar(std::string& json, std::uint64_t type, const std::byte* data) {
  const std::size_t size = predefined_layout(type).size;
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR8:
      return character(json, load<unsigned char>(data));
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR16:
      return character(json, load<char16_t>(data));
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR32:
    case NVTX_PAYLOAD_ENTRY_TYPE_WCHAR:
      return character(json, load<char32_t>(data));
    case NVTX_PAYLOAD_ENTRY_TYPE_SHORT:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT:
    case NVTX_PAYLOAD_ENTRY_TYPE_LONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT8:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT64:
      return signed_integer(json, size, data);
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_TF32:
      return real(json, load<float>(data));
    case NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64:
      return real(json, load<double>(data));
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE:
      return real(json, static_cast<double>(load<long double>(data)));
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16:
      return real(json, half_to_float(load<std::uint16_t>(data)));
    case NVTX_PAYLOAD_ENTRY_TYPE_BF16:
      return real(json, std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(data)} << 16U));
    case NVTX_PAYLOAD_ENTRY_TYPE_INT128:
      return wide_integer(json, data, true);
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT128:
      return wide_integer(json, data, false);
    case NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS:
      return append_json_string(json, fmt::format("0x{:x}", load<std::uint64_t>(data)));
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128:
      json += "null";  // no portable type holds it
      return;
    default:
      return unsigned_integer(json, size, data);
  }
}

}  // namespace swinscope

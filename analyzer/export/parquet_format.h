// Numbers of Parquet's format that pages and metadata share (parquet.thrift).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/export/table_file.h"

namespace swinscope::parquet {

enum PhysicalType : std::int32_t { kInt32Type = 1, kInt64Type = 2, kDoubleType = 5, kByteArrayType = 6 };
enum Encoding : std::int32_t { kPlain = 0, kRle = 3, kRleDictionary = 8 };
enum PageType : std::int32_t { kDataPage = 0, kDictionaryPage = 2 };
enum Repetition : std::int32_t { kRequired = 0, kOptional = 1 };
inline constexpr std::int32_t kGzip = 2;
inline constexpr std::string_view kMagic = "PAR1";

constexpr PhysicalType physical_type(ExportType type) {
  switch (type) {
    case ExportType::kInt32:
      return kInt32Type;
    case ExportType::kInt64:
      return kInt64Type;
    case ExportType::kDouble:
      return kDoubleType;
    case ExportType::kText:
      break;
  }
  return kByteArrayType;
}

// Little endian, as all numbers are.
template <typename Unsigned>
void append_number(std::string& out, Unsigned value) {
  for (std::size_t i = 0; i < sizeof(value); ++i)
    out += static_cast<char>(value >> (8 * i));
}

inline void append_integer(std::string& out, ExportType type, std::int64_t value) {
  if (type == ExportType::kInt32) {
    append_number(out, static_cast<std::uint32_t>(value));
  } else {
    append_number(out, static_cast<std::uint64_t>(value));
  }
}

}  // namespace swinscope::parquet

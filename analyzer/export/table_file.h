// What the tables of an export are written to: rows, value by value, in the order of the columns.
#pragma once

#include <cstdint>
#include <string_view>

namespace swinscope {

enum class ExportType : std::uint8_t { kInt32, kInt64, kDouble, kText };

struct ExportColumn {
  std::string_view name;  // carries the unit: start_ns, memory_bytes
  ExportType type = ExportType::kInt64;
  bool is_optional = false;  // some rows have no value
  std::string_view description;
};

// One table's file. Values come in the order of the columns; `null` only in optional ones.
class TableFile {
 public:
  TableFile() = default;
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;
  TableFile(TableFile&&) = delete;
  TableFile& operator=(TableFile&&) = delete;
  virtual ~TableFile() = default;

  virtual void integer(std::int64_t value) = 0;  // of both integer types; one that does not fit 32 bits is cut
  virtual void real(double value) = 0;
  virtual void text(std::string_view value) = 0;  // any bytes; what is no UTF-8 becomes U+FFFD
  virtual void null() = 0;
  virtual void end_row() = 0;
  // After the last row.
  virtual void finish() = 0;
};

}  // namespace swinscope

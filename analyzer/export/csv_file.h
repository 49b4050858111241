// A table as CSV (RFC 4180): a header line, fields in quotes where they hold a comma, a quote or a line break, which is
// doubled; lines end with LF. No value is an empty field.
//
// Spreadsheets run text as a formula when it begins with = + - or @ (CWE-1236), and names in a trace are anybody's:
// such text gets a ' in front, which spreadsheets take for "text" (so does text that begins with a tab or a carriage
// return).
#pragma once

#include <span>
#include <string>

#include "analyzer/export/output.h"
#include "analyzer/export/table_file.h"

namespace swinscope {

class CsvFile : public TableFile {
 public:
  CsvFile(ExportOutput& output, std::span<const ExportColumn> columns);

  void integer(std::int64_t value) override;
  void real(double value) override;
  void text(std::string_view value) override;
  void null() override;
  void end_row() override;
  void finish() override;

 private:
  void separate();

  ExportOutput& output_;
  std::string buffer_;
  bool in_row_ = false;
};

}  // namespace swinscope

#include "analyzer/export/csv_file.h"

#include <iterator>

#include <fmt/format.h>

#include "store/utf8.h"

namespace swinscope {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;

void append_field(std::string& out, std::string_view text) {
  const bool is_formula = text.find_first_of("=+-@\t\r") == 0;
  if (!is_formula && text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += is_formula ? "\"'" : "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace

CsvFile::CsvFile(ExportOutput& output, std::span<const ExportColumn> columns) : output_(output) {
  // Names of columns are plain words.
  for (const ExportColumn& column : columns)
    buffer_ += fmt::format("{}{}", buffer_.empty() ? "" : ",", column.name);
  buffer_ += '\n';
}

void CsvFile::separate() {
  if (in_row_) buffer_ += ',';
  in_row_ = true;
}

void CsvFile::integer(std::int64_t value) {
  separate();
  const fmt::format_int digits(value);
  buffer_.append(digits.data(), digits.size());
}

void CsvFile::real(double value) {
  separate();
  fmt::format_to(std::back_inserter(buffer_), "{}", value);
}

void CsvFile::text(std::string_view value) {
  separate();
  if (is_valid_utf8(value)) {
    append_field(buffer_, value);
  } else {
    append_field(buffer_, replace_invalid_utf8(value));
  }
}

void CsvFile::null() { separate(); }

void CsvFile::end_row() {
  buffer_ += '\n';
  in_row_ = false;
  if (buffer_.size() < kBufferBytes) return;
  output_.write(buffer_);
  buffer_.clear();
}

void CsvFile::finish() {
  output_.write(buffer_);
  buffer_.clear();
}

}  // namespace swinscope

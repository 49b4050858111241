// A table as an Apache Parquet file (format version 1): INT32, INT64, DOUBLE and UTF-8 BYTE_ARRAY columns, required or
// optional, in row groups. A page is a gzip member
// (zlib is a dependency already, and every reader of Parquet has it). Text that repeats is stored once in a dictionary
// page, else values are plain. Integer columns carry minimum and maximum, so that readers pass over row groups.
// https://github.com/apache/parquet-format (README.md, Encodings.md, src/main/thrift/parquet.thrift)
//
// Written here because Debian 12 has no Arrow; the part of the format that tables of events need is small.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/export/output.h"
#include "analyzer/export/table_file.h"

namespace swinscope {

class ThriftWriter;

class ParquetFile : public TableFile {
 public:
  // A row group ends with `group_rows` rows, or earlier where its values take much memory.
  ParquetFile(ExportOutput& output, std::span<const ExportColumn> columns, std::size_t group_rows = 131'072);

  void integer(std::int64_t value) override;
  void real(double value) override;
  void text(std::string_view value) override;
  void null() override;
  void end_row() override;
  void finish() override;

 private:
  // The values of the row group at hand.
  struct Column {
    ExportColumn declared;
    std::vector<bool> is_there;          // by row, of optional columns
    std::vector<std::int64_t> integers;  // those that are there
    std::vector<double> reals;
    std::vector<std::uint32_t> text_ids;  // into `texts`
    std::vector<std::string> texts;       // in the order in which they came first
    std::unordered_map<std::string, std::uint32_t> ids;
  };
  // Where a column of a row group lies in the file.
  struct Chunk {
    std::int64_t offset = 0;       // of its first page
    std::int64_t data_offset = 0;  // of its data page
    bool has_dictionary = false;
    std::int64_t values = 0;  // missing ones among them
    std::int64_t missing = 0;
    std::int64_t plain_bytes = 0;  // pages with their headers
    std::int64_t stored_bytes = 0;
    bool has_range = false;
    std::int64_t smallest = 0;
    std::int64_t largest = 0;
  };
  struct Group {
    std::int64_t rows = 0;
    std::vector<Chunk> chunks;  // by column
  };

  Column& next_column();
  void end_group();
  Chunk write_column(const Column& column);
  static void write_dictionary(const Column& column, std::string& page);
  static void write_values(const Column& column, bool in_dictionary, std::string& page);
  void write_page(const std::string& page, std::int32_t values, bool is_dictionary, bool in_dictionary, Chunk& chunk);
  std::string metadata() const;
  void write_group(ThriftWriter& out, const Group& group) const;
  static void write_chunk(ThriftWriter& out, const ExportColumn& column, const Chunk& chunk);
  void write(std::string_view bytes);

  ExportOutput& output_;
  std::size_t group_rows_;
  std::vector<Column> columns_;
  std::size_t at_ = 0;  // the column of the next value
  std::int64_t rows_ = 0;
  std::size_t rows_in_group_ = 0;
  std::size_t bytes_in_group_ = 0;
  std::int64_t written_ = 0;
  std::vector<Group> groups_;
};

}  // namespace swinscope

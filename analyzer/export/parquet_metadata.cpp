// The metadata at the end of a Parquet file: FileMetaData of parquet.thrift. The numbers are those of its fields.
#include "analyzer/export/parquet_file.h"
#include "analyzer/export/parquet_format.h"
#include "analyzer/export/thrift_compact.h"

namespace swinscope {
namespace {

using namespace parquet;

// SchemaElement. Text is both of the old type UTF8 and of the new one STRING.
void write_schema(ThriftWriter& out, const ExportColumn& column) {
  out.begin_element();
  out.i32(1, physical_type(column.type));
  out.i32(3, column.is_optional ? kOptional : kRequired);
  out.text(4, column.name);
  if (column.type == ExportType::kText) {
    out.i32(6, 0);
    out.begin_struct(10);
    out.begin_struct(1);
    out.end_struct();
    out.end_struct();
  }
  out.end_struct();
}

std::string plain(ExportType type, std::int64_t value) {
  std::string bytes;
  append_integer(bytes, type, value);
  return bytes;
}

}  // namespace

std::string ParquetFile::metadata() const {
  ThriftWriter out;
  out.i32(1, 1);
  out.begin_list_of_structs(2, columns_.size() + 1);
  out.begin_element();  // the root
  out.text(4, "schema");
  out.i32(5, static_cast<std::int32_t>(columns_.size()));
  out.end_struct();
  for (const Column& column : columns_)
    write_schema(out, column.declared);
  out.i64(3, rows_);
  out.begin_list_of_structs(4, groups_.size());
  for (const Group& group : groups_)
    write_group(out, group);
  out.text(6, "swinscope");
  // The order of the minimum and maximum of each column: that of its type.
  out.begin_list_of_structs(7, columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    out.begin_element();
    out.begin_struct(1);
    out.end_struct();
    out.end_struct();
  }
  return out.take();
}

// RowGroup.
void ParquetFile::write_group(ThriftWriter& out, const Group& group) const {
  std::int64_t plain_bytes = 0;
  out.begin_element();
  out.begin_list_of_structs(1, group.chunks.size());
  for (std::size_t i = 0; i < group.chunks.size(); ++i) {
    out.begin_element();  // ColumnChunk
    out.i64(2, group.chunks[i].offset);
    out.begin_struct(3);
    write_chunk(out, columns_[i].declared, group.chunks[i]);
    out.end_struct();
    out.end_struct();
    plain_bytes += group.chunks[i].plain_bytes;
  }
  out.i64(2, plain_bytes);
  out.i64(3, group.rows);
  out.end_struct();
}

// ColumnMetaData.
void ParquetFile::write_chunk(ThriftWriter& out, const ExportColumn& column, const Chunk& chunk) {
  out.i32(1, physical_type(column.type));
  std::vector<std::int32_t> encodings = {kRle, kPlain};
  if (chunk.has_dictionary) encodings.push_back(kRleDictionary);
  out.list_of_i32(2, encodings);
  out.list_of_text(3, {column.name});
  out.i32(4, kGzip);
  out.i64(5, chunk.values);
  out.i64(6, chunk.plain_bytes);
  out.i64(7, chunk.stored_bytes);
  out.i64(9, chunk.data_offset);
  if (chunk.has_dictionary) out.i64(11, chunk.offset);
  out.begin_struct(12);  // Statistics
  out.i64(3, chunk.missing);
  if (chunk.has_range) {
    out.text(5, plain(column.type, chunk.largest));
    out.text(6, plain(column.type, chunk.smallest));
  }
  out.end_struct();
}

}  // namespace swinscope

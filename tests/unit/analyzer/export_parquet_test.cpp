// Parquet files byte by byte, as the format has them (parquet.thrift, Encodings.md), worked out by hand.
#include <array>

#include <zlib.h>

#include "analyzer/export/parquet_file.h"
#include "analyzer/export/thrift_compact.h"
#include "tests/unit/store/support.h"

namespace swinscope::test {
namespace {

using namespace std::string_literals;

std::string parquet_of(std::span<const ExportColumn> columns, const std::function<void(ParquetFile&)>& fill,
                       std::size_t group_rows = 1'000) {
  const TempFolder folder;
  ExportOutput output(folder / "t.parquet", false);
  ParquetFile file(output, columns, group_rows);
  fill(file);
  file.finish();
  output.finish();
  return read_file(folder / "t.parquet");
}

// The gzip member that begins at `at`, which moves behind it.
std::string unpack(const std::string& file, std::size_t& at) {
  z_stream stream{};
  inflateInit2(&stream, 15 + 16);
  std::string page(1'000'000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.data() + at));
  stream.avail_in = static_cast<uInt>(file.size() - at);
  stream.next_out = reinterpret_cast<Bytef*>(page.data());
  stream.avail_out = static_cast<uInt>(page.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  page.resize(stream.total_out);
  at += stream.total_in;
  inflateEnd(&stream);
  return page;
}

// All pages of a file, in order.
std::vector<std::string> pages_of(const std::string& file) {
  std::vector<std::string> pages;
  for (std::size_t at = file.find("\x1F\x8B\x08"); at != std::string::npos; at = file.find("\x1F\x8B\x08", at))
    pages.push_back(unpack(file, at));
  return pages;
}

// One required INT32 column "n" with the values 1 and 2.
TEST(ExportParquet, EveryByteOfASmallFile) {
  const std::array columns = {ExportColumn{"n", ExportType::kInt32, false, ""}};
  const std::string file = parquet_of(columns, [](ParquetFile& f) {
    f.integer(1);
    f.end_row();
    f.integer(2);
    f.end_row();
  });
  ASSERT_EQ(file.substr(0, 4), "PAR1");
  // PageHeader: type 0, 8 bytes, N packed, {2 values, plain, levels RLE twice}. Numbers are zigzag: twice themselves.
  std::size_t at = 4 + 17;
  ASSERT_EQ(unpack(file, at), "\1\0\0\0\2\0\0\0"s);
  const std::size_t packed = at - 4 - 17;
  ASSERT_LT(packed + 17, 64U);  // one byte as a varint
  const std::string n(1, static_cast<char>(2 * packed));
  const std::string stored(1, static_cast<char>(2 * (packed + 17)));
  EXPECT_EQ(file.substr(4, 17), "\x15\x00\x15\x10\x15"s + n + "\x2C\x15\x04\x15\x00\x15\x06\x15\x06\x00\x00"s);
  const std::string footer =
      "\x15\x02"s                                       // version 1
      "\x19\x2C"s                                       // two elements of the schema:
      "\x48\x06schema\x15\x02\x00"s                     //   the root with one child
      "\x15\x02\x25\x00\x18\x01n\x00"s                  //   INT32, required, n
      "\x16\x04"s                                       // two rows
      "\x19\x1C"s                                       // one row group
      "\x19\x1C\x26\x08\x1C"s                           //   one column, from byte 4:
      "\x15\x02\x19\x25\x06\x00\x19\x18\x01n\x15\x04"s  //     INT32, RLE and plain, n, gzip
      "\x16\x04\x16\x32\x16"s +
      stored +
      "\x26\x08"s  //     2 values, 25 bytes, stored, from byte 4
      "\x3C\x36\x00\x28\x04\x02\x00\x00\x00\x18\x04\x01\x00\x00\x00\x00"s  // no nulls, largest 2, smallest 1
      "\x00\x00"s                                                          //     end of the column
      "\x16\x32\x16\x04\x00"s                                              //   25 bytes, two rows
      "\x28\x09swinscope"s                                                 // created by
      "\x19\x1C\x1C\x00\x00"s                                              // the column's order is that of its type
      "\x00"s;
  const std::string length = std::string(1, static_cast<char>(footer.size())) + "\0\0\0"s;
  EXPECT_EQ(file.substr(at), footer + length + "PAR1");
}

// "a", nothing, "a", "b", "a", "a": two texts of five go into a dictionary; the levels are the runs 1, 0, 1 1 1 1.
TEST(ExportParquet, TextThatRepeatsIsInADictionary) {
  const std::array columns = {ExportColumn{"t", ExportType::kText, true, ""}};
  const std::string file = parquet_of(columns, [](ParquetFile& f) {
    for (const char* text : {"a", "", "a", "b", "a", "a"}) {
      *text == '\0' ? f.null() : f.text(text);
      f.end_row();
    }
  });
  EXPECT_EQ(pages_of(file),
            (std::vector<std::string>{"\1\0\0\0a\1\0\0\0b"s,
                                      // 6 bytes of levels; 1 bit an id, one group of eight: 0 0 1 0 0, lowest bit first
                                      "\6\0\0\0\x02\x01\x02\x00\x08\x01\x01\x03\x04"s}));
}

TEST(ExportParquet, TextThatDoesNotRepeatIsPlain) {
  const std::array columns = {ExportColumn{"t", ExportType::kText, false, ""}};
  const std::string file = parquet_of(columns, [](ParquetFile& f) {
    for (const char* text : {"ab", "c\xFF"}) {
      f.text(text);
      f.end_row();
    }
  });
  EXPECT_EQ(pages_of(file), (std::vector<std::string>{"\2\0\0\0ab\4\0\0\0c\xEF\xBF\xBD"s}));
}

// Three ids of two bits in one byte: 0, 1, 2, 0, ... = 0b00'10'01'00.
TEST(ExportParquet, IdsArePackedLowestBitsFirst) {
  const std::array columns = {ExportColumn{"t", ExportType::kText, false, ""}};
  const std::string file = parquet_of(columns, [](ParquetFile& f) {
    for (const char* text : {"x", "y", "z", "x", "y", "z", "x", "y", "z"}) {
      f.text(text);
      f.end_row();
    }
  });
  const std::vector<std::string> pages = pages_of(file);
  ASSERT_EQ(pages.size(), 2U);
  // Two groups of eight: 0 1 2 0, 1 2 0 1, 2 and zeros.
  EXPECT_EQ(pages[1], "\x02\x05\x24\x49\x02\x00"s);
}

TEST(ExportParquet, RowsAreInGroups) {
  const std::array columns = {ExportColumn{"n", ExportType::kInt64, true, ""},
                              ExportColumn{"x", ExportType::kDouble, false, ""}};
  const auto fill = [](ParquetFile& f) {
    for (int i = 0; i < 5; ++i) {
      i == 1 ? f.null() : f.integer(i);
      f.real(0.5);
      f.end_row();
    }
  };
  const std::vector<std::string> pages = pages_of(parquet_of(columns, fill, 2));
  ASSERT_EQ(pages.size(), 6U);  // groups of 2, 2 and 1 rows with two columns each
  EXPECT_EQ(pages[0], "\4\0\0\0\x02\x01\x02\x00\0\0\0\0\0\0\0\0"s);
  EXPECT_EQ(pages[4], "\2\0\0\0\x02\x01\4\0\0\0\0\0\0\0"s);
  EXPECT_EQ(pages[5], "\0\0\0\0\0\0\xE0\x3F"s);
}

TEST(ExportParquet, ARowOfAnotherWidthIsRefused) {
  const std::array columns = {ExportColumn{"n", ExportType::kInt64, false, ""}};
  EXPECT_THROW(parquet_of(columns, [](ParquetFile& f) { f.end_row(); }), Error);
}

// Zigzag: -1 is 1, 300 is 600 = 0b100 1011000; a field 16 apart cannot be in one byte, but none is.
TEST(ExportParquet, ThriftNumbers) {
  ThriftWriter writer;
  writer.i32(1, -1);
  writer.i64(3, 300);
  EXPECT_EQ(writer.take(), "\x15\x01\x26\xD8\x04\x00"s);
}

}  // namespace
}  // namespace swinscope::test

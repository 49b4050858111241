// Binary payloads by their schemas, as programs register and send them.
#include "collector/nvtx/payload_json.h"

#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nvtx3/nvToolsExtPayload.h>

#include "collector/nvtx/nvtx_registry.h"
#include "collector/segment/nvtx_event.h"

namespace swinscope {
namespace {

constexpr std::uint64_t kAddress = 0x1000;

nvtxPayloadSchemaEntry_t entry(std::uint64_t type, const char* name, std::uint64_t flags = 0, std::uint64_t detail = 0,
                               std::uint64_t offset = 0) {
  nvtxPayloadSchemaEntry_t e{};
  e.flags = flags;
  e.type = type;
  e.name = name;
  e.arrayOrUnionDetail = detail;
  e.offset = offset;
  return e;
}

class PayloadJson : public ::testing::Test {
 protected:
  std::uint64_t schema(const std::vector<nvtxPayloadSchemaEntry_t>& entries,
                       std::uint64_t type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, const char* name = nullptr,
                       std::uint64_t static_id = 0, std::uint64_t flags = 0) {
    nvtxPayloadSchemaAttr_t attributes{};
    attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                           NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME |
                           NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS;
    attributes.name = name;
    attributes.type = type;
    attributes.flags = flags;
    attributes.entries = entries.data();
    attributes.numEntries = entries.size();
    attributes.schemaId = static_id;
    if (static_id != 0) attributes.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
    return registry_.add_schema(0, attributes);
  }
  std::uint64_t enumeration(const std::vector<nvtxPayloadEnum_t>& values, std::size_t size) {
    nvtxPayloadEnumAttr_t attributes{};
    attributes.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                           NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
    attributes.entries = values.data();
    attributes.numEntries = values.size();
    attributes.sizeOfEnum = size;
    return registry_.add_enum(0, attributes);
  }

  template <typename T>
  static std::vector<std::byte> bytes_of(const T& value) {
    std::vector<std::byte> bytes(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
    return bytes;
  }

  void add(std::uint64_t type, const std::vector<std::byte>& bytes, std::uint64_t address = kAddress) {
    memory_.push_back(bytes);
    types_.emplace_back(type, address);
  }
  PayloadText describe() {
    std::vector<PayloadBlob> blobs;
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      blobs.push_back({types_[i].first, types_[i].second, memory_[i].data(), memory_[i].size()});
    }
    memory_kept_ = std::move(memory_);
    memory_.clear();
    types_.clear();
    return describe_payloads(blobs, 0, registry_.types(), [this](std::uint64_t handle) {
      return std::string(registry_.string_text(static_cast<std::uint32_t>(handle)));
    });
  }
  template <typename T>
  std::string json(std::uint64_t type, const T& value) {
    add(type, bytes_of(value));
    return describe().json;
  }

  Segment segment_ = Segment::anonymous({64U << 10U, 4, 4});
  NvtxRegistry registry_{segment_.view()};
  std::vector<std::vector<std::byte>> memory_;
  std::vector<std::vector<std::byte>> memory_kept_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> types_;
};

TEST_F(PayloadJson, ScalarsOfEveryKind) {
  EXPECT_EQ(json(NVTX_PAYLOAD_ENTRY_TYPE_INT8, std::int8_t{-128}), "-128");
  EXPECT_EQ(json(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, std::uint8_t{255}), "255");
  EXPECT_EQ(json(NVTX_PAYLOAD_ENTRY_TYPE_SHORT, short{-3}), "-3");
  EXPECT_EQ(json(NVTX_PAYLOAD_ENTRY_TYPE_UINT, 4000000000U), "4000000000");
  EXPECT_EQ(json(NVTX_PAYLOAD_ENTRY_TYPE_LONG, -5L), "-5");
  EXPECT_EQ(json(NVTX_PAYLOAD_ENTRY_TYPE_INT64, std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(json(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, ~std::uint64_t{0}), "18446744073709551615");
  EXPECT_EQ(json(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, std::size_t{12}), "12");
  EXPECT_EQ(json(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, 0.1F), "0.1");
  EXPECT_EQ(json(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, -1.5e300), "-1.5e+300");
  EXPECT_EQ(json(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(json(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16, std::uint16_t{0xC100}), "-2.5");
  EXPECT_EQ(json(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16, std::uint16_t{0x0001}), "5.9604645e-08");
  EXPECT_EQ(json(NVTX_PAYLOAD_ENTRY_TYPE_BF16, std::uint16_t{0x3F80}), "1");
  EXPECT_EQ(json(NVTX_PAYLOAD_ENTRY_TYPE_CHAR, 'x'), "\"x\"");
  EXPECT_EQ(json(NVTX_PAYLOAD_ENTRY_TYPE_WCHAR, L'\u00E9'), "\"\u00E9\"");
  EXPECT_EQ(json(NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS, std::uint64_t{0xABCD}), "\"0xabcd\"");
  const std::array<std::uint64_t, 2> wide = {~std::uint64_t{0}, ~std::uint64_t{0}};
  EXPECT_EQ(json(NVTX_PAYLOAD_ENTRY_TYPE_UINT128, wide), "\"340282366920938463463374607431768211455\"");
  EXPECT_EQ(json(NVTX_PAYLOAD_ENTRY_TYPE_INT128, wide), "\"-1\"");
}

TEST_F(PayloadJson, AStructWithGivenOffsets) {
  struct Work {
    std::uint8_t kind;
    double seconds;
    std::int32_t shape[2];
  };
  const std::uint64_t id = schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "kind"),
                                   entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "seconds", 0, 0, offsetof(Work, seconds)),
                                   entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "shape",
                                         NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 2, offsetof(Work, shape))},
                                  NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, "work/1");
  EXPECT_EQ(json(id, Work{3, 0.5, {7, -8}}), R"({"$schema":"work/1","kind":3,"seconds":0.5,"shape":[7,-8]})");
}

TEST_F(PayloadJson, OffsetsThatAreNotGivenFollowTheRulesOfAlignment) {
  struct Work {
    std::uint8_t kind;
    double seconds;
    std::uint16_t small;
    std::uint32_t last;
  };
  const std::uint64_t id =
      schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "kind"), entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "seconds"),
              entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT16, "small"), entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, nullptr)});
  EXPECT_EQ(json(id, Work{3, 0.5, 6, 9}), R"({"kind":3,"seconds":0.5,"small":6,"3":9})");
  EXPECT_EQ(registry_.types().find(0, id)->size, sizeof(Work));
}

TEST_F(PayloadJson, NestedStructsAndArraysOfThem) {
  struct Point {
    std::int16_t x;
    std::int16_t y;
  };
  struct Line {
    std::uint32_t color;
    Point ends[2];
  };
  const std::uint64_t point =
      schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_INT16, "x"), entry(NVTX_PAYLOAD_ENTRY_TYPE_INT16, "y")});
  const std::uint64_t line = schema(
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "id"), entry(point, "ends", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 2)});
  EXPECT_EQ(json(line, Line{5, {{1, 2}, {-3, -4}}}), R"({"id":5,"ends":[{"x":1,"y":2},{"x":-3,"y":-4}]})");
}

TEST_F(PayloadJson, EnumeratorsByNameAndFlagsJoined) {
  const std::uint64_t kind = enumeration({{"gemm", 1, 0}, {"norm", 2, 0}}, 4);
  const std::uint64_t access = enumeration({{"read", 1, 1}, {"write", 2, 1}, {"none", 0, 0}}, 1);
  struct Use {
    std::uint32_t kind;
    std::uint8_t access;
  };
  const std::uint64_t id = schema({entry(kind, "kind"), entry(access, "access")});
  EXPECT_EQ(json(id, Use{2, 3}), R"({"kind":"norm","access":"read | write"})");
  EXPECT_EQ(json(id, Use{99, 0}), R"({"kind":99,"access":"none"})");
  EXPECT_EQ(json(id, Use{1, 6}), R"({"kind":"gemm","access":6})");
}

TEST_F(PayloadJson, StringsFixedTerminatedAndWide) {
  struct Names {
    char fixed[4];
    char16_t wide[3];
  };
  const std::uint64_t id = schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "fixed", 0, 4),
                                   entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16, "wide", 0, 3)});
  EXPECT_EQ(json(id, Names{{'a', '"', 'c', 'd'}, {u'\u00FC', 0, u'x'}}), "{\"fixed\":\"a\\\"cd\",\"wide\":\"\u00FC\"}");
  // A bare string with a size, and one with its terminator.
  EXPECT_EQ(json(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, std::array<char, 3>{'a', 'b', 'c'}), "\"abc\"");
  EXPECT_EQ(json(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, std::array<char, 4>{'a', '\n', 0, 'c'}), "\"a\\n\"");
}

TEST_F(PayloadJson, DynamicSchemasAreWalked) {
  const std::uint64_t id =
      schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "n"),
              entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "name", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED),
              entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT16, "values", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, 0),
              entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "tail", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, 0)},
             NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC);
  // n = 2, "ab\0", padding to 4, two values, two characters.
  const std::array<std::uint8_t, 10> bytes = {2, 'a', 'b', 0, 1, 0, 2, 1, 'x', 'y'};
  EXPECT_EQ(json(id, bytes), R"({"n":2,"name":"ab","values":[1,258],"tail":"xy"})");
}

TEST_F(PayloadJson, LengthsWithSeveralDimensionsMultiply) {
  struct Matrix {
    std::uint16_t size[2];
    std::uint8_t values[6];
  };
  const std::uint64_t id =
      schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT16, "size", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 2),
              entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "values", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, 0)},
             NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC);
  EXPECT_EQ(json(id, Matrix{{2, 3}, {1, 2, 3, 4, 5, 6}}), R"({"size":[2,3],"values":[1,2,3,4,5,6]})");
}

TEST_F(PayloadJson, PointersReachOtherPayloadsAndCopiedMemory) {
  struct Reference {
    std::uint64_t text;
    std::uint64_t values;
    std::uint64_t nowhere;
    std::uint64_t null;
  };
  const std::uint64_t id = schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text", NVTX_PAYLOAD_ENTRY_FLAG_POINTER),
                                   entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT16, "values",
                                         NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 2),
                                   entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "nowhere", NVTX_PAYLOAD_ENTRY_FLAG_POINTER),
                                   entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "null", NVTX_PAYLOAD_ENTRY_FLAG_POINTER)});
  add(id, bytes_of(Reference{0x2001, 0x3000, 0x9999, 0}));
  add(kCopiedMemory, bytes_of(std::array<char, 4>{'?', 'o', 'k', 0}), 0x2000);
  add(NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED, bytes_of(std::array<std::uint16_t, 2>{4, 5}), 0x3000);
  EXPECT_EQ(describe().json, R"({"text":"ok","values":[4,5],"nowhere":null,"null":null})");
}

TEST_F(PayloadJson, OffsetsFromBaseAndFromHere) {
  struct Relative {
    std::uint32_t base;
    std::uint32_t here;
    std::uint32_t values[2];
  };
  const std::uint64_t id =
      schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "base", NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE),
              entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "here", NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE)});
  EXPECT_EQ(json(id, Relative{8, 4, {70, 71}}), R"({"base":70,"here":71})");
}

TEST_F(PayloadJson, AUnionShowsTheSelectedMember) {
  struct Tagged {
    std::uint32_t tag;
    std::uint32_t bits;
  };
  const std::uint64_t either =
      schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "whole"), entry(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "real")},
             NVTX_PAYLOAD_SCHEMA_TYPE_UNION);
  const std::uint64_t id = schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "tag"), entry(either, "value", 0, 0)});
  EXPECT_EQ(json(id, Tagged{0, 42}), R"({"tag":0,"value":{"whole":42}})");
  EXPECT_EQ(json(id, Tagged{1, 0x3F800000}), R"({"tag":1,"value":{"real":1}})");
  EXPECT_EQ(json(id, Tagged{2, 0}), R"({"tag":2,"value":null})");
}

TEST_F(PayloadJson, AttributesOfTheEventAreTakenOut) {
  struct Event {
    std::uint64_t message;
    std::uint32_t category;
    std::uint32_t color;
    std::uint32_t iteration;
  };
  const std::uint32_t name = registry_.add_string("training step");
  const std::uint64_t id = schema(
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "message", NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, "category"), entry(NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB, "color"),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "iteration")});
  add(id, bytes_of(Event{name, 7, 0xFF010203, 42}));
  const PayloadText text = describe();
  EXPECT_EQ(text.json, R"({"iteration":42})");
  EXPECT_EQ(text.message, "training step");
  EXPECT_EQ(text.category, 7U);
  EXPECT_EQ(text.color, 0xFF010203);
}

TEST_F(PayloadJson, SeveralPayloadsAreAnArrayAndReferencedOnesAreHidden) {
  const std::uint64_t hidden = schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "x")}, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
                                      nullptr, 0, NVTX_PAYLOAD_SCHEMA_FLAG_REFERENCED);
  add(NVTX_PAYLOAD_ENTRY_TYPE_INT32, bytes_of(1));
  add(hidden, bytes_of(2));
  add(NVTX_TYPE_PAYLOAD_SCHEMA_RAW, bytes_of(std::array<std::uint8_t, 2>{0x0A, 0xFF}));
  EXPECT_EQ(describe().json, R"([1,"0aff"])");
}

TEST_F(PayloadJson, StaticIdsAndLaterRegistrationsWithTheSame) {
  constexpr std::uint64_t kId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 3;
  EXPECT_EQ(schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "old")}, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, nullptr, kId), kId);
  EXPECT_EQ(schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "new")}, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, nullptr, kId), kId);
  EXPECT_EQ(json(kId, 5), R"({"new":5})");
  // Many more do not disturb it.
  for (std::uint64_t i = 10; i < 500; ++i)
    schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "x")}, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, nullptr, kId + i);
  EXPECT_EQ(json(kId, 6), R"({"new":6})");
}

TEST_F(PayloadJson, PayloadsThatAreTooShortOrUnknown) {
  const std::uint64_t id =
      schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "a"), entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "b"),
              entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "list", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 1000000000)});
  EXPECT_EQ(json(id, std::int64_t{4}), R"({"a":4,"b":null,"list":[]})");
  EXPECT_EQ(json(std::uint64_t{777777}, std::uint16_t{0x0201}), "\"0102\"");
  const std::uint64_t unknown =
      schema({entry(std::uint64_t{555555}, "what"), entry(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128, "wide")});
  EXPECT_EQ(json(unknown, std::array<std::uint64_t, 4>{}), R"({"what":null,"wide":null})");
}

TEST_F(PayloadJson, ASchemaThatHoldsItselfEnds) {
  constexpr std::uint64_t kId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 9;
  schema({entry(kId, "self")}, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC, nullptr, kId);
  const std::string text = json(kId, 1);
  EXPECT_NE(text.find("\"self\":null"), std::string::npos);
}

// 3^16 values otherwise, in the recorder.
TEST_F(PayloadJson, ASchemaThatHoldsItselfSeveralTimesEnds) {
  constexpr std::uint64_t kId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 9;
  schema({entry(kId, "a"), entry(kId, "b"), entry(kId, "c")}, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC, nullptr, kId);
  const std::string text = json(kId, 1);
  EXPECT_LT(text.size(), std::size_t{4} << 20U);
  EXPECT_EQ(text.back(), '}') << "it is closed";
}

TEST_F(PayloadJson, AUnionThatHoldsItselfEnds) {
  constexpr std::uint64_t kId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 9;
  schema({entry(kId, "self")}, NVTX_PAYLOAD_SCHEMA_TYPE_UNION, nullptr, kId);
  const std::uint64_t outer = schema({entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "which"), entry(kId, "union", 0, 0)});
  json(outer, std::array<std::uint8_t, 16>{});
}

TEST_F(PayloadJson, UnusableRegistrationsAreRefused) {
  nvtxPayloadSchemaAttr_t empty{};
  EXPECT_EQ(registry_.add_schema(0, empty), 0U);
  nvtxPayloadEnumAttr_t no_values{};
  EXPECT_EQ(registry_.add_enum(0, no_values), 0U);
  EXPECT_EQ(enumeration({{"x", 1, 0}}, 16), 0U);
}

}  // namespace
}  // namespace swinscope

#include "analyzer/importers/kineto_event.h"

#include "tests/unit/analyzer/support.h"

namespace swinscope::test {
namespace {

using Time = std::optional<std::int64_t>;

TEST(ParseMicroseconds, IsExact) {
  const std::vector<std::pair<const char*, std::int64_t>> cases = {{"0", 0},
                                                                   {"-0", 0},
                                                                   {"1", 1000},
                                                                   {"-3", -3000},
                                                                   {"0.001", 1},
                                                                   {"1.5", 1500},
                                                                   {"12.34", 12340},
                                                                   {"5.", 5000},
                                                                   {".5", 500},
                                                                   {"00012.000", 12000},
                                                                   {"4364887253316.716", 4364887253316716},
                                                                   // a double has 53 bits: these would be off by one
                                                                   {"9007199254740.993", 9007199254740993},
                                                                   {"1152921504606846.975", 1152921504606846975},
                                                                   {"-1152921504606846.975", -1152921504606846975}};
  for (const auto& [text, ns] : cases)
    EXPECT_EQ(parse_microseconds(text), Time(ns)) << text;
}

TEST(ParseMicroseconds, RoundsBeyondTheNanosecond) {
  const std::vector<std::pair<const char*, std::int64_t>> cases = {{"0.0004", 0},
                                                                   {"0.0005", 1},
                                                                   {"0.00049999999999999999999999999999999999", 0},
                                                                   {"-0.0005", -1},
                                                                   {"1.9999", 2000},
                                                                   {"0.9994999999", 999},
                                                                   {"0.0005000000000000000000000000000000000000001", 1},
                                                                   {"48.084000000000003", 48084},
                                                                   {"48.083999999999996", 48084}};
  for (const auto& [text, ns] : cases)
    EXPECT_EQ(parse_microseconds(text), Time(ns)) << text;
  EXPECT_EQ(parse_microseconds("0." + std::string(100'000, '0') + "1"), Time(0));
}

TEST(ParseMicroseconds, TakesExponents) {
  const std::vector<std::pair<const char*, std::int64_t>> cases = {
      {"1.5e3", 1'500'000}, {"1.5E+3", 1'500'000},
      {"15e-4", 2},         {"14e-4", 1},
      {"2.5e-3", 3},        {"1e-99", 0},
      {"0e50", 0},          {"4.364887253316716e12", 4364887253316716},
      {"-1e0", -1000},      {"1e00000000003", 1'000'000}};
  for (const auto& [text, ns] : cases)
    EXPECT_EQ(parse_microseconds(text), Time(ns)) << text;
}

TEST(ParseMicroseconds, RefusesWhatIsNoNumber) {
  for (const char* text : {"",          "-",     "+1",    ".",     "-.", "e3",  "1e",   "1e+", "1e-",  "1e+-3",
                           "1e--3",     "1e3.5", "1.2.3", "1 ",    " 1", "1,5", "0x10", "NaN", "nan",  "Infinity",
                           "-Infinity", "inf",   "null",  "\"1\"", "1a", "--1", "true", "[",   "1_000"}) {
    EXPECT_EQ(parse_microseconds(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_microseconds(std::string_view("1\0", 2)), std::nullopt);
}

TEST(ParseMicroseconds, RefusesWhatIsOutOfRange) {
  // 2^61 ns
  EXPECT_EQ(parse_microseconds("2305843009213693.952"), Time(std::int64_t{1} << 61));
  EXPECT_EQ(parse_microseconds("-2305843009213693.952"), Time(-(std::int64_t{1} << 61)));
  for (const char* text : {"2305843009213693.953", "-2305843009213693.953", "2305843009213694", "9223372036854775807",
                           "18446744073709551616", "1e16", "1e100", "1e999999999999", "1e-999999999999",
                           "99999999999999999999999999999999999999999999999999999"}) {
    EXPECT_EQ(parse_microseconds(text), std::nullopt) << text;
  }
}

TEST(FlowArrows, AreKnownByTheirFirstField) {
  for (const char* text :
       {R"({"ph":"s","id":1,"pid":2,"tid":3,"ts":4.5,"cat":"ac2g","name":"ac2g"})",
        "{\n    \"ph\" : \"f\", \"id\": 1, \"cat\": \"fwdbwd\", \"name\": \"fwdbwd\", \"bp\": \"e\"\n  }",
        R"({"ph":"t"})"}) {
    EXPECT_TRUE(is_flow_arrow(text)) << text;
  }
}

TEST(FlowArrows, NothingElseIsTakenForOne) {
  const std::string hidden = R"({"ph":"s","name":"ac2g},{"ph":"X","name":"aten::mm","ts":1,"dur":1})";
  const std::string arguments = R"({"ph":"s","args":{"a":1}})";
  const std::string odd = R"({"ph":"s","name":"ac2g})";
  const std::string cut = R"({"ph":"s","name":"ac2g")";
  const std::string later = R"({"name":"ac2g","ph":"s"})";
  const std::string lengthy = R"({"ph":"s","name":")" + std::string(300, 'x') + R"("})";
  for (const std::string& text : {hidden, arguments, odd, cut, later, lengthy, std::string(R"({"ph":"X","name":"s"})"),
                                  std::string(R"({"ph":"start"})"), std::string(R"({"phase":"s"})"),
                                  std::string(R"({"ph")"), std::string(R"({"ph":)"), std::string("{"), std::string()}) {
    EXPECT_FALSE(is_flow_arrow(text)) << text;
  }
}

class KinetoEventTest : public testing::Test {
 protected:
  const KinetoEvent* parse(const std::string& text) {
    text_ = text + std::string(KinetoEventParser::padding(), ' ');
    return parser_.parse(std::string_view(text_).substr(0, text.size()));
  }

  KinetoEventParser parser_;
  std::string text_;
};

TEST_F(KinetoEventTest, ReadsEveryField) {
  const KinetoEvent* event = parse(
      R"({"ph": "X", "cat": "kernel", "name": "a\"b", "pid": 1427, "tid": 139637976762176, "ts": 4364887253316.716,
          "dur": 2191.79, "id": 5, "args": {"External id": 8705, "device": 3, "context": 1, "stream": 7, "correlation": 9,
          "Sequence number": 138963, "bytes": 512, "graph node id": 4294967297, "graph id": 6, "registers per thread": 28,
          "shared memory": 49152, "grid": [2048, 86, 1], "block": [128, 2, 3], "Input Dims": [[1, 2], []],
          "Input type": ["float", ""], "Collective name": "allreduce", "dtype": "Half", "Process Group Name": "0",
          "Process Group Ranks": [0, 1], "In msg nelems": 100, "Out msg nelems": 200, "Group size": 2, "Seq": 4,
          "event_id": 11, "unknown": {"deep": [1, {"x": null}]}}})");
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->phase, "X");
  EXPECT_EQ(event->category, "kernel");
  EXPECT_EQ(event->name, "a\"b");
  EXPECT_EQ(event->pid, 1427);
  EXPECT_EQ(event->tid, 139637976762176);
  EXPECT_EQ(event->ts_ns, 4364887253316716);
  EXPECT_EQ(event->dur_ns, 2191790);
  EXPECT_FALSE(event->bad_time);
  EXPECT_EQ(event->external_id, 8705);
  EXPECT_EQ(event->device, 3);
  EXPECT_EQ(event->context, 1);
  EXPECT_EQ(event->stream, 7);
  EXPECT_EQ(event->correlation, 9);
  EXPECT_EQ(event->sequence, 138963);
  EXPECT_EQ(event->bytes, 512);
  EXPECT_EQ(event->graph_node, 4294967297);
  EXPECT_EQ(event->graph, 6);
  EXPECT_EQ(event->registers, 28);
  EXPECT_EQ(event->shared_memory, 49152);
  EXPECT_EQ(event->grid, (Dim3{2048, 86, 1}));
  EXPECT_EQ(event->block, (Dim3{128, 2, 3}));
  EXPECT_EQ(event->input_dims, "[[1, 2], []]");
  EXPECT_EQ(event->input_types, R"(["float", ""])");
  EXPECT_EQ(event->collective, "allreduce");
  EXPECT_EQ(event->dtype, "Half");
  EXPECT_EQ(event->group_name, "0");
  EXPECT_EQ(event->group_ranks, "[0, 1]");
  EXPECT_EQ(event->in_elements, 100);
  EXPECT_EQ(event->out_elements, 200);
  EXPECT_EQ(event->group_size, 2);
  EXPECT_EQ(event->seq, 4);
  EXPECT_EQ(event->event_id, 11);
}

TEST_F(KinetoEventTest, AbsentFieldsKeepTheirDefaultAndNothingStaysFromTheEventBefore) {
  parse(
      R"({"ph":"X","name":"before","pid":1,"ts":1,"dur":1,"args":{"correlation":5,"grid":[1,2,3],"Input Dims":[1]}})");
  const KinetoEvent* event = parse("{}");
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->phase, "");
  EXPECT_EQ(event->name, "");
  EXPECT_EQ(event->pid, std::nullopt);
  EXPECT_EQ(event->ts_ns, std::nullopt);
  EXPECT_EQ(event->dur_ns, std::nullopt);
  EXPECT_EQ(event->correlation, std::nullopt);
  EXPECT_EQ(event->grid, Dim3{});
  EXPECT_EQ(event->input_dims, "");
}

TEST_F(KinetoEventTest, IdsMayBeTextOrMissing) {
  const KinetoEvent* event =
      parse(R"({"pid":"Spans","tid":"42","args":{"stream":"7","correlation":-1,"device":null}})");
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->pid, std::nullopt);
  EXPECT_EQ(event->tid, 42);
  EXPECT_EQ(event->stream, 7);
  EXPECT_EQ(event->correlation, -1);
  EXPECT_EQ(event->device, std::nullopt);
}

TEST_F(KinetoEventTest, BadTimesAreMarked) {
  for (const char* field : {R"("ts":NaN)", R"("ts":"soon")", R"("ts":null)", R"("ts":[1])", R"("ts":{"a":1})",
                            R"("ts":1e40)", R"("dur":Infinity)", R"("dur":-Infinity)", R"("dur":true)"}) {
    const KinetoEvent* event = parse(fmt::format(R"({{{},"name":"n"}})", field));
    ASSERT_NE(event, nullptr) << field;
    EXPECT_TRUE(event->bad_time) << field;
    EXPECT_EQ(event->name, "n") << field;
  }
  EXPECT_FALSE(parse(R"({"ts":-1.5,"dur":-2})")->bad_time);
}

TEST_F(KinetoEventTest, GridsOfTheWrongShape) {
  EXPECT_EQ(parse(R"({"args":{"grid":[1]}})")->grid, (Dim3{1, 0, 0}));
  EXPECT_EQ(parse(R"({"args":{"grid":[1,2,3,4]}})")->grid, (Dim3{1, 2, 3}));
  EXPECT_EQ(parse(R"({"args":{"grid":[1,-2,3]}})")->grid, (Dim3{1, 0, 0}));
  EXPECT_EQ(parse(R"({"args":{"grid":[1,99999999999,3]}})")->grid, (Dim3{1, 0, 0}));
  EXPECT_EQ(parse(R"({"args":{"grid":[[1],2]}})")->grid, Dim3{});
  EXPECT_EQ(parse(R"({"args":{"grid":"1,2,3"}})")->grid, Dim3{});
  EXPECT_EQ(parse(R"({"args":{"grid":[1,"x"],"correlation":3}})")->correlation, 3);
}

TEST_F(KinetoEventTest, WhatIsNoObjectHasAnError) {
  for (const char* text : {"", "[]", "1", "\"x\"", "{\"a\":1", "{\"a\" 1}", R"({"name":"x})", "{1:2}", "{,}"}) {
    EXPECT_EQ(parse(text), nullptr) << text;
    EXPECT_NE(parser_.error(), "") << text;
  }
  EXPECT_NE(parse("{}"), nullptr);
  EXPECT_EQ(parser_.error(), "");
}

TEST_F(KinetoEventTest, InvalidUtf8IsReplacedAndCounted) {
  EXPECT_EQ(parser_.repaired(), 0);
  const KinetoEvent* event = parse("{\"name\":\"a\xFF\xC3(\",\"cat\":\"caf\xC3\xA9\"}");
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->name, "a\xEF\xBF\xBD\xEF\xBF\xBD(");
  EXPECT_EQ(event->category, "caf\xC3\xA9");
  EXPECT_EQ(parser_.repaired(), 1);
  parse(R"({"name":"fine"})");
  EXPECT_EQ(parser_.repaired(), 1);
}

TEST_F(KinetoEventTest, EscapesBecomeText) {
  EXPECT_EQ(parse(R"({"name":"\u00e9\n\ud83d\ude00\/"})")->name, "\xC3\xA9\n\xF0\x9F\x98\x80/");
}

TEST_F(KinetoEventTest, KeysMayHaveEscapes) {
  const KinetoEvent* event =
      parse(R"({"n\u0061me":"n","args":{"External\u0020id":7,"a\"b":1,"Ev Idx\\":2,"stream":3}})");
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->name, "n");
  EXPECT_EQ(event->external_id, 7);
  EXPECT_EQ(event->stream, 3);
}

// Texts are looked at in pieces: quotes and escapes may stand at any place of one.
TEST_F(KinetoEventTest, TextsOfAllLengths) {
  for (std::size_t length = 0; length < 40; ++length) {
    const std::string text(length, 'a');
    EXPECT_EQ(parse(R"({"name":")" + text + R"(","cat":"c"})")->name, text);
    EXPECT_EQ(parse(R"({"name":")" + text + R"(\"","cat":"c"})")->name, text + '"');
    EXPECT_EQ(parse(R"({")" + text + R"(":1,"cat":"c"})")->category, "c");
  }
}

TEST_F(KinetoEventTest, ArgumentsMayBeObjects) {
  EXPECT_EQ(parse(R"({"args":{"Input Dims":{"a":[1]}}})")->input_dims, R"({"a":[1]})");
  EXPECT_EQ(parse(R"({"args":{"Input Dims":5}})")->input_dims, "5");
}

// Python writes what is no valid text as a lone surrogate.
TEST_F(KinetoEventTest, ALoneSurrogateDoesNotLoseTheName) {
  const KinetoEvent* event = parse(R"({"name":"before\udc80after"})");
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->name, R"(before\udc80after)");
}

TEST_F(KinetoEventTest, DeepArgumentsDoNotOverflow) {
  parse(R"({"args":{"x":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}}");
  parse(R"({"args":{"grid":)" + std::string(100'000, '[') + "}}");
  EXPECT_NE(parse("{}"), nullptr);
}

}  // namespace
}  // namespace swinscope::test

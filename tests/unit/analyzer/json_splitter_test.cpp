#include "analyzer/json_splitter.h"

#include "tests/unit/analyzer/support.h"

namespace swinscope::test {
namespace {

// What a splitter makes of a document.
struct Split {
  std::vector<std::string> events;
  std::string skeleton;
  bool found = false;
  bool complete = false;
  std::int64_t odd = 0;
  bool unfinished = false;
  bool operator==(const Split&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Split& split) {
  for (const std::string& event : split.events)
    out << "\n  event " << event;
  return out << "\n  skeleton " << split.skeleton << "\n  found " << split.found << " complete " << split.complete
             << " odd " << split.odd << " unfinished " << split.unfinished;
}

Split split(const std::vector<std::string_view>& pieces) {
  Split result;
  JsonSplitter splitter([&](std::string_view event) { result.events.emplace_back(event); });
  for (const std::string_view piece : pieces)
    splitter.feed(piece);
  result.skeleton = splitter.skeleton();
  result.found = splitter.found_events();
  result.complete = splitter.complete();
  result.odd = splitter.odd_elements();
  result.unfinished = splitter.unfinished_bytes() > 0;
  return result;
}

Split split(std::string_view document) { return split(std::vector<std::string_view>{document}); }

using Events = std::vector<std::string>;

constexpr std::string_view kDocument =
    R"( {"a": {"traceEvents": [9]}, "s\"[": "]}\\", "traceEvents" : [{"name":"x[{\"\\","n":{"m":[1,{}]}} ,)"
    R"( {}, 7, "odd,]{", [{"deep":1},2], null, {"last":"}"}], "z": [1, {"traceEvents": []}]} trailing )";

TEST(JsonSplitter, TakesTheDocumentApart) {
  const Split whole = split(kDocument);
  EXPECT_EQ(whole.events, (Events{R"({"name":"x[{\"\\","n":{"m":[1,{}]}})", "{}", R"({"last":"}"})"}));
  EXPECT_EQ(whole.skeleton,
            R"({"a": {"traceEvents": [9]}, "s\"[": "]}\\", "traceEvents" : [], "z": [1, {"traceEvents": []}]})");
  EXPECT_TRUE(whole.found);
  EXPECT_TRUE(whole.complete);
  EXPECT_EQ(whole.odd, 4);
  EXPECT_FALSE(whole.unfinished);
}

TEST(JsonSplitter, EverySplitInTwoEqualsTheWhole) {
  const Split whole = split(kDocument);
  for (std::size_t at = 0; at <= kDocument.size(); ++at) {
    EXPECT_EQ(split({kDocument.substr(0, at), kDocument.substr(at)}), whole) << at;
  }
}

TEST(JsonSplitter, EverySplitInThreeEqualsTheWhole) {
  const Split whole = split(kDocument);
  for (std::size_t first = 0; first <= kDocument.size(); ++first) {
    for (std::size_t second = first; second <= kDocument.size(); ++second) {
      ASSERT_EQ(split({kDocument.substr(0, first), kDocument.substr(first, second - first), kDocument.substr(second)}),
                whole)
          << first << " " << second;
    }
  }
}

TEST(JsonSplitter, ByteByByteEqualsTheWhole) {
  std::vector<std::string_view> bytes;
  for (std::size_t at = 0; at < kDocument.size(); ++at)
    bytes.push_back(kDocument.substr(at, 1));
  EXPECT_EQ(split(bytes), split(kDocument));
}

TEST(JsonSplitter, EveryTruncationKeepsTheWholeEvents) {
  const Split whole = split(kDocument);
  const std::size_t last_byte = kDocument.rfind("} trailing");
  for (std::size_t size = 0; size <= last_byte; ++size) {
    const Split part = split(kDocument.substr(0, size));
    EXPECT_FALSE(part.complete) << size;
    ASSERT_LE(part.events.size(), whole.events.size());
    EXPECT_TRUE(std::equal(part.events.begin(), part.events.end(), whole.events.begin())) << size;
    EXPECT_EQ(whole.skeleton.substr(0, part.skeleton.size()), part.skeleton) << size;
  }
}

TEST(JsonSplitter, ArrayDocuments) {
  const Split whole = split("\xEF\xBB\xBF [ {\"a\":1}, {\"b\":[2]} ] ");
  EXPECT_EQ(whole.events, (Events{R"({"a":1})", R"({"b":[2]})"}));
  EXPECT_EQ(whole.skeleton, "[]");
  EXPECT_TRUE(whole.found);
  EXPECT_TRUE(whole.complete);
  EXPECT_FALSE(split("[{}").complete);
  EXPECT_TRUE(split("[{}").found);
  EXPECT_EQ(split("[]").events, Events{});
  EXPECT_TRUE(split("[]").complete);
}

TEST(JsonSplitter, OnlyTheKeyOfTheDocumentItselfCounts) {
  for (const char* document :
       {R"({"a":{"traceEvents":[{}]}})", R"({"b":["traceEvents",[{}]]})", R"({"a":"traceEvents","b":[{}]})",
        R"({"traceEvents":{"c":[{}]}})", R"({"traceEvents":"[{}]"})", R"({"x\"traceEvents":[{}]})",
        R"({"traceEvents"})", "", "   ", "{}", "{"}) {
    const Split whole = split(document);
    EXPECT_FALSE(whole.found) << document;
    EXPECT_EQ(whole.events, Events{}) << document;
  }
}

TEST(JsonSplitter, ASecondArrayOfThatNameIsPartOfTheRest) {
  const Split whole = split(R"({"traceEvents":[{"a":1}],"traceEvents":[{"b":2}]})");
  EXPECT_EQ(whole.events, Events{R"({"a":1})"});
  EXPECT_EQ(whole.skeleton, R"({"traceEvents":[],"traceEvents":[{"b":2}]})");
}

TEST(JsonSplitter, ElementsThatAreNoObjectsAreCounted) {
  const std::vector<std::pair<const char*, std::int64_t>> cases = {{R"([1,{"a":1}])", 1},
                                                                   {R"(["]",{"a":1}])", 1},
                                                                   {R"(["a,b,{\"x\":1},[",{"a":1}])", 1},
                                                                   {R"([[{"b":2},[3]],{"a":1}])", 1},
                                                                   {R"([1 {"b":2},{"a":1}])", 1},
                                                                   {R"([true,null,-1.5e3,{"a":1}])", 3},
                                                                   {R"([{"a":1},,])", 0},
                                                                   {R"(["\\",{"a":1}])", 1},
                                                                   {R"([[],{"a":1},[]])", 2}};
  for (const auto& [document, odd] : cases) {
    const Split whole = split(document);
    EXPECT_EQ(whole.events, Events{R"({"a":1})"}) << document;
    EXPECT_EQ(whole.odd, odd) << document;
    EXPECT_TRUE(whole.complete) << document;
    for (std::size_t at = 1; at < std::string_view(document).size(); ++at) {
      const std::string_view text = document;
      EXPECT_EQ(split({text.substr(0, at), text.substr(at)}), whole) << document << " at " << at;
    }
  }
}

TEST(JsonSplitter, AMalformedEventCostsItselfOnly) {
  const Split whole = split(R"({"traceEvents":[{"a":nonsense "b"},{"c":]}, {"d":1}]})");
  ASSERT_EQ(whole.events.size(), 3U);
  EXPECT_EQ(whole.events[0], R"({"a":nonsense "b"})");
  EXPECT_EQ(whole.events.back(), R"({"d":1})");
}

TEST(JsonSplitter, AnEventBeyondTheLimitIsRefused) {
  JsonSplitter splitter([](std::string_view) {});
  splitter.feed(R"({"traceEvents":[{"name":")");
  const std::string piece(std::size_t{1} << 20U, 'x');
  const auto error = error_of([&] {
    for (int i = 0; i < 70; ++i)
      splitter.feed(piece);
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
}

TEST(JsonSplitter, TooMuchBesideTheEventsIsRefused) {
  JsonSplitter splitter([](std::string_view) {});
  splitter.feed(R"({"name":")");
  const std::string piece(std::size_t{1} << 20U, 'x');
  const auto error = error_of([&] {
    for (int i = 0; i < 70; ++i)
      splitter.feed(piece);
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
}

// Whoever parses the rest of the document goes as deep as it does.
TEST(JsonSplitter, DeepNestingBesideTheEventsIsRefused) {
  JsonSplitter splitter([](std::string_view) {});
  const auto error = error_of([&] { splitter.feed(R"({"schemaVersion":)" + std::string(100'000, '[')); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
}

}  // namespace
}  // namespace swinscope::test

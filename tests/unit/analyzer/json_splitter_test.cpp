#include "analyzer/importers/json_splitter.h"

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
  std::int64_t lost = 0;
  std::uint64_t behind = 0;
  bool unfinished = false;
  int documents = 1;
  bool operator==(const Split&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Split& split) {
  for (const std::string& event : split.events)
    out << "\n  event " << event;
  return out << "\n  skeleton " << split.skeleton << "\n  found " << split.found << " complete " << split.complete
             << " odd " << split.odd << " lost " << split.lost << " behind " << split.behind << " unfinished "
             << split.unfinished << " documents " << split.documents;
}

Split split(const std::vector<std::string_view>& pieces) {
  Split result;
  JsonSplitter splitter([&](std::string_view event) { result.events.emplace_back(event); },
                        [&](const JsonDocument&) { ++result.documents; });
  for (const std::string_view piece : pieces)
    splitter.feed(piece);
  splitter.finish();
  result.skeleton = splitter.document().skeleton;
  result.found = splitter.document().found_events;
  result.complete = splitter.document().complete;
  result.odd = splitter.document().odd_elements;
  result.lost = splitter.document().lost_events;
  result.behind = splitter.document().bytes_behind;
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
  EXPECT_EQ(whole.lost, 0);
  EXPECT_EQ(whole.behind, 9U);  // "trailing "
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

// A training step as Kineto and as json.dump write it: `bad` is the name of the second of five events.
std::string five_events(std::string_view bad, bool lines) {
  std::string text = R"({"schemaVersion": 1, "traceEvents": [)";
  for (int i = 0; i < 5; ++i) {
    const std::string name = i == 1 ? std::string(bad) : "k" + std::to_string(i);
    text += fmt::format(R"({}{{"ph": "X", "name": "{}",{}"ts": {}, "args": {{"stream": 7, "grid": [1, 2]}}{}}})",
                        i == 0 ? "" : ", ", name, lines ? "\n  " : " ", i, lines ? "\n  " : "");
  }
  return text + R"(], "traceName": "t.json"})";
}

// The events that are left, each by its number.
std::string numbers(const Split& split) {
  std::string result;
  for (const std::string& event : split.events) {
    const std::size_t ts = event.find("\"ts\": ");
    result += ts == std::string::npos ? '?' : event[ts + 6];
  }
  return result;
}

TEST(JsonSplitter, DamageCostsOneEvent) {
  const std::string sound = five_events("good", true);
  const auto without = [&](std::string_view what, std::size_t occurrence, std::string_view instead = "") {
    std::string text = sound;
    std::size_t at = 0;
    for (std::size_t i = 0; i < occurrence; ++i)
      at = text.find(what, at + 1);
    return text.replace(at, what.size(), instead);
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"odd quote, lines", five_events("a\"b", true)},
      {"odd quote, one line", five_events("a\"b", false)},
      {"docstring", five_events(R"("""A docstring.)", false)},
      {"backslash before the quote", five_events(R"(C:\me\)", false)},
      {"missing quote", without("\"good\"", 1, "\"good")},
      {"missing brace of an event", without("}\n  }", 2, "}\n  ")},
      {"missing brace of the arguments", without("}\n  }", 2, "\n  }")},
      {"cut in the middle by another writer", without("\"good\",\n", 1, "\"go")},
  };
  for (const auto& [what, text] : cases) {
    const Split whole = split(text);
    EXPECT_EQ(numbers(whole), "0234") << what << whole;
    EXPECT_EQ(whole.lost, 1) << what << whole;
    EXPECT_TRUE(whole.complete) << what << whole;
    EXPECT_EQ(whole.skeleton, R"({"schemaVersion": 1, "traceEvents": [], "traceName": "t.json"})") << what;
    for (std::size_t at = 1; at < text.size(); ++at) {
      const std::string_view view = text;
      ASSERT_EQ(split({view.substr(0, at), view.substr(at)}), whole) << what << " at " << at;
    }
  }
}

TEST(JsonSplitter, TheLastEventMayBeTheDamagedOne) {
  for (const bool lines : {false, true}) {
    std::string text = five_events("good", lines);
    text.replace(text.find(R"("k4")"), 4, R"("k"4")");
    const Split whole = split(text);
    EXPECT_EQ(numbers(whole), "0123") << whole;
    EXPECT_EQ(whole.lost, 1) << whole;
    EXPECT_TRUE(whole.complete) << whole;
    EXPECT_EQ(whole.skeleton, R"({"schemaVersion": 1, "traceEvents": [], "traceName": "t.json"})");
  }
}

// Far more than what is kept while looking for the way back.
TEST(JsonSplitter, DamageEarlyInALargeDocumentCostsOneEvent) {
  for (const bool lines : {false, true}) {
    std::string text = R"({"traceEvents": [)"
                       "\n";
    constexpr int kEvents = 20'000;
    for (int i = 0; i < kEvents; ++i) {
      text += fmt::format(R"({}{{"ph": "X", "name": "{}",{}"args": {{"correlation": {}}}}})", i == 0 ? "" : ",",
                          i == 10 || i == 9000 ? "an odd \" quote" : "k", lines ? "\n " : " ", i);
    }
    text += R"(], "traceName": "t.json"})";
    std::vector<std::string_view> pieces;
    for (std::size_t at = 0; at < text.size(); at += 262'144)
      pieces.push_back(std::string_view(text).substr(at, 262'144));
    const Split whole = split(pieces);
    EXPECT_EQ(whole.events.size(), kEvents - 2U);
    EXPECT_EQ(whole.lost, 2);
    EXPECT_TRUE(whole.complete);
    EXPECT_EQ(whole.skeleton, R"({"traceEvents": [], "traceName": "t.json"})");
  }
}

// A list of objects in an event is none of its own.
TEST(JsonSplitter, ObjectsWithinAnEventStayThere) {
  const std::string_view document = R"([{"ph":1,"args":{"list":[{"ph":2}, {"ph":3}]}}, {"ph":4}])";
  const Split whole = split(document);
  EXPECT_EQ(whole.events, (Events{R"({"ph":1,"args":{"list":[{"ph":2}, {"ph":3}]}})", R"({"ph":4})"}));
  EXPECT_EQ(whole.lost, 0);
  for (std::size_t at = 1; at < document.size(); ++at)
    EXPECT_EQ(split({document.substr(0, at), document.substr(at)}), whole) << at;
}

TEST(JsonSplitter, ABrokenStringBeforeTheEventsDoesNotHideThem) {
  const Split whole =
      split(R"({"rank": 3, "INFO": ["Logging "event: 5}"], "traceEvents": [{"ph":1},{"ph":2}], "z": 1})");
  EXPECT_EQ(whole.events, (Events{R"({"ph":1})", R"({"ph":2})"}));
  EXPECT_TRUE(whole.complete);
  EXPECT_EQ(whole.skeleton, R"({"rank": 3, "INFO": ["Logging "event: 5}"], "traceEvents": [], "z": 1})");
}

TEST(JsonSplitter, ABrokenStringBehindTheEventsIsNoCut) {
  const Split whole = split("{\"traceEvents\": [{\"ph\":1}], \"INFO\": [\"a \"b: 5}\"]}\n");
  EXPECT_EQ(whole.events.size(), 1U);
  EXPECT_TRUE(whole.complete);
  EXPECT_FALSE(split("{\"traceEvents\": [{\"ph\":1}], \"INFO\": [\"a \"b: 5").complete);
}

TEST(JsonSplitter, SeveralDocuments) {
  const Split whole = split(R"({"traceEvents": [{"a":1}], "n": 1} [{"b":2}]
{"traceEvents": [{"c":3}], "n": 2})");
  EXPECT_EQ(whole.events, (Events{R"({"a":1})", R"({"b":2})", R"({"c":3})"}));
  EXPECT_EQ(whole.documents, 3);
  EXPECT_EQ(whole.skeleton, R"({"traceEvents": [], "n": 2})");
  EXPECT_TRUE(whole.complete);
}

// A longer trace was there before, and the file was not cut.
TEST(JsonSplitter, EventsBehindTheDocumentAreTaken) {
  const Split whole = split(R"({"traceEvents": [{"ph":1}]} 5}, {"ph":2}, {"ph":3}]})");
  EXPECT_EQ(whole.events, (Events{R"({"ph":1})", R"({"ph":2})", R"({"ph":3})"}));
  EXPECT_EQ(whole.skeleton, R"({"traceEvents": []})");
  EXPECT_TRUE(whole.complete);
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

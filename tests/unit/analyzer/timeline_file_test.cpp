// The stored timeline: what is written comes back, and nothing that anyone may have done to it does harm.
#include "analyzer/timeline/timeline_file.h"

#include <gtest/gtest.h>

#include "analyzer/timeline/timeline_codec.h"
#include "store/error.h"
#include "store/schema.h"
#include "tests/unit/analyzer/random_trace.h"
#include "tests/unit/store/support.h"

namespace swinscope {
namespace {

using test::describe;
using test::Dice;
using test::random_lane;
using test::random_trace;
using test::TempFolder;

constexpr const char* kSource = "these events";

class StoredTimeline : public testing::Test {
 protected:
  void write(const Timeline& timeline) {
    Database db = Database::create(path_);
    db.exec("PRAGMA synchronous=OFF");  // many files, none of which must survive
    db.exec(kSchemaSql);
    write_timeline(db, timeline, kSource);
  }
  void change(const std::string& sql) { Database::open_writable(path_).exec(sql); }
  bool holds(std::string_view source) const { return TimelineFile(path_, nullptr).holds(source); }
  Timeline read(int threads = 2) const {
    TimelineFile file(path_, nullptr);
    if (!file.holds(kSource)) throw Error(ErrorKind::kInput, "no timeline");
    file.preview();
    return file.complete(threads, {});
  }
  // The kind of the error that reading ends with; kUsage when it ends well.
  ErrorKind outcome() const {
    try {
      read();
      return ErrorKind::kUsage;
    } catch (const Error& error) {
      return error.kind();
    }
  }

  TempFolder folder_;
  std::filesystem::path path_ = folder_ / "t.db";
};

TEST_F(StoredTimeline, ComesBackAsItWas) {
  Timeline timeline = build_timeline(random_trace(1, 4'000));
  timeline.processes[0].steps = {{-500, 20}, {20, 4'000'000'000}};
  timeline.processes[0].steps_how = "2 x step";
  write(timeline);
  const Timeline again = read();
  EXPECT_EQ(describe(again), describe(timeline));
  EXPECT_EQ(again.processes, timeline.processes);
  EXPECT_FALSE(again.preview);
}

TEST_F(StoredTimeline, ComesBackInSeveralChunks) {
  Timeline timeline;
  timeline.processes.emplace_back();
  for (int i = 0; i < 100; ++i)
    timeline.names.add("name " + std::to_string(i));
  const auto kinds = {LaneKind::kKernels, LaneKind::kRanges};
  for (const LaneKind kind : kinds)
    timeline.lanes.push_back(random_lane(1, 150'000, 100, kind));
  write(timeline);
  EXPECT_EQ(describe(read(3)), describe(timeline));
}

TEST_F(StoredTimeline, HasAPreviewWithTheSameLanes) {
  const Timeline timeline = build_timeline(random_trace(2, 10'000));
  write(timeline);
  TimelineFile file(path_, nullptr);
  ASSERT_TRUE(file.holds(kSource));
  const Timeline preview = file.preview();
  EXPECT_TRUE(preview.preview);
  EXPECT_EQ(describe(preview), describe(make_preview(timeline)));
}

TEST_F(StoredTimeline, ReplacesTheOneBefore) {
  write(build_timeline(random_trace(1, 100)));
  const Timeline timeline = build_timeline(random_trace(2, 100));
  Database db = Database::open_writable(path_);
  write_timeline(db, timeline, kSource);
  EXPECT_EQ(describe(read()), describe(timeline));
}

TEST_F(StoredTimeline, OfOtherEventsOrAnotherVersionIsNone) {
  write(build_timeline(random_trace(1, 50)));
  EXPECT_TRUE(holds(kSource));
  EXPECT_FALSE(holds("other events"));
  change("UPDATE SWINSCOPE_TIMELINE SET version = version + 1");
  EXPECT_FALSE(holds(kSource));
  change("DELETE FROM SWINSCOPE_TIMELINE");
  EXPECT_FALSE(holds(kSource));
  change("DROP TABLE SWINSCOPE_TIMELINE");
  EXPECT_FALSE(holds(kSource));
}

TEST_F(StoredTimeline, DamageIsAnErrorOfTheInput) {
  const std::vector<std::string> damages = {
      "DELETE FROM SWINSCOPE_TIMELINE_CHUNK",
      "DELETE FROM SWINSCOPE_TIMELINE_CHUNK WHERE chunk = 0",
      "DELETE FROM SWINSCOPE_TIMELINE_NAMES",
      "DELETE FROM SWINSCOPE_TIMELINE_PROCESS",
      "DROP TABLE SWINSCOPE_TIMELINE_CHUNK",
      "DROP TABLE SWINSCOPE_TIMELINE_CHUNK; CREATE VIEW SWINSCOPE_TIMELINE_CHUNK AS SELECT 1 AS chunk, 2 AS data",
      "UPDATE SWINSCOPE_TIMELINE_CHUNK SET data = substr(data, 1, length(data) - 1)",
      "UPDATE SWINSCOPE_TIMELINE_CHUNK SET data = data || x'80'",
      "UPDATE SWINSCOPE_TIMELINE_CHUNK SET data = x'ffffffffffffffffffffff'",
      "UPDATE SWINSCOPE_TIMELINE_CHUNK SET data = 17",
      "UPDATE SWINSCOPE_TIMELINE_CHUNK SET data = 'text'",
      "UPDATE SWINSCOPE_TIMELINE_NAMES SET data = data || x'05'",
      "UPDATE SWINSCOPE_TIMELINE_PROCESS SET steps = x'01'",
      "UPDATE SWINSCOPE_TIMELINE_LANE SET process = 5",
      "UPDATE SWINSCOPE_TIMELINE_LANE SET process = -1",
      "UPDATE SWINSCOPE_TIMELINE_LANE SET kind = 9",
      "UPDATE SWINSCOPE_TIMELINE_LANE SET events = events + 1",
      "UPDATE SWINSCOPE_TIMELINE_LANE SET events = 4611686018427387904",
      "UPDATE SWINSCOPE_TIMELINE_LANE SET events = 0",
      "UPDATE SWINSCOPE_TIMELINE_LANE SET chunks = 9223372036854775807",
      "UPDATE SWINSCOPE_TIMELINE_LANE SET firstChunk = -1",
      "UPDATE SWINSCOPE_TIMELINE_LANE SET preview = x'0000'",
  };
  for (const std::string& damage : damages) {
    SCOPED_TRACE(damage);
    std::filesystem::remove(path_);
    write(build_timeline(random_trace(1, 200)));
    ASSERT_EQ(outcome(), ErrorKind::kUsage);
    change(damage);
    EXPECT_EQ(outcome(), ErrorKind::kInput);
  }
}

// Bytes may change so that they are a timeline again, a wrong one; then it must be one in itself.
TEST_F(StoredTimeline, AnyByteMayBeWrong) {
  const TimelineLane lane = random_lane(3, 300, 50);
  const std::string bytes = encode_events(lane, 0, lane.size());
  Dice dice(1);
  int accepted = 0;
  for (int i = 0; i < 5'000; ++i) {
    std::string damaged = bytes;
    for (std::int64_t changes = dice.between(1, 3); changes > 0; --changes) {
      damaged[static_cast<std::size_t>(dice.between(0, static_cast<std::int64_t>(bytes.size()) - 1))] =
          static_cast<char>(dice.between(0, 255));
    }
    if (dice.one_in(4))
      damaged.resize(static_cast<std::size_t>(dice.between(0, static_cast<std::int64_t>(bytes.size()))));
    TimelineLane again;
    again.key = lane.key;
    if (!decode_events(damaged, 50, again)) continue;
    ++accepted;
    again.seal();
    for (LanePosition at = 0; at < again.size(); ++at) {
      ASSERT_LT(again.names()[at], 50U);
      ASSERT_GE(again.duration_ns(at), 0);
      ASSERT_TRUE(at == 0 || again.event_end_ns(at - 1) <= again.start_ns(at));
      ASSERT_TRUE(at == 0 || again.refs()[at - 1] < again.refs()[at]);
    }
  }
  EXPECT_GT(accepted, 100);
}

TEST(TimelineCodec, RefusesEventsBeforeTheLastOfTheLane) {
  const TimelineLane lane = random_lane(1, 10, 5);
  TimelineLane again;
  ASSERT_TRUE(decode_events(encode_events(lane, 5, 10), 5, again));
  EXPECT_FALSE(decode_events(encode_events(lane, 0, 5), 5, again));
}

TEST(TimelineCodec, MendsTextThatIsNone) {
  NameTable names;
  names.add(
      "a\xff"
      "b");
  names.add("");
  NameTable again;
  ASSERT_TRUE(decode_names(encode_names(names, 0, 2), again));
  EXPECT_EQ(again.text(0),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(again.text(1), "");
}

TEST_F(StoredTimeline, ReadingStopsWhenCancelled) {
  write(build_timeline(random_trace(1, 500)));
  std::atomic<bool> cancel = false;
  TimelineFile file(path_, &cancel);
  ASSERT_TRUE(file.holds(kSource));
  file.preview();
  cancel = true;
  EXPECT_THROW(file.complete(2, {}), Error);
}

}  // namespace
}  // namespace swinscope

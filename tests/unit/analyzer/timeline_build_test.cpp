// A trace becomes lanes: nothing is lost, nothing overlaps, and several files share one axis.
#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "analyzer/timeline/timeline.h"
#include "store/error.h"
#include "tests/unit/analyzer/random_trace.h"

namespace swinscope {
namespace {

using test::add_random_process;
using test::describe;
using test::random_trace;

// The events of a trace, by the columns that a lane kind shows: start, duration, name, launch.
struct Columns {
  const std::vector<std::int64_t>* start_ns;
  const std::vector<std::int64_t>* end_ns;
  const std::vector<StringId>* name;
};

Columns columns_of(const Rank& rank, LaneKind kind) {
  if (is_gpu(kind)) return {&rank.gpu.start_ns, &rank.gpu.end_ns, &rank.gpu.name};
  if (kind == LaneKind::kRanges) return {&rank.ranges.start_ns, &rank.ranges.end_ns, &rank.ranges.name};
  return {&rank.api.start_ns, &rank.api.end_ns, &rank.api.name};
}

TEST(BuildTimeline, ShowsEveryEventOnceAsItIs) {
  const Trace trace = random_trace(1, 3'000);
  const Timeline timeline = build_timeline(trace);
  const Rank& rank = trace.ranks.at(0);
  std::set<std::pair<int, EventIndex>> seen;
  for (const TimelineLane& lane : timeline.lanes) {
    const Columns columns = columns_of(rank, lane.key.kind);
    for (LanePosition i = 0; i < lane.size(); ++i) {
      const LaneEvent event = lane.event(i);
      ASSERT_LT(event.ref, columns.start_ns->size());
      EXPECT_EQ(event.start_ns, (*columns.start_ns)[event.ref]);
      EXPECT_EQ(event.end_ns(), (*columns.end_ns)[event.ref]);
      EXPECT_EQ(timeline.names.text(event.name), trace.text((*columns.name)[event.ref]));
      EXPECT_EQ(event.launch, is_gpu(lane.key.kind) ? rank.gpu.launch[event.ref] : kNoEvent);
      const int table = is_gpu(lane.key.kind) ? 0 : static_cast<int>(lane.key.kind);
      EXPECT_TRUE(seen.emplace(table, event.ref).second) << "shown twice";
    }
  }
  EXPECT_EQ(seen.size(), std::size_t{rank.gpu.size()} + rank.ranges.size() + rank.api.size());
  EXPECT_EQ(timeline.event_count(), seen.size());
}

TEST(BuildTimeline, NothingInALaneOverlaps) {
  const Timeline timeline = build_timeline(random_trace(2, 3'000));
  for (const TimelineLane& lane : timeline.lanes) {
    for (LanePosition i = 1; i < lane.size(); ++i)
      ASSERT_LE(lane.event_end_ns(i - 1), lane.start_ns(i)) << lane.label;
  }
}

TEST(BuildTimeline, UsesAsFewSublanesAsCanBe) {
  const Timeline timeline = build_timeline(random_trace(3, 2'000));
  std::map<std::string, std::pair<std::uint32_t, std::vector<const TimelineLane*>>> lanes;
  for (const TimelineLane& lane : timeline.lanes) {
    LaneKey key = lane.key;
    key.sublane = 0;
    const std::string name = fmt::format("{} {} {} {} {} {}", static_cast<int>(key.kind), key.device, key.stream,
                                         key.global_tid, key.domain, key.depth);
    lanes[name].second.push_back(&lane);
  }
  for (const auto& [name, group] : lanes) {
    // At the start of an event of the last sub-lane, each lower one has an event that goes on.
    const TimelineLane& last = *group.second.back();
    EXPECT_EQ(last.key.sublane + 1, group.second.size()) << name;
    for (const TimelineLane* lower : group.second) {
      if (lower == &last) continue;
      for (LanePosition i = 0; i < last.size(); ++i) {
        const LanePosition behind = lower->first_from(last.start_ns(i) + 1);
        ASSERT_TRUE(behind > 0 && (lower->event_end_ns(behind - 1) > last.start_ns(i) ||
                                   lower->start_ns(behind - 1) == last.start_ns(i)))
            << name << ", event " << i;
      }
    }
  }
}

TEST(BuildTimeline, PartsAStreamByTheKindOfWork) {
  const Trace trace = random_trace(4, 1'000);
  const Timeline timeline = build_timeline(trace);
  std::set<LaneKind> kinds;
  for (const TimelineLane& lane : timeline.lanes) {
    kinds.insert(lane.key.kind);
    if (!is_gpu(lane.key.kind)) continue;
    for (const EventIndex ref : lane.refs())
      EXPECT_EQ(static_cast<int>(trace.ranks[0].gpu.gpu_class[ref]), static_cast<int>(lane.key.kind));
  }
  EXPECT_EQ(kinds.size(), static_cast<std::size_t>(kLaneKinds));
}

TEST(BuildTimeline, PartsRangesByDepth) {
  const Trace trace = random_trace(5, 1'000);
  std::set<std::uint16_t> depths;
  for (const TimelineLane& lane : build_timeline(trace).lanes) {
    if (lane.key.kind != LaneKind::kRanges) continue;
    depths.insert(lane.key.depth);
    for (const EventIndex ref : lane.refs())
      EXPECT_EQ(trace.ranks[0].ranges.depth[ref], lane.key.depth);
  }
  EXPECT_GT(depths.size(), 3U);
}

TEST(BuildTimeline, NamesLanes) {
  const Timeline timeline = build_timeline(random_trace(6, 500));
  std::set<std::string> labels;
  for (const TimelineLane& lane : timeline.lanes)
    labels.insert(lane.label);
  for (const char* label :
       {"stream 7", "comm, stream 8", "copies, stream 7", "main (1)", "thread 2 · domain 1", "main (1) · CUDA calls"}) {
    EXPECT_TRUE(labels.contains(label)) << label;
  }
}

TEST(BuildTimeline, IsTheSameWithAnyNumberOfThreads) {
  const Trace trace = random_trace(7, 2'000);
  EXPECT_EQ(describe(build_timeline(trace, 1)), describe(build_timeline(trace, 4)));
}

TEST(BuildTimeline, OfNothingIsEmpty) {
  const Timeline timeline = build_timeline(Trace());
  EXPECT_TRUE(timeline.lanes.empty());
  EXPECT_EQ(timeline.span(), (Interval{0, 1}));
}

TEST(BuildTimeline, StopsWhenCancelled) {
  const std::atomic<bool> cancel = true;
  try {
    build_timeline(random_trace(8, 100), 2, &cancel);
    FAIL() << "not stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInterrupted);
  }
}

TEST(Timeline, FindsEventsOfTheTrace) {
  const Trace trace = random_trace(9, 300);
  const Timeline timeline = build_timeline(trace);
  for (EventIndex ref = 0; ref < trace.ranks[0].gpu.size(); ++ref) {
    const TimelineEventId id = timeline.find(0, LaneKind::kKernels, ref);
    ASSERT_NE(id.position, kNoPosition);
    EXPECT_EQ(timeline.event(id).start_ns, trace.ranks[0].gpu.start_ns[ref]);
  }
  EXPECT_EQ(timeline.find(0, LaneKind::kCalls, 1'000'000).position, kNoPosition);
  EXPECT_EQ(timeline.find(1, LaneKind::kCalls, 0).position, kNoPosition);
}

Timeline one_rank(unsigned seed, std::int32_t rank, std::int64_t utc_epoch_ns) {
  TraceBuilder builder;
  add_random_process(builder, seed, 200, rank, utc_epoch_ns);
  Trace trace;
  builder.move_into(trace);
  return build_timeline(trace);
}

TEST(MergeTimelines, PutsRanksInOrderOnOneAxis) {
  const Timeline first = one_rank(1, 1, 5'000'000'000);
  const Timeline second = one_rank(2, 0, 5'000'700'000);
  std::vector<Timeline> parts;
  parts.push_back(first);
  parts.push_back(second);
  const Timeline merged = merge_timelines(std::move(parts));
  ASSERT_EQ(merged.processes.size(), 2U);
  EXPECT_EQ(merged.processes[0].rank, 0);
  EXPECT_EQ(merged.processes[0].offset_ns, 700'000);
  EXPECT_EQ(merged.processes[1].offset_ns, 0);
  EXPECT_EQ(merged.event_count(), first.event_count() + second.event_count());
  ASSERT_EQ(merged.lanes.size(), first.lanes.size() + second.lanes.size());
  for (std::size_t i = 0; i < second.lanes.size(); ++i) {
    const TimelineLane& lane = merged.lanes[i];
    EXPECT_EQ(lane.key.process, 0U);
    EXPECT_EQ(lane.start_ns(0), second.lanes[i].start_ns(0) + 700'000);
    EXPECT_EQ(merged.names.text(lane.names()[0]), second.names.text(second.lanes[i].names()[0]));
  }
}

TEST(MergeTimelines, LeavesTimesAloneWhenASessionHasNoStart) {
  std::vector<Timeline> parts;
  parts.push_back(one_rank(1, 0, 0));
  parts.push_back(one_rank(2, 1, 5'000'700'000));
  for (const TimelineProcess& process : merge_timelines(std::move(parts)).processes)
    EXPECT_EQ(process.offset_ns, 0);
}

TEST(MergeTimelines, SharesNames) {
  std::vector<Timeline> parts;
  parts.reserve(3);
  for (int rank = 0; rank < 3; ++rank)
    parts.push_back(one_rank(1, rank, 1));
  const NameId names = parts[0].names.size();
  EXPECT_EQ(merge_timelines(std::move(parts)).names.size(), names);
}

TEST(Preview, StandsForEveryLane) {
  const Timeline timeline = build_timeline(random_trace(10, 20'000));
  const Timeline preview = make_preview(timeline);
  EXPECT_TRUE(preview.preview);
  ASSERT_EQ(preview.lanes.size(), timeline.lanes.size());
  std::int64_t coarse_lanes = 0;
  for (std::size_t i = 0; i < timeline.lanes.size(); ++i) {
    const TimelineLane& lane = timeline.lanes[i];
    const TimelineLane& coarse = preview.lanes[i];
    EXPECT_EQ(coarse.key, lane.key);
    EXPECT_LE(coarse.size(), std::max<LanePosition>(lane.size() > 2048 ? 2048 : lane.size(), 1));
    coarse_lanes += coarse.size() < lane.size() ? 1 : 0;
    const Interval all{timeline.span().begin_ns, timeline.span().end_ns};
    EXPECT_EQ(coarse.busy_ns(all.begin_ns, all.end_ns), lane.busy_ns(all.begin_ns, all.end_ns)) << lane.label;
  }
  EXPECT_GT(coarse_lanes, 0);
}

}  // namespace
}  // namespace swinscope

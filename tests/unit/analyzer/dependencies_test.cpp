// What waited for what: as it was recorded, and where it was not.
#include "analyzer/facts/dependencies.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/analyzer/hand_trace.h"

namespace swinscope::test {
namespace {

const Stream kMain{7};
const Stream kSide{8};

class DependenciesTest : public testing::Test {
 protected:
  // "cudaStreamWaitEvent at 20: stream 8 for a", "cudaEventSynchronize at 30 for a".
  std::vector<std::string> waits() {
    trace_ = hand_.build();
    const Rank& of = trace_.ranks.at(0);
    const Dependencies found(trace_, of);
    unresolved_ = found.unresolved();
    are_recorded_ = found.are_recorded();
    const auto call = [&](EventIndex e) {
      return fmt::format("{} at {}", trace_.text(of.api.name[e]), of.api.start_ns[e] / 1'000);
    };
    const auto name = [&](EventIndex e) { return trace_.text(of.gpu.name[e]); };
    std::vector<std::string> lines;
    for (const StreamWait& wait : found.stream_waits()) {
      lines.push_back(
          fmt::format("{}: stream {} for {}", call(wait.call), of.gpu_lanes[wait.lane].stream, name(wait.event)));
    }
    for (const HostWait& wait : found.host_waits())
      lines.push_back(fmt::format("{} for {}", call(wait.call), name(wait.event)));
    return lines;
  }
  using Lines = std::vector<std::string>;

  HandTrace hand_;
  HandRank& rank_ = hand_.add_rank();
  Trace trace_;
  std::int64_t unresolved_ = 0;
  bool are_recorded_ = false;
};

TEST_F(DependenciesTest, AStreamWaitsForTheRecordOfThatNumber) {
  rank_.launch("a", 0, 5, 40);
  rank_.record({1, 41}, 4);
  rank_.launch("b", 6, 40, 60);
  rank_.record({1, 42}, 10);  // the same event again
  rank_.launch("c", 12, 60, 80);
  rank_.sync(SyncType::kStreamWaitEvent, 14, 15, kSide, {1, 41});
  rank_.launch("on 8", 16, 41, 50, kSide);
  rank_.sync(SyncType::kStreamWaitEvent, 20, 21, kSide, {1, 42});
  EXPECT_EQ(waits(), (Lines{"cudaStreamWaitEvent at 14: stream 8 for a", "cudaStreamWaitEvent at 20: stream 8 for b"}));
  EXPECT_TRUE(are_recorded_);
  EXPECT_EQ(unresolved_, 0);
}

TEST_F(DependenciesTest, WithoutNumbersItIsTheLastRecordOfTheEventBefore) {
  rank_.launch("a", 0, 5, 40);
  rank_.record({1}, 4);
  rank_.launch("b", 6, 40, 60);
  rank_.record({2}, 10);
  rank_.launch("c", 12, 60, 80);
  rank_.sync(SyncType::kStreamWaitEvent, 16, 17, kSide, {1});
  rank_.sync(SyncType::kStreamWaitEvent, 18, 19, kSide, {2});
  rank_.record({1}, 20);
  rank_.sync(SyncType::kStreamWaitEvent, 24, 25, kSide, {1});
  rank_.launch("on 8", 30, 81, 90, kSide);
  EXPECT_EQ(waits(), (Lines{"cudaStreamWaitEvent at 16: stream 8 for a", "cudaStreamWaitEvent at 18: stream 8 for b",
                            "cudaStreamWaitEvent at 24: stream 8 for c"}));
}

TEST_F(DependenciesTest, AnEventOfAnotherContextIsAnotherOne) {
  rank_.launch("a", 0, 5, 40);
  rank_.record({1}, 4, {7, 0, 2});
  rank_.launch("other", 6, 5, 40, {7, 0, 2});
  rank_.sync(SyncType::kStreamWaitEvent, 16, 17, kMain, {1});
  EXPECT_EQ(waits(), Lines{});
  EXPECT_EQ(unresolved_, 1);
}

TEST_F(DependenciesTest, TheHostWaitsForAnEventAStreamAContext) {
  rank_.launch("a", 0, 5, 40);
  rank_.record({3, 9}, 4);
  rank_.launch("b", 6, 40, 60);
  rank_.launch("on 8", 10, 15, 50, kSide);
  rank_.launch("of another context", 14, 15, 90, {7, 0, 2});
  rank_.sync(SyncType::kEvent, 20, 43, {0}, {3, 9});
  rank_.sync(SyncType::kStream, 45, 52, kSide);
  rank_.sync(SyncType::kContext, 55, 63, {0xFFFFFFFF});
  rank_.launch("later", 70, 75, 80);
  EXPECT_EQ(waits(), (Lines{"cudaEventSynchronize at 20 for a", "cudaStreamSynchronize at 45 for on 8",
                            "cudaDeviceSynchronize at 55 for b", "cudaDeviceSynchronize at 55 for on 8"}));
}

TEST_F(DependenciesTest, AnEventThatWasRecordedBeforeTheTraceIsUnresolved) {
  rank_.launch("a", 0, 5, 40);
  rank_.sync(SyncType::kStreamWaitEvent, 4, 5, kSide, {1, 41});
  rank_.sync(SyncType::kEvent, 6, 7, {0}, {2});
  rank_.launch("on 8", 10, 15, 50, kSide);
  EXPECT_EQ(waits(), Lines{});
  EXPECT_EQ(unresolved_, 2);
}

TEST_F(DependenciesTest, AnEventOnAnEmptyStreamIsNothingToWaitFor) {
  rank_.record({1, 41}, 0);
  rank_.launch("a", 2, 7, 40);
  rank_.launch("on 8", 4, 9, 40, kSide);
  rank_.sync(SyncType::kStreamWaitEvent, 8, 9, kSide, {1, 41});
  rank_.record({2, 42}, 10, {9});  // a stream that never held anything
  rank_.sync(SyncType::kStreamWaitEvent, 12, 13, kSide, {2, 42});
  EXPECT_EQ(waits(), Lines{});
  EXPECT_EQ(unresolved_, 0);
}

// Some recorders join a wait to whatever record of the event they saw last.
TEST_F(DependenciesTest, ARecordAfterTheWaitIsNotTheOneThatItWaitsFor) {
  rank_.launch("a", 0, 5, 40);
  rank_.record({1, 41}, 4);
  rank_.sync(SyncType::kEvent, 6, 43, {0}, {1, 42});
  rank_.launch("b", 45, 50, 60);
  rank_.record({1, 42}, 48);
  EXPECT_EQ(waits(), Lines{"cudaEventSynchronize at 6 for a"});
}

// A query that no call was recorded of has the correlation 0, as calls may have that launch nothing.
TEST_F(DependenciesTest, AWaitWithoutACallIsNone) {
  HandTrace hand;
  TraceBuilder builder;
  RecordSink& sink = builder.add_process();
  HandRank rank(sink, 0, 1'000);
  rank.launch("a", 0, 5, 40);
  ApiRecord call;
  call.start_ns = 50'000;
  call.end_ns = 51'000;
  call.global_tid = rank.run.global_pid + 1;
  call.name = sink.intern("cudaGetLastError");
  sink.add(call);
  SyncRecord sync;
  sync.start_ns = 60'000;
  sync.end_ns = 61'000;
  sync.global_pid = rank.run.global_pid;
  sync.context = 1;
  sync.type = SyncType::kContext;
  sink.add(sync);
  rank.finish();
  Trace trace;
  builder.move_into(trace);
  EXPECT_TRUE(Dependencies(trace, trace.ranks[0]).host_waits().empty());
}

TEST_F(DependenciesTest, WithoutRecordsACallIsKnownByItsName) {
  rank_.launch("a", 0, 5, 40);
  rank_.launch("on 8", 4, 9, 90, kSide);
  rank_.call("cudaEventSynchronize_v3020", 10, 43);
  rank_.call("cudaDeviceSynchronize", 45, 93);
  rank_.call("cudaStreamWaitEvent", 95, 96);  // whose stream nobody knows
  rank_.call("cudaMalloc", 100, 105);
  EXPECT_EQ(waits(), (Lines{"cudaEventSynchronize at 10 for a", "cudaDeviceSynchronize at 45 for a",
                            "cudaDeviceSynchronize at 45 for on 8"}));
  EXPECT_FALSE(are_recorded_);
}

// It cannot be what goes on after the call has returned.
TEST_F(DependenciesTest, ByNameItIsTheWorkThatEndedLastBeforeTheCallDid) {
  rank_.launch("a", 0, 5, 40);
  rank_.launch("long", 4, 9, 500, kSide);
  rank_.launch("early", 6, 9, 20, {9});
  rank_.call("cudaStreamSynchronize", 10, 43);
  rank_.launch("launched later", 30, 35, 38, {9}, 2);
  EXPECT_EQ(waits(), Lines{"cudaStreamSynchronize at 10 for a"});
}

TEST_F(DependenciesTest, ACopyOfPageableMemoryBlocksUntilItIsDone) {
  rank_.copy(rank_.call("cudaMemcpyAsync", 0, 32), 10, 30, MemoryKind::kPageable);
  rank_.copy(rank_.call("cudaMemcpyAsync", 40, 45), 50, 70, MemoryKind::kPageable);  // small: it was copied elsewhere
  rank_.copy(rank_.call("cudaMemcpyAsync", 80, 122), 90, 120, MemoryKind::kPinned);
  EXPECT_EQ(waits(), Lines{"cudaMemcpyAsync at 0 for Memcpy HtoD (Pageable -> Device)"});
}

// Its nodes run on several streams; what follows on one of them follows the whole graph.
TEST_F(DependenciesTest, WhoWaitsForAGraphWaitsForItsEnd) {
  const std::uint32_t graph = rank_.call("cudaGraphLaunch", 0, 3);
  rank_.kernel("first", graph, 6, 20, kMain, 1);
  rank_.kernel("branch", graph, 20, 50, kSide, 2);
  rank_.kernel("last of 7", graph, 20, 30, kMain, 3);
  rank_.record({1, 41}, 4);
  rank_.sync(SyncType::kStreamWaitEvent, 6, 7, {9}, {1, 41});
  rank_.launch("on 9", 8, 51, 60, {9});
  rank_.sync(SyncType::kStream, 12, 53);
  EXPECT_EQ(waits(),
            (Lines{"cudaStreamWaitEvent at 6: stream 9 for branch", "cudaStreamSynchronize at 12 for branch"}));
}

// Each process counts its calls itself.
TEST_F(DependenciesTest, ACallOfAnotherProcessWithTheSameNumberIsAnotherCall) {
  TraceBuilder builder;
  RecordSink& sink = builder.add_process();
  HandRank rank(sink, 0, 1'000);
  ApiRecord other;
  other.start_ns = 100'000;
  other.end_ns = 101'000;
  other.global_tid = make_global_tid(5, 1);  // before the threads of the rank's own
  other.correlation = 2;
  other.name = sink.intern("cudaMalloc");
  sink.add(other);
  rank.launch("a", 0, 5, 40);
  rank.sync(SyncType::kStream, 10, 43);
  rank.finish();
  Trace trace;
  builder.move_into(trace);
  const Rank& of = trace.ranks[0];
  const Dependencies found(trace, of);
  ASSERT_EQ(found.host_waits().size(), 1U);
  EXPECT_EQ(of.api.start_ns[found.host_waits()[0].call], 10'000);
}

}  // namespace
}  // namespace swinscope::test

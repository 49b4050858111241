#include "analyzer/facts/trace_doubts.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

#include "tests/unit/analyzer/hand_trace.h"

namespace swinscope::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Two steps of 100, each a graph of two nodes whose launch takes 40; its work begins so long before that ends.
Trace trace_of_graphs(std::int64_t first_ends_after, bool has_nodes = true) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (const std::int64_t at : {0, 100}) {
    const std::uint32_t launch = rank.call("cudaGraphLaunch", at, at + 40);
    rank.kernel("first", launch, at + 40 - first_ends_after, at + 60, {}, has_nodes ? 1 : 0);
    rank.kernel("second", launch, at + 60, at + 90, {}, has_nodes ? 2 : 0);
    rank.step(at, at + 100);
  }
  return hand.build();
}

std::vector<std::string> doubts(const Trace& trace) { return doubts_of(trace, RunScope(trace)); }

TEST(TraceDoubts, LaunchesOfGraphsAreLongerWhereNodesWereRecorded) {
  EXPECT_THAT(
      doubts(trace_of_graphs(0)),
      ElementsAre("rank 0: 40.0 % of the time GPU 0 waits for launches of CUDA graphs (40.00 us each, of 2 "
                  "nodes), which are longer because their nodes were recorded: --cuda-graph-trace graph records each "
                  "graph as one"));
}

TEST(TraceDoubts, LaunchesBesideWorkOfTheGpuKeepItFromNothing) {
  EXPECT_THAT(doubts(trace_of_graphs(38)), IsEmpty());
  EXPECT_THAT(doubts(trace_of_graphs(0, false)), IsEmpty()) << "other launches";
}

// A step of 10 ms: the host copies for 8, and the bytes arrive in the last of it. `fill` adds what else there is.
std::vector<std::string> doubts_of_a_copy(
    std::string_view call, std::int64_t bytes, const std::function<void(HandRank&)>& fill = [](HandRank&) {}) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.launch("before", 0, 10, 900);
  fill(rank);
  rank.copy(rank.call(call, 1'000, 9'000), 8'999, 9'000, MemoryKind::kPageable, {}, bytes);
  rank.launch("after", 9'010, 9'100, 9'900);
  rank.step(0, 10'000);
  return doubts(hand.build());
}

TEST(TraceDoubts, AWaitWhileNothingRunsIsForWhatWasNotRecorded) {
  EXPECT_THAT(
      doubts_of_a_copy("hipMemcpyWithStream", 4),
      ElementsAre("rank 0: 80.0 % of the time, 7.999 ms, the host waits for the GPU (hipMemcpyWithStream) while "
                  "nothing runs there: what it waits for was not recorded, and the GPU may have been busy with "
                  "it"));
  EXPECT_THAT(doubts_of_a_copy("cudaMemcpyAsync", 4), IsEmpty()) << "it need not wait";
}

TEST(TraceDoubts, AWaitForRecordedWorkOrForTheHostsOwnCopyIsNone) {
  const auto busy_on = [](std::int32_t device) {
    return [device](HandRank& rank) { rank.launch("long", 950, 960, 8'900, {.stream = 8, .device = device}); };
  };
  EXPECT_THAT(doubts_of_a_copy("cudaMemcpy", 4, busy_on(0)), IsEmpty());
  EXPECT_THAT(doubts_of_a_copy("cudaMemcpy", 4, busy_on(1)), IsEmpty()) << "another GPU of the rank";
  EXPECT_THAT(doubts_of_a_copy("cudaMemcpy", 7'999'000), SizeIs(1));
  EXPECT_THAT(doubts_of_a_copy("cudaMemcpy", 7'999'001), IsEmpty()) << "1 ns a byte";
}

TEST(TraceDoubts, AWaitThatIsAFewPerCentOfTheTimeIsNotSaid) {
  const auto wait_of = [](std::int64_t length) {
    HandTrace hand;
    HandRank& rank = hand.add_rank();
    rank.launch("before", 0, 10, 1'000);
    rank.call("cudaStreamSynchronize", 1'000, 1'000 + length);
    rank.launch("after", 20'000, 20'010, 39'900);
    rank.step(0, 40'000);
    return doubts(hand.build());
  };
  EXPECT_THAT(wait_of(2'000), SizeIs(1));
  EXPECT_THAT(wait_of(1'999), IsEmpty());
}

}  // namespace
}  // namespace swinscope::test

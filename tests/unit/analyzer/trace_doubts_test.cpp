#include "analyzer/facts/trace_doubts.h"

#include <gmock/gmock.h>

#include "tests/unit/analyzer/hand_trace.h"

namespace swinscope::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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

}  // namespace
}  // namespace swinscope::test

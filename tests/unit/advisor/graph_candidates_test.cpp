// What is launched as a CUDA graph, and what is not.
#include <gmock/gmock.h>

#include "tests/unit/advisor/candidates.h"

namespace swinscope::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Graph, IsOfEightLaunchesWithoutAWait) {
  Candidates run([](HandStep& step) {
    for (int i = 0; i < 8; ++i)
      step.kernel(kGemm, 10);
    step.wait();
    for (int i = 0; i < 7; ++i)
      step.kernel(kNorm, 10);
  });
  const std::vector<Change> found = find_graphs(run.work());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "graph-1");
  EXPECT_EQ(found[0].kind, "graph");
  EXPECT_EQ(found[0].title, "Launch 8 launches a step as CUDA graphs (1 a step)");
  ASSERT_THAT(found[0].captured, SizeIs(1));
  EXPECT_EQ(found[0].captured[0].nodes, 8);
  EXPECT_THAT(found[0].captured[0].calls, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(run.names(found[0].evidence), Names(8, std::string(kGemm))) << "what is not captured is no part of it";
  EXPECT_THAT(found[0].scaled, IsEmpty());
  EXPECT_THAT(found[0].removed(), IsEmpty());
}

// As of every other count: of a step of a rank, not of all ranks together.
TEST(Graph, CountsTheLaunchesOfAStepOfARank) {
  HandTrace hand;
  for (int i = 0; i < 2; ++i) {
    HandRank& rank = hand.add_rank();
    HandStep step(rank);
    for (int launch = 0; launch < 8; ++launch)
      step.kernel(kGemm, 10);
    step.wait().end();
  }
  const Replayed run(hand.build());
  Work work(run.facts, run.graph);
  const std::vector<Change> found = find_graphs(work);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].captured, SizeIs(2));
  EXPECT_EQ(found[0].title, "Launch 8 launches a step as CUDA graphs (1 a step)");
}

TEST(Graph, IsNotOfSevenLaunches) {
  Candidates run([](HandStep& step) {
    for (int i = 0; i < 14; ++i) {
      if (i == 7) step.wait();
      step.kernel(kGemm, 10);
    }
  });
  EXPECT_THAT(find_graphs(run.work()), IsEmpty());
}

// Not the way to a launch: whatever it is, a graph would not do away with it.
TEST(Graph, EndsWhereTheHostDoesSomethingElse) {
  const auto launches = [](std::int64_t pause) {
    return [pause](HandStep& step) {
      for (int i = 0; i < 14; ++i) {
        if (i == 7) step.pause(pause);
        step.kernel(kGemm, 10);
      }
    };
  };
  EXPECT_THAT(find_graphs(Candidates(launches(490)).work()), SizeIs(1));
  EXPECT_THAT(find_graphs(Candidates(launches(510)).work()), IsEmpty());
}

// Asking something, noting an event or setting no bytes, of which no work came, ends no graph; allocating and copying
// synchronously does.
TEST(Graph, LeavesOutWhatOnlyAsks) {
  const auto changes_with = [](std::string_view call) {
    HandTrace hand;
    HandRank& rank = hand.add_rank();
    rank.run.source = "another recorder";
    for (std::int64_t i = 0; i < 10; ++i) {
      rank.kernel(kGemm, rank.call("cudaLaunchKernel", 20 * i, 20 * i + 2), 20 * i + 5, 20 * i + 12);
      if (i == 4) rank.call(call, 20 * i + 4, 20 * i + 6);
    }
    rank.call("cudaDeviceSynchronize", 200, 205);
    rank.step(0, 210);
    const Replayed run(hand.build());
    return find_graphs(Work(run.facts, run.graph));
  };
  for (const std::string_view harmless : {"cudaStreamIsCapturing", "cudaEventRecord", "cudaGetErrorString",
                                          "cudaMemsetAsync", "cudaStreamGetPriority", "hipCtxGetCurrent"}) {
    const std::vector<Change> found = changes_with(harmless);
    ASSERT_THAT(found, SizeIs(1)) << harmless;
    EXPECT_EQ(found[0].captured.at(0).nodes, 10) << harmless;
    EXPECT_THAT(found[0].captured.at(0).left_out, SizeIs(1)) << harmless;
  }
  for (const std::string_view ends : {"cudaMalloc", "cudaMemcpy", "hipMemcpyWithStream"})
    EXPECT_THAT(changes_with(ends), IsEmpty()) << ends << ": five on each side";
}

TEST(Graph, IsOfOneStep) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.run.source = "another recorder";
  for (std::int64_t i = 0; i < 20; ++i)
    rank.kernel(kGemm, rank.call("cudaLaunchKernel", 20 * i, 20 * i + 2), 20 * i + 5, 20 * i + 12);
  rank.step(0, 200);
  rank.step(200, 400);
  const Replayed run(hand.build());
  const std::vector<Change> found = find_graphs(Work(run.facts, run.graph));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].captured, SizeIs(2));
}

TEST(Graph, IsNotOfHipsGraphs) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::int64_t i = 0; i < 9; ++i) {
    const std::uint32_t launch = rank.call("hipGraphLaunch", 100 * i, 100 * i + 10);
    rank.kernel(kGemm, launch, 100 * i + 10, 100 * i + 50);
    rank.kernel(kGemm, launch, 100 * i + 51, 100 * i + 90);
  }
  rank.step(0, 900);
  const Replayed run(hand.build());
  EXPECT_THAT(find_graphs(Work(run.facts, run.graph)), IsEmpty());
}

TEST(Graph, IsNotOfGraphs) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  const std::uint32_t launch = rank.call("cudaGraphLaunch", 0, 10);
  for (std::uint64_t node = 1; node <= 9; ++node) {
    const auto start = static_cast<std::int64_t>(10 * node);
    rank.kernel(kGemm, launch, start, start + 9, {}, node);
  }
  rank.step(0, 110);
  const Replayed run(hand.build());
  EXPECT_THAT(find_graphs(Work(run.facts, run.graph)), IsEmpty());
}

}  // namespace
}  // namespace swinscope::test

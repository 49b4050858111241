// What is known of CUDA graphs without having been recorded: launches as one piece of work, and waits between nodes;
// and kernels that find no room.
#include <fmt/format.h>

#include "advisor/replay.h"
#include "tests/unit/advisor/replayed.h"

namespace swinscope::test {
namespace {

const Stream kMain{7};
const Stream kSide{8};
using Lines = std::vector<std::string>;

class GraphWaits : public testing::Test {
 protected:
  GraphWaits() : rank_(hand_.add_rank()) {
    for (std::int64_t i = 0; i < 6; ++i)  // what a launch into an idle stream takes
      rank_.launch(fmt::format("k{}", i), 10 * i, 10 * i + 5, 10 * i + 6, kMain);
  }

  std::uint32_t launch_graph(std::int64_t begin) { return rank_.call("cudaGraphLaunch", begin, begin + 2); }

  HandTrace hand_;
  HandRank& rank_;
};

// The graph: a on the stream of its launch, then b on one of its own.
TEST_F(GraphWaits, ALaunchIsOnePieceOfWorkOfItsStream) {
  for (std::int64_t i = 0; i < 3; ++i) {
    const std::uint32_t graph = launch_graph(60 + 3 * i);
    rank_.kernel(fmt::format("a{}", i), graph, 65 + 42 * i, 75 + 42 * i, kMain, 101);
    rank_.kernel(fmt::format("b{}", i), graph, 76 + 42 * i, 106 + 42 * i, kSide, 102);
  }
  rank_.launch("after", 70, 191, 200, kMain);
  rank_.step(0, 210);
  Replayed run(hand_.build());
  EXPECT_EQ(run.differences(), Lines{});
  EXPECT_EQ(run.of("a1").by, run.op("b0"));
  EXPECT_EQ(run.of("after").by, run.op("b2"));

  run.last("b0", 10);
  run.again();
  EXPECT_EQ(run.at("b0"), Times(76, 86));
  EXPECT_EQ(run.at("a1"), Times(87, 97));
  EXPECT_EQ(run.at("after"), Times(171, 180));
}

// No work but the graph's is on its streams, and yet its launches do not overlap.
TEST_F(GraphWaits, LaunchesOfOneGraphFollowEachOther) {
  const Stream first{9};
  for (std::int64_t i = 0; i < 3; ++i) {
    const std::uint32_t graph = launch_graph(60 + 3 * i);
    rank_.kernel(fmt::format("a{}", i), graph, 65 + 42 * i, 75 + 42 * i, first, 101);
    rank_.kernel(fmt::format("b{}", i), graph, 76 + 42 * i, 106 + 42 * i, kSide, 102);
  }
  rank_.step(0, 210);
  Replayed run(hand_.build());
  run.last("b0", 10);
  run.again();
  EXPECT_EQ(run.at("a1"), Times(87, 97));
}

// b starts 12 after the end of a in two launches; in the third it had to wait for something else. In the first launch c
// happens to have ended just before, in the others it is still at work.
TEST_F(GraphWaits, ANodeWaitsForWhatHadEndedInEveryLaunch) {
  const std::int64_t lengths_of_c[] = {10, 30, 30};
  const std::int64_t delays_of_b[] = {12, 12, 20};
  for (std::int64_t i = 0; i < 3; ++i) {
    const std::int64_t begin = 65 + 100 * i;
    const std::uint32_t graph = launch_graph(60 + 3 * i);
    rank_.kernel(fmt::format("a{}", i), graph, begin, begin + 10, kMain, 101);
    rank_.kernel(fmt::format("c{}", i), graph, begin + 11, begin + 11 + lengths_of_c[i], kMain, 102);
    const std::int64_t begin_of_b = begin + 10 + delays_of_b[i];
    rank_.kernel(fmt::format("b{}", i), graph, begin_of_b, begin_of_b + 40, kSide, 103);
  }
  rank_.step(0, 400);
  Replayed run(hand_.build());
  EXPECT_EQ(run.at("b0"), Times(87, 127));
  EXPECT_EQ(run.of("b0").by, run.op("a0"));
  EXPECT_EQ(run.graph.ranks[0].inferred_waits, 3);
  run.last("c0", 1);
  run.again();
  EXPECT_EQ(run.at("b0"), Times(87, 127));
  run.last("a0", 2);
  run.again();
  EXPECT_EQ(run.at("b0"), Times(79, 119));
}

// Two graphs cannot be told from one where nothing numbers their nodes; what happened is not contradicted.
TEST_F(GraphWaits, WhatTheTraceContradictsIsNotAdded) {
  for (std::int64_t i = 0; i < 2; ++i) {
    const std::uint32_t graph = launch_graph(60 + 3 * i);
    rank_.kernel(fmt::format("a{}", i), graph, 65 + 11 * i, 75 + 11 * i, kMain, 101);
    rank_.kernel(fmt::format("b{}", i), graph, 66 + 40 * i, 105 + 40 * i, kSide, 102);
  }
  rank_.step(0, 210);
  const Replayed run(hand_.build());
  EXPECT_EQ(run.at("a1"), Times(76, 86));
}

// b was launched at 110, and starts as the last blocks of a end. For d nothing ends that near.
TEST_F(GraphWaits, AKernelWithoutRoomWaitsForTheOneThatHadIt) {
  rank_.launch("a", 100, 105, 1'100, kMain);
  rank_.launch("b", 110, 1'080, 1'180, kSide);
  rank_.launch("c", 1'200, 1'205, 2'200, kMain);
  rank_.launch("d", 1'210, 2'100, 2'300, kSide);
  rank_.step(0, 2'400);
  Replayed run(hand_.build());
  EXPECT_EQ(run.at("b"), Times(1'080, 1'180));
  EXPECT_EQ(run.of("b").by, run.op("a"));
  run.last("a", 495);
  run.again();
  EXPECT_EQ(run.at("b"), Times(580, 680));
  EXPECT_EQ(run.at("d"), Times(1'215, 1'415)) << "nothing is near its start";
}

}  // namespace
}  // namespace swinscope::test

// Replays of traces so small that they are known by hand: of what was recorded, and of what a change makes of it.
#include "advisor/replay.h"

#include "tests/unit/advisor/replayed.h"

namespace swinscope::test {
namespace {

const Stream kMain{7};
const Stream kSide{8};
using Lines = std::vector<std::string>;

// Launches every 20, whose kernels start 5 later and take 3: the stream is idle in between.
Trace host_bound(std::int64_t launches = 8) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::int64_t i = 0; i < launches; ++i)
    rank.launch(fmt::format("k{}", i), 20 * i, 20 * i + 5, 20 * i + 8);
  rank.step(0, 20 * launches);
  return hand.build();
}

TEST(Replay, AnIdleStreamStartsAfterTheCall) {
  Replayed run(host_bound());
  EXPECT_EQ(run.differences(), Lines{});
  EXPECT_EQ(run.step(), 160);
  for (std::int64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(run.of(fmt::format("k{}", i)).bound, Decider::kLaunch);
    EXPECT_EQ(run.of(fmt::format("k{}", i)).by, run.call(20 * i));
  }
  for (CallNode& call : run.graph.ranks[0].calls)
    call.own_ns = 1'000;
  run.again();
  EXPECT_EQ(run.at("k0"), Times(5, 8));
  EXPECT_EQ(run.at("k7"), Times(138, 141));
  EXPECT_EQ(run.step(), 152);
}

// The call copies the bytes to pinned memory first: 4 and 2 for most, 30 and 20 for those that are large.
TEST(Replay, CopiesOfPageableMemoryTakeTheHostWhatTheirBytesTake) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::int64_t i = 0; i < 8; ++i)
    rank.copy(rank.call("cudaMemcpyAsync", 20 * i, 20 * i + 8), 20 * i + 4, 20 * i + 6, MemoryKind::kPageable, kMain);
  for (std::int64_t i = 2; i < 5; ++i)
    rank.copy(rank.call("cudaMemcpyAsync", 100 * i, 100 * i + 70), 100 * i + 30, 100 * i + 50, MemoryKind::kPageable,
              kMain);
  rank.step(0, 500);
  Replayed run(hand.build());
  EXPECT_EQ(run.differences(), Lines{});
  EXPECT_EQ(run.step(), 500);
}

TEST(Replay, ABusyStreamStartsWhatIsNextAfterTheUsualGap) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::int64_t i = 0; i < 8; ++i)
    rank.launch(fmt::format("k{}", i), 2 * i, 5 + 11 * i, 15 + 11 * i);
  rank.step(0, 20);
  Replayed run(hand.build());
  EXPECT_EQ(run.differences(), Lines{});
  EXPECT_EQ(run.step(), 92);
  EXPECT_EQ(run.of("k0").bound, Decider::kLaunch);
  EXPECT_EQ(run.of("k7").bound, Decider::kStream);
  EXPECT_EQ(run.of("k7").by, run.op("k6"));

  for (OpNode& op : run.graph.ranks[0].ops)
    op.duration_ns = 4'000;
  run.again();
  EXPECT_EQ(run.at("k1"), Times(10, 14));
  EXPECT_EQ(run.at("k7"), Times(40, 44));
  EXPECT_EQ(run.step(), 44);

  for (OpNode& op : run.graph.ranks[0].ops)
    op.duration_ns = 0;
  run.again();
  EXPECT_EQ(run.at("k7"), Times(19, 19));
  EXPECT_EQ(run.of("k7").bound, Decider::kLaunch);
  EXPECT_EQ(run.step(), 20);
}

// Two pairs of the same kernels, of which one starts 3,000 before the other has ended, and one 9,000: each node of the
// graph as it does in every replay of it, not both 6,000 before.
TEST(Replay, ANodeOfAGraphStartsAfterTheOneBeforeAsItDoesInEachReplay) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::int64_t s = 0; s < 3; ++s) {
    const std::int64_t begin = 200 * s;
    const std::uint32_t graph = rank.call("cudaGraphLaunch", begin, begin + 3);
    rank.kernel("product", graph, begin + 5, begin + 40, kMain, 1);
    rank.kernel("norm", graph, begin + 37, begin + 60, kMain, 2);
    rank.kernel("product", graph, begin + 61, begin + 100, kMain, 3);
    rank.kernel("norm", graph, begin + 91, begin + 130, kMain, 4);
    rank.call("cudaDeviceSynchronize", begin + 4, begin + 135);
    rank.step(begin, begin + 140);
  }
  Replayed run(hand.build());
  const std::vector<OpNode>& ops = run.graph.ranks[0].ops;
  ASSERT_EQ(ops.size(), 12U);
  for (std::size_t s = 0; s < 3; ++s) {
    EXPECT_EQ(ops[4 * s + 1].gap_ns, -3'000);
    EXPECT_EQ(ops[4 * s + 2].gap_ns, 1'000);
    EXPECT_EQ(ops[4 * s + 3].gap_ns, -9'000);
  }
  EXPECT_EQ(run.differences(), Lines{});
}

// One that begins when all blocks of the one before it have begun, 2,000 after its start, however long that one takes:
// so long before its end would be wrong in each replay.
TEST(Replay, ANodeOfAGraphThatStartsAfterTheStartOfTheOneBefore) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  const std::array<std::int64_t, 3> durations = {35, 55, 40};
  for (std::size_t s = 0; s < 3; ++s) {
    const std::int64_t begin = 200 * static_cast<std::int64_t>(s);
    const std::uint32_t graph = rank.call("cudaGraphLaunch", begin, begin + 3);
    rank.kernel("backward", graph, begin + 5, begin + 5 + durations.at(s), kMain, 1);
    rank.kernel("sums", graph, begin + 7, begin + 15 + durations.at(s), kMain, 2);
    rank.call("cudaDeviceSynchronize", begin + 4, begin + 20 + durations.at(s));
    rank.step(begin, begin + 140);
  }
  Replayed run(hand.build());
  EXPECT_EQ(run.differences(), Lines{});
  run.op_node("backward").duration_ns = 20'000;
  run.again();
  EXPECT_EQ(run.at("sums").second, 5 + 20 + 10) << "what it does after the other one's end stays";
}

// One that starts early waits for the end of the one before it. Once it started 12,000 early instead of 3,000, and took
// 9,000 longer: its own time is the same, and so is the step.
TEST(Replay, WaitingForTheOneBeforeIsNoPartOfAKernelsOwnTime) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  const std::array<std::int64_t, 3> early = {3, 12, 3};
  for (std::size_t s = 0; s < 3; ++s) {
    const std::int64_t begin = 200 * static_cast<std::int64_t>(s);
    const std::uint32_t graph = rank.call("cudaGraphLaunch", begin, begin + 3);
    rank.kernel("product", graph, begin + 5, begin + 40, kMain, 1);
    rank.kernel("norm", graph, begin + 40 - early.at(s), begin + 60, kMain, 2);
    rank.kernel("last", graph, begin + 61, begin + 70, kMain, 3);
    rank.call("cudaDeviceSynchronize", begin + 4, begin + 75);
    rank.step(begin, begin + 140);
  }
  Replayed run(hand.build());
  const std::vector<OpNode>& ops = run.graph.ranks[0].ops;
  ASSERT_EQ(ops.size(), 9U);
  for (std::size_t s = 0; s < 3; ++s) {
    EXPECT_EQ(ops[3 * s + 1].gap_ns, -3'000);
    EXPECT_EQ(ops[3 * s + 1].duration_ns, 20'000);
  }
  EXPECT_EQ(run.at("last"), Times(61, 70));
}

TEST(Replay, ACallThatWaitsEndsWhenTheKernelHas) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.launch("a", 0, 5, 45);
  rank.call("cudaDeviceSynchronize", 4, 48);
  rank.launch("b", 50, 55, 60);
  rank.step(0, 70);
  Replayed run(hand.build());
  EXPECT_EQ(run.differences(), Lines{});
  EXPECT_EQ(run.of_call(4).waited_for, run.op("a"));
  EXPECT_EQ(run.of_call(0).waited_for, kNoNode);

  run.last("a", 10);
  run.again();
  EXPECT_EQ(run.call_at(4), Times(4, 18));
  EXPECT_EQ(run.at("b"), Times(25, 30));
  EXPECT_EQ(run.step(), 40);

  // It had ended before: the call takes what a call takes.
  run.last("a", 0);
  run.again();
  EXPECT_EQ(run.call_at(4), Times(4, 9));
  EXPECT_EQ(run.of_call(4).waited_for, kNoNode);
  EXPECT_EQ(run.at("b"), Times(16, 21));
}

TEST(Replay, AStreamThatWaitsGoesOnWhenTheOtherOneHasEnded) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.launch("a", 0, 5, 45);
  rank.record({1, 41}, 4);
  rank.sync(SyncType::kStreamWaitEvent, 6, 7, kSide, {1, 41});
  rank.launch("b", 8, 47, 60, kSide);
  rank.launch("c", 12, 61, 70, kSide);
  rank.step(0, 80);
  Replayed run(hand.build());
  EXPECT_EQ(run.differences(), Lines{});
  EXPECT_EQ(run.of("b").bound, Decider::kEvent);
  EXPECT_EQ(run.of("b").by, run.op("a"));
  EXPECT_EQ(run.graph.ranks[0].inferred_waits, 0);

  run.last("a", 10);
  run.again();
  EXPECT_EQ(run.at("b"), Times(17, 30));
  EXPECT_EQ(run.at("c"), Times(31, 40));
}

// Nothing recorded the wait: it is what explains the start.
TEST(Replay, AStreamThatStartsWhenAnotherEndsWaitedForIt) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::int64_t i = 0; i < 6; ++i)  // what a launch into an idle stream takes
    rank.launch(fmt::format("k{}", i), 10 * i, 10 * i + 5, 10 * i + 6);
  rank.launch("a", 60, 65, 105);
  rank.launch("b", 68, 107, 120, kSide);
  rank.step(0, 130);
  Replayed run(hand.build());
  EXPECT_EQ(run.differences(), Lines{});
  EXPECT_EQ(run.graph.ranks[0].inferred_waits, 1);
  run.last("a", 10);
  run.again();
  EXPECT_EQ(run.at("b"), Times(77, 90));
}

// 1,024 launches have a place; the others return when a kernel has ended.
TEST(Replay, AFullQueueBlocksLaunches) {
  constexpr std::int64_t kPlaces = 1'024;
  constexpr std::int64_t kLaunches = 1'200;
  const auto end_of = [](std::int64_t kernel) { return std::int64_t{10'005} + std::int64_t{10'001} * kernel; };
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  std::int64_t now = 0;
  std::vector<std::int64_t> ends;
  for (std::int64_t i = 0; i < kLaunches; ++i) {
    const std::int64_t begin = now;
    now = i < kPlaces ? begin + 2 : end_of(i - kPlaces) + 2;
    ends.push_back(now);
    rank.kernel(fmt::format("k{}", i), rank.call("cudaLaunchKernel", begin, now), end_of(i) - 10'000, end_of(i));
  }
  rank.step(0, now);
  Replayed run(hand.build());
  EXPECT_EQ(run.graph.ranks[0].queue_length, kPlaces);
  for (std::int64_t i = 0; i < kLaunches; ++i) {
    const NodeTimes& call = run.times.ranks[0].calls[static_cast<std::size_t>(i)];
    ASSERT_EQ(call.end_ns, 1'000 * ends[static_cast<std::size_t>(i)]) << i;
    ASSERT_EQ(run.at(fmt::format("k{}", i)), Times(end_of(i) - 10'000, end_of(i))) << i;
    ASSERT_EQ(call.bound == Decider::kQueue, i >= kPlaces) << i;
  }
  EXPECT_EQ(run.times.ranks[0].calls[kPlaces].by, run.op("k0"));
  EXPECT_EQ(run.step(), run.traced_step());
  // A launch takes what it takes when it has a place.
  EXPECT_EQ(run.graph.ranks[0].calls.back().own_ns, 2'000);

  for (OpNode& op : run.graph.ranks[0].ops)
    op.duration_ns = 1'000;
  run.again();
  EXPECT_EQ(run.times.ranks[0].calls.back().end_ns, 2'000 * kLaunches);
}

// Forward, backward on a thread of its own, optimizer.
TEST(Replay, AThreadGoesOnAfterTheOneThatItWaitedFor) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (const std::int64_t begin : {0, 10, 20})
    rank.launch(fmt::format("forward {}", begin), begin, begin + 5, begin + 8);
  for (const std::int64_t begin : {60, 70, 80})
    rank.launch(fmt::format("backward {}", begin), begin, begin + 5, begin + 8, kMain, 2);
  rank.launch("optimizer", 120, 125, 128);
  rank.step(0, 140);
  Replayed run(hand.build());
  EXPECT_EQ(run.differences(), Lines{});
  EXPECT_EQ(run.of_call(60).bound, Decider::kHandedOver);
  EXPECT_EQ(run.of_call(60).by, run.call(20));
  EXPECT_EQ(run.of_call(120).bound, Decider::kHandedOver);
  EXPECT_EQ(run.of_call(120).by, run.call(80));

  run.call_node(70).own_ns += 10'000;
  run.call_node(10).own_ns += 7'000;
  run.again();
  EXPECT_EQ(run.call_at(60), Times(67, 69));
  EXPECT_EQ(run.call_at(120), Times(137, 139));
  EXPECT_EQ(run.step(), 157);
}

TEST(Replay, ThreadsThatWorkSideBySideAreNotTied) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::int64_t i = 0; i < 10; ++i) {
    rank.launch(fmt::format("a{}", i), 10 * i, 10 * i + 5, 10 * i + 6);
    rank.launch(fmt::format("b{}", i), 10 * i + 4, 10 * i + 9, 10 * i + 10, kSide, 2);
  }
  rank.step(0, 100);
  Replayed run(hand.build());
  EXPECT_EQ(run.differences(), Lines{});
  run.call_node(10).own_ns += 50'000;
  run.again();
  EXPECT_EQ(run.at("a9"), Times(145, 146));
  EXPECT_EQ(run.at("b9"), Times(99, 100));
}

constexpr std::string_view kAllReduce = "ncclDevKernel_AllReduce_Sum_f32(Args)";

// Rank 0 comes to the collective at 5, rank 1 at 101, after its kernel "slow".
Trace two_ranks() {
  HandTrace hand;
  HandRank& early = hand.add_rank();
  early.launch(kAllReduce, 0, 5, 155);
  early.launch("after", 4, 156, 166);
  early.step(0, 170);
  HandRank& late = hand.add_rank();
  late.launch("slow", 0, 5, 100);
  late.launch(kAllReduce, 4, 101, 155);
  late.step(0, 170);
  return hand.build();
}

TEST(Replay, TheLastRankDecidesWhenACollectiveEnds) {
  Replayed run(two_ranks());
  ASSERT_EQ(run.graph.collectives.size(), 1U);
  EXPECT_EQ(run.differences(), Lines{});
  EXPECT_EQ(run.times.unmatched, 0);
  // What rank 0 waited is no part of its transfer.
  EXPECT_EQ(run.op_node(kAllReduce, 0).duration_ns, 54'000);
  EXPECT_EQ(run.op_node(kAllReduce, 1).duration_ns, 54'000);

  run.last("slow", 45, 1);
  run.again();
  EXPECT_EQ(run.at(kAllReduce, 0), Times(5, 105));
  EXPECT_EQ(run.at(kAllReduce, 1), Times(51, 105));
  EXPECT_EQ(run.at("after", 0), Times(106, 116));

  // Now rank 0 is the later one.
  run.last("slow", 0, 1);
  run.op_node(kAllReduce, 0).latency_ns = 30'000;
  run.again();
  EXPECT_EQ(run.at(kAllReduce, 0), Times(30, 84));
  EXPECT_EQ(run.at(kAllReduce, 1), Times(9, 84));
}

// A graph whose ranks come to two collectives in opposite orders would wait for ever.
TEST(Replay, CollectivesThatNeverMeetAreReplayedAlone) {
  HandTrace hand;
  for (int r = 0; r < 2; ++r) {
    HandRank& rank = hand.add_rank();
    rank.launch(kAllReduce, 0, 5, 25);
    rank.launch("ncclDevKernel_AllGather(Args)", 4, 26, 46);
    rank.step(0, 50);
  }
  Replayed run(hand.build());
  ASSERT_EQ(run.graph.collectives.size(), 2U);
  EXPECT_EQ(run.differences(), Lines{});
  std::swap(run.graph.collectives[0].members[1].op, run.graph.collectives[1].members[1].op);
  std::swap(run.graph.ranks[1].ops[0].collective, run.graph.ranks[1].ops[1].collective);
  run.again();
  EXPECT_GE(run.times.unmatched, 1);
  EXPECT_EQ(run.violations(), Lines{});
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(run.at(kAllReduce, r).first, 5);
    EXPECT_GE(run.at("ncclDevKernel_AllGather(Args)", r).first, run.at(kAllReduce, r).second);
  }
}

TEST(Replay, AnEventWithoutALaunchStaysWhereItsStreamPutsIt) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::int64_t i = 0; i < 60; ++i)
    rank.launch(fmt::format("k{}", i), 20 * i, 20 * i + 5, 20 * i + 8);
  rank.kernel("alone", 0, 100, 110, {9});
  rank.kernel("on 7", 0, 49, 52);
  rank.step(0, 1'200);
  Replayed run(hand.build());
  EXPECT_EQ(run.differences(), Lines{});
  EXPECT_EQ(run.of("alone").bound, Decider::kNothing);
  EXPECT_EQ(run.of("on 7").bound, Decider::kStream);
  EXPECT_EQ(run.step(), 1'200);
}

// It ran before what had been launched earlier: a stream's order is that of its starts.
TEST(Replay, AnEventWithoutALaunchKeepsItsPlaceOnTheStream) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::int64_t i = 0; i < 40; ++i)
    rank.launch(fmt::format("k{}", i), 2 * i, 5 + 11 * i + (i < 20 ? 0 : 8), 15 + 11 * i + (i < 20 ? 0 : 8));
  rank.kernel("without", 0, 225, 232);  // between k19 and k20
  rank.step(0, 80);
  Replayed run(hand.build());
  EXPECT_EQ(run.graph.ranks[0].ops[run.op("k20")].before, run.op("without"));
  EXPECT_EQ(run.times.unmatched, 0);
  EXPECT_EQ(run.differences(), Lines{});
}

TEST(Replay, TheStepEndsWithWhatItLaunchedAndTheNextOneBeginsThere) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  std::int64_t end = 4;
  for (std::int64_t s = 0; s < 3; ++s) {
    for (std::int64_t i = 0; i < 5; ++i, end += 21)
      rank.launch(fmt::format("k{}", 5 * s + i), 30 * s + 4 * i, end + 1, end + 21);
    rank.step(30 * s, 30 * s + 30);
  }
  Replayed run(hand.build());
  EXPECT_EQ(run.differences(), Lines{});
  EXPECT_EQ(run.traced_step(), 319 / 3);
  EXPECT_EQ(run.step(), run.traced_step());
}

// A kernel that polls was launched before the step and outlasts it.
// The window of 105 .. 270, of three steps, though two of these had ended for the host long before it began.
TEST(Replay, AHostMayRunSeveralStepsAhead) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.launch("before", 0, 5, 105);
  rank.launch("first", 10, 106, 156);
  rank.launch("second", 20, 157, 207);
  rank.launch("third", 30, 208, 258);
  rank.call("cudaDeviceSynchronize", 34, 263);
  rank.step(10, 20);
  rank.step(20, 30);
  rank.step(30, 270);
  Replayed run(hand.build());
  EXPECT_EQ(run.differences(), Lines{});
  EXPECT_EQ(run.step(), 55);
  EXPECT_EQ(run.facts.scope.step_ns(), 55'000);
}

TEST(Replay, WhatOutlastsTheStepIsNotTheOneBefore) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.launch("polls", 0, 5, 1'000, kSide);
  for (std::int64_t i = 1; i < 9; ++i)
    rank.launch(fmt::format("k{}", i), 20 * i, 20 * i + 5, 20 * i + 8);
  rank.step(10, 190);
  Replayed run(hand.build());
  EXPECT_EQ(run.traced_step(), 180);
  EXPECT_EQ(run.step(), 180);
}

TEST(Replay, EachRecordedWindowHasItsSteps) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.run.windows = {{0, 220'000}, {5'000'000, 5'200'000}};
  for (const std::int64_t begin : {0, 100, 5'000}) {
    for (std::int64_t i = 0; i < 5; ++i)
      rank.launch(fmt::format("k{}", begin + i), begin + 20 * i, begin + 20 * i + 5, begin + 20 * i + 8);
    rank.step(begin, begin + (begin == 5'000 ? 190 : 100));
  }
  Replayed run(hand.build());
  EXPECT_EQ(run.differences(), Lines{});
  EXPECT_EQ(run.traced_step(), 130);
  EXPECT_EQ(run.step(), 130);
  for (OpNode& op : run.graph.ranks[0].ops)
    op.duration_ns += 2'000;
  run.again();
  EXPECT_EQ(run.step(), 130);  // the host's
}

// Nothing marks the steps: they are the period of the kernels.
TEST(Replay, RepetitionsAreTheGpus) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::int64_t i = 0; i < 80; ++i)
    rank.launch(fmt::format("layer {}", "abcd"[i % 4]), 2 * i, 5 + 11 * i, 15 + 11 * i);
  Replayed run(hand.build());
  ASSERT_TRUE(run.facts.scope.is_of_repetitions());
  EXPECT_EQ(run.differences(), Lines{});
  EXPECT_EQ(run.step(), run.traced_step());
  for (OpNode& op : run.graph.ranks[0].ops)
    op.duration_ns = 4'000;
  run.again();
  EXPECT_EQ(run.step(), 20 * run.traced_step() / 44);
}

TEST(Replay, ItsErrorIsMeasured) {
  Replayed run(host_bound(20));
  const ReplayError none = replay_error(run.graph, run.times, run.facts);
  EXPECT_EQ(none.traced_step_ns, 400'000);
  EXPECT_EQ(none.replayed_step_ns, 400'000);
  EXPECT_EQ(none.step_error(), 0);
  EXPECT_EQ(none.events, 20);
  EXPECT_EQ(none.start_p95_ns, 0);
  EXPECT_EQ(none.within_2us, 1);

  run.call_node(180).own_ns += 40'000;  // the tenth call: the ten kernels after it start 40 later
  run.again();
  const ReplayError late = replay_error(run.graph, run.times, run.facts);
  EXPECT_DOUBLE_EQ(late.step_error(), 0.1);
  EXPECT_EQ(late.start_p95_ns, 40'000);
  EXPECT_EQ(late.within_2us, 1);  // each follows from what was recorded before it
}

}  // namespace
}  // namespace swinscope::test

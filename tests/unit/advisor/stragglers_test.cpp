// What stragglers cost: jobs whose steps with and without them are known by hand.
#include "advisor/stragglers.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "advisor/device_steps.h"
#include "store/error.h"
#include "tests/unit/analyzer/hand_trace.h"

namespace swinscope::test {
namespace {

constexpr std::string_view kForward = "forward";
constexpr std::string_view kTransfer = "ncclDevKernel_SendRecv(Args)";
constexpr std::string_view kAllReduce = "ncclDevKernel_AllReduce_Sum_f32(Args)";
const Stream kSide{20};

Stragglers stragglers_of(const Trace& trace) {
  const RunFacts run(trace, {});
  return find_stragglers(make_graph(run), run);
}

void communicate(HandRank& rank, std::string_view kernel, std::string_view name, std::int64_t seq, std::int64_t begin,
                 std::int64_t start, std::int64_t end, const Stream& on = {}) {
  const std::uint32_t call = rank.call("cudaLaunchKernel", begin, begin + 2);
  rank.kernel(kernel, call, start, end, on);
  rank.collective(name, call, "[0, 1]", 2, seq);
}

// A pipeline of two stages and two microbatches. A forward takes 1,000 on the first and 2,000 on the second stage, the
// transfer between them 100:
//
//   rank 0   forward 0..1000    forward 1000..2000
//   rank 1              1100..3100 forward  3100..5100 forward          T = 5100
//
// The mean of a forward is 1,500: T_ideal = 1500 + 100 + 1500 + 1500 = 4600, T - T_ideal = 500.
//   without rank 1:  1000 + 100 + 1500 + 1500 = 4100   removed (5100 - 4100) / 500 = 2
//   only rank 1:     1500 + 100 + 2000 + 2000 = 5600   added (5600 - 4600) / 500 = 2
//   without rank 0:  5600, removed -1;   only rank 0:  4100, added -1: the fast rank hides half of the other's slowness
Trace pipeline() {
  HandTrace hand;
  HandRank& first = hand.add_rank();
  first.launch(kForward, 0, 5, 1005);
  first.record({1, 41}, 2);
  first.sync(SyncType::kStreamWaitEvent, 3, 4, kSide, {1, 41});
  communicate(first, kTransfer, "send", 0, 4, 1005, 1105, kSide);
  first.launch(kForward, 8, 1005, 2005);
  first.record({1, 42}, 10);
  first.sync(SyncType::kStreamWaitEvent, 11, 12, kSide, {1, 42});
  communicate(first, kTransfer, "send", 1, 12, 2005, 2105, kSide);
  first.step(0, 5110);
  HandRank& second = hand.add_rank();
  communicate(second, kTransfer, "recv", 0, 0, 5, 1105, kSide);
  second.record({1, 41}, 2, kSide);
  second.sync(SyncType::kStreamWaitEvent, 3, 4, {}, {1, 41});
  second.launch(kForward, 4, 1105, 3105);
  communicate(second, kTransfer, "recv", 1, 8, 1105, 2105, kSide);
  second.record({1, 42}, 10, kSide);
  second.sync(SyncType::kStreamWaitEvent, 11, 12, {}, {1, 42});
  second.launch(kForward, 12, 3105, 5105);
  second.step(0, 5110);
  return hand.build();
}

TEST(Stragglers, BlamesTheSlowStageOfAPipeline) {
  const Trace trace = pipeline();
  const Stragglers found = stragglers_of(trace);
  EXPECT_EQ(found.step_ns, 5'100'000);
  EXPECT_EQ(found.ideal_step_ns, 4'600'000);
  EXPECT_DOUBLE_EQ(found.slowdown(), 5100.0 / 4600.0);
  EXPECT_TRUE(found.doubts.empty());
  EXPECT_FALSE(found.is_refused());

  ASSERT_EQ(found.ranks.size(), 2U);
  EXPECT_EQ(found.ranks[0].stage, 0U);
  EXPECT_EQ(found.ranks[1].stage, 1U);
  EXPECT_EQ(found.ranks[0].works, 4);
  EXPECT_EQ(found.removed(found.ranks[0]), -1);
  EXPECT_EQ(found.added(found.ranks[0]), -1);
  EXPECT_EQ(found.removed(found.ranks[1]), 2);
  EXPECT_EQ(found.added(found.ranks[1]), 2);
  EXPECT_EQ(found.slowest.name, "1");
  EXPECT_EQ(found.removed(found.slowest), 2);

  ASSERT_EQ(found.stages.size(), 2U);
  EXPECT_EQ(found.stages[1].name, "2");
  EXPECT_EQ(found.removed(found.stages[1]), 2);

  ASSERT_EQ(found.steps.size(), 1U);
  EXPECT_EQ(found.steps[0].step_ns, 5'100'000);
  EXPECT_EQ(found.steps[0].slowest, 1U);
  EXPECT_EQ(found.steps[0].slowest_ns, 5'600'000);
}

// Forwards, sends and receives are three kinds; all of the loss is that of forwards.
TEST(Stragglers, BlamesKindsOfWork) {
  const Trace trace = pipeline();
  const Stragglers found = stragglers_of(trace);
  std::vector<std::string> names;
  for (const StragglingPart& kind : found.kinds) {
    names.push_back(kind.name);
    EXPECT_EQ(found.removed(kind), kind.name == kForward ? 1 : 0) << kind.name;
    EXPECT_EQ(found.added(kind), kind.name == kForward ? 1 : 0) << kind.name;
  }
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"forward", "recv", "send"}));
}

// Both ranks take as long; a share of no loss is none.
TEST(Stragglers, FindsNoneWhereAllRanksAreAlike) {
  HandTrace hand;
  for (int i = 0; i < 2; ++i) {
    HandRank& rank = hand.add_rank();
    rank.launch(kForward, 0, 5, 1005);
    communicate(rank, kAllReduce, "allreduce", 0, 4, 1005, 1105);
    rank.step(0, 1110);
  }
  const Trace trace = hand.build();
  const Stragglers found = stragglers_of(trace);
  EXPECT_EQ(found.slowdown(), 1);
  EXPECT_EQ(found.removed(found.slowest), std::nullopt);
  EXPECT_TRUE(found.stages.empty());
}

// The host takes as long again as the GPUs: what of the step stragglers cost is not known.
TEST(Stragglers, SaysNothingWhereTheHostDecidesTheStep) {
  HandTrace hand;
  for (int i = 0; i < 2; ++i) {
    HandRank& rank = hand.add_rank();
    rank.launch(kForward, 0, 5, 1005);
    communicate(rank, kAllReduce, "allreduce", 0, 1900, 1905, 2005);
    rank.step(0, 2010);
  }
  const Trace trace = hand.build();
  const Stragglers found = stragglers_of(trace);
  EXPECT_TRUE(found.is_refused());
  EXPECT_NEAR(found.replay_error(), 1 - 1100.0 / 2010.0, 1e-9);
  EXPECT_TRUE(found.ranks.empty());
  const Document document = straggler_document(trace, found);
  EXPECT_TRUE(document.tables.empty());
  EXPECT_EQ(document.warnings.size(), 1U);
}

TEST(Stragglers, NeedsRanksThatWaitForEachOther) {
  HandTrace alone;
  HandRank& rank = alone.add_rank();
  rank.launch(kForward, 0, 5, 1005);
  rank.step(0, 1010);
  EXPECT_THROW(stragglers_of(alone.build()), Error);

  HandTrace apart;
  for (int i = 0; i < 2; ++i) {
    HandRank& of = apart.add_rank();
    of.launch(kForward, 0, 5, 1005);
    of.step(0, 1010);
  }
  EXPECT_THROW(stragglers_of(apart.build()), Error);
}

// The second kernel is launched on another stream after the host has waited for the first one: 1000 + 500. Without that
// they would run side by side.
TEST(DeviceSteps, GoOnBehindWaitsOfTheHost) {
  HandTrace hand;
  for (int i = 0; i < 2; ++i) {
    HandRank& rank = hand.add_rank();
    rank.launch(kForward, 0, 5, 1005);
    rank.sync(SyncType::kStream, 4, 1010);
    rank.launch("behind", 1012, 1017, 1517, kSide);
    rank.step(0, 1520);
  }
  const Trace trace = hand.build();
  const RunFacts run(trace, {});
  const DependencyGraph graph = make_graph(run);
  const DeviceSteps steps(graph, run);
  std::vector<std::int64_t> durations;
  for (const DeviceWork& work : steps.works())
    durations.push_back(work.duration_ns);
  EXPECT_EQ(steps.replay(durations), (std::vector<std::int64_t>{1'500'000}));
}

// Each rank comes to its first collective while the other waits in the other one: no trace of a job that ran.
TEST(DeviceSteps, TakeApartCollectivesThatWaitInACircle) {
  HandTrace hand;
  for (int i = 0; i < 2; ++i) {
    HandRank& rank = hand.add_rank();
    communicate(rank, kAllReduce, "allreduce", i, 0, 5, 105);
    communicate(rank, kAllReduce, "allreduce", 1 - i, 4, 105, 205);
    rank.step(0, 210);
  }
  const Trace trace = hand.build();
  const RunFacts run(trace, {});
  DependencyGraph graph = make_graph(run);
  // Their waits are divided by their times, which contradict the order.
  graph.collectives.clear();
  for (const NodeIndex op : {0U, 1U})
    graph.collectives.push_back({{{0, op}, {1, 1 - op}}});
  const DeviceSteps steps(graph, run);
  EXPECT_EQ(steps.unmatched(), 2);
  EXPECT_EQ(steps.works().size(), 4U);
}

}  // namespace
}  // namespace swinscope::test

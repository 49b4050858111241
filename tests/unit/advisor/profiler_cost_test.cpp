// What PyTorch's profiler cost, by hand. An operator that only calls another one takes 6 beyond it: 2.4 times
// that, 14.4, is what an operator costs, half of it where it begins and half where it ends.
#include "advisor/profiler_cost.h"

#include <gtest/gtest.h>

#include "advisor/advice.h"
#include "tests/unit/advisor/replayed.h"

namespace swinscope::test {
namespace {

// `count` times 100: the operator 0 .. 10 calls another one, 3 .. 7, and a kernel is launched at 50.
Trace with_operators(int count) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.run.source = "another recorder";
  for (std::int64_t i = 0; i < count; ++i) {
    rank.torch_operator("aten::transpose", 100 * i, 100 * i + 10);
    rank.torch_operator("aten::as_strided", 100 * i + 3, 100 * i + 7);
    rank.launch("kernel", 100 * i + 50, 100 * i + 55, 100 * i + 60);
  }
  const std::int64_t end = std::int64_t{100} * count;
  rank.call("cudaDeviceSynchronize", end, end + 2);
  rank.step(0, end + 10);
  return hand.build();
}

TEST(ProfilerCost, IsThatOfOperatorsThatOnlyCallAnotherOne) {
  const Trace trace = with_operators(50);
  EXPECT_EQ(operator_cost_ns(trace, trace.ranks[0]), 14'400);
  const Trace few = with_operators(49);
  EXPECT_EQ(operator_cost_ns(few, few.ranks[0]), 0) << "too few to tell";
}

// Between two calls lie 98, in which two operators begin and end: 98 - 2 x 14.4. No more is taken than there is.
TEST(ProfilerCost, IsTakenFromTheHostWhereOperatorsBeginAndEnd) {
  Replayed run(with_operators(50));
  EXPECT_EQ(run.call_node(150).segment_ns, 98'000);
  remove_from_operators(14'400, run.trace, run.graph.ranks[0]);
  EXPECT_EQ(run.call_node(150).segment_ns, 69'200);
  EXPECT_EQ(run.call_node(5'000).segment_ns, 48'000) << "no operator lies behind the last launch";
  remove_from_operators(40'000, run.trace, run.graph.ranks[0]);
  EXPECT_EQ(run.call_node(150).segment_ns, 0);
}

TEST(ProfilerCost, IsNoPartOfTheStepThatIsAdvisedUpon) {
  const Trace trace = with_operators(50);
  const Advice advice = Advisor(RunFacts(trace, {}), {}).advice();
  EXPECT_EQ(advice.recording_cost.per_operator_ns, 14'400);
  EXPECT_EQ(advice.error.replayed_step_ns, advice.error.traced_step_ns);
  EXPECT_EQ(advice.error.traced_step_ns - advice.step_ns(), 49 * 28'800);
}

}  // namespace
}  // namespace swinscope::test

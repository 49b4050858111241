// Waits for the next batch, by hand: what of the host's way to a launch they are, and what is saved without them.
#include <algorithm>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

#include "advisor/advice.h"
#include "advisor/candidates/candidates.h"
#include "tests/unit/advisor/replayed.h"

namespace swinscope::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kLoader = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";

// A step of 132, whose recorder cost nothing that is known: a launch at 0, one at 100 that waits for data from 4 on,
// for `waited`, and a wait for its kernel, which takes 20 and starts 5 after its launch.
Trace trace_of_a_wait(std::int64_t waited, std::string_view range = kLoader) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.run.source = "another recorder";
  rank.launch("first", 0, 5, 15);
  rank.torch_operator(range, 4, 4 + waited);
  rank.launch("second", 100, 105, 125);
  rank.call("cudaDeviceSynchronize", 104, 130);
  rank.step(0, 132);
  return hand.build();
}

std::vector<Change> waits_in(const Trace& trace) {
  const Replayed run(trace);
  return find_input_waits(Work(run.facts, run.graph));
}

// Of the 98 between the launches' calls 80 are the loader's.
TEST(Input, IsOfTheWayToTheLaunchThatWaited) {
  const Trace trace = trace_of_a_wait(80);
  const Replayed run(trace);
  const std::vector<Change> found = waits_in(trace);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].title, "Have the next batch ready when it is asked for (once a step)");
  EXPECT_THAT(found[0].why, HasSubstr("num_workers"));
  ASSERT_THAT(found[0].hastened, SizeIs(1));
  EXPECT_EQ(found[0].hastened[0].call, run.call(100));
  EXPECT_DOUBLE_EQ(found[0].hastened[0].factor[2], 1 - 80.0 / 98);
  ASSERT_THAT(found[0].evidence, SizeIs(1));
  EXPECT_EQ(found[0].evidence[0].op, run.op("second"));
}

TEST(Input, SavesWhatTheStepWaited) {
  const Trace trace = trace_of_a_wait(80);
  const Advice advice = Advisor(RunFacts(trace, {}), {}).advice();
  ASSERT_THAT(advice.cards, SizeIs(1));
  EXPECT_EQ(advice.cards[0].change.id, "input-1");
  EXPECT_THAT(advice.cards[0].saving_ns, ElementsAre(40'000, 76'000, 80'000));
}

TEST(Input, IsNotOfBatchesThatWereReadyNorOfOtherRanges) {
  EXPECT_THAT(waits_in(trace_of_a_wait(10)), SizeIs(1));
  EXPECT_THAT(waits_in(trace_of_a_wait(9)), IsEmpty());
  EXPECT_THAT(waits_in(trace_of_a_wait(80, "aten::add")), IsEmpty());
}

// The loader's thread prepares beside the one that launches.
TEST(Input, IsNotOfAnotherThread) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.kernel("first", rank.call("cudaLaunchKernel", 0, 2, 2), 5, 15);
  rank.torch_operator(kLoader, 4, 84);
  rank.kernel("second", rank.call("cudaLaunchKernel", 100, 102, 2), 105, 125);
  rank.call("cudaDeviceSynchronize", 104, 130, 2);
  rank.step(0, 132);
  EXPECT_THAT(waits_in(hand.build()), IsEmpty());
}

// The GPU works for 200 on what was launched before: a batch that comes earlier saves nothing.
TEST(Input, HiddenBehindTheGpuSavesNothing) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.launch("first", 0, 5, 205);
  rank.torch_operator(kLoader, 4, 84);
  rank.launch("second", 100, 206, 226);
  rank.call("cudaDeviceSynchronize", 104, 231);
  rank.step(0, 233);
  const Trace trace = hand.build();
  const Advice advice = Advisor(RunFacts(trace, {}), {}).advice();
  EXPECT_THAT(advice.cards, IsEmpty());
  const auto found = std::ranges::find(advice.abstained, "input", &Abstention::of);
  ASSERT_NE(found, advice.abstained.end());
  EXPECT_EQ(
      found->reason,
      "1 place: none saves 0.2 % of the step; nearest: Have the next batch ready when it is asked for (once a step), "
      "nothing");
}

}  // namespace
}  // namespace swinscope::test

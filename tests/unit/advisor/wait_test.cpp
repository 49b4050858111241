// The host's waits behind which it launches more, by hand: which they are, and what is saved where it launches on.
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "advisor/advice.h"
#include "advisor/candidates/candidates.h"
#include "tests/unit/advisor/replayed.h"

namespace swinscope::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// A kernel of 100 for which the host waits, another one that it launches 10 later, and the wait at the end.
Trace trace_of_a_wait() {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.run.source = "another recorder";
  rank.launch("first", 0, 5, 105);
  rank.call("cudaStreamSynchronize_v3020", 4, 110);
  rank.launch("second", 120, 125, 225);
  rank.call("cudaDeviceSynchronize", 124, 230);
  rank.step(0, 232);
  return hand.build();
}

// Behind the last one nothing is launched.
TEST(Wait, IsOfCallsThatKeepTheHostFromLaunching) {
  const Trace trace = trace_of_a_wait();
  const Replayed run(trace);
  const std::vector<Change> found = find_waits(Work(run.facts, run.graph));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].title, "Launch on without waiting for the GPU (once a step)");
  EXPECT_EQ(found[0].why, "the host waits in cudaStreamSynchronize, and launches nothing meanwhile");
  EXPECT_EQ(found[0].confidence, Confidence::kSpeculative);
  ASSERT_THAT(found[0].without_wait, SizeIs(1));
  EXPECT_EQ(found[0].without_wait[0].call, run.call(4));
  EXPECT_THAT(found[0].evidence, ElementsAre(OpRef{0, run.op("first")}));
}

// The second kernel follows the first one after the usual gap of 1 and ends at 206: the step ends 7 later.
TEST(Wait, SavesTheGapsOfTheGpu) {
  const Trace trace = trace_of_a_wait();
  const Advice advice = Advisor(RunFacts(trace, {}), {}).advice();
  ASSERT_THAT(advice.cards, SizeIs(1));
  EXPECT_EQ(advice.cards[0].change.id, "wait-1");
  EXPECT_THAT(advice.cards[0].saving_ns, ElementsAre(19'000, 19'000, 19'000));
  EXPECT_THAT(advice.applied, IsEmpty()) << "what the program does with what it waits for is not known";
}

TEST(Wait, IsNotOfCallsThatReturnAtOnce) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.launch("first", 0, 5, 105);
  rank.call("cudaEventQuery", 4, 6);
  rank.launch("second", 8, 106, 206);
  rank.step(0, 10);
  const Replayed run(hand.build());
  EXPECT_THAT(find_waits(Work(run.facts, run.graph)), IsEmpty());
}

}  // namespace
}  // namespace swinscope::test

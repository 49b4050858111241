// Replays of random traces: where a trace came about by the rules of a replay it is the trace itself, and whatever it
// is, everything waits for what it has to.
#include "tests/unit/advisor/random_runs.h"
#include "tests/unit/advisor/replayed.h"

namespace swinscope::test {
namespace {

using Lines = std::vector<std::string>;

TEST(RandomReplay, ATraceThatCameAboutByTheRulesIsReplayedAsItIs) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Replayed run(Program(seed, 1'000).run());
    ASSERT_EQ(run.differences(), Lines{}) << "seed " << seed;
    ASSERT_EQ(run.step(), run.traced_step()) << "seed " << seed;
    ASSERT_EQ(run.violations(), Lines{}) << "seed " << seed;
    ASSERT_EQ(run.graph.ranks[0].unresolved_waits, 0) << "seed " << seed;
  }
}

TEST(RandomReplay, TenTimesTheTimesAreTenTimesTheStep) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Replayed one(Program(seed, 1'000).run());
    Replayed ten(Program(seed, 10'000).run(), 10'000);
    ASSERT_EQ(ten.differences(), Lines{}) << "seed " << seed;
    for (Replayed* run : {&one, &ten}) {
      for (OpNode& op : run->graph.ranks[0].ops)
        op.duration_ns /= 2;
      run->again();
    }
    // A mean of three steps, in whole nanoseconds.
    ASSERT_NEAR(static_cast<double>(replayed_step_ns(ten.graph, ten.times, ten.facts)),
                10 * static_cast<double>(replayed_step_ns(one.graph, one.times, one.facts)), 10)
        << "seed " << seed;
  }
}

TEST(RandomReplay, EverythingWaitsForWhatItHasTo) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Replayed run(random_hand_trace(seed, 1, seed % 2 == 0));
    ASSERT_EQ(run.violations(), Lines{}) << "seed " << seed;
    ASSERT_EQ(run.times.unmatched, 0) << "seed " << seed;
    ASSERT_GT(run.step(), 0) << "seed " << seed;
  }
}

TEST(RandomReplay, RanksThatDoNotMeetEndAsWell) {
  std::int64_t matched = 0;
  std::int64_t unmatched = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const Replayed run(random_hand_trace(seed, 3, seed % 2 == 0));
    ASSERT_EQ(run.violations(), Lines{}) << "seed " << seed;
    ASSERT_LE(run.times.unmatched, std::ssize(run.graph.collectives)) << "seed " << seed;
    matched += std::ssize(run.graph.collectives);
    unmatched += run.times.unmatched;
  }
  EXPECT_GT(unmatched, 0);
  EXPECT_GT(matched, unmatched);
}

TEST(RandomReplay, TheSameTraceGivesTheSameReplay) {
  const auto times_of = [](const Replayed& run) {
    std::vector<std::tuple<std::int64_t, std::int64_t, NodeIndex, Decider, NodeIndex>> all;
    for (const RankTimes& rank : run.times.ranks) {
      for (const auto* nodes : {&rank.calls, &rank.ops})
        for (const NodeTimes& node : *nodes)
          all.emplace_back(node.start_ns, node.end_ns, node.by, node.bound, node.waited_for);
    }
    return all;
  };
  for (unsigned seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(times_of(Replayed(random_hand_trace(seed, 2, true))),
              times_of(Replayed(random_hand_trace(seed, 2, true))))
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace swinscope::test

// What recording cost a run, by hand: by timing runs, and what taking it from launches, gaps and graphs does.
#include "advisor/recording_cost.h"

#include <array>
#include <filesystem>
#include <optional>

#include <gmock/gmock.h>

#include "advisor/advice.h"
#include "analyzer/experiment/experiment.h"
#include "analyzer/experiment/timed_step.h"
#include "tests/unit/advisor/hand_step.h"
#include "tests/unit/advisor/replayed.h"

namespace swinscope::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Of a traced run whose point has timing runs, as the experiment's own table has them.
TEST(RecordingCost, UnsteadyTimingRunsAreSaid) {
  const std::filesystem::path experiment =
      std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "data/swinscope_swin_large_weak_2gpu";
  const std::optional<TimedStep> timed = timed_step_beside(experiment / "gpus1/tracing");
  ASSERT_TRUE(timed);
  const ScalingRow row = scaling_table(read_experiment(experiment)).front();
  EXPECT_EQ(timed->step_ns, row.step_ns);
  EXPECT_EQ(timed->spread, row.step_spread);

  const Trace trace = trace_of_step([](HandStep& step) { step.kernel(kGemm, 100); });
  Advice advice = Advisor(RunFacts(trace, {}), {}).advice();
  advice.recording_cost.timed_spread = 0.05;
  EXPECT_THAT(advice_document(trace, advice).warnings, IsEmpty());
  advice.recording_cost.timed_spread = 0.108;
  EXPECT_THAT(advice_document(trace, advice).warnings,
              ElementsAre("the steps of the timing runs differ by 10.8 %: no saving is known better than that"));
}

TEST(RecordingCost, IsTakenFromLaunchesAndTheHostBehindThem) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::int64_t i = 0; i < 3; ++i)
    rank.launch("k", 20 * i, 20 * i + 5, 20 * i + 8);
  rank.call("cudaDeviceSynchronize", 60, 66);
  rank.call("cudaDeviceSynchronize", 70, 75);
  rank.step(0, 80);
  Replayed run(hand.build());
  remove_from_launches(3'600, run.facts, run.graph);
  for (const std::int64_t begin : {0, 20, 40})
    EXPECT_EQ(run.call_node(begin).own_ns, 1'500);
  EXPECT_EQ(run.call_node(0).segment_ns, 0);
  for (const std::int64_t begin : {20, 40, 60})
    EXPECT_EQ(run.call_node(begin).segment_ns, 18'000 - 3'100);
  EXPECT_EQ(run.call_node(60).own_ns, 6'000) << "it launches nothing";
  EXPECT_EQ(run.call_node(70).segment_ns, 4'000) << "what is before it launches nothing";

  remove_from_launches(16'000, run.facts, run.graph);
  EXPECT_EQ(run.call_node(0).own_ns, 1'500);
  EXPECT_EQ(run.call_node(20).segment_ns, 0) << "not less than nothing";
}

// The graph is handed over 20 before its launch ends; taking 30 for each of its two nodes lets it start 20 after the
// launch begins, and it starts no earlier than a driver needs.
TEST(RecordingCost, OfAGraphsLaunchIsBeforeItsKernels) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  const std::uint32_t graph = rank.call("cudaGraphLaunch", 0, 100);
  rank.kernel("first", graph, 80, 180, {}, 1);
  rank.kernel("second", graph, 181, 200, {}, 2);
  rank.call("cudaDeviceSynchronize", 105, 205);
  rank.step(0, 206);
  Replayed run(hand.build());
  EXPECT_EQ(run.op_node("first").latency_ns, 80'000);
  remove_from_launches(30'000, run.facts, run.graph);
  EXPECT_EQ(run.op_node("first").latency_ns, 20'000);
  remove_from_launches(19'000, run.facts, run.graph);
  EXPECT_EQ(run.op_node("first").latency_ns, 1'500);
}

// Three launches of which the first is before the step.
Trace launches_of_which_one_is_before_the_step() {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::int64_t i = 0; i < 3; ++i)
    rank.launch("k", 20 * i, 20 * i + 6, 20 * i + 8);
  rank.call("cudaDeviceSynchronize", 60, 66);
  rank.step(15, 80);
  return hand.build();
}

// Ranks come to the first step when they did, however many launches each of them has before it.
TEST(RecordingCost, OfLaunchesBeforeTheStepsStays) {
  Replayed run(launches_of_which_one_is_before_the_step());
  const CallNode before = run.call_node(0);
  remove_from_launches(1e9, run.facts, run.graph);
  EXPECT_EQ(run.call_node(0).own_ns, before.own_ns);
  EXPECT_GT(run.call_node(20).segment_ns, 0) << "behind a launch before the step";
  EXPECT_EQ(run.call_node(20).own_ns, 1'500);
  EXPECT_EQ(run.call_node(40).segment_ns, 0);
}

TEST(RecordingCost, OfKernelsIsTakenFromTheGapsAsFarAsThereAreAny) {
  Replayed run(trace_of_step([](HandStep& step) { step.kernel("first", 100).kernel("second", 100); }));
  run.op_node("second").gap_ns = 1'000;
  remove_from_gaps(400, run.graph);
  EXPECT_EQ(run.op_node("second").gap_ns, 600);
  remove_from_gaps(700, run.graph);
  EXPECT_EQ(run.op_node("second").gap_ns, 0);
  run.op_node("second").gap_ns = -300;
  remove_from_gaps(700, run.graph);
  EXPECT_EQ(run.op_node("second").gap_ns, -300) << "kernels that overlapped do that as they did";
}

// At most halfway into the one before it: 30 of 100.
TEST(RecordingCost, KernelsOfAGraphWouldOverlap) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  const std::uint32_t graph = rank.call("cudaGraphLaunch", 0, 10);
  rank.kernel("first", graph, 15, 115, {}, 1);
  rank.kernel("second", graph, 116, 156, {}, 2);
  rank.kernel("third", graph, 157, 257, {}, 3);
  rank.kernel("alone", rank.call("cudaLaunchKernel", 20, 22), 258, 300);
  rank.call("cudaDeviceSynchronize", 30, 305);
  rank.step(0, 306);
  Replayed run(hand.build());
  std::array<std::int64_t, 3> before = {run.op_node("second").gap_ns, run.op_node("third").gap_ns,
                                        run.op_node("alone").gap_ns};
  overlap_in_graphs(30'000, run.graph);
  EXPECT_EQ(run.op_node("second").gap_ns, before[0] - 30'000);
  EXPECT_EQ(run.op_node("third").gap_ns, before[1] - 20'000) << "half of the second";
  EXPECT_EQ(run.op_node("alone").gap_ns, before[2]) << "it is of no graph";
}

// Ten launches of 2, every 30, of kernels of 15: the host decides. To make the step 40 shorter, 4 have to be taken from
// each. Our recorder takes 3.6 of a launch; the other 4 are of a host that was slower, of the 264 that it then takes.
TEST(RecordingCost, OfOurLaunchesIsNotMoreThanTheyUsuallyCost) {
  const auto cost_of = [](std::string_view source) {
    const Trace trace = trace_of_step(
        [&](HandStep& step) {
          for (std::int64_t i = 0; i < 10; ++i)
            step.kernel(kGemm, 15).pause(26);
        },
        std::string(source));
    const RunFacts run(trace, {});
    return recording_cost_by({.step_ns = run.scope.step_ns() - 40'000, .spread = 0.0}, make_graph(run), run, nullptr);
  };
  EXPECT_NEAR(static_cast<double>(cost_of("another recorder").per_launch_ns), 4'000, 10);
  EXPECT_EQ(cost_of("another recorder").host_share, 1);
  EXPECT_EQ(cost_of("swinscope").per_launch_ns, 3'600);
  EXPECT_NEAR(cost_of("swinscope").host_share, 1 - 4.0 / 264, 1e-3);
}

// Ten launches, every 30, of kernels of 28 that could follow each other every 29: the host decides the step of 310, the
// GPU would take 301. In a step of 305.5 a launch takes 0.5 less, if steps are steady; 305.5 may as well be the GPU's
// if they differ by 5 %, and then launches cost what they usually do.
TEST(RecordingCost, IsNotToldByAStepThatTheGpuMayDecide) {
  const auto per_launch_ns = [](std::int64_t kernel_us, const TimedStep& timed) {
    const Trace trace = trace_of_step(
        [&](HandStep& step) {
          for (std::int64_t i = 0; i < 10; ++i)
            step.kernel(kGemm, kernel_us).pause(26);
        },
        "swinscope");
    const RunFacts run(trace, {});
    return recording_cost_by(timed, make_graph(run), run, nullptr).per_launch_ns;
  };
  EXPECT_NEAR(static_cast<double>(per_launch_ns(28, {.step_ns = 305'500, .spread = 0.0})), 500, 10);
  EXPECT_EQ(per_launch_ns(28, {.step_ns = 305'500, .spread = 0.05}), 3'600);
  // Kernels of 15, for which the GPU would take 171: however steps differ, it does not decide one of 280.
  EXPECT_EQ(per_launch_ns(15, {.step_ns = 280'000, .spread = 0.5}),
            per_launch_ns(15, {.step_ns = 280'000, .spread = 0.0}));
}

// Ten launches, every 4: the last one starts 36 after the first, its kernel 5 later, the wait returns 5 after that, and
// the step ends 2 later. At their best, 1.5 each with nothing between them, launches would leave 13.5 + 12: a step of
// 24 needs a host that takes 12 of 36 instead. Where kernels of 100 decide the step, no host makes it shorter.
TEST(RecordingCost, AHostThatWasSlowerThanLaunchesExplainIsTakenAsInTheTimingRuns) {
  const auto cost_of = [](std::int64_t kernel_us, std::int64_t timed_ns) {
    const Trace trace = trace_of_step([&](HandStep& step) {
      for (std::int64_t i = 0; i < 10; ++i)
        step.kernel(kGemm, kernel_us);
    });
    const RunFacts run(trace, {});
    return recording_cost_by({.step_ns = timed_ns, .spread = 0.0}, make_graph(run), run, nullptr);
  };
  const RecordingCost slow = cost_of(0, 24'000);
  EXPECT_EQ(slow.per_launch_ns, 0) << "what this recorder's launches cost is not known";
  EXPECT_DOUBLE_EQ(slow.host_share, 0.333);
  EXPECT_EQ(cost_of(0, 25'500).host_share, 1);
  EXPECT_NEAR(static_cast<double>(cost_of(0, 25'500).per_launch_ns), 2'500, 10) << "each takes 4, the least is 1.5";
  EXPECT_EQ(cost_of(100, 900'000).host_share, 1);
}

// Ten launches, every 40, of kernels of 28 with gaps of 1: the host decides the step of 400, the GPU would take 301,
// and 292 without gaps. A step of 295 has gaps of a third, and launches every 28.33 that do not hold up its kernels.
TEST(RecordingCost, IsOfLaunchesAndOfGapsWhereTheGpuDecidesTheTimingRunsOnly) {
  const Trace trace = trace_of_step(
      [](HandStep& step) {
        for (std::int64_t i = 0; i < 10; ++i)
          step.kernel(kGemm, 28).pause(i < 9 ? 36 : 0);
      },
      "swinscope");
  const RunFacts run(trace, {});
  DependencyGraph graph = make_graph(run);
  const RecordingCost cost = recording_cost_by({.step_ns = 295'000, .spread = 0.0}, graph, run, nullptr);
  EXPECT_NEAR(static_cast<double>(cost.per_launch_ns), 11'667, 15);
  EXPECT_NEAR(static_cast<double>(cost.per_kernel_ns), 667, 15);
  remove(cost, run, graph);
  EXPECT_NEAR(static_cast<double>(replayed_step_ns(graph, replay(graph), run)), 295'000, 100);
}

TEST(RecordingCost, OfTheHostIsLeftWhereItIsNotOfTheSteps) {
  Replayed run(launches_of_which_one_is_before_the_step());
  const CallNode before = run.call_node(0);
  const CallNode within = run.call_node(40);
  remove_from_host(0.5, run.facts, run.graph);
  EXPECT_EQ(run.call_node(0).own_ns, before.own_ns) << "before the step";
  EXPECT_EQ(run.call_node(40).own_ns, within.own_ns / 2);
  EXPECT_EQ(run.call_node(40).segment_ns, 9'000) << "half of 22 to 40";
}

// Ten launches, every 4, of kernels so short that the host decides: the last one starts 5 after 36, the wait returns 5
// after it, and the step ends at 48. Each launch takes 1.5, and the 2 behind it fall away: 5 after 13.5, and so on.
TEST(RecordingCost, IsTakenAwayWhereItIsKnown) {
  const auto launches = [](HandStep& step) {
    for (std::int64_t i = 0; i < 10; ++i)
      step.kernel(kGemm, 0);
  };
  const Trace ours = trace_of_step(launches, "swinscope");
  const Advice known = Advisor(RunFacts(ours, {}), {}).advice();
  EXPECT_EQ(known.recording_cost.per_launch_ns, 3'600);
  EXPECT_EQ(known.error.replayed_step_ns, known.error.traced_step_ns);
  EXPECT_EQ(known.error.replayed_step_ns, 48'000);
  EXPECT_EQ(known.step_ns(), 25'500);

  const Trace others = trace_of_step(launches);
  const Advice unknown = Advisor(RunFacts(others, {}), {}).advice();
  EXPECT_EQ(unknown.recording_cost, RecordingCost());
  EXPECT_EQ(unknown.step_ns(), unknown.error.replayed_step_ns);
  EXPECT_THAT(advice_document(others, unknown).notes, Contains(HasSubstr("what the recorder cost is not known")));
}

}  // namespace
}  // namespace swinscope::test

// What changes save, worked out by hand, alone and together; what cannot be said; and that the same trace always gives
// the same advice.
#include "advisor/advice.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "advisor/answers.h"
#include "advisor/recording_cost.h"
#include "analyzer/experiment/experiment.h"
#include "analyzer/experiment/timed_step.h"
#include "analyzer/table/render.h"
#include "tests/unit/advisor/hand_step.h"
#include "tests/unit/advisor/replayed.h"
#include "tests/unit/analyzer/random_trace.h"
#include "tests/unit/store/support.h"

namespace swinscope::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

using Ns = std::array<std::int64_t, 3>;
const Stream kSide{8};

std::vector<std::string> ids_of(const Advice& advice) {
  std::vector<std::string> ids;
  for (const Card& card : advice.cards)
    ids.push_back(card.change.id);
  return ids;
}

std::string reason_of(const Advice& advice, std::string_view kind) {
  for (const Abstention& abstention : advice.abstained)
    if (abstention.of == kind) return abstention.reason;
  return "";
}

// The norm 5 .. 105, the add 106 .. 306, the product 307 .. 907; the wait ends at 912, the step at 914. When the norm
// is part of the add, its launch falls away, and the add's launch begins after what stays of the 2 between them:
//                                       likely      least       most
//   the launch of the add                  0.2          1          0
//   the add starts 5 after that            5.2          6          5
//   and takes                              215        250        200
//   the product 1 later                  221.2        257        206
//   the step ends 607 later              828.2        864        813
//   saved                                 85.8         50        101
TEST(Advice, WhatAChangeSaves) {
  const Trace trace =
      trace_of_step([](HandStep& step) { step.kernel(kNorm, 100).kernel(kAdd, 200).kernel(kGemm, 600); });
  const Advice advice = advise(RunFacts(trace, {}), {});
  EXPECT_EQ(advice.error.step_error(), 0);
  EXPECT_EQ(advice.step_ns(), 914'000);
  EXPECT_THAT(ids_of(advice), ElementsAre("fusion-1"));
  EXPECT_EQ(advice.cards[0].saving_ns, (Ns{50'000, 85'800, 101'000}));
  EXPECT_EQ(advice.cards[0].likely_ns(), 85'800);
  EXPECT_THAT(advice.applied, ElementsAre("fusion-1"));
  EXPECT_EQ(advice.joint_step_ns, (Ns{864'000, 828'200, 813'000}));
  EXPECT_EQ(next_line(advice),
            "next: Fuse layer_norm_kernel + vectorized_elementwise_kernel (once a step), saves 85.80 us (50.00 us "
            "to 101.0 us) of 914.0 us");
}

// A product 5 .. 105, an add 106 .. 146, a norm 147 .. 207: the step takes 214. The add can go into the product or into
// the norm, but not into both.
//                                                      likely      least       most
//   in the product: 100 + a share of the 40, 1, 60    106+1+60   120+1+60   100+1+60   instead of 202
//   saved                                                   35         21         41
//   in the norm: 100, 1, 60 + a share of the 40       100+1+66   100+1+80   100+1+60
//   saved                                                   35         21         41
//   both: the product takes it over first, and nothing is left to put into the norm: as the product alone
Trace with_an_add_between() {
  return trace_of_step([](HandStep& step) { step.kernel(kGemm, 100).kernel(kAdd, 40).kernel(kNorm, 60); });
}

TEST(Advice, TogetherIsNotTheSum) {
  const Trace trace = with_an_add_between();
  const RunFacts run(trace, {});
  const Advisor advisor(run, {});
  EXPECT_THAT(ids_of(advisor.advice()), ElementsAre("epilogue-1", "fusion-1"));
  for (const Card& card : advisor.advice().cards)
    EXPECT_EQ(card.saving_ns, (Ns{21'000, 35'000, 41'000})) << card.change.id;
  EXPECT_EQ(advisor.simulate({}), (Ns{214'000, 214'000, 214'000}));
  EXPECT_EQ(advisor.simulate({"epilogue-1"}), (Ns{193'000, 179'000, 173'000}));
  EXPECT_EQ(advisor.simulate({"fusion-1"}), (Ns{193'000, 179'000, 173'000}));
  const Ns both = {193'000, 179'000, 173'000};
  EXPECT_EQ(advisor.simulate({"epilogue-1", "fusion-1"}), both);
  EXPECT_EQ(advisor.simulate({"fusion-1", "epilogue-1"}), both) << "in whatever order they are named";
  EXPECT_EQ(advise(run, {}).joint_step_ns, both);
}

TEST(Advice, OnlyWhatIsAskedForIsApplied) {
  const Trace trace = with_an_add_between();
  AdviceOptions options;
  options.applied = {"fusion-1"};
  const Advice advice = advise(RunFacts(trace, {}), options);
  EXPECT_THAT(advice.applied, ElementsAre("fusion-1"));
  EXPECT_EQ(advice.joint_step_ns, (Ns{193'000, 179'000, 173'000}));
}

TEST(Advice, AnUnknownIdIsRefused) {
  const Trace trace = with_an_add_between();
  AdviceOptions options;
  options.applied = {"fusion-1", "fusion-7"};
  const std::optional<Error> error = error_of([&] { advise(RunFacts(trace, {}), options); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind(), ErrorKind::kUsage);
  EXPECT_STREQ(error->what(), "fusion-7: there is no such change");
  EXPECT_EQ(error->hint(), "there are epilogue-1, fusion-1");

  const Trace nothing = trace_of_step([](HandStep& step) { step.kernel(kGemm, 100); });
  const std::optional<Error> none = error_of([&] { advise(RunFacts(nothing, {}), options); });
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(none->hint(), "none was found");
}

TEST(Advice, WhatIsSpeculativeIsAppliedOnlyWhenAskedFor) {
  const Trace trace = trace_of_step([](HandStep& step) { step.kernel(kGemm, 100).kernel(kCat, 50); });
  AdviceOptions options;
  const Advice unasked = advise(RunFacts(trace, {}), options);
  EXPECT_THAT(ids_of(unasked), ElementsAre("layout-1"));
  EXPECT_EQ(unasked.cards[0].saving_ns, (Ns{25'000, 37'500, 50'000}));
  EXPECT_THAT(unasked.applied, IsEmpty());
  EXPECT_FALSE(unasked.joint_step_ns.has_value());
  options.applied = {"layout-1"};
  EXPECT_EQ(advise(RunFacts(trace, {}), options).joint_step_ns, (Ns{138'000, 125'500, 113'000}));
}

// The norm and the add end at 110 on the other stream, while the product goes on until 405.
TEST(Advice, WhatIsHiddenSavesNothing) {
  const Trace trace =
      trace_of_step([](HandStep& step) { step.kernel(kGemm, 400).kernel(kNorm, 60, kSide).kernel(kAdd, 40, kSide); });
  const RunFacts run(trace, {});
  const Advice advice = advise(run, {});
  EXPECT_THAT(advice.cards, IsEmpty());
  EXPECT_THAT(reason_of(advice, "fusion"), HasSubstr("none saves 0.2 % of the step"));
  EXPECT_EQ(next_line(advice), "");
  EXPECT_FALSE(advice.joint_step_ns.has_value());

  AdviceOptions everything;
  everything.least_share = 0;
  const Advice with_all = Advisor(run, everything).advice();
  ASSERT_THAT(ids_of(with_all), ElementsAre("fusion-1"));
  EXPECT_EQ(with_all.cards[0].saving_ns, (Ns{0, 0, 0}));
}

// Most work is touched where it is hidden, and saves nothing. What leads comes third by what it touches.
TEST(Advice, LeadsWithTheSameWhetherAllAreSimulated) {
  const Trace trace = trace_of_step([](HandStep& step) {
    step.kernel(kNorm, 60).kernel("elementwise_kernel", 40).kernel(kGemm, 1'500);
    step.kernel(kNorm, 300, kSide).kernel(kAdd, 290, kSide).kernel("reduce_kernel", 20, kSide);
    step.kernel(kSoftmax, 200, kSide).kernel("unrolled_elementwise_kernel", 190, kSide);
  });
  const RunFacts run(trace, {});
  const std::unique_ptr<const Advisor> all = advisor_if_quick(run, {.least_share = 0});
  const std::unique_ptr<const Advisor> first = advisor_if_quick(run, {.least_share = 0, .first_only = true});
  ASSERT_NE(first, nullptr);
  const auto is_hidden = [](const Card& card) { return card.change.kind == "fusion" && card.likely_ns() == 0; };
  EXPECT_EQ(std::ranges::count_if(all->advice().cards, is_hidden), 2);
  EXPECT_THAT(next_line(first->advice()), HasSubstr("elementwise_kernel (once a step), saves"));
  EXPECT_EQ(next_line(first->advice()), next_line(all->advice()));
}

// Of each kind so many places are looked at, those with the longest work.
TEST(Advice, LooksAtTheLargestOfAKind) {
  const Trace trace = trace_of_step(
      [](HandStep& step) { step.kernel(kCat, 50).kernel(kGemm, 100).kernel("direct_copy_kernel_cuda", 90); });
  AdviceOptions options;
  options.most_of_a_kind = 1;
  const Advice advice = Advisor(RunFacts(trace, {}), options).advice();
  ASSERT_THAT(ids_of(advice), ElementsAre("layout-1"));
  EXPECT_THAT(advice.cards[0].change.title, HasSubstr("direct_copy_kernel_cuda"));
}

std::string document_of(const Trace& trace) {
  return render(advice_document(trace, advise(RunFacts(trace, {}), {})), {Format::kJson});
}

TEST(Advice, TheSameTraceGivesTheSameDocument) {
  const std::string first = document_of(with_an_add_between());
  EXPECT_THAT(first, HasSubstr("epilogue-1"));
  EXPECT_THAT(first, HasSubstr("179000"));
  for (std::int64_t i = 0; i < 5; ++i)
    EXPECT_EQ(document_of(with_an_add_between()), first);
}

// Places of each kind whose savings differ: an epilogue of 900, one of 500, fusions of 300 and 100, layouts of 180
// and 60.
Trace jittered(unsigned seed, double share) {
  Dice dice(seed);
  const auto units = [&](std::int64_t duration) {
    const auto most = static_cast<std::int64_t>(share * static_cast<double>(duration));
    return duration + dice.between(-most, most);
  };
  return trace_of_step([&](HandStep& step) {
    const auto add = [&](std::string_view name, std::int64_t duration) { step.kernel(name, units(duration)); };
    add(kGemm, 2'000), add(kAdd, 900), add("reduce_kernel", 400);
    add(kGemm, 2'000), add("elementwise_kernel", 500), add("reduce_kernel", 400);
    add(kNorm, 700), add("unrolled_elementwise_kernel", 300), add("reduce_kernel", 400);
    add(kNorm, 400), add(kSoftmax, 100), add("reduce_kernel", 400);
    add(kCat, 180), add("reduce_kernel", 400), add("direct_copy_kernel_cuda", 60), add("reduce_kernel", 400);
  });
}

// Titles, since an id counts places of a kind by their time.
std::vector<std::string> titles_of(const Advice& advice) {
  std::vector<std::string> titles;
  for (const Card& card : advice.cards)
    titles.push_back(card.change.title);
  return titles;
}

TEST(Advice, OnePercentOfJitterDoesNotReorderWhatIsApart) {
  const Trace still = jittered(0, 0);
  const Advice base = Advisor(RunFacts(still, {}), {}).advice();
  ASSERT_THAT(base.cards, SizeIs(6));
  EXPECT_TRUE(std::ranges::is_sorted(base.cards, std::ranges::greater(), &Card::likely_ns)) << "of whatever kind";
  std::vector<std::pair<std::string, std::string>> apart;
  for (std::size_t i = 0; i < base.cards.size(); ++i) {
    for (std::size_t j = i + 1; j < base.cards.size(); ++j)
      if (base.cards[i].saving_ns.front() > base.cards[j].saving_ns.back())
        apart.emplace_back(base.cards[i].change.title, base.cards[j].change.title);
  }
  ASSERT_GE(apart.size(), 8U);
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const Trace trace = jittered(seed, 0.01);
    const Advice advice = Advisor(RunFacts(trace, {}), {}).advice();
    const std::vector<std::string> titles = titles_of(advice);
    for (const auto& [first, second] : apart) {
      const auto at = std::ranges::find(titles, first);
      ASSERT_NE(at, titles.end()) << seed;
      EXPECT_NE(std::find(at, titles.end(), second), titles.end()) << seed << ": " << second << " before " << first;
    }
  }
}

// The last of eight kernels started 100 later than anything explains: 253 instead of the 160 of the replay.
Trace that_cannot_be_replayed() {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::int64_t i = 0; i < 8; ++i)
    rank.launch(i == 0 ? kNorm : kAdd, 20 * i, 20 * i + (i == 7 ? 105 : 5), 20 * i + (i == 7 ? 113 : 13));
  rank.step(0, 160);
  return hand.build();
}

TEST(Advice, IsRefusedWhereTheReplayIsNotGoodEnough) {
  const Trace trace = that_cannot_be_replayed();
  const RunFacts run(trace, {});
  const Advice advice = advise(run, {});
  EXPECT_TRUE(advice.is_refused());
  EXPECT_EQ(advice.error.traced_step_ns, 253'000);
  EXPECT_EQ(advice.error.replayed_step_ns, 160'000);
  EXPECT_EQ(reason_of(advice, "advice"),
            "the replay of the step as it is takes 160.0 us, the trace 253.0 us: 36.8 % apart, more than 5 %");
  EXPECT_THAT(advice.cards, IsEmpty());
  EXPECT_FALSE(advice.joint_step_ns.has_value());
  EXPECT_EQ(next_line(advice), "");

  const Document document = advice_document(trace, advice);
  EXPECT_THAT(document.headline.at(0), HasSubstr("no advice: the replay"));
  EXPECT_THAT(document.warnings, Contains(HasSubstr("no savings are given")));
  EXPECT_THAT(document.tables, Not(Contains(Field(&Table::key, "opportunities"))));

  AdviceOptions generous;
  generous.bound = 0.4;
  EXPECT_FALSE(advise(run, generous).is_refused());
}

// Calls of 2 with 18 between them; a call takes 1.5 at best, so 0.5 comes from it and the rest from the host behind it.
// Ten launches of 2, each 2 after the other, decide a step of 49 on kernels of 1. With 1.5 and nothing between, the
// last kernel ends at 19.5, the wait 5 later, the step 2 later.
TEST(Advice, SaysWhatOfAStepIsTheHosts) {
  const Trace trace = trace_of_step([](HandStep& step) {
    for (int i = 0; i < 5; ++i)
      step.kernel(kGemm, 1).kernel(kAdd, 1);
  });
  const RunFacts run(trace, {});
  const Advisor advisor(run, {});
  EXPECT_EQ(advisor.advice().step_ns(), 49'000);
  EXPECT_EQ(advisor.step_by_gpu_ns({}), 31'000);

  Advice advice = advise(advisor, {"epilogue-1"});
  advice.joint_step_ns = {100'000, 100'000, 100'000};
  advice.joint_by_gpu_ns = 90'000;
  EXPECT_THAT(advice_document(trace, advice).warnings, IsEmpty());
  advice.joint_by_gpu_ns = 60'000;
  EXPECT_THAT(
      advice_document(trace, advice).warnings,
      ElementsAre("40.00 us of the step with these is the host's, whose launches are taken to last as long as they "
                  "do now: 60.00 us would be left if they took no longer than a driver needs"));
}

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

// Ranks come to the first step when they did, however many launches each of them has before it.
TEST(RecordingCost, OfLaunchesBeforeTheStepsStays) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::int64_t i = 0; i < 3; ++i)
    rank.launch("k", 20 * i, 20 * i + 5, 20 * i + 8);
  rank.call("cudaDeviceSynchronize", 60, 66);
  rank.step(15, 80);
  Replayed run(hand.build());
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

// By hand: what saves most is speculative, so that the second one leads.
TEST(Advice, LeadsWithTheFirstThatIsNotSpeculative) {
  const auto card = [](const char* id, std::int64_t saving_ns, Confidence confidence) {
    Card made;
    made.change.id = made.change.title = id;
    made.change.confidence = confidence;
    made.saving_ns = {saving_ns, saving_ns, saving_ns};
    return made;
  };
  Advice advice;
  advice.unrecorded_step_ns = 1'000;
  advice.cards = {card("fp8", 300, Confidence::kSpeculative), card("fuse", 200, Confidence::kPlausible),
                  card("graph", 100, Confidence::kLikely)};
  ASSERT_NE(next_card(advice), nullptr);
  EXPECT_EQ(next_card(advice)->change.id, "fuse");
  EXPECT_THAT(next_line(advice), StartsWith("next: fuse, saves 200 ns"));
  const auto ids = [&](std::size_t most) {
    std::vector<std::string> shown;
    for (const Card* one : leading_cards(advice, most))
      shown.push_back(one->change.id);
    return shown;
  };
  EXPECT_THAT(ids(2), ElementsAre("fuse", "fp8"));
  EXPECT_THAT(ids(9), ElementsAre("fuse", "fp8", "graph"));
  advice.cards.resize(1);  // speculative alone
  EXPECT_EQ(next_card(advice), nullptr);
  EXPECT_EQ(next_line(advice), "");
  EXPECT_THAT(ids(3), ElementsAre("fp8"));
  advice.abstained = {{"advice", "the replay is too far off"}};
  EXPECT_THAT(ids(3), IsEmpty());
}

TEST(Advice, IsBriefWhereItIsQuickAndPossible) {
  const Trace trace = with_an_add_between();
  const RunFacts run(trace, {});
  const std::unique_ptr<const Advisor> advisor = advisor_if_quick(run);
  ASSERT_NE(advisor, nullptr);
  EXPECT_EQ(advise(*advisor).joint_step_ns, advise(run, {}).joint_step_ns);
  EXPECT_THAT(next_line(advisor->advice()),
              HasSubstr("next: Move vectorized_elementwise_kernel into the product before it"));

  const std::unique_ptr<const Advisor> first = advisor_if_quick(run, {.first_only = true});
  ASSERT_NE(first, nullptr);
  EXPECT_THAT(first->advice().cards, SizeIs(1));
  EXPECT_EQ(next_line(first->advice()), next_line(advisor->advice()));

  HandTrace hand;  // without steps
  HandRank& rank = hand.add_rank();
  for (std::int64_t i = 0; i < 3; ++i)
    rank.launch(kAdd, 20 * i, 20 * i + 5, 20 * i + 8);
  const Trace without = hand.build();
  EXPECT_EQ(advisor_if_quick(RunFacts(without, {})), nullptr);
  EXPECT_EQ(why_not_quick(RunFacts(without, {})),
            "savings are of a step, and this is the whole trace, since no steps were found");
  EXPECT_EQ(why_not_quick(run), "");
}

// The tables are made beside it, of the same facts.
TEST(Advice, StandsInTheAnalysisAsItStandsAlone) {
  const Trace trace = with_an_add_between();
  const RunFacts facts(trace, {});
  const std::string next = next_line(advisor_if_quick(facts, {.first_only = true})->advice());
  for (const bool for_programs : {false, true}) {
    const RunFacts run(trace, {});  // no fact is known yet
    const Document document = analysis_of(run, {.verdict_facts = for_programs});
    EXPECT_THAT(document.headline, Contains(next));
    EXPECT_THAT(document.tables, Not(IsEmpty()));
    const Document without = analysis_of(run, {.verdict_facts = for_programs}, false);
    EXPECT_THAT(without.headline, Not(Contains(next)));
    EXPECT_EQ(without.tables.size(), document.tables.size());
  }
}

}  // namespace
}  // namespace swinscope::test

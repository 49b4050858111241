// What changes save, worked out by hand, alone and together; what cannot be said; and that the same trace always gives
// the same advice.
#include "advisor/advice.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "advisor/answers.h"
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

// 200 products of 10 at 1 apart, and an add of 2 behind the last: without it, in the product's kernel, the step is
// 1 + 85 % of 2 shorter, of more than 2,000.
TEST(Advice, WhatSavesTooLittleIsNamed) {
  const Trace trace = trace_of_step([](HandStep& step) {
    for (int i = 0; i < 200; ++i)
      step.kernel(kGemm, 10);
    step.kernel(kAdd, 2);
  });
  EXPECT_EQ(
      reason_of(advise(RunFacts(trace, {}), {}), "epilogue"),
      "1 place: none saves 0.2 % of the step; nearest: Move vectorized_elementwise_kernel into the product before "
      "it (once a step), 2.700 us");
}

// The norm and the add end at 110 on the other stream, while the product goes on until 405.
TEST(Advice, WhatIsHiddenSavesNothing) {
  const Trace trace =
      trace_of_step([](HandStep& step) { step.kernel(kGemm, 400).kernel(kNorm, 60, kSide).kernel(kAdd, 40, kSide); });
  const RunFacts run(trace, {});
  const Advice advice = advise(run, {});
  EXPECT_THAT(advice.cards, IsEmpty());
  EXPECT_EQ(
      reason_of(advice, "fusion"),
      "1 place: none saves 0.2 % of the step; nearest: Fuse layer_norm_kernel + vectorized_elementwise_kernel (once "
      "a step), nothing");
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
// Eight launches of adds, every 4; the product's, before which a library takes 20, at 52, the add's behind it at 56:
// its kernel starts at 61, the wait returns at 66, the step ends at 68. With the add in the product's kernel, that is
// launched as the others are, 2 after the eighth launch: at 32. It starts at 37, the wait returns at 42, the step ends
// at 44. At least, the library stays: the kernel starts at 57, and the step ends at 64.
TEST(Advice, AChangedKernelIsLaunchedAsThoseThatNoLibraryPrepares) {
  const Trace trace = trace_of_step([](HandStep& step) {
    for (int i = 0; i < 8; ++i)
      step.kernel(kAdd, 0);
    step.pause(20).kernel(kGemm, 0).kernel(kAdd, 0);
  });
  const RunFacts run(trace, {});
  const Advisor advisor(run, {});
  EXPECT_EQ(advisor.advice().step_ns(), 68'000);
  EXPECT_EQ(advisor.simulate({"epilogue-1"}), (Ns{64'000, 44'000, 44'000}));
  for (const Card& card : advisor.advice().cards) {
    EXPECT_EQ(card.launches_otherwise, card.change.id == "epilogue-1") << card.change.id;
    EXPECT_EQ(card.launches_otherwise, card.change.assumptions.back().starts_with("the host launches the product"));
  }
  EXPECT_THAT(advice_document(trace, advisor.advice()).notes, Contains(HasSubstr("A changed product is launched")));
}

// The way to the launch of a copy is no library's: it stays, however long.
TEST(Advice, AnotherKernelIsLaunchedAsItIs) {
  const Trace trace = trace_of_step([](HandStep& step) {
    for (int i = 0; i < 8; ++i)
      step.kernel(kAdd, 0);
    step.wait().pause(20).kernel(kCat, 4);
  });
  const RunFacts run(trace, {});
  const Advisor advisor(run, {});
  EXPECT_THAT(ids_of(advisor.advice()), Contains("layout-1"));
  EXPECT_EQ(advisor.advice().step_ns() - advisor.simulate({"layout-1"})[2], 4'000) << "its own time at most";
  EXPECT_THAT(advice_document(trace, advisor.advice()).notes, Not(Contains(HasSubstr("A changed product"))));
}

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

// Of ten launches one has no kernel: what it did is no part of the replay. It is said once, also where the reader said
// it.
TEST(Advice, DoubtsOfTheTraceAreSaid) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  for (std::int64_t i = 0; i < 9; ++i)
    rank.launch(kGemm, 20 * i, 20 * i + 5, 20 * i + 18);
  rank.call("cudaLaunchKernel", 180, 182);
  rank.call("cudaDeviceSynchronize", 184, 190);
  rank.step(0, 200);
  Trace trace = hand.build();
  const std::string lost =
      "1 of 10 kernel launches have no kernel in the trace: lost, or not begun when recording ended";
  const Advice advice = Advisor(RunFacts(trace, {}), {}).advice();
  EXPECT_THAT(advice_document(trace, advice).warnings, ElementsAre(lost));
  trace.warnings = {"a.json: " + lost};
  EXPECT_THAT(advice_document(trace, advice).warnings, ElementsAre("a.json: " + lost));
  EXPECT_THAT(Advisor(RunFacts(trace, {}), {.first_only = true}).advice().doubts, IsEmpty());
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
  EXPECT_THAT(advice_document(Trace(), advice).headline.at(0),
              StartsWith("no change is sure to save a noticeable part of the step; fp8 may save 300 ns"));
  advice.cards.clear();
  EXPECT_EQ(advice_document(Trace(), advice).headline.at(0),
            "no change was found that saves a noticeable part of the step");
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

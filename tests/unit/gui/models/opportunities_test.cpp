// The cards of an advisor as the window has them: what is applied, the step with it, and that late answers are dropped.
#include "gui/core/opportunities.h"

#include <QSignalSpy>
#include <QTest>
#include <QThread>

#include <gtest/gtest.h>

#include "analyzer/importers/open.h"

namespace swinscope::gui {
namespace {

constexpr int kWaitMs = 240'000;

RunPointer open_run(const char* name) {
  auto run = std::make_shared<OpenedRun>();
  run->path = QStringLiteral(SWINSCOPE_SOURCE_DIR "/data/") + QLatin1String(name);
  run->trace = std::make_shared<const Trace>(open_trace(run->path.toStdString()));
  return run;
}

class OpportunitiesTest : public testing::Test {
 protected:
  static void settle(const Opportunities& opportunities) {
    ASSERT_TRUE(QTest::qWaitFor([&] { return opportunities.is_idle(); }, kWaitMs));
  }
  // Computed, with cards.
  void compute(Opportunities& opportunities) const {
    opportunities.compute(run_, {});
    settle(opportunities);
    ASSERT_NE(opportunities.advice(), nullptr);
    ASSERT_FALSE(opportunities.problem().has_value());
    ASSERT_GE(opportunities.advice()->cards.size(), 3U);
  }
  static std::vector<std::string> ids(const Opportunities& opportunities) {
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < opportunities.advice()->cards.size(); ++i) {
      if (opportunities.is_applied(i)) ids.push_back(opportunities.advice()->cards[i].change.id);
    }
    return ids;
  }
  const RunPointer run_ = open_run("swinscope_swin_tiny_graph_1gpu.db");
  const RunFacts facts_{*run_->trace, {}};
  const Advisor advisor_{facts_, {}};
};

TEST_F(OpportunitiesTest, AreThoseOfTheAdvisorAndNoneIsApplied) {
  Opportunities opportunities;
  EXPECT_EQ(opportunities.advice(), nullptr);
  const QSignalSpy found(&opportunities, &Opportunities::found);
  compute(opportunities);
  EXPECT_EQ(found.count(), 1);
  const Advice& advice = *opportunities.advice();
  ASSERT_EQ(advice.cards.size(), advisor_.advice().cards.size());
  for (std::size_t i = 0; i < advice.cards.size(); ++i) {
    EXPECT_EQ(advice.cards[i].change.id, advisor_.advice().cards[i].change.id);
    EXPECT_EQ(advice.cards[i].saving_ns, advisor_.advice().cards[i].saving_ns);
    EXPECT_FALSE(opportunities.is_applied(i));
  }
  EXPECT_EQ(opportunities.joint_step_ns(), (std::array{advice.step_ns(), advice.step_ns(), advice.step_ns()}));
}

TEST_F(OpportunitiesTest, AreSimulatedTogetherAndOffAgain) {
  Opportunities opportunities;
  compute(opportunities);
  QObject context;
  QThread* answered_in = nullptr;
  QObject::connect(&opportunities, &Opportunities::simulated, &context,
                   [&] { answered_in = QThread::currentThread(); });
  opportunities.apply(0, true);
  settle(opportunities);
  EXPECT_EQ(answered_in, opportunities.thread());
  const auto& cards = opportunities.advice()->cards;
  EXPECT_EQ(opportunities.joint_step_ns(), advisor_.simulate({cards[0].change.id}));
  EXPECT_EQ(opportunities.advice()->step_ns() - opportunities.joint_step_ns()[1], cards[0].likely_ns());
  opportunities.apply_all();
  settle(opportunities);
  EXPECT_EQ(opportunities.joint_step_ns(), advisor_.simulate(ids(opportunities)));
  std::size_t speculative = 0;
  for (std::size_t i = 0; i < cards.size(); ++i) {
    const bool is_speculative = cards[i].change.confidence == Confidence::kSpeculative;
    EXPECT_EQ(opportunities.is_applied(i), !is_speculative);
    speculative += is_speculative ? 1 : 0;
  }
  EXPECT_GT(speculative, 0U);
  EXPECT_EQ(opportunities.applied_count() + speculative, cards.size());
  opportunities.apply_none();
  EXPECT_EQ(opportunities.applied_count(), 0U);
  EXPECT_EQ(opportunities.joint_step_ns()[1], opportunities.advice()->step_ns());
}

TEST_F(OpportunitiesTest, AnswersToOutdatedRequestsAreDropped) {
  Opportunities opportunities;
  compute(opportunities);
  const QSignalSpy simulated(&opportunities, &Opportunities::simulated);
  opportunities.apply(0, true);
  opportunities.apply(1, true);
  opportunities.apply(0, false);
  settle(opportunities);
  EXPECT_EQ(simulated.count(), 1);
  EXPECT_EQ(opportunities.joint_step_ns(), advisor_.simulate({opportunities.advice()->cards[1].change.id}));
  // Nothing is applied at once; the answer that is on its way would come before that of the next request.
  opportunities.apply(2, true);
  opportunities.apply_none();
  const auto none = opportunities.joint_step_ns();
  EXPECT_EQ(none[1], opportunities.advice()->step_ns());
  EXPECT_TRUE(opportunities.is_idle());
  opportunities.apply(1, true);
  settle(opportunities);
  EXPECT_EQ(simulated.count(), 3);
}

TEST_F(OpportunitiesTest, OfTheLatestRunAndSelectionOnly) {
  Opportunities opportunities;
  const QSignalSpy found(&opportunities, &Opportunities::found);
  Selection one_step;
  one_step.steps = StepRange{2, 2};
  opportunities.compute(run_, {});
  opportunities.compute(run_, one_step);
  settle(opportunities);
  EXPECT_EQ(found.count(), 1);
  const RunFacts facts(*run_->trace, one_step);
  const Advisor advisor(facts, {});
  EXPECT_NE(advisor.advice().error.traced_step_ns, advisor_.advice().error.traced_step_ns);
  EXPECT_EQ(opportunities.advice()->error.traced_step_ns, advisor.advice().error.traced_step_ns);
  opportunities.apply(0, true);
  opportunities.clear();
  EXPECT_TRUE(opportunities.is_idle());
  EXPECT_EQ(opportunities.advice(), nullptr);
  compute(opportunities);
  EXPECT_EQ(opportunities.applied_count(), 0U);
}

TEST_F(OpportunitiesTest, LeadToTheFirstEventOfTheirEvidence) {
  Opportunities opportunities;
  EXPECT_FALSE(opportunities.evidence(0).has_value());
  compute(opportunities);
  for (std::size_t i = 0; i < opportunities.advice()->cards.size(); ++i) {
    const auto events = advisor_.evidence_of(advisor_.advice().cards[i]);
    ASSERT_EQ(events.size(), advisor_.advice().cards[i].change.evidence.size());
    const auto call = opportunities.evidence(i);
    ASSERT_TRUE(call.has_value());
    EXPECT_EQ(call->process, 0U);
    EXPECT_EQ(call->event, events.front().event);
    const GpuEvents& gpu = run_->trace->ranks[0].gpu;
    EXPECT_EQ(call->start_ns, gpu.start_ns[call->event]);
    // A card that is about one kernel names it.
    const std::string& title = opportunities.advice()->cards[i].change.title;
    if (title.starts_with("Do without ")) {
      const std::string kernel = title.substr(11, title.find(' ', 11) - 11);
      EXPECT_NE(run_->trace->text(gpu.name[call->event]).find(kernel), std::string_view::npos) << title;
    }
  }
}

TEST_F(OpportunitiesTest, SayWhyThereAreNone) {
  AdviceOptions strict;
  strict.bound = 0;
  Opportunities refused(strict);
  refused.compute(run_, {});
  settle(refused);
  ASSERT_TRUE(refused.problem().has_value());
  EXPECT_TRUE(refused.problem()->cause.contains(QLatin1String("apart")));
  EXPECT_FALSE(refused.problem()->hint.isEmpty());
  ASSERT_NE(refused.advice(), nullptr);  // the step and the replay's error
  EXPECT_GT(refused.advice()->error.traced_step_ns, 0);

  Opportunities without_gpu;
  without_gpu.compute(open_run("swinscope_swinv2b_upernet_weak_2gpu/gpus2/timing1"), {});
  settle(without_gpu);
  EXPECT_EQ(without_gpu.advice(), nullptr);
  ASSERT_TRUE(without_gpu.problem().has_value());
  EXPECT_EQ(without_gpu.problem()->cause, QStringLiteral("the trace has no GPU events"));
}

TEST(OpportunityTexts, GiveValueAndInterval) {
  swinscope::Card card;
  card.saving_ns = {59'581'485, 63'062'756, 63'918'756};
  EXPECT_EQ(saving_text(card), QStringLiteral("saves 63.06 ms, 59.58 to 63.92 ms"));
  EXPECT_EQ(range_text(985'000, 1'200'000), QStringLiteral("985.0 us to 1.200 ms"));
  card.change.confidence = Confidence::kLikely;
  EXPECT_EQ(confidence_text(card), QStringLiteral("59.58 to 63.92 ms, likely"));
  card.saving_ns = {8'800'000, 8'800'000, 8'800'000};
  EXPECT_EQ(confidence_text(card), QStringLiteral("likely")) << "there is no interval";
  EXPECT_EQ(share_text(63'062'756, 236'030'035), QStringLiteral("saves 63.06 ms, 26.7 % of the step"));
}

}  // namespace
}  // namespace swinscope::gui

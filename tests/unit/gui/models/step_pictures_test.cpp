// The pictures of a step, worked out by hand: what was measured, what is simulated, and what falls away.
#include "gui/core/step_pictures.h"

#include <gmock/gmock.h>

#include "tests/unit/advisor/hand_step.h"

namespace swinscope::gui {
namespace {

using test::kAdd;
using test::kGemm;
using test::kNorm;

// "stream 7: gemm 5..105 norm 106..156x": in microseconds from the step's begin; x: falls away.
std::string text_of(const StepPicture& picture) {
  std::string text;
  for (LaneId lane = 0; lane < picture.timeline.lanes.size(); ++lane) {
    const TimelineLane& events = picture.timeline.lanes[lane];
    text += (text.empty() ? "" : "; ") + events.label + ":";
    for (LanePosition i = 0; i < events.size(); ++i) {
      const LaneEvent event = events.event(i);
      text += " " + std::string(picture.timeline.name({lane, i})) + " " + std::to_string(event.start_ns / 1'000) +
              ".." + std::to_string(event.end_ns() / 1'000);
      if (!picture.falls_away.empty() && picture.falls_away[lane][i]) text += "x";
    }
  }
  return text;
}

struct Shown {
  Shown(const Trace& trace) : facts(trace, {}), advisor(facts, {}) {
    step = ShownStep::choose(facts, advisor.graph(), replay(advisor.graph()));
  }
  StepPictures as_it_is() const { return step->pictures(advisor.graph(), replay(advisor.graph())); }
  StepPictures with(const std::vector<std::string>& ids) const {
    const Simulation simulation = advisor.simulation(ids);
    return step->pictures(simulation.graph, simulation.replay);
  }
  const RunFacts facts;
  const Advisor advisor;
  std::optional<ShownStep> step;
};

// The colour of a kernel follows from all of its name: where it stands, and what it carries.
TEST(StepPictures, NamesAreWhole) {
  constexpr std::string_view kCombine = "void acme::ep::internode::combine<8>(int)";
  constexpr std::string_view kProduct = "void cutlass::device_kernel<acme::GemmKernel>(int)";
  const Trace trace =
      test::trace_of_step([&](test::HandStep& step) { step.kernel(kCombine, 100).kernel(kProduct, 200); });
  const StepPictures pictures = Shown(trace).as_it_is();
  for (const StepPicture* const picture : {&pictures.measured, &pictures.simulated}) {
    EXPECT_EQ(picture->timeline.name({0, 0}), kCombine);
    EXPECT_EQ(picture->timeline.name({0, 1}), kProduct);
  }
}

// As in advice_test: when the norm is part of the add, that starts 5.2 after the step's begin and takes 215.
TEST(StepPictures, ShowWhatMovesAndWhatFallsAway) {
  const Trace trace =
      test::trace_of_step([](test::HandStep& step) { step.kernel(kNorm, 100).kernel(kAdd, 200).kernel(kGemm, 600); });
  const Shown shown(trace);
  const StepPictures before = shown.as_it_is();
  const std::string measured =
      "stream 7: layer_norm_kernel 5..105 vectorized_elementwise_kernel 106..306 ampere_sgemm_128x64_tn 307..907";
  EXPECT_EQ(before.step, 1);
  EXPECT_EQ(text_of(before.measured), measured);
  EXPECT_EQ(text_of(before.simulated), measured) << "the replay is exact";
  EXPECT_EQ(before.measured.step_ns, 914'000);
  EXPECT_EQ(before.measured.idle_ns, 14'000);
  EXPECT_EQ(before.measured.falling_away(), 0U);

  const StepPictures after = shown.with({"fusion-1"});
  EXPECT_EQ(
      text_of(after.measured),
      "stream 7: layer_norm_kernel 5..105x vectorized_elementwise_kernel 106..306 ampere_sgemm_128x64_tn 307..907");
  EXPECT_EQ(text_of(after.simulated), "stream 7: vectorized_elementwise_kernel 5..220 ampere_sgemm_128x64_tn 221..821");
  EXPECT_EQ(after.simulated.step_ns, 828'200);
  EXPECT_EQ(after.measured.step_ns, 914'000);
  EXPECT_EQ(
      picture_text(after.measured),
      QStringLiteral("914.0 us, 3 GPU events on 1 stream, 14.00 us without GPU work; 1 of the events falls away"));
}

// Of three steps with a kernel of 100, 300 and 200 the last one.
TEST(StepPictures, AreOfTheStepOfMedianLength) {
  test::HandTrace hand;
  test::HandRank& rank = hand.add_rank();
  rank.run.source = "another recorder";
  std::int64_t begin = 0;
  for (const std::int64_t duration : {100, 300, 200}) {
    test::HandStep step(rank, begin);
    begin = step.kernel(kGemm, duration).kernel(kNorm, 10, {8}).wait().end();
  }
  const Trace trace = hand.build();
  const StepPictures pictures = Shown(trace).as_it_is();
  EXPECT_EQ(pictures.step, 3);
  EXPECT_EQ(text_of(pictures.measured), "stream 7: ampere_sgemm_128x64_tn 5..205; stream 8: layer_norm_kernel 9..19");
  EXPECT_EQ(text_of(pictures.simulated), text_of(pictures.measured));
  EXPECT_EQ(pictures.simulated.step_ns, pictures.measured.step_ns);
  // Without a replay the same step is found, and looks the same.
  const std::optional<MeasuredStep> measured = median_step(RunFacts(trace, {}));
  ASSERT_TRUE(measured.has_value());
  EXPECT_EQ(measured->step, 3);
  EXPECT_EQ(measured->rank, pictures.rank);
  EXPECT_EQ(text_of(measured->picture), text_of(pictures.measured));
  EXPECT_EQ(measured->picture.step_ns, pictures.measured.step_ns);
  EXPECT_EQ(measured->picture.idle_ns, pictures.measured.idle_ns);
}

// Branches of graphs: the streams with most events have lanes of their own, what is on the others shares lanes where it
// does not run at once.
TEST(StepPictures, ManyStreamsShareLanes) {
  test::HandTrace hand;
  test::HandRank& rank = hand.add_rank();
  rank.run.source = "another recorder";
  test::HandStep step(rank, 0);
  for (std::uint32_t stream = 7; stream < 12; ++stream)
    step.kernel(kGemm, 10, {stream}).kernel(kGemm, 10, {stream});
  step.kernel(kNorm, 100, {20}).kernel(kAdd, 20, {21}).wait().kernel(kNorm, 30, {22}).wait().end();
  const Trace trace = hand.build();
  const StepPicture picture = Shown(trace).as_it_is().measured;
  ASSERT_EQ(picture.timeline.lanes.size(), 7U);
  EXPECT_EQ(picture.timeline.lanes[4].label, "stream 11");
  EXPECT_EQ(picture.timeline.lanes[5].label, "3 other streams");
  EXPECT_EQ(picture.timeline.lanes[5].size(), 2U) << "one behind the other";
  EXPECT_EQ(picture.timeline.lanes[6].size(), 1U) << "beside the first";
  EXPECT_EQ(picture.events(), 13U);
  EXPECT_THAT(picture_text(picture).toStdString(), testing::HasSubstr("13 GPU events on 8 streams"));
}

TEST(StepPictures, ThereIsNoneWithoutSteps) {
  test::HandTrace hand;
  hand.add_rank().launch(kGemm, 0, 5, 10);
  const Trace trace = hand.build();
  EXPECT_FALSE(median_step(RunFacts(trace, {})).has_value());
}

}  // namespace
}  // namespace swinscope::gui

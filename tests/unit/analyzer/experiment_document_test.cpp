// What is said of an experiment: its headline, from rows whose step times are given.
#include <gmock/gmock.h>

#include "analyzer/experiment/scaling.h"
#include "analyzer/report/documents.h"

namespace swinscope {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

struct Given {
  std::map<std::string, std::string> factors;
  std::int64_t step_ns;
  std::optional<std::int64_t> ci_ns;
};

Experiment experiment_of(const std::string& mode) {
  Experiment experiment;
  experiment.mode = mode;
  experiment.images = 1000;
  return experiment;
}

std::vector<ScalingRow> rows_of(const Experiment& experiment, const std::vector<Given>& points) {
  std::vector<ScalingRow> rows;
  for (const Given& given : points) {
    ScalingRow& row = rows.emplace_back();
    row.point.factors = given.factors;
    row.step_ns = given.step_ns;
    row.step_ci_ns = given.ci_ns;
    row.repeat_step_ns = {given.step_ns};
  }
  add_scaling(experiment, rows);
  return rows;
}

Document document_of(const std::string& mode, const std::vector<Given>& points) {
  const Experiment experiment = experiment_of(mode);
  return experiment_document(experiment, rows_of(experiment, points));
}

TEST(ExperimentDocument, StrongScalingIsTheRatioOfTheStepTimes) {
  const Document document = document_of("strong", {{{{"gpus", "1"}}, 61570000, {}}, {{{"gpus", "2"}}, 67600000, {}}});
  // 61.57 / 67.60 = 0.9108, half of it 0.4554
  EXPECT_EQ(document.headline.front(),
            "parallel efficiency 0.46 at 2 ranks: speedup 0.91, 67.60 ms per step against 61.57 ms");
  EXPECT_THAT(document.notes, Contains(HasSubstr("share one global batch")));
}

TEST(ExperimentDocument, SaysWhyATrainingHasNoCost) {
  const auto note_of = [](std::int64_t images_per_step, const std::string& gpu, bool is_traced) {
    Experiment experiment = experiment_of("weak");
    experiment.images_per_step = images_per_step;
    experiment.price = {"h200", 3.5};
    std::vector<ScalingRow> rows = rows_of(experiment, {{{{"gpus", "1"}}, 3'600'000'000, {}}});
    rows.front().gpu = gpu;
    if (is_traced) rows.front().point.tracing = "tracing";
    rows.front().uses_gpus = !gpu.empty();
    rows.front().train_cost.reset();
    add_scaling(experiment, rows);
    return experiment_document(experiment, rows).notes;
  };
  EXPECT_THAT(note_of(10, "NVIDIA H200", true),
              Contains("Training cost: hours of training x GPUs x 3.5, the price of a GPU hour (h200)."));
  EXPECT_THAT(
      note_of(10, "NVIDIA H100 80GB HBM3", true),
      Contains("Training cost is not known: the price is of another GPU (h200), the runs were on NVIDIA H100 80GB "
               "HBM3."));
  EXPECT_THAT(note_of(10, "", true), Contains("Training cost is not known: the runs used no GPU."));
  EXPECT_THAT(note_of(0, "", false),
              Contains("Training cost is not known: the training time is not, without --images-per-step."));
}

TEST(ExperimentDocument, NotesExplainOnlyColumnsThatAreThere) {
  const auto mentions_interval = Contains(HasSubstr("confidence interval"));
  const Document once = document_of("weak", {{{{"gpus", "1"}}, 100, {}}, {{{"gpus", "2"}}, 100, {}}});
  EXPECT_THAT(once.notes, Not(mentions_interval));
  EXPECT_THAT(once.notes, Not(Contains(HasSubstr("traced run"))));
  EXPECT_THAT(document_of("weak", {{{{"gpus", "1"}}, 100, 3}, {{{"gpus", "2"}}, 100, 3}}).notes, mentions_interval);

  const Experiment experiment = experiment_of("weak");
  auto rows = rows_of(experiment, {{{{"gpus", "1"}}, 100, {}}});
  rows[0].gpu_busy = 0.9;
  EXPECT_THAT(experiment_document(experiment, rows).notes, Contains(HasSubstr("traced run's measured steps")));
}

TEST(ExperimentDocument, KnownImagesOfStrongScalingChangeNothing) {
  Experiment experiment = experiment_of("strong");
  experiment.images_per_step = 512;
  const auto rows = rows_of(experiment, {{{{"gpus", "1"}}, 61570000, {}}, {{{"gpus", "2"}}, 67600000, {}}});
  EXPECT_EQ(rows[1].images_per_step, 512);
  EXPECT_DOUBLE_EQ(rows[1].speedup, 61.57 / 67.60);
}

// Half widths of 10 % and of 20 %: of the efficiency 0.8 x sqrt(0.1^2 + 0.2^2) = 0.179.
TEST(ExperimentDocument, AnIntervalThatHoldsOneIsSaid) {
  const Document document =
      document_of("weak", {{{{"gpus", "1"}}, 8000000, 800000}, {{{"gpus", "2"}}, 10000000, 2000000}});
  EXPECT_EQ(document.headline.front(),
            "parallel efficiency 0.80 ± 0.18 at 2 ranks: speedup 1.60 ± 0.36, 10.00 ms per step against 8.000 ms");
  EXPECT_THAT(document.headline[1], StartsWith("the efficiency 0.80 ± 0.18 is anything between 0.62 and 0.98"));
  EXPECT_THAT(document.headline[1], HasSubstr("--repeat"));

  const Document noisier =
      document_of("weak", {{{{"gpus", "1"}}, 8000000, 800000}, {{{"gpus", "2"}}, 10000000, 4000000}});
  EXPECT_THAT(noisier.headline[1],
              StartsWith("the noise is larger than the effect: the efficiency 0.80 ± 0.33 cannot be told from 1"));
}

TEST(ExperimentDocument, ASureEffectNeedsNoWords) {
  const Document document = document_of("weak", {{{{"gpus", "1"}}, 8000000, 8000}, {{{"gpus", "2"}}, 10000000, 10000}});
  ASSERT_THAT(document.headline, SizeIs(1));
  EXPECT_THAT(document.headline.front(), StartsWith("parallel efficiency 0.80 ± 0.00 at 2 ranks"));
}

TEST(ExperimentDocument, OneRunHasNoInterval) {
  const Document document = document_of("weak", {{{{"gpus", "1"}}, 8000000, 8000}, {{{"gpus", "2"}}, 10000000, {}}});
  EXPECT_THAT(document.headline, Contains(StartsWith("one run: no interval")));
  EXPECT_THAT(document.headline.front(), StartsWith("parallel efficiency 0.80 at 2 ranks: speedup 1.60,"));
}

TEST(ExperimentDocument, ASinglePointIsCountedRight) {
  EXPECT_THAT(document_of("weak", {{{{"gpus", "1"}}, 8000000, {}}}).headline,
              ElementsAre("8.000 ms per step with 1 rank"));
}

TEST(ExperimentDocument, NoPointYet) {
  Experiment experiment = experiment_of("weak");
  experiment.planned = 2;
  const Document document = experiment_document(experiment, {});
  EXPECT_THAT(document.headline.front(), HasSubstr("run the same command"));
  EXPECT_THAT(document.warnings, ElementsAre(StartsWith("0 of 2 points are complete")));
}

// Batch 256 takes 3.25 times as long for 4 times the images.
TEST(ExperimentDocument, TheFastestOfASweepIsThatForTheSameImages) {
  const Document document = document_of(
      "sweep", {{{{"gpus", "1"}, {"batch", "64"}}, 4000000, {}}, {{{"gpus", "1"}, {"batch", "256"}}, 13000000, {}}});
  EXPECT_THAT(document.headline.front(),
              StartsWith("fastest: batch=256 gpus=1, 1.23 times as fast as batch=64 gpus=1 for the same images"));
}

// The first one is the fastest: it is compared with the slowest, not with itself.
TEST(ExperimentDocument, TheFastestIsNotComparedWithItself) {
  const Document document = document_of(
      "sweep", {{{{"gpus", "1"}, {"batch", "64"}}, 1000000, {}}, {{{"gpus", "1"}, {"batch", "128"}}, 4000000, {}}});
  EXPECT_THAT(document.headline.front(),
              StartsWith("fastest: batch=64 gpus=1, 2.00 times as fast as batch=128 gpus=1"));
}

TEST(ExperimentDocument, WithoutImagesASweepSaysNothingOfTheSameImages) {
  const Document document = document_of(
      "sweep", {{{{"gpus", "1"}, {"level", "a"}}, 4000000, {}}, {{{"gpus", "1"}, {"level", "b"}}, 3000000, {}}});
  EXPECT_EQ(document.headline.front(),
            "shortest step: gpus=1 level=b, 3.000 ms per step against 4.000 ms with gpus=1 level=a");
  EXPECT_THAT(document.headline[1], HasSubstr("--images-per-step"));
  EXPECT_THAT(document.headline, Not(Contains(HasSubstr("for the same images"))));
}

TEST(ExperimentDocument, DistortionCountsInBothDirections) {
  const Experiment experiment = experiment_of("weak");
  std::vector<ScalingRow> rows = rows_of(experiment, {{{{"gpus", "1"}}, 1000, {}}, {{{"gpus", "2"}}, 1000, {}}});
  rows[0].traced_step_ns = 799;
  rows[1].traced_step_ns = 1200;
  EXPECT_THAT(experiment_document(experiment, rows).warnings,
              ElementsAre("1 rank: with tracing a step took 20.1 % less than without: causes are indicative only"));
}

// A host that runs ahead of its GPU: 2.6 ms a step until the queue is full, 4.2 from then on.
TEST(ExperimentDocument, StepsThatDriftAreSaid) {
  EXPECT_FALSE(drift({26, 26, 26, 26, 42, 42, 42, 42})) << "too few";
  const std::optional<StepDrift> ahead = drift({26, 27, 25, 26, 42, 42, 42, 43, 41});
  ASSERT_TRUE(ahead);
  EXPECT_EQ(ahead->early_ns, 26);
  EXPECT_EQ(ahead->late_ns, 42);
  EXPECT_TRUE(ahead->gets_longer());
  EXPECT_FALSE(drift({42, 43, 41, 42, 26, 26, 27, 25, 26})->gets_longer());
  EXPECT_FALSE(drift({100, 100, 100, 100, 100, 100, 109, 109, 109})) << "less than a tenth apart";
  EXPECT_FALSE(drift({20, 30, 40, 30, 30, 30, 25, 35, 45})) << "they jitter by more";

  const Experiment experiment = experiment_of("weak");
  std::vector<ScalingRow> rows = rows_of(experiment, {{{{"gpus", "1"}}, 1000, {}}, {{{"gpus", "2"}}, 1000, {}}});
  rows[0].drift = StepDrift{2'600'000, 4'200'000};
  rows[1].drift = StepDrift{4'200'000, 2'600'000};
  EXPECT_THAT(
      experiment_document(experiment, rows).warnings,
      ElementsAre("1 rank: steps get longer, from 2.600 ms in the first third to 4.200 ms in the last: leave out "
                  "more of them (--warmup-steps), or time more; a host that does not wait for its GPU runs ahead "
                  "until the GPU's queue is full",
                  "2 ranks: steps get shorter, from 4.200 ms in the first third to 2.600 ms in the last: leave "
                  "out more of them (--warmup-steps), or time more"));
}

TEST(ExperimentDocument, ImagesThatAreNoConstantGlobalBatchAreSaid) {
  const Experiment experiment = experiment_of("strong");
  std::vector<ScalingRow> rows = rows_of(experiment, {{{{"gpus", "1"}}, 1000, {}}, {{{"gpus", "2"}}, 1000, {}}});
  rows[0].images_per_step = 4;
  rows[1].images_per_step = 8;
  add_scaling(experiment, rows);
  EXPECT_DOUBLE_EQ(rows[1].speedup, 2) << "for the same images";
  EXPECT_THAT(experiment_document(experiment, rows).warnings,
              ElementsAre(HasSubstr("4 images with 1 rank and 8 with 2 ranks")));
}

TEST(ExperimentDocument, WhatWasNotMeasuredIsNoColumnForPeople) {
  const Document document = document_of("weak", {{{{"gpus", "1"}}, 1000, {}}});
  const Table& table = document.tables.front();
  const auto column = [&](const char* key) { return table.columns[find_column(table, key)]; };
  EXPECT_TRUE(column("gpu_busy_percent").detail);
  EXPECT_TRUE(column("train_time_ns").detail);
  EXPECT_FALSE(column("step_ns").detail);
  EXPECT_EQ(column("step_ci95_ns").title, "95 % CI");
  EXPECT_EQ(column("distortion_percent").title, "tracing slowdown");
}

}  // namespace
}  // namespace swinscope

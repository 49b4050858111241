// What a comparison of experiments says, and in which order.
#include "analyzer/experiment/comparison.h"

#include <gmock/gmock.h>

#include "analyzer/base/commands.h"

namespace swinscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::int64_t kHourNs = 3'600'000'000'000;

ComparedSeries series_of(const std::string& name, double hours, const std::vector<std::string>& command = {"swin"}) {
  ComparedSeries series;
  series.name = name;
  series.command = command;
  series.images = 1000;
  ScalingRow& row = series.rows.emplace_back();
  row.point.factors["gpus"] = "2";
  row.step_ns = 1000;
  if (hours > 0) {
    row.images_per_step = 4;
    row.train_time_ns = static_cast<std::int64_t>(hours * static_cast<double>(kHourNs));
    row.images_per_second = 1e6 / hours;
  }
  return series;
}

TEST(Comparison, SaysWhichIsSlower) {
  EXPECT_THAT(comparison_document({series_of("cpu", 1.05), series_of("swinscope", 16.2)}).headline,
              ElementsAre("with 2 ranks, swinscope takes 16.2 h and cpu (the base) 1.05 h: 15 times slower"));
  EXPECT_THAT(comparison_document({series_of("slow", 3), series_of("quick", 1.5)}).headline,
              ElementsAre("with 2 ranks, quick takes 1.5 h and slow (the base) 3 h: 2.00 times faster"));
  EXPECT_THAT(comparison_document({series_of("one", 3), series_of("other", 3)}).headline,
              ElementsAre("with 2 ranks, other takes 3 h and one (the base) 3 h: as fast"));
}

TEST(Comparison, ADifferenceWithinTheNoiseIsNone) {
  ComparedSeries base = series_of("base", 1);
  ComparedSeries other = series_of("other", 1.1);
  base.rows[0].step_ci_ns = 100;
  other.rows[0].step_ns = 1100;
  other.rows[0].step_ci_ns = 100;
  EXPECT_THAT(comparison_document({base, other}).headline.front(),
              testing::EndsWith(": no difference beyond the noise"));
}

TEST(Comparison, DifferentTrainingsAreComparedByImages) {
  ComparedSeries other = series_of("other", 2);
  other.images = 500;
  EXPECT_THAT(
      comparison_document({series_of("base", 1), other}).headline,
      ElementsAre(
          "with 2 ranks, other trains 500,000 images/s and base (the base) 1,000,000 images/s: 2.00 times slower"));
}

TEST(Comparison, UnlikeWorkIsSaidBeforeAnyRatio) {
  const ComparedSeries base = series_of("large", 1, {"swin", "train", "--model", "swin_large", "--device", "cuda"});
  const ComparedSeries other =
      series_of("scenes", 8, {"swin", "train", "--task", "segmentation", "--model", "swinv2_base", "--device", "cuda"});
  const Document document = comparison_document({base, other});
  EXPECT_THAT(document.headline,
              ElementsAre("not the same work, so a ratio of times compares programs, models or tasks, "
                          "too: scenes has `--task segmentation --model swinv2_base`, large (the "
                          "base) has `--model swin_large`",
                          HasSubstr("8.00 times slower")));
  EXPECT_EQ(document.finding->abstained,
            "not the same work: scenes has `--task segmentation --model swinv2_base`, large (the base) has `--model "
            "swin_large`");
  const ComparedSeries level = series_of("graph", 1, {"swin", "train", "--model", "swin_large", "--level", "graph"});
  EXPECT_THAT(comparison_document({base, level}).headline.front(),
              StartsWith("the commands differ: graph has `--level graph`, large (the base) has `--device cuda`"));
}

TEST(Comparison, UnknownImagesAreNamed) {
  EXPECT_THAT(comparison_document({series_of("cpu", 1), series_of("weak", 0)}).headline,
              ElementsAre("training times cannot be compared: images per step of \"weak\" are unknown; give "
                          "--images-per-step"));
  ComparedSeries four = series_of("four", 1);
  four.rows[0].point.factors["gpus"] = "4";
  EXPECT_THAT(comparison_document({series_of("cpu", 1), four}).headline.front(),
              HasSubstr("no number of ranks in common"));
}

TEST(Comparison, DifferencesComeFirstAndGpusAreCounted) {
  ComparedSeries base = series_of("base", 1);
  ComparedSeries other = series_of("other", 1);
  for (const char* title : {"GPU 0", "GPU 1"})
    base.configuration.push_back({"gpu", title, "NVIDIA H200"});
  other.configuration.push_back({"gpu", "GPU 0", "NVIDIA H100"});
  const Document document = comparison_document({base, other});
  ASSERT_EQ(document.tables.size(), 2U);
  EXPECT_EQ(document.tables[0].key, "differences");
  EXPECT_THAT(document.tables[0].rows,
              ElementsAre(std::vector<Cell>{"GPUs", std::string("2 x NVIDIA H200"), std::string("NVIDIA H100")}));
  EXPECT_EQ(document.tables[1].key, "comparison");
}

TEST(Commands, AreSplitAsAShellWould) {
  EXPECT_THAT(split_command("sh -c 'a b' \"c \\\"d\" e\\ f"), ElementsAre("sh", "-c", "a b", "c \"d", "e f"));
  EXPECT_THAT(split_command("  "), testing::IsEmpty());
}

TEST(Commands, TellingPartsAreWhatNotAllHave) {
  EXPECT_THAT(
      telling_parts({{"swin", "train", "--level=eager", "-o", "a"}, {"swin", "train", "--level", "graph", "-o", "b"}}),
      ElementsAre("--level eager", "--level graph"));
  EXPECT_THAT(telling_parts({{"swin"}, {"swin"}}), ElementsAre("", ""));
}

}  // namespace
}  // namespace swinscope

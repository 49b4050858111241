// What a report says of a run to those who have not made it: what was run, what is not known, and first things first.
#include "analyzer/report/report.h"

#include <utility>

#include <gmock/gmock.h>

#include "analyzer/analyses/layer_folding.h"
#include "tests/unit/analyzer/hand_trace.h"

namespace swinscope::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ReportTest : public testing::Test {
 protected:
  // Two measured steps with a kernel each.
  HandRank& rank_with_steps() {
    HandRank& rank = hand_.add_rank();
    for (const std::int64_t begin : {0, 100, 200}) {
      rank.step(begin, begin + 90);
      rank.launch("gemm", begin + 5, begin + 10, begin + 50);
    }
    return rank;
  }

  ReportPart part(const std::string& path = "/home/somebody/runs/loop.db") {
    trace_ = hand_.build();
    trace_.path = path;
    for (Rank& rank : trace_.ranks)
      rank.run.world_size = world_size_;
    return report_part(trace_, path, {});
  }

  static std::string said(const ReportPart& part, std::string_view key) {
    for (const QualityFact& one : part.quality) {
      if (one.fact.key == key) return std::get<std::string>(one.fact.value);
    }
    for (const Fact& fact : part.what.facts) {
      if (fact.key == key) return std::get<std::string>(fact.value);
    }
    return "nothing";
  }

  HandTrace hand_;
  Trace trace_;
  std::int32_t world_size_ = 0;  // of the job, as its recordings say; 0: they do not
};

TEST_F(ReportTest, SaysWhatIsNotKnown) {
  rank_with_steps();
  const ReportPart one = part();
  EXPECT_EQ(said(one, "losses"), "none: nothing was lost, dropped or cut off");
  EXPECT_THAT(said(one, "ranks"), StartsWith("not known: 1 rank recorded"));
  EXPECT_THAT(said(one, "power"), StartsWith("not known: not sampled"));
  EXPECT_EQ(said(one, "cpu"), "not known: not sampled");
  EXPECT_EQ(said(one, "costs"), "not known: no layers are marked");
  EXPECT_EQ(unknown_things(one.quality),
            "missing ranks, power and clocks of the GPUs, CPU time, FLOPs and bytes of layers");
  EXPECT_THAT(render_html(build_report({one})), HasSubstr(unknown_things(one.quality))) << "on the first page";
}

TEST_F(ReportTest, SilenceOfTheSourceIsNoPromise) {
  rank_with_steps().run.source = "kineto";
  const ReportPart one = part();
  EXPECT_EQ(said(one, "losses"), "not known: the program that recorded does not count what it loses");
  EXPECT_THAT(render_html(build_report({one})), Not(HasSubstr("othing was lost")));
}

TEST_F(ReportTest, NamesMissingRanksAndLosses) {
  world_size_ = 8;
  for (int i = 0; i < 2; ++i) {
    HandRank& rank = rank_with_steps();
    rank.run.drops = {{"kernels", 3, "buffer full"}};
    rank.run.complete = i == 0;
  }
  const ReportPart one = part();
  EXPECT_EQ(said(one, "ranks"), "6 of 8 ranks are missing: 2, 3, 4, 5, 6, 7");
  EXPECT_EQ(said(one, "world"), "8 ranks; 6 of 8 ranks are missing: 2, 3, 4, 5, 6, 7");
  EXPECT_EQ(said(one, "losses"),
            "6 records lost or unread, listed under \"Lost or unread\"; the recording was cut off");
  EXPECT_EQ(said(one, "clocks"), "one clock: the ranks ran on one host");
}

TEST_F(ReportTest, SaysWhatWasRun) {
  HandRank& rank = rank_with_steps();
  rank.run.command = "python3 train.py --model=swin_tiny --lr 1e-4";
  rank.run.gpus = {{}};
  rank.run.gpus.front().name = "NVIDIA H200";
  world_size_ = 1;
  const ReportPart one = part();
  EXPECT_EQ(one.what.subject, "swin_tiny on NVIDIA H200");
  EXPECT_EQ(build_report({one}).title, one.what.subject);
  EXPECT_EQ(said(one, "model"), "swin_tiny");
  EXPECT_EQ(said(one, "gpus"), "NVIDIA H200");
  EXPECT_EQ(said(one, "host"), "host");
  EXPECT_EQ(said(one, "world"), "1 rank, the whole job");
  EXPECT_EQ(said(one, "recorded"), "2025-10-09 08:53:20 UTC");
}

TEST_F(ReportTest, ARunOfAnUnknownModelHasTheNameOfItsRecording) {
  rank_with_steps();
  const ReportPart one = part("runs/loop.db");
  EXPECT_EQ(one.what.subject, "loop on GPU of unknown name");
  EXPECT_EQ(said(one, "model"), "not known");
}

// Whoever gets the report has not this machine's folders.
TEST_F(ReportTest, CommandsAreWithoutTheFolderOfTheRecording) {
  rank_with_steps();
  const Report report = build_report({part()});
  for (const std::string& line : report.summary.why)
    EXPECT_THAT(line, Not(HasSubstr("/home/somebody")));
  EXPECT_THAT(report.summary.why, testing::Contains(HasSubstr("evidence: swinscope ")));
  EXPECT_THAT(report.summary.why, testing::Contains(testing::HasSubstr(" loop.db")));
}

TEST_F(ReportTest, TheFirstPageHasTheStepsPartsFromZero) {
  rank_with_steps();
  const Report report = build_report({part()});
  ASSERT_TRUE(report.summary.waterfall.has_value());
  const ReportChart& waterfall = *report.summary.waterfall;
  EXPECT_EQ(waterfall.chart.y_min, 0.0);
  EXPECT_EQ(waterfall.chart.categories.back(), "sum");
  double sum = 0;
  for (std::size_t i = 0; i + 1 < waterfall.chart.categories.size(); ++i)
    sum += *waterfall.chart.series.front().values[i];
  EXPECT_DOUBLE_EQ(sum, *waterfall.chart.series.front().values.back());
  EXPECT_EQ(report.summary.waterfall->table.rows.size(), waterfall.chart.categories.size());
}

// Steps of 90 and 90 us of rank 0, of 90 and 95 us of rank 1.
TEST_F(ReportTest, RanksAndTheirStepsAreAHeatMap) {
  rank_with_steps();
  HandRank& other = hand_.add_rank();
  for (const auto& [begin, end] : {std::pair(0, 90), std::pair(100, 190), std::pair(200, 295)}) {
    other.step(begin, end);
    other.launch("gemm", begin + 5, begin + 10, begin + 50);
  }
  const ReportPart one = part();
  ASSERT_TRUE(one.rank_steps.has_value());
  const Chart& chart = one.rank_steps->chart;
  EXPECT_EQ(chart.kind, ChartKind::kHeatMap);
  ASSERT_EQ(chart.series.size(), 2U);
  EXPECT_EQ(chart.categories.size(), 3U);
  EXPECT_EQ(chart.series[1].name, "rank 1");
  EXPECT_EQ(chart.series[1].texts.back(), "95.00 us");
  EXPECT_EQ(chart.y_min, 0.09);
  EXPECT_THAT(render_html(build_report({one})),
              AllOf(HasSubstr("Step times, ms</title>"), HasSubstr("faintest: 0.09, strongest: 0.095")));
}

TEST(ReportRenderers, FoldWhatIsLong) {
  Table table{"numbers", "Numbers", {{"n", "n", Unit::kCount}}, {}};
  for (std::int64_t i = 0; i < 20; ++i)
    table.rows.push_back({1000 + i});
  Report report;
  report.title = "t";
  report.sections = {{"Section", {}, {}, {}, {table}, {table}}};
  const std::string html = render_html(report);
  EXPECT_THAT(html, HasSubstr("<td data-v=\"1014\">1,014</td></tr>\n</tbody></table></div>\n"
                              "<details class=\"more\"><summary>5 more rows</summary>"));
  EXPECT_THAT(html, HasSubstr("<details class=\"whole\"><summary>Numbers: 20 rows</summary>"));
  EXPECT_THAT(html, HasSubstr("<li><a href=\"#s1\">Section</a></li>")) << "the contents";
  EXPECT_THAT(html, HasSubstr("@page{size:A4 landscape"));
  const std::string markdown = render_markdown_report(report, "figures").text;
  EXPECT_THAT(markdown, HasSubstr("| 1,014 |\n\n<details><summary>5 more rows</summary>\n\n|"));
  EXPECT_THAT(markdown, HasSubstr("<details><summary>Numbers: 20 rows</summary>\n\n|"));
}

TEST(ReportEnvironment, HasNamesForPeople) {
  const auto text = [](const char* value) { return Cell(std::string(value)); };
  const std::vector<Fact> facts =
      readable_environment({{"gpu", "GPU 0", text("NVIDIA H200")},
                            {"gpu", "GPU 1", text("NVIDIA H200")},
                            {"gpu.0.name", "gpu.0.name", text("NVIDIA H200")},
                            {"gpu.0-1.link", "gpu.0-1.link", text("NVLink")},
                            {"cpu.cores_allowed", "cpu.cores_allowed", text("32")},
                            {"memory.total_bytes", "memory.total_bytes", text("270334464000")},
                            {"cuda_driver_version", "cuda_driver_version", text("13010")},
                            {"env.NCCL_ALGO", "env.NCCL_ALGO", text("Ring")},
                            {"of.nobody", "of.nobody", text("x")}});
  std::vector<std::string> lines;
  lines.reserve(facts.size());
  for (const Fact& fact : facts)
    lines.push_back(fact.title + ": " + format_cell(fact.value, fact.unit));
  EXPECT_THAT(lines, testing::ElementsAre("GPU 0-1 link: NVLink", "CPU cores allowed: 32", "memory: 251.8 GiB",
                                          "CUDA of the driver: 13.1", "variable NCCL_ALGO: Ring", "of.nobody: x",
                                          "GPUs of the machine: 2 x NVIDIA H200"));
}

TEST(LayerFolding, FoldsTheInnermostNumberThatIsNotTheLast) {
  EXPECT_EQ(folded_path("stage3.block12.attn.qkv"), "stage3.block*.attn.qkv");
  EXPECT_EQ(folded_path("stage3.block12.mlp.fc1"), "stage3.block*.mlp.fc1");
  EXPECT_EQ(folded_path("layers.2.blocks.5.norm1"), "layers.2.blocks.*.norm1");
  EXPECT_EQ(folded_path("stage3.norm"), "stage*.norm");
  EXPECT_EQ(folded_path("head.fc"), "head.fc");
  EXPECT_EQ(folded_path("conv1"), "conv1");
  EXPECT_EQ(folded_path(""), "");
}

}  // namespace
}  // namespace swinscope::test

// `swinscope report`: one file that needs nothing else.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include "tests/integration/cli/support.h"

namespace swinscope::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

class ReportCommand : public CliTest {
 protected:
  std::string report(const std::string& run_path, const std::string& file) const {
    const ProgramResult result = run({"report", run_path, "-o", file});
    EXPECT_EQ(result.status, 0) << result.err;
    return read_file(folder() / file);
  }
};

TEST_F(ReportCommand, OneFileWithoutRequests) {
  const std::string html = report(recording(), "r.html");
  EXPECT_LT(html.size(), 5'000'000U);
  for (const char* request : {"src=", "url(http", "@import", "fetch("})
    EXPECT_THAT(html, Not(HasSubstr(request)));
  for (std::size_t at = html.find("href="); at != std::string::npos; at = html.find("href=", at + 1))
    EXPECT_EQ(html.substr(at, 7), "href=\"#") << "links of the contents only";
  EXPECT_THAT(html, HasSubstr("bound by memory: kernels and copies that move data take "));
  EXPECT_THAT(html, HasSubstr("upsample_bilinear2d_backward_out_frame"));
  EXPECT_THAT(html, HasSubstr("<svg"));
  EXPECT_EQ(report(recording(), "again.html"), html) << "the same input, the same bytes";
}

TEST_F(ReportCommand, TheFiguresAreThoseOfAnalyze) {
  const std::string html = report(recording(), "r.html");
  const std::string open = R"(<script type="application/json" id="data">)";
  const std::size_t begin = html.find(open) + open.size();
  const auto data = nlohmann::json::parse(html.substr(begin, html.find("</script>", begin) - begin));
  EXPECT_EQ(data[0], run_json({"analyze", recording(), "--top", "50", "--definition", "thesis"}));
}

// Layers and what `info` says stand in the report with the figures that the commands print.
TEST_F(ReportCommand, SaysWhatLayersAndInfoSay) {
  const std::string trace = (recording().parent_path() / "swinscope_swin_tiny_infer_1gpu.db").string();
  const std::string html = report(trace, "r.html");
  const auto layers = run_json({"layers", trace})["data"]["layers"];
  ASSERT_GT(layers.size(), 20U);
  for (const auto& layer : layers)
    EXPECT_THAT(html, HasSubstr(layer["path"].get<std::string>()));
  const auto info = run_json({"info", trace})["data"];
  EXPECT_THAT(html, HasSubstr("<h2>Recording</h2>"));
  ASSERT_FALSE(info["health"].empty());
  for (const auto& finding : info["health"])
    EXPECT_THAT(html, HasSubstr(finding["finding"].get<std::string>()));
}

// What was measured elsewhere stands on one chart with the speed of the points, and in the table of every other form.
TEST_F(ReportCommand, ShowsSpeedBesideQuality) {
  const std::string experiment = (recording().parent_path() / "swinscope_swin_large_weak_2gpu").string();
  const auto write = [&](const std::string& text) {
    std::ofstream(folder() / "q.csv") << text;
    return (folder() / "q.csv").string();
  };
  const std::string file = write("gpus, top-1 [%]\n1, 77.2\n1, 77.6\n\n2, 77.0\n");
  ASSERT_EQ(run({"report", experiment, "-o", "r.html", "--quality", file}).status, 0);
  const std::string html = read_file(folder() / "r.html");
  EXPECT_THAT(html, HasSubstr("Speed and top-1 [%]"));
  ASSERT_EQ(run({"report", experiment, "-o", "r.json", "--quality", file}).status, 0);
  const auto rows = nlohmann::json::parse(read_file(folder() / "r.json"))["data"]["quality"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["gpus"], 1);
  EXPECT_NEAR(rows[0]["quality"].get<double>(), 77.4, 1e-9);
  EXPECT_EQ(rows[0]["most"], 77.6);
  EXPECT_EQ(rows[1]["measured"], 1);

  const auto refused = [&](const std::string& text, int status, const char* what) {
    const ProgramResult result = run({"report", experiment, "-o", "no.html", "--quality", write(text)});
    EXPECT_EQ(result.status, status) << result.err;
    EXPECT_THAT(result.err, HasSubstr(what));
    EXPECT_FALSE(std::filesystem::exists(folder() / "no.html"));
  };
  refused("", 3, "no measurements");
  refused("gpus,top-1\n", 3, "there is no line below the names of the columns");
  refused("gpus\n1,2\n", 3, R"(line 1: "gpus": 1 values, not 2)");
  refused("gpus,top-1\n1,nan\n", 3, R"(line 2: "1,nan": "nan" is no number)");
  refused("gpus,top-1\n,77\n", 3, "a value is missing");
  refused("gpus,top-1\n4,77\n", 3, "gpus 4: no point of the experiment has it");
  refused("precision,top-1\nfp8,77\n", 2, "no experiment of the report has points by precision");
  EXPECT_EQ(run({"report", experiment, "-o", "no.html", "--quality", (folder() / "none.csv").string()}).status, 3);
}

// Of an experiment the advice is on the recording that the report shows: that of the point with the most GPUs.
TEST_F(ReportCommand, AnExperimentHasTheOpportunitiesOfItsLargestTracedPoint) {
  const std::filesystem::path experiment = recording().parent_path() / "swinscope_swin_large_weak_2gpu";
  const std::string traced = (experiment / "gpus2" / "tracing").string();
  const auto advice = run_json({"advise", traced})["data"]["opportunities"];
  ASSERT_FALSE(advice.empty());
  const std::string html = report(experiment.string(), "r.html");
  EXPECT_THAT(html, HasSubstr("<h2>Traced with 2 GPUs: Opportunities</h2>"));
  for (const auto& card : advice)
    EXPECT_THAT(html, HasSubstr("<td class=\"t\">" + card["id"].get<std::string>() + "</td>"));
  EXPECT_THAT(html, HasSubstr("evidence: swinscope advise "));
  EXPECT_THAT(html, HasSubstr(">fusable with</th>"));
}

// Why steps take longer: as a waterfall on the first page, and with what the terminal has of it behind the scaling.
TEST_F(ReportCommand, AnExperimentSaysWhyItsStepsTakeLonger) {
  const std::string experiment = (recording().parent_path() / "swinscope_swin_large_weak_2gpu").string();
  const std::string html = report(experiment, "r.html");
  const std::size_t scaling = html.find("Parallel efficiency from 1 at 1 to ");
  const std::size_t waterfall = html.find("Why steps take longer, per step: 2 GPUs</title>");
  const std::size_t kernels = html.find("<h3>Kernels whose time changed most, per step</h3>");
  EXPECT_LT(waterfall, scaling);
  EXPECT_LT(scaling, html.find("<nav"));
  EXPECT_LT(html.find("<nav"), kernels);
  EXPECT_LT(kernels, html.find("<h3>Parallel efficiency by POP&#39;s factors</h3>"));
  EXPECT_LT(html.find("2 GPUs lose "), scaling) << "in the verdict";
  const auto parts = run_json({"analyze", experiment})["data"]["scaling_loss"];
  ASSERT_GT(parts.size(), 3U);
  for (const auto& part : parts)
    EXPECT_THAT(html, HasSubstr("<td class=\"t\">" + part["what"].get<std::string>() + "</td><td data-v=\"" +
                                std::to_string(part["time_ns"].get<std::int64_t>()) + "\">"));
  ASSERT_TRUE(parts[1]["replay_low_ns"].is_number()) << "what replays say stands in both, too";
  EXPECT_THAT(html, HasSubstr("<td data-v=\"" + std::to_string(parts[1]["replay_low_ns"].get<std::int64_t>()) + "\">"));
  EXPECT_THAT(report(experiment, "r.md"), HasSubstr("-why-steps-take-longer-per-step-2-gpus.svg)"));
}

// Two runs: what `compare` says of them comes first, then each of them.
TEST_F(ReportCommand, RunsAreCompared) {
  const std::filesystem::path ladder = recording().parent_path() / "swinscope_swin_large_train_ladder";
  const std::string eager = (ladder / "eager.db").string();
  const std::string attention = (ladder / "attention.db").string();
  const auto said = run_json({"compare", eager, attention});
  for (const char* file : {"r.json", "r.html", "r.md"})
    ASSERT_EQ(run({"report", eager, attention, "-o", file}).status, 0);
  EXPECT_EQ(nlohmann::json::parse(read_file(folder() / "r.json")), said);
  const std::string html = read_file(folder() / "r.html");
  const std::size_t compared = html.find("<h2>Runs beside each other</h2>");
  ASSERT_NE(compared, std::string::npos);
  EXPECT_LT(compared, html.find("eager.db: Where the time goes</h2>"));
  EXPECT_LT(html.find("attention.db: 307.7 ms less per step than eager.db"), compared) << "in the verdict";
  EXPECT_LT(html.find("Why steps take longer or shorter, per step: attention.db</title>"),
            html.find("<h3>Layers whose time changed most, per step</h3>"));
  EXPECT_THAT(read_file(folder() / "r.md"), HasSubstr("### Kernels whose time changed most, per step"));
}

// Of one run and of several; a file whose author nobody names says nothing of one.
TEST_F(ReportCommand, NamesItsAuthor) {
  write("t.json", kineto({kineto_kernel("kernel", "1", "5")}));
  ASSERT_EQ(run({"report", "t.json", "-o", "one.html", "--author", "Ada <L.>"}).status, 0);
  EXPECT_THAT(read_file(folder() / "one.html"), HasSubstr("Ada &lt;L.&gt;"));
  ASSERT_EQ(run({"report", "t.json", "t.json", "-o", "two.md", "--author", "Ada"}).status, 0);
  const ProgramResult table = run({"report", "t.json", "-o", "t.csv", "--author", "Ada"});
  EXPECT_EQ(table.status, 0);
  EXPECT_THAT(table.err, HasSubstr("warning: --author: .csv reports have no first page that could name it"));
  EXPECT_THAT(read_file(folder() / "two.md"), HasSubstr("- report by: Ada\n"));
  EXPECT_THAT(report("t.json", "none.html"), Not(HasSubstr("report by")));
}

TEST_F(ReportCommand, NamesAreTextNotMarkup) {
  write("t.json", kineto({kineto_kernel("<script>", "1", "5"), kineto_kernel("a </script><b>", "9", "5")}));
  const std::string html = report("t.json", "r.html");
  EXPECT_THAT(html, HasSubstr("<td class=\"t\">&lt;script&gt;</td>"));
  EXPECT_THAT(html, Not(HasSubstr("<script></td>")));
  EXPECT_THAT(html, Not(HasSubstr("</script><b>")));
}

TEST_F(ReportCommand, OtherFormatsByTheNameOfTheFile) {
  EXPECT_EQ(nlohmann::json::parse(report(recording(), "r.json"))["schema"], "swinscope.analyze/1");
  EXPECT_THAT(report(recording(), "r.csv"), HasSubstr("# utilization"));
  const std::string markdown = report(recording(), "r.md");
  EXPECT_THAT(markdown, HasSubstr("### Utilization"));
  EXPECT_THAT(markdown, HasSubstr("](r_figures/1-"));
  EXPECT_TRUE(std::filesystem::is_directory(folder() / "r_figures"));
}

// Everything that index.md names is there, and the figures are those of the report.
TEST_F(ReportCommand, ABundleHasEveryFigureAndTableAsAFile) {
  const std::string experiment = (recording().parent_path() / "swinscope_swin_large_weak_2gpu").string();
  options_.environment.emplace_back("PATH=/nowhere");
  const ProgramResult result = run({"report", experiment, "--bundle", "bundle"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("warning: the figures are SVG only: rsvg-convert, which makes PDF of them, is not installed"));
  const std::filesystem::path bundle = folder() / "bundle";
  const std::string index = read_file(bundle / "index.md");
  std::set<std::string> named = {"index.md"};
  for (std::size_t at = index.find("]("); at != std::string::npos; at = index.find("](", at + 1))
    named.insert(index.substr(at + 2, index.find(')', at) - at - 2));
  std::set<std::string> there;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(bundle)) {
    if (entry.is_regular_file()) there.insert(std::filesystem::relative(entry.path(), bundle).string());
  }
  EXPECT_EQ(there, named);
  const std::string json = read_file(bundle / "report.json");
  EXPECT_THAT(read_file(bundle / "report.html"), HasSubstr("<svg"));
  const auto factors = nlohmann::json::parse(json)[0]["data"]["pop"];
  const std::string table = read_file(bundle / "tables/pop.csv");
  ASSERT_EQ(std::ranges::count(table, '\n'), std::ssize(factors) + 1);
  EXPECT_THAT(table,
              HasSubstr(factors[1]["point"].get<std::string>() + "," + factors[1]["parallel_efficiency"].dump() + ","));
  EXPECT_THAT(read_file(bundle / "tables/pop.tex"), HasSubstr("\\toprule"));
  EXPECT_THAT(index, HasSubstr("-why-steps-take-longer-per-step-2-gpus.svg)"));
}

// A stand-in for librsvg's program copies; one that fails is said, and everything else is there.
TEST_F(ReportCommand, ABundleHasPdfOfEachFigureWhereThatCanBeMade) {
  const std::string experiment = (recording().parent_path() / "swinscope_swin_large_weak_2gpu").string();
  const std::filesystem::path converter = folder() / "bin/rsvg-convert";
  std::filesystem::create_directory(folder() / "bin");
  const auto become = [&](const std::string& script) {
    write("bin/rsvg-convert", "#!/bin/sh\n" + script);
    std::filesystem::permissions(converter, std::filesystem::perms::owner_all);
  };
  options_.environment.push_back("PATH=" + (folder() / "bin").string() + ":/usr/bin:/bin");
  become("[ \"$1 $2 $3 $5\" = '-f pdf -o --' ] && cp \"$6\" \"$4\"\n");
  const ProgramResult result = run({"report", experiment, "--bundle", "b"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err, "");
  int figures = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder() / "b/figures")) {
    if (entry.path().extension() != ".svg") continue;
    ++figures;
    EXPECT_EQ(read_file(std::filesystem::path(entry.path()).replace_extension(".pdf")), read_file(entry.path()));
  }
  EXPECT_GT(figures, 2);
  become("exit 1\n");
  const ProgramResult failed = run({"report", experiment, "--bundle", "failed"});
  EXPECT_EQ(failed.status, 0);
  EXPECT_THAT(failed.err, HasSubstr(".pdf: not made: " + converter.string() + " failed"));
  EXPECT_TRUE(std::filesystem::exists(folder() / "failed/index.md"));
}

TEST_F(ReportCommand, ABundleNeedsAFolderOfItsOwn) {
  write("t.json", kineto({kineto_kernel("gemm", "1", "5")}));
  EXPECT_EQ(run({"report", "t.json"}).status, 2);
  EXPECT_EQ(run({"report", "t.json", "--bundle", "new", "-o", "r.html"}).status, 2);
  EXPECT_FALSE(std::filesystem::exists(folder() / "new"));
  std::filesystem::create_directory(folder() / "mine");
  write("mine/index.md", "mine");
  const ProgramResult refused = run({"report", "t.json", "--bundle", "mine"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("mine: is there and not empty"));
  EXPECT_EQ(read_file(folder() / "mine/index.md"), "mine");
  EXPECT_EQ(run({"report", "t.json", "--bundle", "mine", "--force"}).status, 0);
  EXPECT_THAT(read_file(folder() / "mine/index.md"), HasSubstr("kernels.csv"));
}

TEST_F(ReportCommand, RefusesAndKeepsWhatIsThere) {
  write("kept.html", "mine");
  const ProgramResult exists = run({"report", recording(), "-o", "kept.html"});
  EXPECT_EQ(exists.status, 2);
  EXPECT_EQ(read_file(folder() / "kept.html"), "mine");
  EXPECT_EQ(run({"report", recording(), "-o", "kept.html", "--force"}).status, 0);
  EXPECT_EQ(run({"report", recording(), "-o", "r.pdf"}).status, 2);
  const std::string experiment = (recording().parent_path() / "swinscope_swin_large_weak_2gpu").string();
  EXPECT_EQ(run({"report", recording(), experiment, "-o", "r.csv"}).status, 2);
  EXPECT_EQ(run({"report", "none", "-o", "r.html"}).status, 3);
}

}  // namespace
}  // namespace swinscope::tests

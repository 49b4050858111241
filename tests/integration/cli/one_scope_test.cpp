// One quantity, one number: what is said of a traced run in the table of its experiment, by `analyze` of the run, and
// in the report of either.
#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>

#include <gmock/gmock.h>

#include "analyzer/table/render.h"
#include "tests/integration/cli/support.h"

namespace swinscope::tests {
namespace {

using nlohmann::json;

constexpr const char* kExperiment = "data/swinscope_swin_large_weak_2gpu";

// Every number under one of these keys, wherever it stands in a document.
void collect(const json& document, const std::set<std::string>& keys, std::vector<double>& found) {
  if (document.is_object()) {
    for (const auto& [key, value] : document.items()) {
      if (keys.contains(key) && value.is_number()) found.push_back(value.get<double>());
      collect(value, keys, found);
    }
  } else if (document.is_array()) {
    for (const json& element : document)
      collect(element, keys, found);
  }
}

double mean_of(const json& rows, const char* key) {
  double sum = 0;
  for (const json& row : rows)
    sum += row[key].get<double>();
  return sum / static_cast<double>(rows.size());
}

std::string without_markup(const std::string& html) { return std::regex_replace(html, std::regex("<[^>]*>"), ""); }

// The tables of a report: a row for each, by the titles of the columns.
std::vector<std::map<std::string, std::string>> rows_of(const std::string& html) {
  std::vector<std::map<std::string, std::string>> rows;
  for (std::size_t at = html.find("<table "); at != std::string::npos; at = html.find("<table ", at + 1)) {
    const std::string table = html.substr(at, html.find("</table>", at) - at);
    const auto cells = [](const std::string& row, const char* tag) {
      std::vector<std::string> texts;
      const std::regex cell(std::string("<") + tag + "[ >][^]*?</" + tag + ">");
      for (auto i = std::sregex_iterator(row.begin(), row.end(), cell); i != std::sregex_iterator(); ++i)
        texts.push_back(without_markup(i->str()));
      return texts;
    };
    const std::size_t body = table.find("<tbody>");
    const std::vector<std::string> titles = cells(table.substr(0, body), "th");
    for (std::size_t row = table.find("<tr>", body); row != std::string::npos; row = table.find("<tr>", row + 1)) {
      const std::vector<std::string> values = cells(table.substr(row, table.find("</tr>", row) - row), "td");
      if (values.size() != titles.size()) continue;
      std::map<std::string, std::string>& named = rows.emplace_back();
      for (std::size_t i = 0; i < titles.size(); ++i)
        named[titles[i]] = values[i];
    }
  }
  return rows;
}

class OneScope : public CliTest {
 protected:
  const std::string experiment_ = (std::filesystem::path(SWINSCOPE_SOURCE_DIR) / kExperiment).string();
  const std::string run_ = experiment_ + "/gpus2/tracing";
  const json point_ = [this] {
    const json points = run_json({"analyze", experiment_})["data"]["points"];
    return *std::ranges::find_if(points, [](const json& row) { return row["gpus"] == 2; });
  }();
  const json traced_ = run_json({"analyze", run_})["data"];
};

TEST_F(OneScope, TheExperimentSaysOfItsTracedRunWhatAnalyzeSays) {
  EXPECT_EQ(point_["traced_step_ns"], traced_["step_ns"]);
  EXPECT_EQ(point_["gpu_busy_percent"], traced_["gpu_busy_percent"]);
  EXPECT_EQ(point_["idle_percent"], traced_["idle_percent"]);
  EXPECT_DOUBLE_EQ(mean_of(traced_["utilization"], "gpu_compute_percent"), point_["gpu_compute_percent"].get<double>());
}

TEST_F(OneScope, TheTablesOfTheRunAgree) {
  EXPECT_EQ(traced_["scope"], "4 steps after 10 of warm-up");
  EXPECT_NEAR(mean_of(traced_["utilization"], "gpu_busy_percent"), traced_["gpu_busy_percent"].get<double>(), 1e-9);
  EXPECT_NEAR(mean_of(traced_["breakdown"], "idle_percent"), traced_["idle_percent"].get<double>(), 1e-9);
  std::int64_t longest = 0;
  for (const json& row : traced_["steps"])
    longest = std::max(longest, row["step_ns"].get<std::int64_t>());
  EXPECT_EQ(longest, traced_["step_ns"]);
  for (std::size_t i = 0; i < traced_["utilization"].size(); ++i) {
    const json& used = traced_["utilization"][i];
    EXPECT_EQ(used["span_ns"], traced_["breakdown"][i]["sum_ns"]);
    EXPECT_EQ(used["idle_ns"], traced_["idle"][i]["idle_ns"]);
    EXPECT_EQ(used["idle_ns"], traced_["breakdown"][i]["idle_ns"]);
    EXPECT_EQ(used["span_ns"].get<std::int64_t>() / 4, traced_["steps"][i]["step_ns"]);
  }
  std::int64_t parts = 0;
  for (const json& bound : traced_["bounds"])
    parts += bound["per_step_ns"].get<std::int64_t>();
  EXPECT_EQ(parts, traced_["bounds_sum_ns"]);
}

TEST_F(OneScope, EveryNumberOfTheReportIsOneOfThese) {
  ASSERT_EQ(run({"report", experiment_, "-o", "report.html"}).status, 0);
  const std::string html = read_file(folder() / "report.html");
  const auto shown = [](const json& value, Unit unit) {
    return value.is_number_integer() ? format_cell(value.get<std::int64_t>(), unit)
                                     : format_cell(value.get<double>(), unit);
  };
  // Of the point with two GPUs and of its run: the mean, or a device's own value.
  std::set<std::string> busy = {shown(point_["gpu_busy_percent"], Unit::kPercent)};
  std::set<std::string> idle = {shown(point_["idle_percent"], Unit::kPercent)};
  for (const json& row : traced_["utilization"]) {
    busy.insert(shown(row["gpu_busy_percent"], Unit::kPercent));
    idle.insert(shown(row["idle_percent"], Unit::kPercent));
  }
  int seen = 0;
  for (const auto& row : rows_of(html)) {
    const auto one_gpu = row.find("GPUs");
    if (one_gpu != row.end() && one_gpu->second == "1") continue;
    for (const auto& [title, allowed] :
         {std::pair("GPU busy", &busy), std::pair("idle %", &idle), std::pair("idle", &idle)}) {
      const auto cell = row.find(title);
      if (cell == row.end() || !cell->second.ends_with("%")) continue;
      EXPECT_TRUE(allowed->contains(cell->second)) << title << " " << cell->second;
      ++seen;
    }
    const auto step = row.find("step time");
    if (step == row.end()) continue;
    EXPECT_EQ(step->second, shown(traced_["step_ns"], Unit::kDuration));
    ++seen;
  }
  EXPECT_GT(seen, 8);
  // And the documents that the report carries.
  const std::string open = R"(<script type="application/json" id="data">)";
  const std::size_t begin = html.find(open) + open.size();
  const json documents = json::parse(html.substr(begin, html.find("</script>", begin) - begin));
  std::vector<double> steps;
  collect(documents[1]["data"], {"step_ns"}, steps);
  EXPECT_THAT(steps, testing::Each(testing::AnyOf(traced_["steps"][0]["step_ns"].get<double>(),
                                                  traced_["steps"][1]["step_ns"].get<double>())));
}

// A part of a run is the same part wherever it is asked for.
class OnePart : public CliTest {
 protected:
  std::string trace_ = SWINSCOPE_SOURCE_DIR "/data/swinscope_swin_large_weak_2gpu/gpus2/tracing";

  json asked(const char* command) const { return run_json({command, trace_, "--steps", "3:5", "--rank", "1"})["data"]; }
};

TEST_F(OnePart, TheReportIsOfTheStepsAndTheRankThatWereChosen) {
  ASSERT_EQ(run({"report", trace_, "-o", "part.json", "--steps", "3:5", "--rank", "1"}).status, 0);
  EXPECT_EQ(
      json::parse(read_file(folder() / "part.json"))["data"],
      run_json({"analyze", trace_, "--steps", "3:5", "--rank", "1", "--top", "50", "--definition", "thesis"})["data"]);
  ASSERT_EQ(run({"report", trace_, "-o", "part.html", "--steps", "3:5", "--rank", "1"}).status, 0);
  const auto rows = rows_of(read_file(folder() / "part.html"));
  const auto expect_shown = [&](const char* title, const json& value, Unit unit, const std::string& of) {
    const bool found = std::ranges::any_of(rows, [&](const auto& row) {
      const auto cell = row.find(title);
      const bool is_its_row = std::ranges::any_of(row, [&](const auto& named) { return named.second == of; });
      return is_its_row && cell != row.end() && cell->second == format_cell(value.get<std::int64_t>(), unit);
    });
    EXPECT_TRUE(found) << of << ": " << title << " " << value;
  };
  const json kernels = asked("kernels");
  expect_shown("total", kernels[0]["total_ns"], Unit::kDuration, kernels[0]["name"]);
  const json launches = asked("launches");
  ASSERT_EQ(launches.size(), 1U);
  EXPECT_EQ(launches[0]["rank"], 1);
  expect_shown("kernels", launches[0]["kernels"], Unit::kCount, "1");
  const json layers_said = asked("layers");
  int layers = 0;
  for (const json& layer : layers_said["layers"]) {
    if (layer["gpu_ns"].get<std::int64_t>() == 0) continue;
    expect_shown("GPU", layer["gpu_ns"], Unit::kDuration, layer["path"]);
    if (++layers == 10) break;
  }
  EXPECT_EQ(layers, 10);
  EXPECT_NE(kernels[0]["total_ns"], run_json({"kernels", trace_})["data"][0]["total_ns"]);
}

// What cannot be chosen is refused, not left unsaid.
TEST_F(OnePart, OfAnExperimentIsRefused) {
  const std::string experiment = SWINSCOPE_SOURCE_DIR "/" + std::string(kExperiment);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"analyze", experiment, "--rank", "1"},
        std::vector<std::string>{"report", experiment, "-o", "r.html", "--steps", "3:5"},
        std::vector<std::string>{"compare", experiment, experiment, "--rank", "0"}}) {
    const ProgramResult result = run(command);
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, testing::HasSubstr("an experiment, of which no part can be chosen"));
  }
}

TEST_F(OnePart, OfRunsBesideEachOtherIsOfEach) {
  const json all = run_json({"compare", trace_, trace_})["data"]["runs"];
  const json part = run_json({"compare", trace_, trace_, "--steps", "3:5"})["data"]["runs"];
  ASSERT_EQ(part.size(), 2U);
  EXPECT_EQ(part[0]["steps"], 3);
  EXPECT_NE(all[0]["steps"], 3);
}

}  // namespace
}  // namespace swinscope::tests

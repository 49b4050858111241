#include "analyzer/comparison.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/text.h"
#include "store/error.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

constexpr double kHourNs = 3600e9;

// What tells one platform or program from another; the rest of an environment differs from run to run.
bool tells_apart(const Fact& fact) {
  static const std::vector<std::string> prefixes = {"command", "gpu",   "cpu.",   "os.release", "driver",
                                                    "cuda.",   "cudnn", "nccl",   "env.NCCL_",  "python",
                                                    "torch",   "host",  "memory", "git.commit"};
  return std::ranges::any_of(prefixes, [&](const std::string& prefix) { return fact.key.starts_with(prefix); });
}

const ScalingRow* row_at(const ComparedSeries& series, int gpus) {
  const auto found = std::ranges::find_if(series.rows, [&](const ScalingRow& row) { return row.point.gpus() == gpus; });
  return found == series.rows.end() ? nullptr : &*found;
}

// How many times as fast as the base with as many GPUs: the ratio of the times for the same number of images.
std::optional<double> times_as_fast(const ComparedSeries& base, const ScalingRow& row) {
  const ScalingRow* other = row_at(base, row.point.gpus());
  if (other == nullptr || other->images_per_second <= 0 || row.images_per_second <= 0) return std::nullopt;
  return row.images_per_second / other->images_per_second;
}

Cell known(std::int64_t value) { return value > 0 ? Cell(value) : Cell(); }
Cell known(double value) { return value > 0 ? Cell(value) : Cell(); }
Cell percent(const std::optional<double>& share) { return share ? Cell(100 * *share) : Cell(); }

std::string_view source_of(const ComparedSeries& series, const ScalingRow& row) {
  if (series.is_published) return "published";
  return row.traced_only ? "traced" : "measured";
}

Table comparison_table(const std::vector<ComparedSeries>& all) {
  Table table{"comparison",
              "Comparison",
              {{"series", "series"},
               {"gpus", "GPUs", Unit::kCount},
               {"source", "source"},
               {"step_ns", "step", Unit::kDuration},
               {"train_time_ns", "training time", Unit::kDuration},
               {"images_per_s", "images/s", Unit::kNumber},
               {"times_base", "x base", Unit::kNumber},
               {"speedup", "speedup", Unit::kNumber},
               {"efficiency", "efficiency", Unit::kNumber},
               {"gpu_compute_percent", "GPU compute", Unit::kPercent},
               {"gpu_busy_percent", "GPU busy", Unit::kPercent},
               {"cpu_util_percent", "CPU", Unit::kPercent},
               {"thesis_gpu_percent", "GPU share", Unit::kPercent, true},
               {"thesis_cpu_percent", "CPU share", Unit::kPercent, true}},
              {}};
  for (const ComparedSeries& series : all) {
    for (const ScalingRow& row : series.rows) {
      const auto times = times_as_fast(all.front(), row);
      table.rows.push_back(
          {series.name, std::int64_t{row.point.gpus()}, std::string(source_of(series, row)), known(row.step_ns),
           known(row.train_time_ns), known(row.images_per_second), times ? Cell(*times) : Cell(), known(row.speedup),
           known(row.efficiency), percent(row.gpu_compute), percent(row.gpu_busy), percent(row.cpu_util),
           percent(row.thesis_gpu_share), row.thesis_gpu_share ? Cell(100 * (1 - *row.thesis_gpu_share)) : Cell()});
    }
  }
  return table;
}

// A row for what differs, a column for each measured series.
Table differences_table(const std::vector<ComparedSeries>& all) {
  Table table{"differences", "Differences of configuration", {{"what", "what"}}, {}};
  std::vector<std::string> keys;
  std::vector<std::map<std::string, std::string>> values;
  std::map<std::string, std::string> titles;
  for (const ComparedSeries& series : all) {
    if (series.is_published) continue;
    table.columns.push_back({series.name, series.name});
    std::map<std::string, std::string>& own = values.emplace_back();
    for (const Fact& fact : series.configuration) {
      if (titles.emplace(fact.key, fact.title).second) keys.push_back(fact.key);
      std::string& value = own[fact.key];
      value += (value.empty() ? "" : ", ") + format_cell(fact.value, fact.unit);
    }
  }
  for (const std::string& key : keys) {
    std::vector<Cell> row = {titles[key]};
    bool differs = false;
    for (std::map<std::string, std::string>& own : values) {
      const auto found = own.find(key);
      row.push_back(found == own.end() ? Cell() : Cell(found->second));
      differs = differs || row.back() != row[1];
    }
    if (differs) table.rows.push_back(std::move(row));
  }
  return table;
}

// The most GPUs that both were measured with, images known.
const ScalingRow* largest_common(const ComparedSeries& base, const ComparedSeries& series) {
  const ScalingRow* largest = nullptr;
  for (const ScalingRow& row : series.rows) {
    if (times_as_fast(base, row)) largest = &row;
  }
  return largest;
}

std::string_view counted(const ComparedSeries& series) {
  const bool has_gpus =
      std::ranges::any_of(series.rows, [](const ScalingRow& row) { return row.gpu_busy.has_value(); });
  return has_gpus ? "GPUs" : "ranks";
}

void compare_with_base(const ComparedSeries& base, const ComparedSeries& series, Document& document) {
  const ScalingRow* row = largest_common(base, series);
  if (row == nullptr) {
    document.headline.push_back(fmt::format("{} and {} share no point whose images are known", series.name, base.name));
    return;
  }
  const int gpus = row->point.gpus();
  const ScalingRow& other = *row_at(base, gpus);
  const double times = *times_as_fast(base, *row);
  document.headline.push_back(fmt::format("{} trains in {:.3g} h with {} {}, {} in {:.3g} h: {:.2f} times as fast",
                                          series.name, static_cast<double>(row->train_time_ns) / kHourNs, gpus,
                                          counted(series), base.name,
                                          static_cast<double>(other.train_time_ns) / kHourNs, times));
  const bool inflated = (times > 1) != (row->speedup > other.speedup) && row->speedup != other.speedup;
  if (!inflated || times == 1) return;
  const ComparedSeries& slower = times > 1 ? base : series;
  document.notes.push_back(
      fmt::format("{} has the higher speedup with {} {} ({:.2f} against {:.2f}) though it trains slower: its first "
                  "point is slow.",
                  slower.name, gpus, counted(series), std::max(row->speedup, other.speedup),
                  std::min(row->speedup, other.speedup)));
}

}  // namespace

ComparedSeries compared_series(const PublishedResult& published) {
  ComparedSeries series;
  series.name = published.name;
  series.is_published = true;
  for (const PublishedPoint& point : published.points) {
    ScalingRow& row = series.rows.emplace_back();
    row.point.factors["gpus"] = std::to_string(point.gpus);
    row.train_time_ns = static_cast<std::int64_t>(point.train_time_hours.value_or(0) * kHourNs);
    row.speedup = point.speedup.value_or(0);
    row.efficiency = row.speedup / point.gpus;
    row.thesis_gpu_share = point.gpu_share;
  }
  return series;
}

ComparedSeries compared_series(const Experiment& experiment, std::vector<ScalingRow> rows,
                               const std::vector<Fact>& environment) {
  ComparedSeries series;
  series.name = fs::absolute(experiment.folder).lexically_normal().filename().string();
  if (series.name.empty()) series.name = fs::absolute(experiment.folder).parent_path().filename().string();
  series.configuration = {{"mode", "mode", experiment.mode},
                          {"images", "images", experiment.images, Unit::kCount},
                          {"warmup_steps", "warm-up steps", std::int64_t{experiment.warmup_steps}, Unit::kCount}};
  if (!rows.empty()) {
    const ScalingRow& first = rows.front();
    series.configuration.push_back({"batch", fmt::format("images a step with {}", first.point.gpus()),
                                    known(first.images_per_step), Unit::kCount});
  }
  for (const Fact& fact : environment) {
    if (tells_apart(fact)) series.configuration.push_back(fact);
  }
  series.rows = std::move(rows);
  return series;
}

Document comparison_document(const std::vector<ComparedSeries>& series) {
  Document document;
  document.schema = "compare";
  document.tables = {comparison_table(series)};
  const ComparedSeries& base = series.front();
  for (auto other = series.begin() + 1; other != series.end(); ++other) {
    if (!other->is_published) compare_with_base(base, *other, document);
  }
  document.facts = {{"base", "base", base.name}};
  if (Table differences = differences_table(series); !differences.rows.empty()) {
    document.tables.push_back(std::move(differences));
  }
  document.notes.emplace_back(
      "x base: how many times as fast as the base with as many GPUs, for the same number of images. Speedup and "
      "efficiency are each series' own: compare training times first.");
  if (std::ranges::any_of(series, &ComparedSeries::is_published)) {
    document.notes.emplace_back(
        "Published results are of other machines and programs; `swinscope platforms` has them.");
  }
  return document;
}

std::vector<fs::path> experiments_at(const fs::path& path) {
  if (is_experiment(path)) return {path};
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, ignored)) {
    if (is_experiment(entry.path())) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace swinscope

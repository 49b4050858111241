#include "analyzer/experiment/comparison.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/base/commands.h"
#include "analyzer/base/text.h"
#include "analyzer/experiment/configuration.h"
#include "analyzer/importers/named_path.h"
#include "store/error.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

constexpr double kHourNs = 3600e9;

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
               {"times_base", "speed vs base", Unit::kNumber},
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

// The most GPUs that both were measured with, images known.
const ScalingRow* largest_common(const ComparedSeries& base, const ComparedSeries& series) {
  const ScalingRow* largest = nullptr;
  for (const ScalingRow& row : series.rows) {
    if (times_as_fast(base, row)) largest = &row;
  }
  return largest;
}

std::string_view counted(const std::vector<ScalingRow>& rows) {
  const auto has_gpus = [](const ScalingRow& row) { return row.uses_gpus || row.gpu_busy.has_value(); };
  return std::ranges::any_of(rows, has_gpus) ? "GPUs" : "ranks";
}
std::string_view counted(const ComparedSeries& series) { return counted(series.rows); }

// "15 times slower", "1.56 times faster", "as fast"
std::string faster_or_slower(double times) {
  const double factor = times >= 1 ? times : 1 / times;
  constexpr double kWhole = 9.95;  // from here on two digits are enough
  const std::string text = factor >= kWhole ? fmt::format("{:.0f}", factor) : fmt::format("{:.2f}", factor);
  if (text == "1.00") return "as fast";
  return fmt::format("{} times {}", text, times >= 1 ? "faster" : "slower");
}

// Whether the difference of the two step times is within their 95 % confidence intervals.
bool is_within_noise(const ScalingRow& a, const ScalingRow& b) {
  if (!a.step_ci_ns || !b.step_ci_ns || a.images_per_step != b.images_per_step) return false;
  return std::abs(static_cast<double>(a.step_ns - b.step_ns)) <=
         std::hypot(static_cast<double>(*a.step_ci_ns), static_cast<double>(*b.step_ci_ns));
}

// Why there is no ratio.
std::string not_comparable(const ComparedSeries& base, const ComparedSeries& series) {
  const auto shares = [&](const ScalingRow& row) { return row_at(base, row.point.gpus()) != nullptr; };
  if (std::ranges::none_of(series.rows, shares))
    return fmt::format("{} and {} (the base) were measured with no number of {} in common", series.name, base.name,
                       counted(series));
  const auto has_images = [](const ComparedSeries& one) {
    return std::ranges::any_of(one.rows, [](const ScalingRow& row) { return row.images_per_second > 0; });
  };
  const std::string unknown = has_images(base)     ? fmt::format(R"("{}")", series.name)
                              : has_images(series) ? fmt::format(R"("{}")", base.name)
                                                   : fmt::format(R"("{}" and "{}")", base.name, series.name);
  return fmt::format("training times cannot be compared: images per step of {} are unknown; give --images-per-step",
                     unknown);
}

std::string difference_of_commands(std::string_view what, const ComparedSeries& base, const ComparedSeries& series) {
  return fmt::format("{}: {}", what, difference_text(series.name, series.command, base.name, base.command));
}

// Before any ratio: it may compare different work.
void add_unlike_tasks(const ComparedSeries& base, const ComparedSeries& series, Document& document) {
  if (base.command == series.command || base.command.empty() || series.command.empty()) return;
  document.headline.push_back(
      difference_of_commands(are_unlike_tasks(base.command, series.command)
                                 ? "not the same work, so a ratio of times compares programs, models or tasks, too"
                                 : "the commands differ",
                             base, series));
}

void compare_with_base(const ComparedSeries& base, const ComparedSeries& series, Document& document) {
  add_unlike_tasks(base, series, document);
  const ScalingRow* row = largest_common(base, series);
  if (row == nullptr) {
    document.headline.push_back(not_comparable(base, series));
    return;
  }
  const ScalingRow& other = *row_at(base, row->point.gpus());
  const std::string with = format_counted(row->point.gpus(), counted(series));
  const double times = *times_as_fast(base, *row);
  const std::string how = is_within_noise(*row, other) ? "no difference beyond the noise" : faster_or_slower(times);
  const bool same_images = base.images == series.images && row->train_time_ns > 0 && other.train_time_ns > 0;
  const auto amount = [&](const ScalingRow& of) {
    return same_images ? fmt::format("{:.3g} h", static_cast<double>(of.train_time_ns) / kHourNs)
                       : fmt::format("{} images/s", format_cell(of.images_per_second, Unit::kNumber));
  };
  document.headline.push_back(fmt::format("with {}, {} {} {} and {} (the base) {}: {}", with, series.name,
                                          same_images ? "takes" : "trains", amount(*row), base.name, amount(other),
                                          how));
  const bool inflated = (times > 1) != (row->speedup > other.speedup) && row->speedup != other.speedup;
  if (!inflated || times == 1) return;
  const ComparedSeries& slower = times > 1 ? base : series;
  document.notes.push_back(
      fmt::format("{} has the higher speedup with {} ({:.2f} against {:.2f}) though it trains slower: its first "
                  "point is slow.",
                  slower.name, with, std::max(row->speedup, other.speedup), std::min(row->speedup, other.speedup)));
}

Finding finding_of(const ComparedSeries& base, const ComparedSeries& series) {
  const ScalingRow* row = largest_common(base, series);
  if (row == nullptr) return {not_comparable(base, series), "", ""};
  if (are_unlike_tasks(base.command, series.command))
    return {difference_of_commands("not the same work", base, series), "", ""};
  const bool has_noise = row->step_ci_ns && row_at(base, row->point.gpus())->step_ci_ns;
  return {"", has_noise && base.images == series.images ? "high" : "medium", ""};
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
    series.configuration.push_back(
        {"batch", fmt::format("images per step on {}", format_counted(first.point.gpus(), counted(rows))),
         known(first.images_per_step), Unit::kCount});
  }
  std::ranges::copy_if(environment, std::back_inserter(series.configuration), tells_apart);
  series.command = experiment.command;
  series.images = experiment.images;
  series.rows = std::move(rows);
  return series;
}

Document comparison_document(const std::vector<ComparedSeries>& series) {
  Document document;
  document.schema = "compare";
  std::vector<Configuration> configurations;
  for (const ComparedSeries& one : series) {
    if (!one.is_published) configurations.push_back({one.name, one.configuration});
  }
  if (Table differences = differences_table(configurations); !differences.rows.empty()) {
    document.tables.push_back(std::move(differences));
  }
  document.tables.push_back(comparison_table(series));
  const ComparedSeries& base = series.front();
  for (auto other = series.begin() + 1; other != series.end(); ++other) {
    if (other->is_published) continue;
    compare_with_base(base, *other, document);
    if (!document.finding) document.finding = finding_of(base, *other);
  }
  document.facts = {{"base", "base", base.name}};
  document.notes.emplace_back(
      "Speed vs base: how many times as fast as the base with as many GPUs, for the same number of images. Speedup and "
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
    if (!is_experiment(entry.path())) continue;
    refuse_link_out(entry.path());
    found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace swinscope

// The document of a scaling experiment: its table, how far it is from ideal, and what to look at.
#include <algorithm>

#include <fmt/format.h>

#include "analyzer/documents.h"
#include "analyzer/tables.h"
#include "analyzer/text.h"

namespace swinscope {
namespace {

std::string factors_text(const ExperimentPoint& point) {
  std::string text;
  for (const auto& [name, value] : point.factors)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

// The verdict: how far the largest point is from ideal, in a sweep which one is the fastest, and what to look at.
std::vector<std::string> scaling_headline(const Experiment& experiment, const std::vector<ScalingRow>& rows,
                                          std::string_view counted) {
  if (rows.empty()) return {"the experiment has no points yet"};
  const bool sweeps = experiment.mode == "sweep";
  const ScalingRow& last = sweeps ? *std::ranges::max_element(rows, {}, &ScalingRow::speedup) : rows.back();
  const std::string times = last.traced_only ? " (traced times only)" : "";
  if (rows.size() == 1)
    return {fmt::format("{} per step with {} {}{}", format_duration(last.step_ns), last.point.gpus(), counted, times)};
  const std::string steps =
      fmt::format("{} per step against {}", format_duration(last.step_ns), format_duration(rows.front().step_ns));
  std::vector<std::string> lines = {
      sweeps ? fmt::format("fastest: {}, {:.2f} times as fast as {} for the same images ({}), parallel efficiency "
                           "{:.2f}{}",
                           factors_text(last.point), last.speedup, factors_text(rows.front().point), steps,
                           last.efficiency, times)
             : fmt::format("parallel efficiency {:.2f} at {} {}: speedup {:.2f}, {}{}", last.efficiency,
                           last.point.gpus(), counted, last.speedup, steps, times)};
  if (!last.point.tracing.empty()) {
    lines.push_back(fmt::format("  evidence: swinscope analyze {}", (last.point.folder / last.point.tracing).string()));
  }
  return lines;
}

}  // namespace

Document experiment_document(const Experiment& experiment) {
  return experiment_document(experiment, scaling_table(experiment));
}

Document experiment_document(const Experiment& experiment, const std::vector<ScalingRow>& rows) {
  Document document;
  document.schema = "scaling";
  document.run = experiment.folder.string();
  document.tables = {scaling_rows_table(rows)};
  document.headline = scaling_headline(experiment, rows, counted_in(document.tables.front()));
  document.facts = {{"mode", "mode", experiment.mode},
                    {"images", "images", experiment.images, Unit::kCount},
                    {"warmup_steps", "warm-up steps", std::int64_t{experiment.warmup_steps}, Unit::kCount}};
  document.notes = {
      fmt::format(
          "Training time is extrapolated from the measured steps to {} images. Step time: median over repeats of the",
          format_count(experiment.images)),
      "slowest rank's window / steps; +- half the 95 % confidence interval. CPU: process trees of all ranks / (wall x "
      "cores",
      "allowed). GPU busy and compute are those of the traced run's measured steps; distortion says how much slower it "
      "was."};
  if (experiment.mode == "sweep") {
    document.notes.emplace_back(
        "Speedup is over the first line; efficiency over the fewest GPUs with all other factors the same.");
  }
  const bool distorted =
      std::any_of(rows.begin(), rows.end(), [](const ScalingRow& r) { return r.distortion().value_or(0) > 0.2; });
  if (distorted)
    document.warnings.emplace_back("tracing slowed a point down by more than 20 %: causes are indicative only");
  for (const ScalingRow& row : rows) {
    if (row.traced_only)
      document.warnings.push_back(
          fmt::format("point gpus={}: traced times only, tracing cost included", row.point.gpus()));
  }
  return document;
}

}  // namespace swinscope

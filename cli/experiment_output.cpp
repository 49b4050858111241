#include "cli/experiment_output.h"

#include <algorithm>

#include <fmt/format.h>

#include "analyzer/tables.h"
#include "analyzer/text.h"

namespace swinscope::cli {
namespace {

// The verdict: how far the largest point is from ideal, and what to look at.
std::vector<std::string> headline(const std::vector<ScalingRow>& rows) {
  if (rows.empty()) return {"the experiment has no points yet"};
  const ScalingRow& last = rows.back();
  const std::string times = last.traced_only ? " (traced times only)" : "";
  if (rows.size() == 1)
    return {fmt::format("{} per step with {} GPUs{}", format_duration(last.step_ns), last.point.gpus(), times)};
  std::vector<std::string> lines = {fmt::format(
      "parallel efficiency {:.2f} at {} GPUs: speedup {:.2f}, {} per step against {}{}", last.efficiency,
      last.point.gpus(), last.speedup, format_duration(last.step_ns), format_duration(rows.front().step_ns), times)};
  if (!last.point.tracing.empty()) {
    lines.push_back(fmt::format("  evidence: swinscope analyze {}", (last.point.folder / last.point.tracing).string()));
  }
  return lines;
}

}  // namespace

Document experiment_document(const Experiment& experiment) {
  const std::vector<ScalingRow> rows = scaling_table(experiment);
  Document document;
  document.schema = "scaling";
  document.run = experiment.folder.string();
  document.headline = headline(rows);
  document.facts = {{"mode", "mode", experiment.mode},
                    {"images", "images", experiment.images, Unit::kCount},
                    {"warmup_steps", "warm-up steps", std::int64_t{experiment.warmup_steps}, Unit::kCount}};
  document.tables = {scaling_rows_table(rows)};
  document.notes = {
      fmt::format(
          "Training time is extrapolated from the measured steps to {} images. Step time: median over repeats of the",
          format_count(experiment.images)),
      "slowest rank's window / steps; +- half the 95 % confidence interval. CPU: process trees of all ranks / (wall x "
      "cores",
      "allowed). GPU busy and compute come from the traced run; distortion says how much slower that one was."};
  const bool distorted =
      std::any_of(rows.begin(), rows.end(), [](const ScalingRow& r) { return r.distortion().value_or(0) > 0.2; });
  if (distorted)
    document.warnings.push_back("tracing slowed a point down by more than 20 %: causes are indicative only");
  for (const ScalingRow& row : rows) {
    if (row.traced_only)
      document.warnings.push_back(
          fmt::format("point gpus={}: traced times only, tracing cost included", row.point.gpus()));
  }
  return document;
}

}  // namespace swinscope::cli

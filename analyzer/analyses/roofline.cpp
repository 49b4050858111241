#include "analyzer/analyses/roofline.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "analyzer/analyses/layers.h"
#include "analyzer/base/text.h"
#include "analyzer/facts/gpu_peaks.h"
#include "analyzer/table/cells.h"

namespace swinscope {
namespace {

constexpr std::string_view kMemory = "memory";

// Nothing where a roof is needed that is not known.
std::optional<RooflinePoint> point_of(const LayerRow& row, const GpuPeaks& peaks) {
  if (row.gpu_ns <= 0 || !row.has_cost) return std::nullopt;
  RooflinePoint point;
  point.flops = row.flops;
  point.bytes = row.bytes_read + row.bytes_written;
  if (point.flops > 0) {
    const auto rate = peaks.flop_per_ns.find(row.precision);
    if (rate == peaks.flop_per_ns.end()) return std::nullopt;
    point.least_ns = static_cast<double>(point.flops) / rate->second;
    point.roof = row.precision;
  }
  if (point.bytes > 0) {
    if (peaks.bytes_per_ns <= 0) return std::nullopt;
    const double moving_ns = static_cast<double>(point.bytes) / peaks.bytes_per_ns;
    if (moving_ns > point.least_ns) point.least_ns = moving_ns, point.roof = kMemory;
  }
  if (point.roof.empty()) return std::nullopt;
  point.path = row.path;
  point.phase = row.phase;
  point.operation = row.operation;
  point.precision = row.precision;
  point.gpu_ns = row.gpu_ns;
  point.steps = row.steps;
  return point;
}

std::vector<Roof> roofs_of(const std::vector<RooflinePoint>& points, const GpuPeaks& peaks) {
  std::set<std::string> precisions;
  for (const RooflinePoint& point : points)
    if (point.flops > 0) precisions.insert(point.precision);
  std::vector<Roof> roofs;
  roofs.reserve(precisions.size() + 1);
  for (const std::string& precision : precisions)
    roofs.push_back({precision, peaks.flop_per_ns.at(precision), 0});
  std::ranges::stable_sort(roofs, std::ranges::greater(), &Roof::flop_per_ns);
  if (!points.empty() && peaks.bytes_per_ns > 0)
    roofs.insert(roofs.begin(), {std::string(kMemory), 0, peaks.bytes_per_ns});
  return roofs;
}

}  // namespace

std::optional<double> RooflinePoint::intensity() const {
  if (flops <= 0 || bytes <= 0) return std::nullopt;
  return static_cast<double>(flops) / static_cast<double>(bytes);
}

Roofline roofline(const RunFacts& run) {
  const GpuPeaks peaks = gpu_peaks(run.trace);
  const bool is_estimated = std::ranges::any_of(
      run.operations(), [](const RankOperations& operations) { return operations.are_torch_profile(); });
  Roofline result;
  for (const LayerRow& row : run.layers()) {
    std::optional<RooflinePoint> point = point_of(row, peaks);
    if (!point) {
      result.other_gpu_ns += row.gpu_ns;
      continue;
    }
    point->is_estimated = is_estimated;
    result.points.push_back(std::move(*point));
  }
  std::ranges::stable_sort(result.points, std::ranges::greater(), &RooflinePoint::over_ns);
  result.roofs = roofs_of(result.points, peaks);
  return result;
}

std::string roofline_verdict(const Roofline& all, const RunScope& scope) {
  double gpu_ns = 0;
  double over_ns = 0;
  for (const RooflinePoint& point : all.points) {
    gpu_ns += static_cast<double>(point.gpu_ns);
    over_ns += std::max(0.0, point.over_ns());
  }
  const RooflinePoint& most = all.points.front();
  const auto per_step = [&](double ns) {
    return format_duration(std::llround(ns / static_cast<double>(std::max<std::int64_t>(1, most.steps))));
  };
  return fmt::format(
      "layers take {} of GPU time per {}, summed over all streams, and would take {} at their roofs; {} loses most: "
      "{}, at {:.1f} % of {}",
      per_step(gpu_ns), scope.unit(), per_step(gpu_ns - over_ns), most.path, per_step(std::max(0.0, most.over_ns())),
      100 * most.share(), most.roof == kMemory ? "the memory's roof" : most.roof + "'s roof");
}

Table roofline_table(const RunFacts& run) {
  Table table{"roofline",
              "Roofline",
              {{"path", "path"},
               {"phase", "phase"},
               {"operation", "operation"},
               {"precision", "precision"},
               {"gpu_ns", "GPU", Unit::kDuration, true},
               {"gpu_per_step_ns", fmt::format("per {}", run.scope.unit()), Unit::kDuration},
               {"flop_per_byte", "FLOP/byte", Unit::kNumber},
               {"tflop_per_s", "TFLOP/s", Unit::kNumber},
               {"gbyte_per_s", "GB/s", Unit::kNumber},
               {"roof", "roof"},
               {"roof_percent", "of roof", Unit::kPercent},
               {"over_roof_ns", "over roof", Unit::kDuration},
               {"estimated", "estimated", Unit::kText, true},
               {"remark", "remark"}},
              {}};
  const Roofline all = roofline(run);
  for (const RooflinePoint& point : all.points) {
    const std::int64_t steps = std::max<std::int64_t>(1, point.steps);
    const double over_ns = std::max(0.0, point.over_ns());
    table.rows.push_back(
        {point.path, point.phase, point.operation, point.precision, point.gpu_ns, point.gpu_ns / steps,
         optional_cell(point.intensity()), point.flops > 0 ? Cell(point.flop_per_ns() / 1e3) : Cell(),
         point.bytes > 0 ? Cell(static_cast<double>(point.bytes) / static_cast<double>(point.gpu_ns)) : Cell(),
         point.roof, 100 * point.share(), static_cast<std::int64_t>(over_ns) / steps,
         std::string(point.is_estimated ? "yes" : "no"),
         point.is_above() ? Cell("above its roof: by a cache, or a figure is wrong") : Cell()});
  }
  hide_empty(table, {"remark"});
  return table;
}

Table roofs_table(const RunFacts& run) {
  Table table{"roofs",
              "Roofs",
              {{"roof", "roof"},
               {"tflop_per_s", "TFLOP/s", Unit::kNumber},
               {"gbyte_per_s", "GB/s", Unit::kNumber},
               {"flop_per_byte", "from FLOP/byte", Unit::kNumber}},
              {}};
  const Roofline all = roofline(run);
  const double memory = all.roofs.empty() ? 0 : all.roofs.front().bytes_per_ns;
  for (const Roof& roof : all.roofs) {
    table.rows.push_back({roof.name, roof.flop_per_ns > 0 ? Cell(roof.flop_per_ns / 1e3) : Cell(),
                          roof.bytes_per_ns > 0 ? Cell(roof.bytes_per_ns) : Cell(),
                          roof.flop_per_ns > 0 && memory > 0 ? Cell(roof.flop_per_ns / memory) : Cell()});
  }
  return table;
}

}  // namespace swinscope

// The rows of a scaling experiment as a table.
#include <algorithm>

#include "analyzer/experiment/scaling.h"

namespace swinscope {

Table scaling_rows_table(const std::vector<ScalingRow>& rows) {
  Table table{"points", "Scaling", {{"gpus", "GPUs", Unit::kCount}}, {}};
  std::vector<std::string> factors;  // the others that vary
  for (const ScalingRow& r : rows) {
    for (const auto& [name, value] : r.point.factors) {
      if (name != "gpus" && std::find(factors.begin(), factors.end(), name) == factors.end()) factors.push_back(name);
    }
  }
  for (const std::string& name : factors)
    table.columns.push_back({name, name});
  const std::vector<Column> measured = {{"repeats", "repeats", Unit::kCount},
                                        {"steps", "steps", Unit::kCount},
                                        {"images_per_step", "images/step", Unit::kCount},
                                        {"step_ns", "step", Unit::kDuration},
                                        {"step_ci95_ns", "95 % CI", Unit::kDuration},
                                        {"train_time_ns", "training time", Unit::kDuration},
                                        {"images_per_s", "images/s", Unit::kNumber},
                                        {"speedup", "speedup", Unit::kNumber},
                                        {"speedup_ci95", "speedup 95 % CI", Unit::kNumber, true},
                                        {"efficiency", "efficiency", Unit::kNumber},
                                        {"efficiency_ci95", "efficiency 95 % CI", Unit::kNumber},
                                        {"karp_flatt", "Karp-Flatt", Unit::kNumber, true},
                                        {"cpu_util_percent", "CPU", Unit::kPercent},
                                        {"gpu_busy_percent", "GPU busy", Unit::kPercent},
                                        {"gpu_compute_percent", "GPU compute", Unit::kPercent},
                                        {"idle_percent", "idle", Unit::kPercent},
                                        {"traced_step_ns", "traced step", Unit::kDuration},
                                        {"distortion_percent", "tracing slowdown", Unit::kPercent},
                                        {"traced_only", "traced only", Unit::kText, true},
                                        {"train_steps", "training steps", Unit::kCount, true},
                                        {"thesis_gpu_percent", "GPU share", Unit::kPercent, true},
                                        {"thesis_cpu_percent", "CPU share", Unit::kPercent, true}};
  table.columns.insert(table.columns.end(), measured.begin(), measured.end());
  const bool has_cost = std::ranges::any_of(rows, [](const ScalingRow& r) { return r.train_cost.has_value(); });
  if (has_cost) table.columns.push_back({"train_cost", "training cost", Unit::kNumber});
  const auto number = [](const std::optional<double>& value) { return value ? Cell(*value) : Cell(); };
  const auto percent_of = [](const std::optional<double>& share) { return share ? Cell(100 * *share) : Cell(); };
  for (const ScalingRow& r : rows) {
    std::vector<Cell> row = {std::int64_t{r.point.gpus()}};
    for (const std::string& name : factors) {
      const auto factor = r.point.factors.find(name);
      row.push_back(factor == r.point.factors.end() ? Cell() : Cell(factor->second));
    }
    const bool images = r.images_per_step > 0;
    const std::vector<Cell> values = {static_cast<std::int64_t>(r.repeat_step_ns.size()),
                                      r.steps,
                                      images ? Cell(r.images_per_step) : Cell(),
                                      r.step_ns,
                                      r.step_ci_ns ? Cell(*r.step_ci_ns) : Cell(),
                                      r.train_time_ns > 0 ? Cell(r.train_time_ns) : Cell(),
                                      images ? Cell(r.images_per_second) : Cell(),
                                      r.speedup > 0 ? Cell(r.speedup) : Cell(),
                                      number(r.speedup_ci),
                                      r.efficiency > 0 ? Cell(r.efficiency) : Cell(),
                                      number(r.efficiency_ci),
                                      number(r.karp_flatt),
                                      percent_of(r.cpu_util),
                                      percent_of(r.gpu_busy),
                                      percent_of(r.gpu_compute),
                                      r.gpu_busy ? Cell(100 * (1 - *r.gpu_busy)) : Cell(),
                                      r.traced_step_ns ? Cell(*r.traced_step_ns) : Cell(),
                                      percent_of(r.distortion()),
                                      std::string(r.traced_only ? "yes" : "no"),
                                      images ? Cell(r.train_steps) : Cell(),
                                      percent_of(r.thesis_gpu_share),
                                      r.thesis_gpu_share ? Cell(100 * (1 - *r.thesis_gpu_share)) : Cell()};
    row.insert(row.end(), values.begin(), values.end());
    if (has_cost) row.push_back(number(r.train_cost));
    table.rows.push_back(std::move(row));
  }
  // What was measured of no point is no column for people.
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto is_missing = [&](const std::vector<Cell>& row) {
      return std::holds_alternative<std::monostate>(row[i]);
    };
    if (!table.rows.empty() && std::ranges::all_of(table.rows, is_missing)) table.columns[i].detail = true;
  }
  table.columns.front().title = std::ranges::any_of(rows, &ScalingRow::uses_gpus) ? "GPUs" : "ranks";
  return table;
}

std::string_view counted_in(const Table& scaling_rows) { return scaling_rows.columns.front().title; }

}  // namespace swinscope

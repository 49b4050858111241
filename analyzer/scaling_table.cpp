// The rows of a scaling experiment as a table.
#include <algorithm>

#include "analyzer/tables.h"

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
                                        {"step_ci95_ns", "+-", Unit::kDuration},
                                        {"train_time_ns", "training time", Unit::kDuration},
                                        {"images_per_s", "images/s", Unit::kNumber},
                                        {"speedup", "speedup", Unit::kNumber},
                                        {"efficiency", "efficiency", Unit::kNumber},
                                        {"karp_flatt", "Karp-Flatt", Unit::kNumber, true},
                                        {"cpu_util_percent", "CPU", Unit::kPercent},
                                        {"gpu_busy_percent", "GPU busy", Unit::kPercent},
                                        {"gpu_compute_percent", "GPU compute", Unit::kPercent},
                                        {"distortion_percent", "distortion", Unit::kPercent},
                                        {"traced_only", "traced only", Unit::kText, true},
                                        {"train_steps", "training steps", Unit::kCount, true},
                                        {"thesis_gpu_percent", "GPU share", Unit::kPercent, true},
                                        {"thesis_cpu_percent", "CPU share", Unit::kPercent, true}};
  table.columns.insert(table.columns.end(), measured.begin(), measured.end());
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
                                      images ? Cell(r.train_time_ns) : Cell(),
                                      images ? Cell(r.images_per_second) : Cell(),
                                      r.speedup,
                                      r.efficiency,
                                      r.karp_flatt ? Cell(*r.karp_flatt) : Cell(),
                                      percent_of(r.cpu_util),
                                      percent_of(r.gpu_busy),
                                      percent_of(r.gpu_compute),
                                      percent_of(r.distortion()),
                                      std::string(r.traced_only ? "yes" : "no"),
                                      images ? Cell(r.train_steps) : Cell(),
                                      percent_of(r.thesis_gpu_share),
                                      r.thesis_gpu_share ? Cell(100 * (1 - *r.thesis_gpu_share)) : Cell()};
    row.insert(row.end(), values.begin(), values.end());
    table.rows.push_back(std::move(row));
  }
  table.columns.front().title = std::ranges::any_of(rows, &ScalingRow::uses_gpus) ? "GPUs" : "ranks";
  return table;
}

std::string_view counted_in(const Table& scaling_rows) { return scaling_rows.columns.front().title; }

}  // namespace swinscope

#include "analyzer/experiment/launch_bound.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "analyzer/base/text.h"
#include "analyzer/experiment/scaling.h"

namespace swinscope {
namespace {

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<double> batch_of(const ScalingRow& row) {
  for (const auto& [name, value] : row.point.factors) {
    if (is_batch(name)) return number_in(value);
  }
  return std::nullopt;
}

// The last that is flat ends it.
std::size_t first_not_flat(const std::vector<ScalingRow>& rows, const std::vector<std::size_t>& sweep) {
  std::size_t first = sweep.size();
  while (first > 1 && rows[sweep[first - 1]].launches->tklqt_ns > kFlat * rows[sweep[0]].launches->tklqt_ns)
    --first;
  return first;
}

}  // namespace

std::vector<BatchSweep> batch_sweeps(const std::vector<ScalingRow>& rows) {
  std::map<std::map<std::string, std::string>, std::map<double, std::size_t>> by_others;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto batch = batch_of(rows[i]);
    if (!batch || !rows[i].launches) continue;
    std::map<std::string, std::string> others;
    for (const auto& [name, value] : rows[i].point.factors) {
      if (!is_batch(name)) others.emplace(name, value);
    }
    by_others[others].emplace(*batch, i);
  }
  std::vector<BatchSweep> sweeps;
  for (const auto& [others, by_batch] : by_others) {
    if (by_batch.size() < 2) continue;
    BatchSweep& sweep = sweeps.emplace_back();
    for (const auto& [batch, row] : by_batch) {
      sweep.batch.push_back(batch);
      sweep.rows.push_back(row);
    }
    sweep.gpu_bound = first_not_flat(rows, sweep.rows);
  }
  return sweeps;
}

Table launch_bound_table(const std::vector<ScalingRow>& rows, const std::vector<std::string>& names) {
  Table table{"launch_bound",
              "Launching or computing, by batch",
              {{"point", "point"},
               {"batch", "batch", Unit::kValue},
               {"tklqt_ns", "launch+queue time per step", Unit::kDuration},
               {"mean_queue_length", "mean queue", Unit::kNumber},
               {"akd_ns", "mean kernel", Unit::kDuration},
               {"bound", "bound by"}},
              {}};
  table.definition =
      "Total launch+queue time (TKLQT) = sum over the kernels of a step of kernel start - start of the launching call, "
      "mean over ranks, of the traced run. It is flat, at most twice that of the smallest batch, while the CPU is "
      "slower "
      "than the GPU, and grows with the queue where the GPU is.";
  for (const BatchSweep& sweep : batch_sweeps(rows)) {
    for (std::size_t i = 0; i < sweep.rows.size(); ++i) {
      const LaunchFigures& launches = *rows[sweep.rows[i]].launches;
      table.rows.push_back({names[sweep.rows[i]], sweep.batch[i], launches.tklqt_ns, launches.mean_queue_length,
                            launches.akd_ns, std::string(i < sweep.gpu_bound ? "CPU" : "GPU")});
    }
  }
  return table;
}

std::string launch_bound_sentence(const std::vector<ScalingRow>& rows) {
  const std::vector<BatchSweep> sweeps = batch_sweeps(rows);
  if (sweeps.empty()) return "";
  const BatchSweep& sweep = sweeps.front();
  const auto time_of = [&](std::size_t i) {
    return format_duration(std::llround(rows[sweep.rows[i]].launches->tklqt_ns));
  };
  const std::size_t last = sweep.rows.size() - 1;
  if (sweep.gpu_bound > last) {
    return fmt::format(
        "CPU-bound at all batches from {} to {}: total launch+queue time per step stays flat ({} and {})",
        sweep.batch[0], sweep.batch[last], time_of(0), time_of(last));
  }
  const std::size_t first = sweep.gpu_bound;
  return fmt::format(
      "CPU-bound up to batch {}, GPU-bound from {} on: total launch+queue time per step grows from {} to {}",
      sweep.batch[first - 1], sweep.batch[first], time_of(first - 1), time_of(first));
}

}  // namespace swinscope

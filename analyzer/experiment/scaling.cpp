#include "analyzer/experiment/scaling.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <string>

namespace swinscope {
namespace {

// Images of a rank in a step; nothing where no factor says it in a number.
std::optional<std::int64_t> batch_of(const ExperimentPoint& point) {
  const auto factor = std::ranges::find_if(point.factors, [](const auto& f) { return is_batch(f.first); });
  if (factor == point.factors.end()) return std::nullopt;
  const std::string& text = factor->second;
  constexpr std::int64_t kMost = 1'000'000'000;
  std::int64_t batch = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), batch);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && batch > 0 && batch <= kMost ? std::optional(batch) : std::nullopt;
}

bool has_batch(const ExperimentPoint& point) {
  return std::ranges::any_of(point.factors, [](const auto& factor) { return is_batch(factor.first); });
}

// How many times the images of a step at `base` a point has, as factors and mode tell; nothing where a batch is no
// number.
std::optional<double> images_over(const Experiment& experiment, const ExperimentPoint& base,
                                  const ExperimentPoint& point) {
  const double ranks = static_cast<double>(point.gpus()) / base.gpus();
  if (!has_batch(base) && !has_batch(point)) return experiment.mode == "strong" ? 1 : ranks;
  const auto first = batch_of(base);
  const auto batch = batch_of(point);
  if (!first || !batch) return std::nullopt;
  return ranks * static_cast<double>(*batch) / static_cast<double>(*first);
}

std::int64_t images_of(const Experiment& experiment, const ScalingRow& first, const ScalingRow& row) {
  if (experiment.images_per_step > 0) {
    const auto times = images_over(experiment, first.point, row.point);
    constexpr double kMost = 1e18;
    const double images = static_cast<double>(experiment.images_per_step) * times.value_or(0);
    return images < kMost ? std::llround(images) : 0;
  }
  if (experiment.images_per_gpu > 0) return experiment.images_per_gpu * row.point.gpus();
  if (row.images_per_step > 0) return row.images_per_step;
  return batch_of(row.point).value_or(0) * row.point.gpus();
}

void add_training_time(const Experiment& experiment, ScalingRow& row) {
  if (row.images_per_step == 0 || row.step_ns == 0) return;
  row.train_steps = (experiment.images + row.images_per_step - 1) / row.images_per_step;
  constexpr double kLongestNs = 9e18;  // 285 years
  if (static_cast<double>(row.train_steps) * static_cast<double>(row.step_ns) < kLongestNs)
    row.train_time_ns = row.train_steps * row.step_ns;
  // Who gives a price of runs that were not traced says that they used GPUs.
  const bool has_price = experiment.price.is_given() && (row.uses_gpus || row.point.tracing.empty());
  if (has_price && row.train_time_ns > 0 && (row.gpu.empty() || experiment.price.is_of(row.gpu)))
    row.train_cost = experiment.price.cost(row.point.gpus(), static_cast<double>(row.train_time_ns));
  row.images_per_second = 1e9 * static_cast<double>(row.images_per_step) / static_cast<double>(row.step_ns);
}

std::map<std::string, std::string> factors_beside_gpus(const ScalingRow& row) {
  std::map<std::string, std::string> factors = row.point.factors;
  factors.erase("gpus");
  return factors;
}

// Ratio of the images of a step.
std::optional<double> work_over(const Experiment& experiment, const ScalingRow& base, const ScalingRow& row) {
  if (row.images_per_step > 0 && base.images_per_step > 0)
    return static_cast<double>(row.images_per_step) / static_cast<double>(base.images_per_step);
  const bool is_comparable = experiment.mode != "sweep" || factors_beside_gpus(base) == factors_beside_gpus(row);
  return is_comparable ? images_over(experiment, base.point, row.point) : std::nullopt;
}

// 0 where it is not known.
double speedup_over(const Experiment& experiment, const ScalingRow& base, const ScalingRow& row) {
  if (row.step_ns <= 0) return 0;
  return work_over(experiment, base, row).value_or(0) * static_cast<double>(base.step_ns) /
         static_cast<double>(row.step_ns);
}

// Half width of the interval of a ratio of the two step times that is `ratio`.
std::optional<double> ratio_ci(double ratio, const ScalingRow& base, const ScalingRow& row) {
  if (&base == &row || !base.step_ci_ns || !row.step_ci_ns || ratio <= 0) return std::nullopt;
  const auto relative = [](const ScalingRow& point) {
    return static_cast<double>(*point.step_ci_ns) / static_cast<double>(point.step_ns);
  };
  return ratio * std::hypot(relative(base), relative(row));
}

void add_efficiency(const Experiment& experiment, const ScalingRow& base, ScalingRow& row) {
  const double speedup = speedup_over(experiment, base, row);
  const double gpus = static_cast<double>(row.point.gpus()) / base.point.gpus();
  if (const auto work = work_over(experiment, base, row)) row.work_of_base = *work / gpus;
  row.efficiency = speedup / gpus;
  row.efficiency_ci = ratio_ci(row.efficiency, base, row);
  if (gpus > 1 && speedup > 0) row.karp_flatt = (1 / speedup - 1 / gpus) / (1 - 1 / gpus);
}

// What `row` is to scale from. Strong scaling's batch of each GPU is no factor of its own.
const ScalingRow& scaling_base(const Experiment& experiment, const std::vector<ScalingRow>& by_gpus,
                               const ScalingRow& row) {
  if (experiment.mode != "sweep") return by_gpus.front();
  return *std::ranges::find(by_gpus, factors_beside_gpus(row), factors_beside_gpus);
}

}  // namespace

bool is_batch(std::string_view factor) {
  constexpr std::array<std::string_view, 4> kNames = {"batch", "batch_size", "batch_per_gpu", "bs"};
  return std::ranges::find(kNames, factor) != kNames.end();
}

void add_scaling(const Experiment& experiment, std::vector<ScalingRow>& rows) {
  for (ScalingRow& row : rows) {
    row.images_per_step = images_of(experiment, rows.front(), row);
    add_training_time(experiment, row);
  }
  for (ScalingRow& row : rows) {
    row.speedup = speedup_over(experiment, rows.front(), row);
    row.speedup_ci = ratio_ci(row.speedup, rows.front(), row);
    const ScalingRow& base = scaling_base(experiment, rows, row);
    row.base = static_cast<std::size_t>(&base - rows.data());
    add_efficiency(experiment, base, row);
  }
}

}  // namespace swinscope

#include "workloads/program/step_times.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <nlohmann/json.hpp>

namespace swinscope {

std::int64_t StepTimes::total_ns() const {
  return std::accumulate(durations_ns_.begin(), durations_ns_.end(), std::int64_t{0});
}

double StepTimes::mean_ns() const { return static_cast<double>(total_ns()) / static_cast<double>(count()); }

double StepTimes::percentile_ns(double p) const {
  std::vector<std::int64_t> sorted = durations_ns_;
  std::sort(sorted.begin(), sorted.end());
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = place - std::floor(place);
  return static_cast<double>(sorted[below]) * (1.0 - share) + static_cast<double>(sorted[above]) * share;
}

nlohmann::ordered_json summarize(const StepTimes& times, std::int64_t images, std::int64_t flops) {
  nlohmann::ordered_json json;
  json["steps_measured"] = times.count();
  json["images_per_step"] = images;
  for (const char* key :
       {"step_time_median_ns", "step_time_mean_ns", "step_time_p99_ns", "images_per_second", "gflops_per_second"}) {
    json[key] = nullptr;
  }
  if (times.empty()) return json;
  const double images_per_second = static_cast<double>(images) * 1e9 / times.mean_ns();
  json["step_time_median_ns"] = std::llround(times.percentile_ns(0.5));
  json["step_time_mean_ns"] = std::llround(times.mean_ns());
  json["step_time_p99_ns"] = std::llround(times.percentile_ns(0.99));
  json["images_per_second"] = images_per_second;
  json["gflops_per_second"] = images_per_second * static_cast<double>(flops) * 1e-9;
  return json;
}

}  // namespace swinscope

#include "analyzer/analyses/gpu_power.h"

#include <algorithm>
#include <limits>
#include <set>

namespace swinscope {
namespace {

// Of a metric's unit; nothing for what is no power.
std::optional<double> watts_per_unit(std::string_view name) {
  if (!name.starts_with("Power")) return std::nullopt;
  if (name.ends_with("[mW]")) return 1e-3;
  if (name.ends_with("[W]")) return 1;
  return std::nullopt;
}

Interval measured_window(const RunScope& scope) {
  Interval window{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  for (const DeviceScope& device : scope.devices()) {
    window.begin_ns = std::min(window.begin_ns, device.window.begin_ns);
    window.end_ns = std::max(window.end_ns, device.window.end_ns);
  }
  return window;
}

std::optional<double> mean_within(const MetricSeries& series, Interval window) {
  double sum = 0;
  std::int64_t samples = 0;
  for (std::size_t i = 0; i < series.time_ns.size(); ++i) {
    if (series.time_ns[i] < window.begin_ns || series.time_ns[i] > window.end_ns) continue;
    sum += static_cast<double>(series.value[i]);
    ++samples;
  }
  return samples == 0 ? std::nullopt : std::optional(sum / static_cast<double>(samples));
}

}  // namespace

std::optional<double> gpu_power_w(const RunFacts& run) {
  std::set<std::pair<std::size_t, std::int32_t>> devices;
  for (const DeviceScope& device : run.scope.devices())
    devices.emplace(device.rank_index, device.device);
  const Interval window = measured_window(run.scope);
  double watts = 0;
  std::size_t sampled = 0;
  const auto add = [&](const std::vector<MetricSeries>& metrics) {
    for (const MetricSeries& series : metrics) {
      const std::optional<double> unit = watts_per_unit(series.name);
      const std::optional<double> mean = unit ? mean_within(series, window) : std::nullopt;
      if (!mean) continue;
      watts += *unit * *mean;
      ++sampled;
    }
  };
  for (const Launcher& launcher : run.trace.launchers)
    add(launcher.metrics);
  for (const Rank& rank : run.trace.ranks)
    add(rank.metrics);
  return sampled > 0 && sampled == devices.size() ? std::optional(watts) : std::nullopt;
}

}  // namespace swinscope

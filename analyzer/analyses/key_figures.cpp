#include "analyzer/analyses/key_figures.h"

#include <algorithm>

#include "analyzer/analyses/layers.h"
#include "analyzer/base/statistics.h"

namespace swinscope {
namespace {

void add_steps(const RunScope& scope, KeyFigures& figures) {
  if (!scope.is_of_steps()) return;
  std::vector<std::int64_t> slowest;  // the steps of the rank that needs the longest for them
  std::int64_t longest = -1;
  for (std::size_t r = 0; r < scope.steps().size(); ++r) {
    const std::int64_t count = scope.step_count(r);
    if (count == 0 || scope.host_window(r).length() / count <= longest) continue;
    longest = scope.host_window(r).length() / count;
    slowest.clear();
    for (const Interval& step : scope.steps()[r].measured())
      slowest.push_back(step.length());
  }
  figures.steps = static_cast<std::int64_t>(slowest.size());
  figures.step_ns = scope.step_ns();
  figures.step_ci_ns = ci95_half_width(slowest);
}

void add_images(const RunFacts& run, KeyFigures& figures) {
  const std::int64_t images = images_per_step(run.trace, run.scope);
  if (images == 0 || figures.step_ns.value_or(0) == 0) return;
  figures.images_per_second = static_cast<double>(images) / (static_cast<double>(*figures.step_ns) / 1e9);
}

void add_devices(const std::vector<DeviceBreakdown>& devices, KeyFigures& figures) {
  if (devices.empty()) return;
  const auto count = static_cast<double>(devices.size());
  double exposed = 0;
  bool communicates = false;
  for (const DeviceBreakdown& device : devices) {
    communicates |= device.communication_ns > 0;
    if (device.total_ns() > 0) {
      exposed += static_cast<double>(device.exposed_communication_ns) / static_cast<double>(device.total_ns()) / count;
    }
  }
  figures.gpu_busy = mean_utilization(devices)->gpu_busy;
  figures.idle = 1 - *figures.gpu_busy;
  if (communicates) figures.exposed_communication = exposed;
}

}  // namespace

KeyFigures key_figures(const RunFacts& run) {
  KeyFigures figures;
  add_steps(run.scope, figures);
  add_images(run, figures);
  add_devices(run.devices(), figures);
  for (const Rank& rank : run.trace.ranks) {
    if (rank.run.source == "swinscope") figures.dropped = figures.dropped.value_or(0);
    for (const DropInfo& drop : rank.run.drops)
      figures.dropped = figures.dropped.value_or(0) + drop.count;
  }
  return figures;
}

}  // namespace swinscope

#include "analyzer/key_figures.h"

#include <algorithm>

#include "analyzer/layers.h"
#include "analyzer/statistics.h"

namespace swinscope {
namespace {

void add_steps(const std::vector<RankSteps>& steps, const std::vector<DeviceBreakdown>& of_steps, KeyFigures& figures) {
  const auto slowest = std::max_element(steps.begin(), steps.end(), [](const RankSteps& a, const RankSteps& b) {
    return mean_step_ns(a) < mean_step_ns(b);
  });
  if (slowest == steps.end() || slowest->steps.empty()) return;
  std::vector<std::int64_t> lengths;
  for (const Interval& step : slowest->steps)
    lengths.push_back(step.length());
  figures.steps = static_cast<std::int64_t>(lengths.size());
  figures.step_ns = step_time_ns(steps, of_steps);
  if (*figures.step_ns == mean_step_ns(*slowest)) figures.step_ci_ns = ci95_half_width(lengths);
}

// The ranks step together, so a step of the job is one of every rank.
void add_images(const Trace& trace, KeyFigures& figures) {
  const StepImages count = count_images(trace);
  if (count.steps == 0 || figures.step_ns.value_or(0) == 0) return;
  const auto ranks =
      std::count_if(trace.ranks.begin(), trace.ranks.end(), [](const Rank& rank) { return rank.ranges.size() > 0; });
  const double images_per_step =
      static_cast<double>(count.images) * static_cast<double>(ranks) / static_cast<double>(count.steps);
  figures.images_per_second = images_per_step / (static_cast<double>(*figures.step_ns) / 1e9);
}

void add_devices(const std::vector<DeviceBreakdown>& devices, KeyFigures& figures) {
  if (devices.empty()) return;
  const auto count = static_cast<double>(devices.size());
  double busy = 0;
  double exposed = 0;
  bool communicates = false;
  for (const DeviceBreakdown& device : devices) {
    busy += device.gpu_busy() / count;
    communicates |= device.communication_ns > 0;
    if (device.total_ns() > 0) {
      exposed += static_cast<double>(device.exposed_communication_ns) / static_cast<double>(device.total_ns()) / count;
    }
  }
  figures.gpu_busy = busy;
  figures.idle = 1 - busy;
  if (communicates) figures.exposed_communication = exposed;
}

}  // namespace

KeyFigures key_figures(const Trace& trace, const std::vector<RankSteps>& steps) {
  KeyFigures figures;
  const std::vector<DeviceBreakdown> of_steps = time_breakdown_of_steps(trace, steps);
  add_steps(steps, of_steps, figures);
  add_images(trace, figures);
  add_devices(of_steps.empty() ? time_breakdown(trace) : of_steps, figures);
  for (const Rank& rank : trace.ranks) {
    if (rank.run.source == "swinscope") figures.dropped = figures.dropped.value_or(0);
    for (const DropInfo& drop : rank.run.drops)
      figures.dropped = figures.dropped.value_or(0) + drop.count;
  }
  return figures;
}

}  // namespace swinscope

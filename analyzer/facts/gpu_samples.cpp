#include "analyzer/facts/gpu_samples.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace swinscope {
namespace {

std::string_view uuid_of(const RunInfo& run, std::int32_t device) {
  const auto gpu = std::ranges::find(run.gpus, device, &GpuInfo::device);
  return gpu == run.gpus.end() ? std::string_view() : gpu->uuid;
}

bool is_of_one_gpu(const Rank& rank) {
  const auto differs = [](const auto& of, auto member) {
    return std::ranges::any_of(of, [&](const auto& each) { return each.*member != of.front().*member; });
  };
  return !differs(rank.gpu_lanes, &GpuLane::device) && !differs(rank.metrics, &MetricSeries::gpu);
}

// `ahead_ns`: from the sampler's clock to the rank's.
void add_within(const MetricSeries& series, std::int64_t ahead_ns, Interval window, std::vector<std::int64_t>& values) {
  const auto first = std::ranges::lower_bound(series.time_ns, window.begin_ns - ahead_ns) - series.time_ns.begin();
  const auto last = std::ranges::upper_bound(series.time_ns, window.end_ns - ahead_ns) - series.time_ns.begin();
  if (first < last) values.insert(values.end(), series.value.begin() + first, series.value.begin() + last);
}

}  // namespace

std::vector<std::int64_t> gpu_samples(const Trace& trace, std::size_t rank_index, std::int32_t device,
                                      std::string_view metric, Interval window) {
  const Rank& rank = trace.ranks[rank_index];
  const std::string_view uuid = uuid_of(rank.run, device);
  std::vector<std::int64_t> values;
  for (const Launcher& launcher : trace.launchers) {
    if (uuid.empty() || launcher.run.host != rank.run.host) continue;
    for (const MetricSeries& series : launcher.metrics) {
      if (series.name.starts_with(metric) && uuid_of(launcher.run, series.gpu) == uuid)
        add_within(series, launcher.run.utc_epoch_ns - rank.run.utc_epoch_ns, window, values);
    }
  }
  if (!values.empty() || !is_of_one_gpu(rank)) return values;
  for (const MetricSeries& series : rank.metrics) {
    if (series.name.starts_with(metric)) add_within(series, 0, window, values);
  }
  return values;
}

std::optional<double> mean_sm_clock(const Trace& trace, std::size_t rank_index, std::int32_t device, Interval window) {
  const std::vector<std::int64_t> values = gpu_samples(trace, rank_index, device, "SM clock", window);
  if (values.empty()) return std::nullopt;
  return static_cast<double>(std::accumulate(values.begin(), values.end(), std::int64_t{0})) /
         static_cast<double>(values.size());
}

}  // namespace swinscope

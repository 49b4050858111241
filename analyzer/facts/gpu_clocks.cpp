#include "analyzer/facts/gpu_clocks.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace swinscope {
namespace {

std::string_view uuid_of(const RunInfo& run, std::int32_t device) {
  const auto gpu = std::ranges::find(run.gpus, device, &GpuInfo::device);
  return gpu == run.gpus.end() ? std::string_view() : gpu->uuid;
}

}  // namespace

std::optional<double> mean_sm_clock(const Trace& trace, std::size_t rank_index, std::int32_t device, Interval window) {
  const RunInfo& rank = trace.ranks[rank_index].run;
  const std::string_view uuid = uuid_of(rank, device);
  if (uuid.empty()) return std::nullopt;
  double sum = 0;
  std::int64_t samples = 0;
  for (const Launcher& launcher : trace.launchers) {
    if (launcher.run.host != rank.host) continue;
    const std::int64_t ahead_ns = launcher.run.utc_epoch_ns - rank.utc_epoch_ns;
    for (const MetricSeries& series : launcher.metrics) {
      if (!series.name.starts_with("SM clock") || uuid_of(launcher.run, series.gpu) != uuid) continue;
      for (std::size_t i = 0; i < series.time_ns.size(); ++i) {
        const std::int64_t at_ns = series.time_ns[i] + ahead_ns;
        if (at_ns < window.begin_ns || at_ns > window.end_ns) continue;
        sum += static_cast<double>(series.value[i]);
        ++samples;
      }
    }
  }
  return samples == 0 ? std::nullopt : std::optional(sum / static_cast<double>(samples));
}

}  // namespace swinscope

// What the GPUs of a run draw, how fast they are clocked, and whether something lowers their clocks: by the samples of
// each (`record --gpu-metrics`) in its windows of the scope. Power and clock are means and extremes over the samples;
// energy = mean power x window, per step = energy / steps.
//
// Throttled is a sample that gives one of the driver's reasons (NVML's clock event reasons) but those of an idle GPU
// and of clocks that were set on purpose. Where reasons were not sampled a clock below kLowClock of the GPU's highest
// is said, and said as such: it may be throttled, idle, or set so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/analyses/run_facts.h"
#include "analyzer/table/table.h"

namespace swinscope {

inline constexpr double kLowClock = 0.9;

struct Sampled {
  std::int64_t samples = 0;
  double mean = 0;
  double min = 0;
  double max = 0;
};

struct GpuPower {
  std::size_t rank_index = 0;
  std::int32_t device = 0;
  std::int64_t steps = 0;
  std::int64_t window_ns = 0;
  std::optional<Sampled> watts;
  std::optional<Sampled> sm_mhz;
  std::optional<double> highest_mhz;  // of the GPU, where the trace says it
  std::optional<double> hottest_c;
  std::optional<double> throttled_percent;  // of the samples that tell reasons
  std::string throttling;                   // "power cap 35.0 %", "no", or why it is not known

  std::optional<double> joules() const;
};

// A row for each device of the scope, by rank and device; none where nothing was sampled of any.
std::vector<GpuPower> gpu_power(const RunFacts& run);
Table gpu_power_table(const RunFacts& run);

// Mean watts of all of them together; nothing unless power was sampled of each.
std::optional<double> gpu_power_w(const RunFacts& run);

}  // namespace swinscope

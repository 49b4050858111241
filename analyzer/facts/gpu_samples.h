// What was sampled of a GPU (`record --gpu-metrics`, Nsight Systems' GPU metrics): clocks, power, why clocks are
// lowered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/base/intervals.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// The values of the samples that lie in the window, by the rank's clock, of the metric whose name begins so. They are
// those of the recorder on the rank's host, of the GPU with the same UUID; else those in the rank's own file, where
// that is of one GPU and samples one: which GPU of several a sampler's number means is not known.
std::vector<std::int64_t> gpu_samples(const Trace& trace, std::size_t rank_index, std::int32_t device,
                                      std::string_view metric, Interval window);

// The mean of those of "SM clock", MHz; nothing where there are none.
std::optional<double> mean_sm_clock(const Trace& trace, std::size_t rank_index, std::int32_t device, Interval window);

}  // namespace swinscope

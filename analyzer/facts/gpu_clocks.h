// The clock at which a GPU ran, where `record --gpu-metrics` sampled it ("SM clock [MHz]").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "analyzer/base/intervals.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// The mean of the samples that lie in the window, by the rank's clock; MHz. Samples are those of the recorder on the
// rank's host, of the GPU with the same UUID; nothing where there are none.
std::optional<double> mean_sm_clock(const Trace& trace, std::size_t rank_index, std::int32_t device, Interval window);

}  // namespace swinscope

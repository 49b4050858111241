// What the GPUs of a run can do at most, and how near work comes to it. FLOP/s are the vendor's, dense, by precision
// (data/platforms.json, by the name that CUDA has for the GPU); bytes per second are those that the trace says, else
// the vendor's. What neither says is not known, and neither is anything where a run used several kinds of GPUs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/trace/trace.h"

namespace swinscope {

struct GpuPeaks {
  double bytes_per_ns = 0;                                 // 0: not known
  std::map<std::string, double, std::less<>> flop_per_ns;  // by precision: "fp16"
};

// Of all GPUs of the trace.
GpuPeaks gpu_peaks(const Trace& trace);

// Shares of the peaks, 1 being all. Above 1: the bytes came from a cache, or a figure is wrong.
struct PeakShares {
  double memory = 0;
  double compute = 0;
  double larger() const { return memory > compute ? memory : compute; }
};
// Of so many bytes and FLOPs in that time. Nothing where a peak is needed that is not known, or there is no work.
std::optional<PeakShares> peak_shares(const GpuPeaks& peaks, std::string_view precision, std::int64_t flops,
                                      std::int64_t bytes, std::int64_t ns);

// Below this share of both peaks neither is what limits the work.
inline constexpr double kLatencyShare = 0.25;
// "memory" or "compute", whose share is larger; "latency" below kLatencyShare of both.
std::string_view bound_name(const PeakShares& shares);

}  // namespace swinscope

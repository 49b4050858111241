#include "analyzer/facts/gpu_peaks.h"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "analyzer/base/platforms_json.h"

namespace swinscope {
namespace {

using Json = nlohmann::json;

// Of the GPU that CUDA calls so; nothing is known of others.
GpuPeaks published_peaks(const std::string& cuda_name) {
  static const Json platforms = Json::parse(kPlatformsJson);
  GpuPeaks peaks;
  for (const Json& gpu : platforms.at("gpus")) {
    const auto names = gpu.find("cuda_names");
    if (names == gpu.end() || std::ranges::find(*names, Json(cuda_name)) == names->end()) continue;
    peaks.bytes_per_ns = gpu.value("memory_gb_s", 0.0);
    for (const auto& [precision, tflops] : gpu.at("dense_tflops").items())
      peaks.flop_per_ns[precision] = 1e3 * tflops.get<double>();
  }
  return peaks;
}

}  // namespace

GpuPeaks gpu_peaks(const Trace& trace) {
  std::set<std::string> names;
  std::set<std::int64_t> bandwidths;
  for (const Rank& rank : trace.ranks) {
    for (const GpuInfo& gpu : rank.run.gpus) {
      names.insert(gpu.name);
      bandwidths.insert(gpu.memory_bytes_per_second);
    }
  }
  if (names.size() != 1) return {};
  GpuPeaks peaks = published_peaks(*names.begin());
  if (bandwidths.size() == 1 && *bandwidths.begin() > 0)
    peaks.bytes_per_ns = static_cast<double>(*bandwidths.begin()) / 1e9;
  return peaks;
}

std::optional<PeakShares> peak_shares(const GpuPeaks& peaks, std::string_view precision, std::int64_t flops,
                                      std::int64_t bytes, std::int64_t ns) {
  if (ns <= 0 || (flops <= 0 && bytes <= 0)) return std::nullopt;
  const auto time = static_cast<double>(ns);
  PeakShares shares;
  if (bytes > 0) {
    if (peaks.bytes_per_ns <= 0) return std::nullopt;
    shares.memory = static_cast<double>(bytes) / time / peaks.bytes_per_ns;
  }
  if (flops > 0) {
    const auto peak = peaks.flop_per_ns.find(precision);
    if (peak == peaks.flop_per_ns.end()) return std::nullopt;
    shares.compute = static_cast<double>(flops) / time / peak->second;
  }
  return shares;
}

std::string_view bound_name(const PeakShares& shares) {
  if (shares.larger() < kLatencyShare) return "latency";
  return shares.memory > shares.compute ? "memory" : "compute";
}

}  // namespace swinscope

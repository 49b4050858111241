#include "workloads/quantization.h"

#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "workloads/error.h"

namespace swinscope {
namespace {

constexpr int kPartsOfExponent = 64;
constexpr double kKept = 0.9999;  // kPercentile

// The end of the last bin that has something; 0 without any but the first.
int end_of(const MagnitudeCounts& counts) {
  int end = kFirstInfiniteBin;
  while (end > 1 && counts.at(static_cast<std::size_t>(end - 1)) == 0)
    --end;
  return end == 1 ? 0 : end;
}

int percentile_end(const MagnitudeCounts& counts) {
  const auto total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  std::uint64_t below = 0;
  int bin = 0;
  while (static_cast<double>(below) < kKept * static_cast<double>(total))
    below += counts.at(static_cast<std::size_t>(bin++));
  return bin;
}

double squared_error(const MagnitudeCounts& counts, double range, ByteFormat format) {
  const float scale = byte_scale(format, static_cast<float>(range));
  double sum = 0.0;
  for (int bin = 0; bin < kFirstInfiniteBin; ++bin) {
    const std::uint32_t count = counts.at(static_cast<std::size_t>(bin));
    if (count == 0) continue;
    const auto middle = static_cast<float>((magnitude_at(bin) + magnitude_at(bin + 1)) / 2.0);
    const auto error = static_cast<double>(middle - scale * from_byte(format, to_byte(format, middle / scale)));
    sum += error * error * count;
  }
  return sum;
}

// Down to an eighth of the largest magnitude, in eighths of a power of two.
double best_range(const MagnitudeCounts& counts, double largest, ByteFormat format) {
  double best = largest;
  double least = squared_error(counts, largest, format);
  for (int part = 1; part <= 24; ++part) {
    const double range = largest * std::exp2(-part / 8.0);
    const double error = squared_error(counts, range, format);
    if (error < least) {
      least = error;
      best = range;
    }
  }
  return best;
}

}  // namespace

double magnitude_at(int bin) {
  const int exponent = bin / kPartsOfExponent;
  const double part = static_cast<double>(bin % kPartsOfExponent) / kPartsOfExponent;
  return exponent == 0 ? std::ldexp(part, -14) : std::ldexp(1.0 + part, exponent - 15);
}

float range_of(const std::string& layer, const MagnitudeCounts& counts, Observer observer, ByteFormat format) {
  if (std::accumulate(counts.begin() + kFirstInfiniteBin, counts.end(), std::uint64_t{0}) > 0) {
    throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("the input of {} is not finite", layer),
                        "calibration in fp16 gave infinities or NaN there",
                        "check the weights: `swin infer --precision bf16` shows whether they give finite logits");
  }
  const int end = end_of(counts);
  if (end == 0) return 0.0F;
  if (observer == Observer::kPercentile) return static_cast<float>(magnitude_at(percentile_end(counts)));
  const double largest = magnitude_at(end);
  return static_cast<float>(observer == Observer::kMse ? best_range(counts, largest, format) : largest);
}

InputRanges ranges_of(const InputCounts& counts, Observer observer, ByteFormat format) {
  InputRanges ranges;
  for (const auto& [layer, own] : counts)
    ranges[layer] = range_of(layer, own, observer, format);
  return ranges;
}

}  // namespace swinscope

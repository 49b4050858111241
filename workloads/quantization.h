// Which range of numbers a layer's input has, so that it can be rounded to 8 bits (kernels/byte_format.h) by one scale:
// chosen from counts of magnitudes over calibration images.
#pragma once

#include <map>
#include <string>

#include "kernels/quantize.h"

namespace swinscope {

// Of each layer's input, by the layer's path: the magnitude that becomes the largest number of 8 bits.
using InputRanges = std::map<std::string, float>;
// Of the logits with those in fp16, that `swin infer` and `swin quantize` ask for where nothing else is said.
inline constexpr double kLeastCosine = 0.998;
using InputCounts = std::map<std::string, MagnitudeCounts>;

enum class Observer : std::uint8_t {
  kMinMax,      // the largest magnitude that was seen
  kPercentile,  // one that all but 0.01 % stay below
  kMse,         // that with the least sum of squared errors in the format
};

// The smallest magnitude in a bin of counts, which is also where the bin before it ends.
double magnitude_at(int bin);

// 0 where nothing but zeros was seen. Throws WorkloadError (kFailure), which names the layer, for infinities and NaN.
float range_of(const std::string& layer, const MagnitudeCounts& counts, Observer observer, ByteFormat format);
InputRanges ranges_of(const InputCounts& counts, Observer observer, ByteFormat format);

}  // namespace swinscope

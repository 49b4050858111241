#include <algorithm>

#include "kernels/channels.h"
#include "kernels/check.h"
#include "kernels/parallel.h"

namespace swinscope {
namespace {
constexpr std::int64_t kRowGrain = 64;
}  // namespace

OperationCost copy_channels_cost(const ChannelSlice& slice, bool accumulates, std::int64_t element_bytes) {
  const std::int64_t bytes = slice.rows * slice.channels * element_bytes;
  return {0, accumulates ? 2 * bytes : bytes, bytes};
}

namespace cpu {

template <typename T>
void copy_channels(const ChannelSlice& slice, const T* from, bool accumulate, T* to) {
  require(slice.from_stride >= slice.channels && slice.to_stride >= slice.channels, "copy_channels",
          "stride shorter than its row");
  parallel_ranges(slice.rows, kRowGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const T* source = from + row * slice.from_stride;
      T* target = to + row * slice.to_stride;
      if (accumulate) {
        for (std::int64_t c = 0; c < slice.channels; ++c)
          target[c] += source[c];
      } else {
        std::copy_n(source, slice.channels, target);
      }
    }
  });
}

template void copy_channels<float>(const ChannelSlice&, const float*, bool, float*);
template void copy_channels<double>(const ChannelSlice&, const double*, bool, double*);

}  // namespace cpu
}  // namespace swinscope

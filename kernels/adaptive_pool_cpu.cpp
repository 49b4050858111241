#include <algorithm>

#include "kernels/adaptive_pool.h"
#include "kernels/check.h"
#include "kernels/parallel.h"

namespace swinscope {
namespace {

struct Range {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t length() const { return end - begin; }
};

Range bin_pixels(std::int64_t extent, std::int64_t side, std::int64_t bin) {
  return {bin * extent / side, ((bin + 1) * extent + side - 1) / side};
}

// The bins that hold a pixel: from the first whose end lies behind it to the last that begins at or before it.
Range pixel_bins(std::int64_t extent, std::int64_t side, std::int64_t pixel) {
  Range bins{pixel * side / extent, pixel * side / extent};
  while (bins.begin > 0 && bin_pixels(extent, side, bins.begin - 1).end > pixel)
    --bins.begin;
  while (bins.end < side && bin_pixels(extent, side, bins.end).begin <= pixel)
    ++bins.end;
  return bins;
}

void check(const AdaptivePoolShape& s) {
  require(s.batch >= 0 && s.height > 0 && s.width > 0 && s.channels > 0 && s.side > 0, "adaptive_pool",
          "extent out of range");
}

}  // namespace

OperationCost adaptive_pool_forward_cost(const AdaptivePoolShape& s, std::int64_t element_bytes) {
  return {0, s.pixels() * s.channels * element_bytes, s.bins() * s.channels * element_bytes};
}

OperationCost adaptive_pool_backward_cost(const AdaptivePoolShape& s, bool accumulates, std::int64_t element_bytes) {
  const std::int64_t dx = s.pixels() * s.channels;
  return {0, (s.bins() * s.channels + (accumulates ? dx : 0)) * element_bytes, dx * element_bytes};
}

namespace cpu {

template <typename T>
void adaptive_pool_forward(const AdaptivePoolShape& s, const T* x, T* y) {
  check(s);
  parallel_for(s.bins(), [&](std::int64_t bin) {
    const std::int64_t image = bin / (s.side * s.side);
    const Range rows = bin_pixels(s.height, s.side, bin / s.side % s.side);
    const Range columns = bin_pixels(s.width, s.side, bin % s.side);
    auto* const sum = thread_scratch<double>(s.channels);
    std::fill_n(sum, s.channels, 0.0);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      for (std::int64_t column = columns.begin; column < columns.end; ++column) {
        const T* pixel = x + ((image * s.height + row) * s.width + column) * s.channels;
        for (std::int64_t c = 0; c < s.channels; ++c)
          sum[c] += static_cast<double>(pixel[c]);
      }
    }
    const auto area = static_cast<double>(rows.length() * columns.length());
    for (std::int64_t c = 0; c < s.channels; ++c)
      y[bin * s.channels + c] = static_cast<T>(sum[c] / area);
  });
}

template <typename T>
void adaptive_pool_backward(const AdaptivePoolShape& s, const T* dy, bool accumulate, T* dx) {
  check(s);
  parallel_for(s.batch * s.height, [&](std::int64_t task) {
    const Range rows = pixel_bins(s.height, s.side, task % s.height);
    for (std::int64_t column = 0; column < s.width; ++column) {
      const Range columns = pixel_bins(s.width, s.side, column);
      T* const pixel = dx + (task * s.width + column) * s.channels;
      if (!accumulate) std::fill_n(pixel, s.channels, T{0});
      for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        for (std::int64_t j = columns.begin; j < columns.end; ++j) {
          const auto area =
              static_cast<T>(bin_pixels(s.height, s.side, i).length() * bin_pixels(s.width, s.side, j).length());
          const T* bin = dy + ((task / s.height * s.side + i) * s.side + j) * s.channels;
          for (std::int64_t c = 0; c < s.channels; ++c)
            pixel[c] += bin[c] / area;
        }
      }
    }
  });
}

template void adaptive_pool_forward<float>(const AdaptivePoolShape&, const float*, float*);
template void adaptive_pool_forward<double>(const AdaptivePoolShape&, const double*, double*);
template void adaptive_pool_backward<float>(const AdaptivePoolShape&, const float*, bool, float*);
template void adaptive_pool_backward<double>(const AdaptivePoolShape&, const double*, bool, double*);

}  // namespace cpu
}  // namespace swinscope

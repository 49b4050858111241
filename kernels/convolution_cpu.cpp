#include <algorithm>

#include "kernels/check.h"
#include "kernels/convolution.h"
#include "kernels/gemm.h"
#include "kernels/parallel.h"

namespace swinscope {
namespace {

// A product takes the pixels of one tap at a time, gathered into rows: nine times the reads of the map, which come from
// the cache, against nine times its size in memory.
constexpr std::int64_t kPixelGrain = 128;
constexpr std::int64_t kReductionGrain = 512;
constexpr std::int64_t kOutputGrain = 64;

void check(const ConvolutionShape& s) {
  require(s.batch >= 0 && s.height > 0 && s.width > 0 && s.inputs > 0 && s.outputs > 0, "convolution",
          "extent out of range");
  require(s.kernel > 0 && s.kernel % 2 == 1, "convolution", "the kernel must be odd");
  require(s.weight_stride() >= s.inputs, "convolution", "the weight is narrower than its slice");
}

struct Offset {
  std::int64_t y;
  std::int64_t x;
};

Offset offset_of(const ConvolutionShape& s, std::int64_t tap) {
  return {tap / s.kernel - s.kernel / 2, tap % s.kernel - s.kernel / 2};
}

// rows[i] = map[pixel begin + i, shifted by `offset`], zeros outside of the image.
template <typename T>
void gather_shifted(const ConvolutionShape& s, const T* map, std::int64_t channels, std::int64_t begin,
                    std::int64_t end, Offset offset, T* rows) {
  for (std::int64_t pixel = begin; pixel < end; ++pixel, rows += channels) {
    const std::int64_t y = pixel / s.width % s.height + offset.y;
    const std::int64_t x = pixel % s.width + offset.x;
    if (y < 0 || y >= s.height || x < 0 || x >= s.width) {
      std::fill_n(rows, channels, T{0});
    } else {
      std::copy_n(map + (pixel + offset.y * s.width + offset.x) * channels, channels, rows);
    }
  }
}

}  // namespace

OperationCost convolution_forward_cost(const ConvolutionShape& s, bool accumulates, std::int64_t element_bytes) {
  const std::int64_t weight = s.taps() * s.inputs * s.outputs;
  const std::int64_t y = s.pixels() * s.outputs;
  return {2 * s.pixels() * weight, (s.pixels() * s.inputs + weight + (accumulates ? y : 0)) * element_bytes,
          y * element_bytes};
}

OperationCost convolution_backward_cost(const ConvolutionShape& s, bool input_gradient, std::int64_t element_bytes) {
  const std::int64_t weight = s.taps() * s.inputs * s.outputs;
  const std::int64_t x = s.pixels() * s.inputs;
  const std::int64_t product = 2 * s.pixels() * weight;
  OperationCost cost{product, (x + s.pixels() * s.outputs + weight) * element_bytes, weight * element_bytes};
  if (input_gradient) cost += {product, weight * element_bytes, x * element_bytes};
  return cost;
}

namespace cpu {

template <typename T>
void convolution_forward(const ConvolutionShape& s, const T* x, const T* weight, bool accumulate, T* y) {
  check(s);
  const std::int64_t stride = s.weight_stride();
  const GemmShape product{.n = s.outputs, .k = s.inputs, .transpose_b = Transpose::kYes, .ldb = s.taps() * stride};
  if (s.kernel == 1) {
    GemmShape whole = product;
    whole.m = s.pixels();
    return gemm(whole, T{1}, x, weight, accumulate ? T{1} : T{0}, y);
  }
  parallel_ranges(s.pixels(), kPixelGrain, [&](std::int64_t begin, std::int64_t end) {
    T* const rows = thread_scratch<T>((end - begin) * s.inputs);
    GemmShape part = product;
    part.m = end - begin;
    for (std::int64_t tap = 0; tap < s.taps(); ++tap) {
      gather_shifted(s, x, s.inputs, begin, end, offset_of(s, tap), rows);
      gemm(part, T{1}, rows, weight + tap * stride, accumulate || tap > 0 ? T{1} : T{0}, y + begin * s.outputs);
    }
  });
}

// The pixel that a tap led away from is the one at the opposite offset.
template <typename T>
void convolution_backward_input(const ConvolutionShape& s, const T* weight, const T* dy, T* dx) {
  check(s);
  const std::int64_t stride = s.weight_stride();
  const GemmShape product{.n = s.inputs, .k = s.outputs, .ldb = s.taps() * stride};
  parallel_ranges(s.pixels(), kPixelGrain, [&](std::int64_t begin, std::int64_t end) {
    T* const rows = thread_scratch<T>((end - begin) * s.outputs);
    GemmShape part = product;
    part.m = end - begin;
    for (std::int64_t tap = 0; tap < s.taps(); ++tap) {
      const Offset offset = offset_of(s, tap);
      gather_shifted(s, dy, s.outputs, begin, end, {-offset.y, -offset.x}, rows);
      gemm(part, T{1}, rows, weight + tap * stride, tap > 0 ? T{1} : T{0}, dx + begin * s.inputs);
    }
  });
}

// A task owns some outputs of one tap and walks all pixels, so that no partial sums are to be combined.
template <typename T>
void convolution_backward_weight(const ConvolutionShape& s, const T* x, const T* dy, T* dweight) {
  check(s);
  const std::int64_t stride = s.weight_stride();
  const std::int64_t blocks = (s.outputs + kOutputGrain - 1) / kOutputGrain;
  parallel_for(s.taps() * blocks, [&](std::int64_t task) {
    const std::int64_t tap = task / blocks;
    const std::int64_t first = task % blocks * kOutputGrain;
    T* const rows = thread_scratch<T>(std::min(kReductionGrain, s.pixels()) * s.inputs);
    GemmShape part{.m = std::min(kOutputGrain, s.outputs - first), .n = s.inputs, .transpose_a = Transpose::kYes};
    part.lda = s.outputs;
    part.ldc = s.taps() * stride;
    for (std::int64_t begin = 0; begin < s.pixels(); begin += kReductionGrain) {
      const std::int64_t end = std::min(begin + kReductionGrain, s.pixels());
      gather_shifted(s, x, s.inputs, begin, end, offset_of(s, tap), rows);
      part.k = end - begin;
      gemm(part, T{1}, dy + begin * s.outputs + first, rows, T{1}, dweight + (first * s.taps() + tap) * stride);
    }
  });
}

template void convolution_forward<float>(const ConvolutionShape&, const float*, const float*, bool, float*);
template void convolution_forward<double>(const ConvolutionShape&, const double*, const double*, bool, double*);
template void convolution_backward_input<float>(const ConvolutionShape&, const float*, const float*, float*);
template void convolution_backward_input<double>(const ConvolutionShape&, const double*, const double*, double*);
template void convolution_backward_weight<float>(const ConvolutionShape&, const float*, const float*, float*);
template void convolution_backward_weight<double>(const ConvolutionShape&, const double*, const double*, double*);

}  // namespace cpu
}  // namespace swinscope

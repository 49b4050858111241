#include <algorithm>

#include "kernels/bilinear_pixel.h"
#include "kernels/check.h"
#include "kernels/gemm.h"
#include "kernels/parallel.h"
#include "kernels/tap_fusion.h"

namespace swinscope {
namespace {

constexpr std::int64_t kTaps = 9;

constexpr std::int64_t offset_y(std::int64_t tap) { return tap / 3 - 1; }
constexpr std::int64_t offset_x(std::int64_t tap) { return tap % 3 - 1; }

constexpr bool inside(std::int64_t position, std::int64_t extent) { return position >= 0 && position < extent; }

void check(const TapFusionShape& s) {
  require(s.batch >= 0 && s.height > 0 && s.width > 0 && s.out_height > 0 && s.out_width > 0 && s.inputs > 0 &&
              s.outputs > 0,
          "tap_fusion", "extent out of range");
  require(s.weight_stride() >= s.inputs, "tap_fusion", "the weight is narrower than its slice");
}

}  // namespace

OperationCost tap_fusion_forward_cost(const TapFusionShape& s, std::int64_t element_bytes) {
  const std::int64_t weight = kTaps * s.inputs * s.outputs;
  const std::int64_t y = s.out_pixels() * s.outputs;
  return {2 * s.pixels() * weight, (s.pixels() * s.inputs + weight + y) * element_bytes, y * element_bytes};
}

OperationCost tap_fusion_backward_cost(const TapFusionShape& s, std::int64_t element_bytes) {
  const std::int64_t weight = kTaps * s.inputs * s.outputs;
  const std::int64_t x = s.pixels() * s.inputs;
  return {4 * s.pixels() * weight, (x + s.out_pixels() * s.outputs + 2 * weight) * element_bytes,
          (x + weight) * element_bytes};
}

namespace cpu {
namespace {

template <typename T>
void gather_sum(const TapFusionShape& s, const T* taps, T* y) {
  const std::int64_t stride = kTaps * s.outputs;
  parallel_for(s.batch * s.out_height, [&](std::int64_t task) {
    const T* const image = taps + task / s.out_height * s.height * s.width * stride;
    for (std::int64_t column = 0; column < s.out_width; ++column) {
      T* const out = y + (task * s.out_width + column) * s.outputs;
      for (std::int64_t tap = 0; tap < kTaps; ++tap) {
        const std::int64_t row = task % s.out_height + offset_y(tap);
        const std::int64_t shifted = column + offset_x(tap);
        if (!inside(row, s.out_height) || !inside(shifted, s.out_width)) continue;
        const BilinearPixel<T> pixel(image + tap * s.outputs, s.width, stride,
                                     bilinear_source(s.height, s.out_height, row),
                                     bilinear_source(s.width, s.out_width, shifted));
        for (std::int64_t o = 0; o < s.outputs; ++o)
          out[o] += pixel[o];
      }
    }
  });
}

// The sum that one tap of one small pixel gets back, into `sum`.
template <typename T>
void gather_tap(const TapFusionShape& s, const T* dy_image, std::int64_t row, std::int64_t column, std::int64_t tap,
                double* sum) {
  const BilinearReaders rows = bilinear_readers(s.height, s.out_height, row);
  const BilinearReaders columns = bilinear_readers(s.width, s.out_width, column);
  std::fill_n(sum, s.outputs, 0.0);
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    if (!inside(i - offset_y(tap), s.out_height)) continue;
    const double down = bilinear_source(s.height, s.out_height, i).weight_of(row);
    for (std::int64_t j = columns.begin; j < columns.end; ++j) {
      if (!inside(j - offset_x(tap), s.out_width)) continue;
      const double weight = down * bilinear_source(s.width, s.out_width, j).weight_of(column);
      const T* const out = dy_image + ((i - offset_y(tap)) * s.out_width + j - offset_x(tap)) * s.outputs;
      for (std::int64_t o = 0; o < s.outputs; ++o)
        sum[o] += weight * static_cast<double>(out[o]);
    }
  }
}

template <typename T>
void gather_sum_backward(const TapFusionShape& s, const T* dy, T* dtaps) {
  parallel_for(s.batch * s.height, [&](std::int64_t task) {
    const T* const image = dy + task / s.height * s.out_height * s.out_width * s.outputs;
    auto* const sum = thread_scratch<double>(s.outputs);
    for (std::int64_t column = 0; column < s.width; ++column) {
      for (std::int64_t tap = 0; tap < kTaps; ++tap) {
        gather_tap(s, image, task % s.height, column, tap, sum);
        T* const to = dtaps + ((task * s.width + column) * kTaps + tap) * s.outputs;
        for (std::int64_t o = 0; o < s.outputs; ++o)
          to[o] = static_cast<T>(sum[o]);
      }
    }
  });
}

}  // namespace

template <typename T>
void tap_fusion_forward(const TapFusionShape& s, const T* x, const T* weight, T* taps, T* y) {
  check(s);
  GemmShape product{.m = s.pixels(), .n = s.outputs, .k = s.inputs, .transpose_b = Transpose::kYes};
  product.ldb = kTaps * s.weight_stride();
  product.ldc = kTaps * s.outputs;
  for (std::int64_t tap = 0; tap < kTaps; ++tap)
    gemm(product, T{1}, x, weight + tap * s.weight_stride(), T{0}, taps + tap * s.outputs);
  gather_sum(s, taps, y);
}

template <typename T>
void tap_fusion_backward(const TapFusionShape& s, const T* x, const T* weight, const T* dy, T* taps, T* dx,
                         T* dweight) {
  check(s);
  gather_sum_backward(s, dy, taps);
  GemmShape input{.m = s.pixels(), .n = s.inputs, .k = s.outputs};
  input.lda = kTaps * s.outputs;
  input.ldb = kTaps * s.weight_stride();
  GemmShape weights{.m = s.outputs, .n = s.inputs, .k = s.pixels(), .transpose_a = Transpose::kYes};
  weights.lda = kTaps * s.outputs;
  weights.ldc = kTaps * s.weight_stride();
  for (std::int64_t tap = 0; tap < kTaps; ++tap) {
    const T* const dtap = taps + tap * s.outputs;
    gemm(input, T{1}, dtap, weight + tap * s.weight_stride(), tap > 0 ? T{1} : T{0}, dx);
    gemm(weights, T{1}, dtap, x, T{1}, dweight + tap * s.weight_stride());
  }
}

template void tap_fusion_forward<float>(const TapFusionShape&, const float*, const float*, float*, float*);
template void tap_fusion_forward<double>(const TapFusionShape&, const double*, const double*, double*, double*);
template void tap_fusion_backward<float>(const TapFusionShape&, const float*, const float*, const float*, float*,
                                         float*, float*);
template void tap_fusion_backward<double>(const TapFusionShape&, const double*, const double*, const double*, double*,
                                          double*, double*);

}  // namespace cpu
}  // namespace swinscope

// The classifier's layer: a warp computes one output for eight rows, so a weight is read once for them. Each lane sums
// every 32nd vector in fp32, which keeps sums short and their rounding small.
#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/early_launch.cuh"
#include "kernels/linear.h"

namespace swinscope::cuda {
namespace {

constexpr int kWarps = 4;       // of a block; each has one output
constexpr int kRowsAtOnce = 8;  // that share what is loaded of the weight

// A lane has every 32nd vector: the sums that rounding builds up in are inputs / 32 / kLength long, then five of lanes.
template <typename T>
__global__ __launch_bounds__(kWarps* kWarp) void linear_kernel(const LinearShape shape, const T* x, const T* weight,
                                                               const T* bias, T* y) {
  constexpr int kLength = Vector<T>::kLength;
  let_next_begin();
  wait_for_previous();
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t output = std::int64_t{blockIdx.x} * kWarps + static_cast<int>(threadIdx.x) / kWarp;
  const std::int64_t first = std::int64_t{blockIdx.y} * kRowsAtOnce;
  if (output >= shape.outputs) return;
  float sums[kRowsAtOnce] = {};
  for (std::int64_t at = std::int64_t{lane} * kLength; at < shape.inputs; at += kWarp * kLength) {
    const Vector<T> w = load_vector(weight + output * shape.inputs + at);
#pragma unroll
    for (int r = 0; r < kRowsAtOnce; ++r) {
      const std::int64_t row = min(first + r, shape.rows - 1);
      const Vector<T> v = load_vector(x + row * shape.inputs + at);
      float pairs[2] = {};
#pragma unroll
      for (int e = 0; e < kLength; ++e)
        pairs[e % 2] += to_float(v.values[e]) * to_float(w.values[e]);
      sums[r] += pairs[0] + pairs[1];
    }
  }
#pragma unroll
  for (int r = 0; r < kRowsAtOnce; ++r) {
    float sum = sum_over(sums[r], kWarp);
    if (lane != 0 || first + r >= shape.rows) continue;
    if (bias != nullptr) sum += to_float(bias[output]);
    y[(first + r) * shape.outputs + output] = from_float<T>(sum);
  }
}

}  // namespace

void linear_forward(const LinearShape& shape, ElementType type, const void* x, const void* weight, const void* bias,
                    void* y, Stream stream) {
  require(shape.inputs > 0 && shape.inputs % 8 == 0, "linear", "the inputs must be a multiple of 8");
  if (shape.rows == 0 || shape.outputs == 0) return;
  with_element_type(type, [&]<typename T>() {
    const dim3 grid(blocks_for(shape.outputs, kWarps), blocks_for(shape.rows, kRowsAtOnce));
    launch_early(linear_kernel<T>, {grid, dim3(kWarps * kWarp)}, stream, shape, static_cast<const T*>(x),
                 static_cast<const T*>(weight), static_cast<const T*>(bias), static_cast<T*>(y));
  });
}

}  // namespace swinscope::cuda

// The gradients of the position network. Its sums run over the few hundred rows of a table, so each is the work of a
// thread (second layer) or of a block (first layer), with the hidden layer computed again on the way.
#include "kernels/check.h"
#include "kernels/continuous_bias_coordinates.cuh"
#include "kernels/cuda_call.h"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 128;

struct Arguments {
  Coordinates coordinates;
  int rows;
  int heads;
  int hidden;
  ContinuousBiasGradientTensors tensors;

  // Before the activation.
  __device__ float hidden_value(float2 at, int unit) const {
    return at.x * tensors.weight1[2 * unit] + at.y * tensors.weight1[2 * unit + 1] + tensors.bias1[unit];
  }
  // Of the logarithmic odds that the sigmoid gets.
  __device__ float logit_gradient(int row, int head) const {
    const float value = tensors.table[row * heads + head];
    return tensors.dtable[row * heads + head] * value * (1.0F - value / kTableScale);
  }
};

__device__ void put(float* to, float value, bool accumulate) { *to = accumulate ? *to + value : value; }

__global__ __launch_bounds__(kThreads) void second_layer_kernel(const Arguments a) {
  const int unit = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  const int head = static_cast<int>(blockIdx.y);
  if (unit >= a.hidden) return;
  float sum = 0.0F;
  for (int row = 0; row < a.rows; ++row)
    sum += a.logit_gradient(row, head) * fmaxf(a.hidden_value(a.coordinates.of(row), unit), 0.0F);
  put(a.tensors.dweight2 + head * a.hidden + unit, sum, a.tensors.accumulate);
}

// A block a hidden unit, its threads the rows.
__global__ __launch_bounds__(kThreads) void first_layer_kernel(const Arguments a) {
  __shared__ float partial[3][kThreads / kWarp];
  const auto unit = static_cast<int>(blockIdx.x);
  float sums[3] = {};
  for (int row = static_cast<int>(threadIdx.x); row < a.rows; row += kThreads) {
    const float2 at = a.coordinates.of(row);
    if (!(a.hidden_value(at, unit) > 0.0F)) continue;
    float gradient = 0.0F;
    for (int head = 0; head < a.heads; ++head)
      gradient += a.logit_gradient(row, head) * a.tensors.weight2[head * a.hidden + unit];
    sums[0] += gradient * at.x;
    sums[1] += gradient * at.y;
    sums[2] += gradient;
  }
  for (int i = 0; i < 3; ++i) {
    const float sum = sum_over(sums[i], kWarp);
    if (threadIdx.x % kWarp == 0) partial[i][threadIdx.x / kWarp] = sum;
  }
  __syncthreads();
  if (threadIdx.x >= 3) return;
  float total = 0.0F;
  for (const float part : partial[threadIdx.x])
    total += part;
  float* const to = threadIdx.x == 2 ? a.tensors.dbias1 + unit : a.tensors.dweight1 + 2 * unit + threadIdx.x;
  put(to, total, a.tensors.accumulate);
}

}  // namespace

void continuous_bias_backward(const ContinuousBiasShape& shape, const ContinuousBiasGradientTensors& tensors,
                              Stream stream) {
  require(shape.window.height > 0 && shape.window.width > 0, "continuous_bias_backward", "empty window");
  const Arguments arguments{Coordinates::of(shape), static_cast<int>(shape.rows()), static_cast<int>(shape.heads),
                            static_cast<int>(shape.hidden), tensors};
  const dim3 grid(blocks_for(shape.hidden, kThreads), static_cast<unsigned>(shape.heads));
  second_layer_kernel<<<grid, kThreads, 0, stream>>>(arguments);
  SWINSCOPE_CUDA_LAUNCHED("second_layer_kernel");
  first_layer_kernel<<<static_cast<unsigned>(shape.hidden), kThreads, 0, stream>>>(arguments);
  SWINSCOPE_CUDA_LAUNCHED("first_layer_kernel");
}

}  // namespace swinscope::cuda

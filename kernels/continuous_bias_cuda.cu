// The position network's forward pass as one kernel: a block computes one row of the table, its hidden layer in shared
// memory, then a warp for each head.
#include "kernels/check.h"
#include "kernels/continuous_bias_coordinates.cuh"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 128;

// A block a row of the table: the hidden layer in shared memory, then a warp a head.
__global__ __launch_bounds__(kThreads) void continuous_bias_kernel(Coordinates coordinates, int heads, int hidden,
                                                                   const float* weight1, const float* bias1,
                                                                   const float* weight2, float* table) {
  extern __shared__ float activations[];
  const float2 at = coordinates.of(static_cast<int>(blockIdx.x));
  for (int i = static_cast<int>(threadIdx.x); i < hidden; i += kThreads) {
    activations[i] = fmaxf(at.x * weight1[2 * i] + at.y * weight1[2 * i + 1] + bias1[i], 0.0F);
  }
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  for (int head = static_cast<int>(threadIdx.x) / kWarp; head < heads; head += kThreads / kWarp) {
    float sum = 0.0F;
    for (int i = lane; i < hidden; i += kWarp)
      sum += activations[i] * weight2[head * hidden + i];
    sum = sum_over(sum, kWarp);
    if (lane == 0)
      table[blockIdx.x * static_cast<unsigned>(heads) + static_cast<unsigned>(head)] =
          kTableScale / (1.0F + expf(-sum));
  }
}

}  // namespace

void continuous_bias_forward(const ContinuousBiasShape& shape, const float* weight1, const float* bias1,
                             const float* weight2, float* table, Stream stream) {
  require(shape.window.height > 0 && shape.window.width > 0, "continuous_bias", "empty window");
  const auto bytes = static_cast<std::size_t>(shape.hidden) * sizeof(float);
  continuous_bias_kernel<<<static_cast<unsigned>(shape.rows()), kThreads, bytes, stream>>>(
      Coordinates::of(shape), static_cast<int>(shape.heads), static_cast<int>(shape.hidden), weight1, bias1, weight2,
      table);
  SWINSCOPE_CUDA_LAUNCHED("continuous_bias_kernel");
}

}  // namespace swinscope::cuda

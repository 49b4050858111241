#include "kernels/check.h"
#include "kernels/continuous_bias.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 128;
constexpr float kTableScale = 16.0F;
constexpr float kCoordinateRange = 8.0F;

struct Coordinates {
  int height, width;                  // of the window
  int trained_height, trained_width;  // that the coordinates are scaled by

  __device__ static float along(int offset, int extent) {
    const float scaled = kCoordinateRange * static_cast<float>(offset) / static_cast<float>(max(extent - 1, 1));
    return copysignf(log2f(1.0F + fabsf(scaled)) / 3.0F, scaled);  // log2(8) = 3
  }
  __device__ float2 of(int row) const {
    const int side = 2 * width - 1;
    return {along(row / side - (height - 1), trained_height), along(row % side - (width - 1), trained_width)};
  }
};

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
  const auto extent = [](std::int64_t trained, std::int64_t window) {
    return static_cast<int>(trained > 0 ? trained : window);
  };
  require(shape.window.height > 0 && shape.window.width > 0, "continuous_bias", "empty window");
  const Coordinates coordinates{static_cast<int>(shape.window.height), static_cast<int>(shape.window.width),
                                extent(shape.pretrained_window.height, shape.window.height),
                                extent(shape.pretrained_window.width, shape.window.width)};
  const auto bytes = static_cast<std::size_t>(shape.hidden) * sizeof(float);
  continuous_bias_kernel<<<static_cast<unsigned>(shape.rows()), kThreads, bytes, stream>>>(
      coordinates, static_cast<int>(shape.heads), static_cast<int>(shape.hidden), weight1, bias1, weight2, table);
  SWINSCOPE_CUDA_LAUNCHED("continuous_bias_kernel");
}

}  // namespace swinscope::cuda

// The gradients of the position network. Its sums run over the few hundred rows of a table. A block has 32 hidden
// units, a lane each; its warps share out the rows, whose coordinates and gradients are brought into shared memory some
// at a time, and add up in their order.
#include "kernels/check.h"
#include "kernels/continuous_bias_coordinates.cuh"
#include "kernels/cuda_call.h"

namespace swinscope::cuda {
namespace {

constexpr int kWarps = 8;
constexpr int kThreads = kWarps * kWarp;
constexpr int kRows = 32;  // in shared memory at a time
constexpr int kHeads = 8;  // of a block of the second layer's
constexpr int kMaxHeads = 128;

struct Arguments {
  Coordinates coordinates;
  int rows;
  int heads;
  int hidden;
  ContinuousBiasGradientTensors tensors;

  // Of the logarithmic odds that the sigmoid gets.
  __device__ float logit_gradient(int row, int head) const {
    const float value = tensors.table[row * heads + head];
    return tensors.dtable[row * heads + head] * value * (1.0F - value / kTableScale);
  }
  // Rows [begin, begin + count) of `of_heads` heads from `head` on, for the whole block.
  __device__ void load_rows(int begin, int count, int head, int of_heads, float2* at, float* gradients) const {
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads)
      at[i] = coordinates.of(begin + i);
    for (int i = static_cast<int>(threadIdx.x); i < count * of_heads; i += kThreads) {
      const int of = head + i % of_heads;
      gradients[i] = of < heads ? logit_gradient(begin + i / of_heads, of) : 0.0F;
    }
    __syncthreads();
  }
};

// A hidden unit.
struct Unit {
  int number;
  bool exists;
  float2 weight{};
  float bias = 0.0F;

  __device__ explicit Unit(const Arguments& a)
      : number(static_cast<int>(blockIdx.x * kWarp + threadIdx.x % kWarp)), exists(number < a.hidden) {
    if (!exists) return;
    weight = {a.tensors.weight1[2 * number], a.tensors.weight1[2 * number + 1]};
    bias = a.tensors.bias1[number];
  }
  // Before the activation.
  __device__ float value(float2 at) const { return at.x * weight.x + at.y * weight.y + bias; }
};

// The warps' sums in order; the first warp gets them.
__device__ float sum_of_warps(float value, float (&sums)[kWarps][kWarp]) {
  __syncthreads();
  sums[threadIdx.x / kWarp][threadIdx.x % kWarp] = value;
  __syncthreads();
  float total = 0.0F;
#pragma unroll
  for (int warp = 0; warp < kWarps; ++warp)
    total += sums[warp][threadIdx.x % kWarp];
  return total;
}

__device__ void put(float* to, float value, bool accumulate) { *to = accumulate ? *to + value : value; }

__global__ __launch_bounds__(kThreads) void second_layer_kernel(const Arguments a) {
  __shared__ float2 at[kRows];
  __shared__ float gradients[kRows * kHeads];
  __shared__ float sums[kWarps][kWarp];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int head = static_cast<int>(blockIdx.y) * kHeads;
  const Unit unit(a);
  float products[kHeads] = {};
  for (int begin = 0; begin < a.rows; begin += kRows) {
    const int count = min(kRows, a.rows - begin);
    a.load_rows(begin, count, head, kHeads, at, gradients);
    for (int row = warp; row < count; row += kWarps) {
      const float activation = fmaxf(unit.value(at[row]), 0.0F);
#pragma unroll
      for (int i = 0; i < kHeads; ++i)
        products[i] += gradients[row * kHeads + i] * activation;
    }
  }
#pragma unroll
  for (int i = 0; i < kHeads; ++i) {
    const float total = sum_of_warps(products[i], sums);
    if (warp != 0 || !unit.exists || head + i >= a.heads) continue;
    put(a.tensors.dweight2 + (head + i) * a.hidden + unit.number, total, a.tensors.accumulate);
  }
}

__global__ __launch_bounds__(kThreads) void first_layer_kernel(const Arguments a) {
  extern __shared__ float of_heads[];  // gradients of the rows [kRows, heads], the units' weights [heads, kWarp]
  __shared__ float2 at[kRows];
  __shared__ float sums[kWarps][kWarp];
  float* const weights = of_heads + kRows * a.heads;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const Unit unit(a);
  for (int head = warp; head < a.heads; head += kWarps)
    weights[head * kWarp + lane] = unit.exists ? a.tensors.weight2[head * a.hidden + unit.number] : 0.0F;
  float products[3] = {};
  for (int begin = 0; begin < a.rows; begin += kRows) {
    const int count = min(kRows, a.rows - begin);
    a.load_rows(begin, count, 0, a.heads, at, of_heads);
    for (int row = warp; row < count; row += kWarps) {
      float gradient = 0.0F;
#pragma unroll 4
      for (int head = 0; head < a.heads; ++head)
        gradient += of_heads[row * a.heads + head] * weights[head * kWarp + lane];
      if (!(unit.value(at[row]) > 0.0F)) gradient = 0.0F;
      products[0] += gradient * at[row].x;
      products[1] += gradient * at[row].y;
      products[2] += gradient;
    }
  }
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const float total = sum_of_warps(products[i], sums);
    if (warp != 0 || !unit.exists) continue;
    float* const to = i == 2 ? a.tensors.dbias1 + unit.number : a.tensors.dweight1 + 2 * unit.number + i;
    put(to, total, a.tensors.accumulate);
  }
}

}  // namespace

void continuous_bias_backward(const ContinuousBiasShape& shape, const ContinuousBiasGradientTensors& tensors,
                              Stream stream) {
  require(shape.window.height > 0 && shape.window.width > 0, "continuous_bias_backward", "empty window");
  require(shape.heads <= kMaxHeads, "continuous_bias_backward", "at most 128 heads");
  const Arguments arguments{Coordinates::of(shape), static_cast<int>(shape.rows()), static_cast<int>(shape.heads),
                            static_cast<int>(shape.hidden), tensors};
  const unsigned units = blocks_for(shape.hidden, kWarp);
  second_layer_kernel<<<dim3(units, blocks_for(shape.heads, kHeads)), kThreads, 0, stream>>>(arguments);
  SWINSCOPE_CUDA_LAUNCHED("second_layer_kernel");
  const auto bytes = static_cast<std::size_t>((kRows + kWarp) * shape.heads) * sizeof(float);
  static_assert((kRows + kWarp) * kMaxHeads * sizeof(float) + 2048 <= 48 * 1024);
  first_layer_kernel<<<units, kThreads, bytes, stream>>>(arguments);
  SWINSCOPE_CUDA_LAUNCHED("first_layer_kernel");
}

}  // namespace swinscope::cuda

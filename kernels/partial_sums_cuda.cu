// One kernel for all second stages of column sums. A column has 4 or 32 threads: each adds every 4th or 32nd partial
// sum, eight loads at a time, and the threads' results are added in order.
#include <iterator>

#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/early_launch.cuh"
#include "kernels/partial_sums.h"

namespace swinscope::cuda {
namespace {

constexpr int kColumns = 32;  // of a block
constexpr int kAtOnce = 8;    // loads of a thread: one after another they would each wait for memory

// A thread adds every kRows-th partial sum of a column, then kRows threads' results are added in order.
template <int kRows>
__global__ __launch_bounds__(kColumns* kRows) void reduce_partial_sums_kernel(const PartialSums a) {
  __shared__ float sums[kRows][kColumns];
  const int lane = static_cast<int>(threadIdx.x) % kColumns;
  const int first = static_cast<int>(threadIdx.x) / kColumns;
  const std::int64_t column = std::int64_t{blockIdx.x} * kColumns + lane;
  const std::int64_t count = column < a.columns ? a.count : 0;
  const float* const partials = a.partials + std::int64_t{blockIdx.y} * a.columns + column;
  let_next_begin();
  wait_for_previous();
  float sum = 0.0F;
  for (std::int64_t row = first; row < count; row += kAtOnce * kRows) {
    float values[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      values[i] = row + i * kRows < count ? partials[(row + i * kRows) * a.stride] : 0.0F;
#pragma unroll
    for (const float value : values)
      sum += value;
  }
  sums[first][lane] = sum;
  __syncthreads();
  if (first != 0 || column >= a.columns) return;
  float total = 0.0F;
#pragma unroll
  for (int row = 0; row < kRows; ++row)
    total += sums[row][lane];
  float* const out = a.out[blockIdx.y] + column;
  *out = a.accumulate ? *out + total : total;
}

template <int kRows>
void launch(const PartialSums& sums, unsigned results, Stream stream) {
  const dim3 grid(blocks_for(sums.columns, kColumns), results);
  launch_early(reduce_partial_sums_kernel<kRows>, {grid, dim3(kColumns * kRows)}, stream, sums);
}

}  // namespace

void add_partial_sums(const PartialSums& sums, Stream stream) {
  unsigned results = 0;
  while (results < std::size(sums.out) && sums.out[results] != nullptr)
    ++results;
  if (sums.columns == 0 || results == 0) return;
  // Attention leaves few sums of many columns, normalization many of few.
  if (sums.count <= 128) {
    launch<4>(sums, results, stream);
  } else {
    launch<32>(sums, results, stream);
  }
}

}  // namespace swinscope::cuda

#include <iterator>

#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/early_launch.cuh"
#include "kernels/partial_sums.h"

namespace swinscope::cuda {
namespace {

constexpr int kColumns = 32;  // of a block
constexpr int kRows = 32;     // partial sums at a time: hundreds of them one after another would wait for memory

// A thread adds every 32nd partial sum of a column, then 32 threads' results are added in order.
__global__ __launch_bounds__(kColumns* kRows) void partial_sums_kernel(const PartialSums a) {
  __shared__ float sums[kRows][kColumns];
  const int lane = static_cast<int>(threadIdx.x) % kColumns;
  const int first = static_cast<int>(threadIdx.x) / kColumns;
  const std::int64_t column = std::int64_t{blockIdx.x} * kColumns + lane;
  const float* const partials = a.partials + std::int64_t{blockIdx.y} * a.columns + column;
  let_next_begin();
  wait_for_previous();
  float sum = 0.0F;
  if (column < a.columns) {
#pragma unroll 8
    for (std::int64_t row = first; row < a.count; row += kRows)
      sum += partials[row * a.stride];
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

}  // namespace

void add_partial_sums(const PartialSums& sums, Stream stream) {
  unsigned results = 0;
  while (results < std::size(sums.out) && sums.out[results] != nullptr)
    ++results;
  if (sums.columns == 0 || results == 0) return;
  const dim3 grid(blocks_for(sums.columns, kColumns), results);
  launch_early(partial_sums_kernel, {grid, dim3(kColumns * kRows)}, stream, sums);
}

}  // namespace swinscope::cuda

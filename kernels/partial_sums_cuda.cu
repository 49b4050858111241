#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/partial_sums.h"

namespace swinscope::cuda {
namespace {

constexpr int kColumns = 32;  // of a block
constexpr int kRows = 8;      // partial sums at a time

// A thread adds every eighth partial sum of a column, then eight threads' results are added in order.
__global__ __launch_bounds__(kColumns* kRows) void partial_sums_kernel(const PartialSums a) {
  __shared__ float sums[kRows][kColumns];
  const int lane = static_cast<int>(threadIdx.x) % kColumns;
  const int first = static_cast<int>(threadIdx.x) / kColumns;
  const std::int64_t column = std::int64_t{blockIdx.x} * kColumns + lane;
  float sum = 0.0F;
  if (column < a.columns) {
#pragma unroll 4
    for (std::int64_t row = first; row < a.count; row += kRows)
      sum += a.partials[row * a.stride + column];
  }
  sums[first][lane] = sum;
  __syncthreads();
  if (first != 0 || column >= a.columns) return;
  float total = 0.0F;
  for (int row = 0; row < kRows; ++row)
    total += sums[row][lane];
  a.out[column] = a.accumulate ? a.out[column] + total : total;
}

}  // namespace

void add_partial_sums(const PartialSums& sums, Stream stream) {
  if (sums.columns == 0) return;
  partial_sums_kernel<<<blocks_for(sums.columns, kColumns), kColumns * kRows, 0, stream>>>(sums);
  SWINSCOPE_CUDA_LAUNCHED("partial_sums_kernel");
}

}  // namespace swinscope::cuda

// Layer normalization between two products (normalized_product.h): the first one leaves the moments of its rows, from
// which the second one has what corrects its sums.
#pragma once

#include "kernels/hopper_finish.cuh"
#include "kernels/normalized_product.h"
#include "kernels/window_attention_mma.cuh"

namespace swinscope::cuda::hopper {

// Over the lanes that have the same rows; all of them must be here.
__device__ inline float sum_over_quad(float value) {
  const unsigned quad = 0xfU << (threadIdx.x % kWarp / kQuad * kQuad);
  value += __shfl_xor_sync(quad, value, 1);
  return value + __shfl_xor_sync(quad, value, 2);
}

// Of 32 columns of a row, as they are stored, of which each lane of four has 8.
template <typename T>
__device__ float2 moments_of(const uint4& stored, T type) {
  Eight eight{};
  eight.add(stored, type);
  float sum = 0.0F;
#pragma unroll
  for (int i = 0; i < 8; ++i)
    sum += eight.values[i];
  const float mean = sum_over_quad(sum) / static_cast<float>(kMomentColumns);
  float squares = 0.0F;
#pragma unroll
  for (int i = 0; i < 8; ++i)
    squares += (eight.values[i] - mean) * (eight.values[i] - mean);
  return {mean, sum_over_quad(squares)};
}

// at: of the lane's first column in the result.
__device__ inline void store_moments(float2* moments, std::int64_t at, const float2& of_columns) {
  if (threadIdx.x % kQuad == 0) moments[at / kMomentColumns] = of_columns;
}

// A thread's part of the moments of the two rows of a whose sums it has: those of every fourth 32 columns.
class RowMoments {
 public:
  // row: the upper one; the other one is 8 below.
  __device__ void fetch(const float2* moments, int row, int rows, int columns) {
    pieces_ = columns / static_cast<int>(kMomentColumns);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float2* const from = moments + std::int64_t{row + 8 * half} * pieces_;
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        own_[half][i] = float2{};
        if (row + 8 * half < rows && piece(i) < pieces_) own_[half][i] = from[piece(i)];
      }
    }
  }
  // By Chan's formula for parts of equal size: differences are taken from the mean of the row.
  __device__ void finish(float (&mean)[2], float (&rstd)[2]) const {
    const float count = static_cast<float>(pieces_);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float sum = 0.0F;
#pragma unroll
      for (int i = 0; i < kEach; ++i)
        sum += own_[half][i].x;
      mean[half] = sum_over_quad(sum) / count;
      float squares = 0.0F;
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const float apart = own_[half][i].x - mean[half];
        if (piece(i) < pieces_) squares += own_[half][i].y + static_cast<float>(kMomentColumns) * apart * apart;
      }
      const float variance = sum_over_quad(squares) / (count * static_cast<float>(kMomentColumns));
      rstd[half] = rsqrtf(variance + static_cast<float>(kFoldedEpsilon));
    }
  }

 private:
  static constexpr int kEach = static_cast<int>(kMostNormalizedColumns / kMomentColumns) / kQuad;
  static __device__ int piece(int i) { return static_cast<int>(threadIdx.x) % kQuad + i * kQuad; }

  int pieces_ = 0;
  float2 own_[2][kEach];
};

// A thread's column sums and biases: of each 32 columns, 8.
template <int kParts>
struct Corrections {
  float4 sums[kParts][2];
  float4 biases[kParts][2];

  // corrections: [2, n]; column: the thread's first one.
  __device__ void fetch(const float* corrections, int column, int n) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int at = column + part * 32 + 4 * i;
        const bool exists = at < n;
        sums[part][i] = exists ? *reinterpret_cast<const float4*>(corrections + at) : float4{};
        biases[part][i] = exists ? *reinterpret_cast<const float4*>(corrections + n + at) : float4{};
      }
    }
  }
  __device__ void apply(Eight& eight, int part, float mean, float rstd) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float4& s = sums[part][i];
      const float4& b = biases[part][i];
      float* const v = eight.values + 4 * i;
      v[0] = fmaf(rstd, fmaf(-mean, s.x, v[0]), b.x);
      v[1] = fmaf(rstd, fmaf(-mean, s.y, v[1]), b.y);
      v[2] = fmaf(rstd, fmaf(-mean, s.z, v[2]), b.z);
      v[3] = fmaf(rstd, fmaf(-mean, s.w, v[3]), b.w);
    }
  }
};

}  // namespace swinscope::cuda::hopper

// Layer normalization within a product (normalized_product.h): the moments of the rows of a, taken from its tiles while
// they are multiplied, and what corrects the sums by them.
#pragma once

#include "kernels/hopper_finish.cuh"
#include "kernels/normalized_product.h"
#include "kernels/window_attention_mma.cuh"

namespace swinscope::cuda::hopper {

// Halves of values, so that differences of any two are finite: x / 2 + shift of two values.
__device__ inline std::uint32_t half_shifted(std::uint32_t pair, std::uint32_t shift, __half) {
  const __half2 y = __hfma2(*reinterpret_cast<const __half2*>(&pair), __float2half2_rn(0.5F),
                            *reinterpret_cast<const __half2*>(&shift));
  return *reinterpret_cast<const std::uint32_t*>(&y);
}
__device__ inline std::uint32_t half_shifted(std::uint32_t pair, std::uint32_t shift, __nv_bfloat16) {
  const __nv_bfloat162 y = __hfma2(*reinterpret_cast<const __nv_bfloat162*>(&pair), __float2bfloat162_rn(0.5F),
                                   *reinterpret_cast<const __nv_bfloat162*>(&shift));
  return *reinterpret_cast<const std::uint32_t*>(&y);
}

// Of the 16 rows of a tile that a warp multiplies; a thread ends with those of rows lane / 4 and lane / 4 + 8, whose
// sums it has. Sums and squares are taken on tensor cores, of differences from the mean of the row's first columns: so
// neither a mean far from zero nor a single large value costs digits of the variance.
template <typename T>
class RowMoments {
 public:
  static constexpr int kStep = 16;  // columns at a time

  // a: the tile's part of a stage, `columns` of which exist, a multiple of 16.
  __device__ void add(std::uint32_t a, int columns, bool first) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const std::uint32_t row =
        static_cast<std::uint32_t>(threadIdx.x) / kWarp * 16 + static_cast<std::uint32_t>(lane) % 16;
    const std::uint32_t begin = a + row * 128;
    const std::uint32_t half = static_cast<std::uint32_t>(lane) / 16;
    uint4 pieces[kSteps];
#pragma unroll
    for (std::uint32_t i = 0; i < kSteps; ++i) {
      // The copy engine permuted the 16-byte pieces of a row by its number.
      if (static_cast<int>(i) * kStep < columns) pieces[i] = load_matrices(begin + ((2 * i + half) ^ (row % 8)) * 16);
    }
    if (first) set_shift(pieces, columns);
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      if (i * kStep < columns) add_step(pieces[i]);
    }
  }

  // Of rows of `count` columns.
  __device__ void finish(int count, float (&mean)[2], float (&rstd)[2]) const {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const int row = lane / 4;
    // The square of row i is in the diagonal: column i, which that thread of the four has.
    const int owner = lane / 4 * 4 + row / 2;
    const float inverse = 1.0F / static_cast<float>(count);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float own = row % 2 == 0 ? squares_[2 * half] : squares_[2 * half + 1];
      const float square = __shfl_sync(0xffffffffU, own, owner) * inverse;
      const float sum = sums_[2 * half] * inverse;
      mean[half] = 2.0F * (sum - unpack(shift_[half], T{}).x);
      rstd[half] = rsqrtf(fmaxf(4.0F * (square - sum * sum), 0.0F) + static_cast<float>(kFoldedEpsilon));
    }
  }

 private:
  static constexpr int kSteps = 4;

  __device__ void set_shift(const uint4 (&pieces)[kSteps], int columns) {
    float totals[4] = {};
    const std::uint32_t ones = pack(1.0F, 1.0F, T{});
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      if (i * kStep < columns) {
        mma_k16(totals, {pieces[i].x, pieces[i].y, pieces[i].z, pieces[i].w}, ones, ones, T{});
      }
    }
    const float scale = -0.5F / static_cast<float>(min(columns, kSteps * kStep));
    shift_[0] = pack(totals[0] * scale, totals[0] * scale, T{});
    shift_[1] = pack(totals[2] * scale, totals[2] * scale, T{});
  }

  __device__ void add_step(const uint4& piece) {
    const std::uint32_t ones = pack(1.0F, 1.0F, T{});
    const std::uint32_t upper[2] = {half_shifted(piece.x, shift_[0], T{}), half_shifted(piece.z, shift_[0], T{})};
    const std::uint32_t lower[2] = {half_shifted(piece.y, shift_[1], T{}), half_shifted(piece.w, shift_[1], T{})};
    mma_k16(sums_, {upper[0], lower[0], upper[1], lower[1]}, ones, ones, T{});
    // 8 columns of the upper rows times themselves, and beside them, as further columns, the same of the lower rows.
#pragma unroll
    for (int i = 0; i < 2; ++i)
      mma_k16(squares_, {upper[i], 0, 0, lower[i]}, upper[i], lower[i], T{});
  }

  float sums_[4] = {};
  float squares_[4] = {};
  std::uint32_t shift_[2] = {};
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

// What the backward kernel of window attention is put together from: the layout of its shared memory and the products
// and normalizations on it.
#pragma once

#include "kernels/window_attention.h"
#include "kernels/window_attention_mma.cuh"

namespace swinscope::cuda::backward {

constexpr int kHeadDim = 32;
constexpr int kMaxTokens = 64;
constexpr int kRowTiles = 4;  // of 16 queries or keys
constexpr int kThreads = kRowTiles * kWarp;
constexpr int kBlocksOfKeys = kMaxTokens / 8;
constexpr int kPairs = kMaxTokens * kMaxTokens;
constexpr float kLog2e = 1.4426950408889634F;

// Shared memory of one window and head: q, k, v and dO, 64 rows of 64 bytes each, pieces of 16 bytes permuted as in the
// forward kernel; and P and dS, 64 rows of 128 bytes, permuted over eight rows.
constexpr int kStages = 2;  // one in use, one on its way
constexpr std::uint32_t kRowBytes = kHeadDim * 2;
constexpr std::uint32_t kPartBytes = kMaxTokens * kRowBytes;
constexpr std::uint32_t kStageBytes = 4 * kPartBytes;
constexpr std::uint32_t kOtherHalf = 32;  // from piece p to piece p ^ 2
constexpr std::uint32_t kSquareRowBytes = kMaxTokens * 2;
constexpr std::uint32_t kSquareBytes = kMaxTokens * kSquareRowBytes;
constexpr std::uint32_t kSharedBytes = kStages * kStageBytes + 2 * kSquareBytes;
enum Part : std::uint32_t { kQ, kK, kV, kGradient };

__device__ constexpr std::uint32_t piece_offset(int slot, int piece) {
  return static_cast<std::uint32_t>(slot) * kRowBytes + static_cast<std::uint32_t>(piece ^ (slot / 2 % 4)) * 16;
}
__device__ constexpr std::uint32_t square_offset(int row, int block) {
  return static_cast<std::uint32_t>(row) * kSquareRowBytes + static_cast<std::uint32_t>(block ^ (row % 8)) * 16;
}

// Where a pair of slots stands among the kPairs sums of a head.
__device__ constexpr int pair_place(int query, int key) {
  const int lane = query % 8 * 4 + key % 8 / 2;
  return ((query / 16 * kBlocksOfKeys + key / 8) * kWarp + lane) * 4 + query % 16 / 8 * 2 + key % 2;
}

// 1 / max(norm, 1e-12) of a vector of norm 1e-12 and less: it has no direction, and gets no gradient.
constexpr float kClamped = 0.999e12F;

template <typename T>
__device__ float square_sum(const uint4& channels) {
  float sum = 0.0F;
  for (const std::uint32_t pair : {channels.x, channels.y, channels.z, channels.w}) {
    const float2 values = unpack(pair, T{});
    sum += values.x * values.x + values.y * values.y;
  }
  return sum;
}

// 1 / max(norm, 1e-12) of each row of q (0) and k (1): two threads share a slot.
template <typename T>
__device__ void find_norms(std::uint32_t stage, float (&norms)[2][kMaxTokens]) {
  const int slot = static_cast<int>(threadIdx.x) / 2;
  const int half = static_cast<int>(threadIdx.x) % 2;
  const std::uint32_t row = stage + piece_offset(slot, 2 * half);
  float sums[2];
#pragma unroll
  for (std::uint32_t part = 0; part < 2; ++part) {
    const std::uint32_t at = row + part * kPartBytes;
    sums[part] = sum_over(square_sum<T>(load_shared(at)) + square_sum<T>(load_shared(at ^ 16U)), 2);
  }
  norms[half][slot] = 1.0F / fmaxf(sqrtf(sums[half]), 1e-12F);
}

// q and k over their norms, in place.
template <typename T>
__device__ void normalize_rows(std::uint32_t stage, const float (&norms)[2][kMaxTokens]) {
  const int slot = static_cast<int>(threadIdx.x) / 2;
  const std::uint32_t row = stage + piece_offset(slot, 2 * (static_cast<int>(threadIdx.x) % 2));
#pragma unroll
  for (std::uint32_t part = 0; part < 2; ++part) {
#pragma unroll
    for (std::uint32_t piece = 0; piece < 2; ++piece) {
      const std::uint32_t at = (row + part * kPartBytes) ^ (16U * piece);
      uint4 v = load_shared(at);
      const auto scaled = [&](std::uint32_t pair) {
        const float2 values = unpack(pair, T{});
        return pack(values.x * norms[part][slot], values.y * norms[part][slot], T{});
      };
      v = {scaled(v.x), scaled(v.y), scaled(v.z), scaled(v.w)};
      store_shared(at, v);
    }
  }
}

// sums[16 x 8 kBlocks] += a[16 x 32] * rows[8 kBlocks x 32]^T, with a's fragments and the rows in shared memory.
template <typename T, int kBlocks>
__device__ void multiply_rows(float (&sums)[kBlocks][4], std::uint32_t own_rows, std::uint32_t all_rows) {
  const uint4 a0 = load_matrices(own_rows);
  const uint4 a1 = load_matrices(own_rows ^ kOtherHalf);
  const std::uint32_t first[4] = {a0.x, a0.y, a0.z, a0.w};
  const std::uint32_t last[4] = {a1.x, a1.y, a1.z, a1.w};
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
    const uint4 b = load_matrices(all_rows + static_cast<std::uint32_t>(block) * 8 * kRowBytes);
    mma_k16(sums[block], first, b.x, b.y, T{});
    mma_k16(sums[block], last, b.z, b.w, T{});
  }
}

// out[16 x 32] += square^T[16 x 64] * rows[64 x 32]: the warp's 16 columns of P or dS, for its keys.
template <typename T>
__device__ void multiply_transposed(float (&out)[4][4], std::uint32_t square, std::uint32_t rows, int tile, int lane) {
#pragma unroll
  for (int step = 0; step < kMaxTokens / 16; ++step) {
    const int query = step * 16 + lane / 16 * 8 + lane % 8;
    const uint4 p = load_matrices_transposed(square + square_offset(query, tile * 2 + lane / 8 % 2));
    const std::uint32_t a[4] = {p.x, p.y, p.z, p.w};
    const std::uint32_t row = rows + static_cast<std::uint32_t>(step) * 16 * kRowBytes;
    const uint4 b0 = load_matrices_transposed(row);
    const uint4 b1 = load_matrices_transposed(row ^ kOtherHalf);
    mma_k16(out[0], a, b0.x, b0.y, T{});
    mma_k16(out[1], a, b0.z, b0.w, T{});
    mma_k16(out[2], a, b1.x, b1.y, T{});
    mma_k16(out[3], a, b1.z, b1.w, T{});
  }
}

// Row i of the 16 x 8 `sums` += the sums over the warp's 16 rows of their columns [8 i, 8 i + 8), counted through q, k
// and v: of the first twelve rows.
template <typename T>
__device__ void add_columns(float (&sums)[4], std::uint32_t own_rows, int g) {
  const std::uint32_t ones = pack(1.0F, 1.0F, T{});
  const auto add = [&](int i, std::uint32_t b0, std::uint32_t b1) {
    const std::uint32_t upper = g == i ? ones : 0U;
    const std::uint32_t lower = g + 8 == i ? ones : 0U;
    const std::uint32_t chosen[4] = {upper, lower, upper, lower};
    mma_k16(sums, chosen, b0, b1, T{});
  };
#pragma unroll
  for (int part = 0; part < 3; ++part) {
    const std::uint32_t rows = own_rows + static_cast<std::uint32_t>(part) * kPartBytes;
    const uint4 low = load_matrices_transposed(rows);
    const uint4 high = load_matrices_transposed(rows ^ kOtherHalf);
    add(4 * part, low.x, low.y);
    add(4 * part + 1, low.z, low.w);
    add(4 * part + 2, high.x, high.y);
    add(4 * part + 3, high.z, high.w);
  }
}

// To [3, heads, kHeadDim].
__device__ inline void store_columns(float* to, int channels, int head, const float (&sums)[4], int lane) {
  const auto store = [&](int row, float first, float second) {
    const int column = head * kHeadDim + row % 4 * 8 + lane % 4 * 2;
    *reinterpret_cast<float2*>(to + row / 4 * channels + column) = {first, second};
  };
  store(lane / 4, sums[0], sums[1]);
  if (lane / 4 < 4) store(lane / 4 + 8, sums[2], sums[3]);
}

// Through x / max(norm, 1e-12): the gradient of normalized rows g and g + 8, which stand at `row`, becomes that of the
// rows themselves.
template <typename T>
__device__ void denormalize(float (&gradient)[4][4], std::uint32_t row, const float (&norms)[kMaxTokens], int slot) {
  float2 unit[2][4];
  float along[2] = {};
#pragma unroll
  for (std::uint32_t i = 0; i < 2; ++i) {
#pragma unroll
    for (std::uint32_t column = 0; column < 4; ++column) {
      unit[i][column] = unpack(load_shared_word((row ^ (column * 16)) + i * 8 * kRowBytes), T{});
      along[i] += unit[i][column].x * gradient[column][2 * i] + unit[i][column].y * gradient[column][2 * i + 1];
    }
    along[i] = sum_over(along[i], 4);
    const float inverse = norms[slot + static_cast<int>(i) * 8];
    const float factor = inverse > kClamped ? 0.0F : inverse;
#pragma unroll
    for (int column = 0; column < 4; ++column) {
      gradient[column][2 * i] = (gradient[column][2 * i] - along[i] * unit[i][column].x) * factor;
      gradient[column][2 * i + 1] = (gradient[column][2 * i + 1] - along[i] * unit[i][column].y) * factor;
    }
  }
}

}  // namespace swinscope::cuda::backward

// Window attention of one head and window by four warps on tensor cores: each has 16 queries, with all scores of theirs
// in registers. Which lane holds what follows from the instructions (PTX ISA, m16n8k16): with t = lane % 4 and g = lane
// / 4 a lane has, of each 16 x 8 block of scores, rows g and g + 8 and columns 2t and 2t + 1.
#pragma once

#include <cmath>

#include "kernels/window_attention_bias.cuh"
#include "kernels/window_attention_mma.cuh"
#include "kernels/window_geometry.cuh"

namespace swinscope::cuda {

constexpr int kHeadDim = 32;
constexpr int kMaxTokens = 64;

// Shared memory of one window and head: q, k and v, 64 rows of 64 bytes each. The four 16-byte pieces of a row are
// permuted by its number, so that eight rows' pieces at the same place lie in different banks. Within eight rows that
// start at a multiple of 8 the permutation repeats, and pieces differ by an exclusive or: one address a thread serves
// all its loads.
constexpr std::uint32_t kRowBytes = kHeadDim * 2;
constexpr std::uint32_t kPartBytes = kMaxTokens * kRowBytes;
constexpr std::uint32_t kStageBytes = 3 * kPartBytes;
constexpr std::uint32_t kOtherHalf = 32;  // from piece p to piece p ^ 2

__device__ constexpr std::uint32_t piece_offset(int slot, int piece) {
  return static_cast<std::uint32_t>(slot) * kRowBytes + static_cast<std::uint32_t>(piece ^ (slot / 2 % 4)) * 16;
}

// Where a thread's two rows are stored (-1: nowhere), and where the window holds a seam.
struct Underway {
  int upper = -1;
  int lower = -1;
  int seams = 0;  // kSeamBelow, kSeamRight
};
constexpr int kSeamBelow = 1;
constexpr int kSeamRight = 2;

__device__ inline int seams_of(const Window& window) {
  return (window.seam_below ? kSeamBelow : 0) | (window.seam_right ? kSeamRight : 0);
}

// exp(logit_scale) times log2 e.
__device__ inline float cosine_scale(float logit_scale) {
  return exp2f(fminf(logit_scale, static_cast<float>(kMaxLogitScale)) * kLog2e) * kLog2e;
}
// What the mask adds to a score that is still to be multiplied by `exponent`.
__device__ inline float hidden_score(float exponent) { return static_cast<float>(kWindowMask) * kLog2e / exponent; }
// 1 / max(norm, 1e-12).
__device__ inline float inverse_norm(float square_sum) { return fminf(rsqrtf(square_sum), 1e12F); }

// kBlocks: blocks of 8 keys, 7 (up to 56 tokens) or 8.
template <int kBlocks>
struct AttentionLane {
  int lane, tile, t, g;  // tile: of 16 queries
  Slot upper, lower;     // a thread stores piece t of these two rows
  std::uint32_t own_piece, key_place, value_place, last_value_place, result_place;
  // Bit 2 j + e: is key 8 j + 2 t + e behind the seam?
  std::uint32_t keys_below = 0;
  std::uint32_t keys_right = 0;

  // thread: of the four warps' 128.
  __device__ AttentionLane(const WindowGeometry& geometry, int thread)
      : lane(thread % kWarp),
        tile(thread / kWarp),
        t(lane % 4),
        g(lane / 4),
        upper(geometry, tile * 16 + g),
        lower(geometry, tile * 16 + g + 8),
        own_piece(piece_offset(upper.index, t)),  // that of the lower row stands 8 rows on
        key_place(piece_offset(lane % 8, lane / 8) + kPartBytes),
        value_place(piece_offset(lane % 16, lane / 16) + 2 * kPartBytes),
        last_value_place(key_place + kPartBytes + (kBlocks - 1) * 8 * kRowBytes),
        result_place(piece_offset(upper.index, 0) + 4 * static_cast<std::uint32_t>(t)) {
#pragma unroll
    for (int i = 0; i < 2 * kBlocks; ++i) {
      const Slot key(geometry, i / 2 * 8 + 2 * t + i % 2);
      keys_below |= (key.below ? 1U : 0U) << i;
      keys_right |= (key.right ? 1U : 0U) << i;
    }
  }
};

// The bias of a lane's scores; without the cosine over the scale: see expand_bias_kernel().
struct LaneBias {
  uint4 pairs[4];

  template <int kBlocks>
  __device__ LaneBias(const __half* bias, int head, const AttentionLane<kBlocks>& at) {
    const auto* const fragments = reinterpret_cast<const uint4*>(bias + head * kHeadBias + at.tile * kWarp * kLaneBias);
#pragma unroll
    for (int part = 0; part < 4; ++part)
      pairs[part] = fragments[part * kWarp + at.lane];
  }
};

// What a warp does for its 16 queries. `stage` is where k and v of the window stand, `places` are a lane's.

// Scores, whose sums start at the bias over the scale: the scale is applied with the exponential. The cosine form has a
// scale for each row, whose queries' norms it includes, and adds its bias afterwards.
template <typename T, bool kCosine, int kBlocks>
__device__ __forceinline__ void find_scores(float (&scores)[kBlocks][4], std::uint32_t keys,
                                            const std::uint32_t (&first_channels)[4],
                                            const std::uint32_t (&last_channels)[4], const uint4 (&bias)[4],
                                            const float (&row_scale)[2], const float* key_norms, int t) {
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
    const uint4& pairs = bias[block / 2];
    const float2 b0 = unpack(block % 2 == 0 ? pairs.x : pairs.z, __half{});
    const float2 b1 = unpack(block % 2 == 0 ? pairs.y : pairs.w, __half{});
    const float start[4] = {b0.x, b0.y, b1.x, b1.y};
#pragma unroll
    for (int e = 0; e < 4; ++e)
      scores[block][e] = kCosine ? 0.0F : start[e];
    const uint4 k = load_matrices(keys + static_cast<std::uint32_t>(block) * 8 * kRowBytes);
    mma_k16(scores[block], first_channels, k.x, k.y, T{});
    mma_k16(scores[block], last_channels, k.z, k.w, T{});
    if constexpr (kCosine) {
      const float2 key_norm = *reinterpret_cast<const float2*>(key_norms + block * 8 + 2 * t);
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        scores[block][e] *= e % 2 == 0 ? key_norm.x : key_norm.y;
        scores[block][e] = fmaf(scores[block][e], row_scale[e / 2], start[e]);
      }
    }
  }
}

// Of pairs that a seam separates: keys_below and keys_right as AttentionLane has them.
template <int kBlocks>
__device__ __forceinline__ void hide_across_seams(float (&scores)[kBlocks][4], int seams, const Slot& upper,
                                                  const Slot& lower, std::uint32_t keys_below, std::uint32_t keys_right,
                                                  float hidden) {
  const auto across = [&](const Slot& query) {
    const std::uint32_t below = (seams & kSeamBelow) != 0 ? (query.below ? ~keys_below : keys_below) : 0U;
    const std::uint32_t right = (seams & kSeamRight) != 0 ? (query.right ? ~keys_right : keys_right) : 0U;
    return below | right;
  };
  const std::uint32_t hides[2] = {across(upper), across(lower)};
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      if ((hides[e / 2] & (1U << (2 * block + e % 2))) != 0U) scores[block][e] += hidden;
    }
  }
}

// Scores become probabilities but for their sum; `largest` of each row, times the exponent.
template <int kBlocks>
__device__ __forceinline__ void exponentiate(float (&scores)[kBlocks][4], float exponent, float (&largest)[2]) {
  // Two of each row, so that comparisons wait less for each other.
  float each[4];
#pragma unroll
  for (int e = 0; e < 4; ++e)
    each[e] = scores[0][e];
#pragma unroll
  for (int block = 1; block < kBlocks; ++block) {
#pragma unroll
    for (int e = 0; e < 4; ++e)
      each[e] = fmaxf(each[e], scores[block][e]);
  }
#pragma unroll
  for (int row = 0; row < 2; ++row)
    largest[row] = max_over(fmaxf(each[2 * row], each[2 * row + 1]), 4) * exponent;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int e = 0; e < 4; ++e)
      scores[block][e] = exp2_fast(fmaf(scores[block][e], exponent, -largest[e / 2]));
  }
}

// The values' sum by probabilities, and the probabilities' by their product with ones: of the rounded ones, as they
// weigh the values.
template <typename T, int kBlocks>
__device__ __forceinline__ void weigh_values(const float (&scores)[kBlocks][4], std::uint32_t values,
                                             std::uint32_t last_values, std::uint32_t ones, float (&sum)[4],
                                             float (&out)[4][4]) {
#pragma unroll
  for (int pair = 0; pair < kBlocks / 2; ++pair) {
    const float(&low)[4] = scores[2 * pair];
    const float(&high)[4] = scores[2 * pair + 1];
    const std::uint32_t p[4] = {pack(low[0], low[1], T{}), pack(low[2], low[3], T{}), pack(high[0], high[1], T{}),
                                pack(high[2], high[3], T{})};
    const std::uint32_t row = values + static_cast<std::uint32_t>(pair) * 16 * kRowBytes;
    const uint4 v0 = load_matrices_transposed(row);
    const uint4 v1 = load_matrices_transposed(row ^ kOtherHalf);
    mma_k16(sum, p, ones, ones, T{});
    mma_k16(out[0], p, v0.x, v0.y, T{});
    mma_k16(out[1], p, v0.z, v0.w, T{});
    mma_k16(out[2], p, v1.x, v1.y, T{});
    mma_k16(out[3], p, v1.z, v1.w, T{});
  }
  if constexpr (kBlocks % 2 == 1) {
    const float(&last)[4] = scores[kBlocks - 1];
    const std::uint32_t p0 = pack(last[0], last[1], T{});
    const std::uint32_t p1 = pack(last[2], last[3], T{});
    const uint4 v = load_matrices_transposed(last_values);
    mma_k8(sum, p0, p1, ones, T{});
    mma_k8(out[0], p0, p1, v.x, T{});
    mma_k8(out[1], p0, p1, v.y, T{});
    mma_k8(out[2], p0, p1, v.z, T{});
    mma_k8(out[3], p0, p1, v.w, T{});
  }
}

// Divided by `sum` and rounded, to rows of q that this warp alone uses, so that rows are stored 16 bytes at once; to: a
// lane's result_place.
template <typename T>
__device__ __forceinline__ void leave_result(const float (&out)[4][4], const float (&sum)[4], std::uint32_t to) {
  const float inverse[2] = {__fdividef(1.0F, sum[0]), __fdividef(1.0F, sum[2])};
  __syncwarp();
#pragma unroll
  for (std::uint32_t column = 0; column < 4; ++column) {
    const std::uint32_t place = to ^ (column * 16);
    store_shared(place, pack(out[column][0] * inverse[0], out[column][1] * inverse[0], T{}));
    store_shared(place + 8 * kRowBytes, pack(out[column][2] * inverse[1], out[column][3] * inverse[1], T{}));
  }
  __syncwarp();
}

}  // namespace swinscope::cuda

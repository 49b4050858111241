// The backward kernel of window attention on tensor cores. Like the forward kernel a block of four warps keeps one head
// and goes from window to window, the next one's rows on their way. Scores are computed again from q, k and the LSE.
//
// A warp has 16 queries and, with g = lane / 4 and t = lane % 4, a lane rows g and g + 8 and columns 2t and 2t + 1 of
// each 16 x 8 block of P = softmax(scores) and of dP = dO V^T. From them, in registers,
//   dS = P o (dP - rowsum(P o dP)),   dQ = dS K,   and the sums of dS for the position bias,
// where the row sums need no pass over the output, since a warp has its rows whole. P and dS then go to shared memory,
// from where each warp takes the columns of 16 keys:
//   dV = P^T dO,   dK = dS^T Q.
// The gradient of the qkv bias is the sum of the rows of dQ, dK and dV, whatever token they belong to: each warp adds
// up its rows once more on tensor cores, as a product with ones. In the cosine form the three products with dS take
// normalized rows, which replace q and k in shared memory when the scores are done (scores themselves come from the
// rows as they are: at a scale of 100 rounded rows would not do).
#pragma once

#include "kernels/delayed_scale.cuh"
#include "kernels/early_launch.cuh"
#include "kernels/window_attention_backward_parts.cuh"
#include "kernels/window_geometry.cuh"

namespace swinscope::cuda::backward {

template <typename T>
struct Arguments {
  WindowGeometry geometry;
  int windows;
  int heads;
  float scale;  // of the scaled dot product, times log2 e
  const T* qkv;
  const __half* bias;
  const float* logit_scale;
  const T* pad_qkv;
  const float* lse;
  const T* dout;
  T* dqkv;
  float* share_sums;   // [gridDim.x, heads, kPairs]
  float* scale_sums;   // [gridDim.x, heads]
  float* column_sums;  // [gridDim.x, kRowTiles, 3, heads, kHeadDim]
  ByteCopy copy;       // of dqkv
};

// kBlocks: blocks of 8 keys, 7 (up to 56 tokens) or 8. kCopies: dqkv goes to a.copy, too.
template <typename T, int kBlocks, bool kCosine, bool kCopies>
__global__ __launch_bounds__(kThreads, 3) void attention_backward_kernel(const Arguments<T> a) {
  extern __shared__ __align__(128) unsigned char memory_bytes[];
  __shared__ float norms[2][kCosine ? kMaxTokens : 1];
  __shared__ float warp_sums[kRowTiles];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int tile = static_cast<int>(threadIdx.x) / kWarp;
  const int t = lane % 4;
  const int g = lane / 4;
  const int head = static_cast<int>(blockIdx.y);
  const int step = static_cast<int>(gridDim.x);
  const int tokens = a.geometry.tokens();
  const int channels = a.heads * kHeadDim;
  const std::uint32_t memory = shared_address(memory_bytes);
  const std::uint32_t probabilities = memory + kStages * kStageBytes;
  const std::uint32_t score_gradients = probabilities + kSquareBytes;

  // A thread copies, and in the end stores, piece t of these two rows.
  const Slot upper(a.geometry, tile * 16 + g);
  const Slot lower(a.geometry, tile * 16 + g + 8);
  const bool has_upper = upper.index < tokens;
  const bool has_lower = lower.index < tokens;
  const bool has_rows = tile * 16 < tokens;                      // the warp
  const std::uint32_t own_piece = piece_offset(upper.index, t);  // that of the lower row stands 8 rows on
  const int column = head * kHeadDim + 8 * t;
  const auto copy_row = [&](int row, std::uint32_t to) {
    const T* const from = (row < 0 ? a.pad_qkv : a.qkv + std::int64_t{row} * (3 * channels)) + column;
#pragma unroll
    for (int part = 0; part < 3; ++part)
      copy_async(to + static_cast<std::uint32_t>(part) * kPartBytes, from + part * channels);
    // Padding has no output, and so no gradient.
    const std::uint32_t gradient = to + kGradient * kPartBytes;
    if (row < 0) {
      store_shared(gradient, uint4{});
    } else {
      copy_async(gradient, a.dout + std::int64_t{row} * channels + column);
    }
  };
  float next_lse[2];
  const auto fetch_window = [&](int window, std::uint32_t stage) {
    // Where there is no query the probabilities become zero.
    next_lse[0] = next_lse[1] = INFINITY;
    if (window < a.windows) {
      const Window at(a.geometry, window);
      const auto fetch = [&](const Slot& slot, std::uint32_t to, float& lse) {
        const int row = at.row(a.geometry, slot);
        copy_row(row, to);
        if (row >= 0) lse = a.lse[std::int64_t{row} * a.heads + head];
      };
      if (has_upper) fetch(upper, stage + own_piece, next_lse[0]);
      if (has_lower) fetch(lower, stage + own_piece + 8 * kRowBytes, next_lse[1]);
    }
    copies_commit();
  };

  // Slots beyond the window are zero for good, and so are the columns that no block of keys reaches.
  for (std::uint32_t part = 0; part < 4 * kStages; ++part) {
    const std::uint32_t at = memory + part * kPartBytes + own_piece;
    if (!has_upper) store_shared(at, uint4{});
    if (!has_lower) store_shared(at + 8 * kRowBytes, uint4{});
  }
  for (std::uint32_t at = threadIdx.x * 16; at < 2 * kSquareBytes; at += kThreads * 16)
    store_shared(probabilities + at, uint4{});

  float scale = a.scale;
  if constexpr (kCosine) {
    scale = exp2f(fminf(a.logit_scale[head], static_cast<float>(kMaxLogitScale)) * kLog2e) * kLog2e;
  }
  const float gradient_scale = scale * (1.0F / kLog2e);
  const float exponent = kCosine ? 1.0F : scale;
  const float hidden = static_cast<float>(kWindowMask) * kLog2e / exponent;
  // Bit 2 j + e: is key 8 j + 2 t + e behind the seam?
  std::uint32_t keys_below = 0;
  std::uint32_t keys_right = 0;
#pragma unroll
  for (int i = 0; i < 2 * kBlocks; ++i) {
    const Slot key(a.geometry, i / 2 * 8 + 2 * t + i % 2);
    keys_below |= (key.below ? 1U : 0U) << i;
    keys_right |= (key.right ? 1U : 0U) << i;
  }
  let_next_begin();
  wait_for_previous();
  ByteCopyShare share_of_bytes(kCopies ? a.copy : ByteCopy{});
  uint4 bias[4];
  const auto* const fragments =
      reinterpret_cast<const uint4*>(a.bias + (std::int64_t{head} * kRowTiles + tile) * kWarp * 32);
#pragma unroll
  for (int part = 0; part < 4; ++part)
    bias[part] = fragments[part * kWarp + lane];

  float bias_sums[kBlocks][4] = {};
  float column_sums[4] = {};
  float scale_sum = 0.0F;
  int window = static_cast<int>(blockIdx.x);
  fetch_window(window, memory);

  const std::uint32_t own_rows = piece_offset(tile * 16 + lane % 16, lane / 16);
  const std::uint32_t key_rows = piece_offset(lane % 8, lane / 8);
  const std::uint32_t pair_rows = piece_offset(lane % 16, lane / 16);
  const std::uint32_t last_rows = key_rows + (kBlocks - 1) * 8 * kRowBytes;
  const std::uint32_t result_place = piece_offset(upper.index, 0) + 4 * static_cast<std::uint32_t>(t);

  for (std::uint32_t stage = memory; window < a.windows; window += step) {
    const float lse[2] = {next_lse[0] * kLog2e, next_lse[1] * kLog2e};
    const std::uint32_t other_stage = memory + (stage == memory ? kStageBytes : 0);
    copies_wait<0>();
    __syncthreads();  // the window is there, and nobody reads the one before it
    fetch_window(window + step, other_stage);
    if constexpr (kCosine) {
      find_norms<T>(stage, norms);
      __syncthreads();
    }
    const Window at(a.geometry, window);

    float gradients[kBlocks][4] = {};  // dP, then dS
    if (has_rows) {
      float scores[kBlocks][4];
      // The bias of block and element, in the units of the scores.
      const auto start = [&](int block, int e) {
        const uint4& pairs = bias[block / 2];
        const float2 upper_pair = unpack(block % 2 == 0 ? pairs.x : pairs.z, __half{});
        const float2 lower_pair = unpack(block % 2 == 0 ? pairs.y : pairs.w, __half{});
        const float2& pair = e / 2 == 0 ? upper_pair : lower_pair;
        return e % 2 == 0 ? pair.x : pair.y;
      };
#pragma unroll
      for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          scores[block][e] = kCosine ? 0.0F : start(block, e);
      }
      multiply_rows<T>(scores, stage + own_rows, stage + kK * kPartBytes + key_rows);
      if constexpr (kCosine) {
        const float row_scale[2] = {scale * norms[0][upper.index], scale * norms[0][lower.index]};
#pragma unroll
        for (int block = 0; block < kBlocks; ++block) {
          const float2 key_norm = *reinterpret_cast<const float2*>(&norms[1][block * 8 + 2 * t]);
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            scores[block][e] *= e % 2 == 0 ? key_norm.x : key_norm.y;
            scores[block][e] = fmaf(scores[block][e], row_scale[e / 2], start(block, e));
          }
        }
      }
      std::uint32_t hides[2] = {};
      if (at.seam_below || at.seam_right) {
        const auto across = [&](const Slot& query) {
          const std::uint32_t below = at.seam_below ? (query.below ? ~keys_below : keys_below) : 0U;
          const std::uint32_t right = at.seam_right ? (query.right ? ~keys_right : keys_right) : 0U;
          return below | right;
        };
        hides[0] = across(upper);
        hides[1] = across(lower);
#pragma unroll
        for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            if ((hides[e / 2] & (1U << (2 * block + e % 2))) != 0U) scores[block][e] += hidden;
          }
        }
      }
      multiply_rows<T>(gradients, stage + kGradient * kPartBytes + own_rows, stage + kV * kPartBytes + key_rows);
      // dP weighted by P. Divided by the sum of P, which is 1 but for the rounding of the LSE: then a row of dS sums up
      // to 0, as it must.
      float mean[2] = {};
      float total[2] = {};
      // Of the scores without bias and mask, for the logit scale: weighted by P, and by P o dP.
      float weighted[2] = {};
      float products[2] = {};
#pragma unroll
      for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float score = scores[block][e];
          scores[block][e] = exp2_fast(fmaf(score, exponent, -lse[e / 2]));
          const float product = scores[block][e] * gradients[block][e];
          mean[e / 2] += product;
          total[e / 2] += scores[block][e];
          if constexpr (kCosine) {
            const bool is_hidden = (hides[e / 2] & (1U << (2 * block + e % 2))) != 0U;
            // Keys beyond the window have an infinite bias, and no probability.
            const float cosine = block * 8 + 2 * t + e % 2 < tokens ? score - start(block, e) : 0.0F;
            const float own = is_hidden ? cosine - hidden : cosine;
            weighted[e / 2] += scores[block][e] * own;
            products[e / 2] += product * own;
          }
        }
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        mean[i] = sum_over(mean[i], 4) / fmaxf(sum_over(total[i], 4), 1e-30F);
        scale_sum += products[i] - mean[i] * weighted[i];
      }
#pragma unroll
      for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          gradients[block][e] = scores[block][e] * (gradients[block][e] - mean[e / 2]);
          bias_sums[block][e] += gradients[block][e];
        }
        const std::uint32_t to = square_offset(upper.index, block) + 4 * static_cast<std::uint32_t>(t);
        store_shared(probabilities + to, pack(scores[block][0], scores[block][1], T{}));
        store_shared(probabilities + to + 8 * kSquareRowBytes, pack(scores[block][2], scores[block][3], T{}));
        store_shared(score_gradients + to, pack(gradients[block][0], gradients[block][1], T{}));
        store_shared(score_gradients + to + 8 * kSquareRowBytes, pack(gradients[block][2], gradients[block][3], T{}));
      }
    }
    __syncthreads();  // P and dS are there, and the scores are done
    if constexpr (kCosine) {
      normalize_rows<T>(stage, norms);
      __syncthreads();
    }

    float dq[4][4] = {};
    float dk[4][4] = {};
    float dv[4][4] = {};
    if (has_rows) {
      const std::uint32_t keys = stage + kK * kPartBytes;
#pragma unroll
      for (int pair = 0; pair < kBlocks / 2; ++pair) {
        const float(&low)[4] = gradients[2 * pair];
        const float(&high)[4] = gradients[2 * pair + 1];
        const std::uint32_t s[4] = {pack(low[0], low[1], T{}), pack(low[2], low[3], T{}), pack(high[0], high[1], T{}),
                                    pack(high[2], high[3], T{})};
        const std::uint32_t row = keys + pair_rows + static_cast<std::uint32_t>(pair) * 16 * kRowBytes;
        const uint4 k0 = load_matrices_transposed(row);
        const uint4 k1 = load_matrices_transposed(row ^ kOtherHalf);
        mma_k16(dq[0], s, k0.x, k0.y, T{});
        mma_k16(dq[1], s, k0.z, k0.w, T{});
        mma_k16(dq[2], s, k1.x, k1.y, T{});
        mma_k16(dq[3], s, k1.z, k1.w, T{});
      }
      if constexpr (kBlocks % 2 == 1) {
        const float(&last)[4] = gradients[kBlocks - 1];
        const std::uint32_t s0 = pack(last[0], last[1], T{});
        const std::uint32_t s1 = pack(last[2], last[3], T{});
        const uint4 k = load_matrices_transposed(keys + last_rows);
        mma_k8(dq[0], s0, s1, k.x, T{});
        mma_k8(dq[1], s0, s1, k.y, T{});
        mma_k8(dq[2], s0, s1, k.z, T{});
        mma_k8(dq[3], s0, s1, k.w, T{});
      }
      multiply_transposed<T>(dv, probabilities, stage + kGradient * kPartBytes + pair_rows, tile, lane);
      multiply_transposed<T>(dk, score_gradients, stage + pair_rows, tile, lane);
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        dq[i / 4][i % 4] *= gradient_scale;
        dk[i / 4][i % 4] *= gradient_scale;
      }
    }
    __syncthreads();  // nobody reads this window any more: its rows make room for the results
    if (has_rows) {
      const std::uint32_t result = stage + result_place;
      if constexpr (kCosine) {
        denormalize<T>(dq, result, norms[0], upper.index);
        denormalize<T>(dk, result + kK * kPartBytes, norms[1], upper.index);
      }
      const auto put = [&](const float(&rows)[4][4], std::uint32_t part) {
#pragma unroll
        for (std::uint32_t i = 0; i < 4; ++i) {
          const std::uint32_t to = (result + part * kPartBytes) ^ (i * 16);
          if (has_upper) store_shared(to, pack(rows[i][0], rows[i][1], T{}));
          if (has_lower) store_shared(to + 8 * kRowBytes, pack(rows[i][2], rows[i][3], T{}));
        }
      };
      put(dq, kQ);
      put(dk, kK);
      put(dv, kV);
      __syncwarp();
      add_columns<T>(column_sums, stage + own_rows, g);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const Slot& slot = i == 0 ? upper : lower;
        if (!(i == 0 ? has_upper : has_lower)) continue;
        const int row = at.row(a.geometry, slot);
        if (row < 0) continue;  // padding: in the sums, and nowhere else
        T* const target = a.dqkv + std::int64_t{row} * (3 * channels);
#pragma unroll
        for (int part = 0; part < 3; ++part) {
          const std::uint32_t from = stage + own_piece + static_cast<std::uint32_t>(part) * kPartBytes +
                                     static_cast<std::uint32_t>(i) * 8 * kRowBytes;
          const uint4 piece = load_shared(from);
          if (!kCopies || a.dqkv != nullptr) *reinterpret_cast<uint4*>(target + part * channels + column) = piece;
          if constexpr (kCopies)
            share_of_bytes.store((std::int64_t{row} * (3 * channels) + part * channels + column) / 8,
                                 *reinterpret_cast<const Vector<T>*>(&piece));
        }
      }
    }
    stage = other_stage;
  }
  if constexpr (kCopies) share_of_bytes.report();

  const std::int64_t share = std::int64_t{blockIdx.x} * a.heads + head;
  auto* const sums = reinterpret_cast<float4*>(a.share_sums + share * kPairs);
#pragma unroll
  for (int block = 0; block < kBlocksOfKeys; ++block) {
    float4 of_block{};
    if (block < kBlocks) {
      const float(&s)[4] = bias_sums[block < kBlocks ? block : 0];
      of_block = {s[0], s[1], s[2], s[3]};
    }
    sums[(tile * kBlocksOfKeys + block) * kWarp + lane] = of_block;
  }
  store_columns(a.column_sums + (std::int64_t{blockIdx.x} * kRowTiles + tile) * (3 * channels), channels, head,
                column_sums, lane);
  if constexpr (kCosine) {
    scale_sum = sum_over(scale_sum, kWarp);
    if (lane == 0) warp_sums[tile] = scale_sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    float total = 0.0F;
    for (const float sum : warp_sums)
      total += sum;
    const bool free = a.logit_scale[head] <= static_cast<float>(kMaxLogitScale);
    a.scale_sums[share] = free ? total * (1.0F / kLog2e) : 0.0F;
  }
}

}  // namespace swinscope::cuda::backward

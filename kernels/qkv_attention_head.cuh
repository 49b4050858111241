// Window attention of a head whose q, k and v a warp group has just multiplied: 64 rows of 96 sums in its registers,
// with the layout of wgmma.cuh, of each row columns of q, then k, then v.
#pragma once

#include "kernels/window_attention_lanes.cuh"
#include "kernels/window_geometry.cuh"

namespace swinscope::cuda {

constexpr int kHeadColumns = 3 * kHeadDim;

// q in registers, k and v to shared memory, rounded. Of the cosine form also 1 / norm of a thread's two rows of q, and
// of all rows of k.
template <typename T, bool kCosine>
struct HeadRows {
  std::uint32_t q[2][4];  // of channels 0 to 15 and 16 to 31
  float q_norms[2];       // of the upper row and the lower one

  __device__ HeadRows(const float (&sums)[kHeadColumns / 2], const float* bias, int channels, std::uint32_t parts,
                      std::uint32_t place, int t, int row, float* k_norms) {
    float q_squares[2] = {};
    float k_squares[2] = {};
#pragma unroll
    for (int part = 0; part < 3; ++part) {
#pragma unroll
      for (int block = 0; block < kHeadDim / 8; ++block) {
        const float2 b = *reinterpret_cast<const float2*>(bias + part * channels + block * 8 + 2 * t);
        const float* const own = sums + 4 * (part * (kHeadDim / 8) + block);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const std::uint32_t pair = pack(own[2 * half] + b.x, own[2 * half + 1] + b.y, T{});
          if (kCosine && part < 2) {
            const float2 rounded = unpack(pair, T{});
            float& squares = part == 0 ? q_squares[half] : k_squares[half];
            squares = fmaf(rounded.x, rounded.x, fmaf(rounded.y, rounded.y, squares));
          }
          if (part == 0) {
            q[block / 2][block % 2 * 2 + half] = pair;
          } else {
            store_shared(((parts + static_cast<std::uint32_t>(part) * kPartBytes + place) ^
                          (static_cast<std::uint32_t>(block) * 16)) +
                             static_cast<std::uint32_t>(half) * 8 * kRowBytes,
                         pair);
          }
        }
      }
    }
    if constexpr (kCosine) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        q_norms[half] = inverse_norm(sum_over(q_squares[half], 4));
        const float k_norm = inverse_norm(sum_over(k_squares[half], 4));
        if (t == 0) k_norms[row + 8 * half] = k_norm;
      }
    }
  }
};

// Of a warp's 16 queries, from q in registers and k and v of its window at `parts` to rows of `out`, which begins at
// the head's first column. scale: times log2 e.
template <typename T, bool kCosine, int kBlocks>
__device__ __forceinline__ void attend_head(const AttentionLane<kBlocks>& lane, const Underway& rows,
                                            const HeadRows<T, kCosine>& head_rows, const LaneBias& bias, float scale,
                                            const float* k_norms, std::uint32_t parts, T* out, int channels) {
  float row_scale[2] = {};
  if constexpr (kCosine) {
    row_scale[0] = scale * head_rows.q_norms[0];
    row_scale[1] = scale * head_rows.q_norms[1];
  }
  const float exponent = kCosine ? 1.0F : scale;
  float scores[kBlocks][4];
  find_scores<T, kCosine>(scores, parts + lane.key_place, head_rows.q[0], head_rows.q[1], bias.pairs, row_scale,
                          k_norms, lane.t);
  if (rows.seams != 0) {
    hide_across_seams(scores, rows.seams, lane.upper, lane.lower, lane.keys_below, lane.keys_right,
                      hidden_score(exponent));
  }
  float largest[2];
  exponentiate(scores, exponent, largest);
  const std::uint32_t ones = pack(1.0F, 1.0F, T{});
  float sum[4] = {};
  float values[4][4] = {};
  weigh_values<T>(scores, parts + lane.value_place, parts + lane.last_value_place, ones, sum, values);
  leave_result<T>(values, sum, parts + lane.result_place);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int target = half == 0 ? rows.upper : rows.lower;
    if (target < 0) continue;
    const uint4 result = load_shared(parts + lane.own_piece + static_cast<std::uint32_t>(half) * 8 * kRowBytes);
    *reinterpret_cast<uint4*>(out + std::int64_t{target} * channels + 8 * lane.t) = result;
  }
  __syncwarp();
}

}  // namespace swinscope::cuda

// Window attention on tensor cores. A block of four warps keeps one head, whose bias stays in registers, and goes from
// window to window; q, k and v of the next two windows are on their way into shared memory while one is computed. Each
// warp has 16 queries, with all scores of theirs in registers.
//
// Which lane holds what follows from the instructions (PTX ISA, m16n8k16): with t = lane % 4 and g = lane / 4 a lane
// has, of each 16 x 8 block of scores, rows g and g + 8 and columns 2t and 2t + 1.
//
// It is bound by memory traffic where windows and heads are many: docs/kernels/attention.md.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/byte_attention.h"
#include "kernels/byte_format.cuh"
#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/delayed_scale.cuh"
#include "kernels/eviction.cuh"
#include "kernels/window_attention.h"
#include "kernels/window_attention_general.h"
#include "kernels/window_attention_lanes.cuh"
#include "kernels/window_launch.cuh"

namespace swinscope::cuda {
namespace {

constexpr float kLn2 = 0.6931471805599453F;
constexpr int kStages = 3;  // one in use, two on their way
constexpr int kThreads = kRowTiles * kWarp;

template <typename T>
struct MmaArguments {
  WindowGeometry geometry;
  int windows;
  int first_window, window_step;  // in the order in which they are taken: up from the first, or down from the last
  int heads;
  float scale;  // of the scaled dot product, times log2 e
  const T* qkv;
  const __half* bias;
  const float* logit_scale;
  const T* pad_qkv;
  T* out;
  Eviction out_eviction;
  ByteFormat byte_format;
  float* lse;
  float inverse_scale;  // of a result in 8 bits
  ByteCopy copy;        // of the result
};

// Which results have 8 bits, and are not T; kCopied: both forms. Where q, k and v have 8 bits: byte_attention_cuda.cu.
enum class Bytes { kNone, kResult, kCopied };

template <typename T>
__device__ float square_sum(const uint4& channels) {
  float even = 0.0F;
  float odd = 0.0F;
  for (const std::uint32_t pair : {channels.x, channels.y, channels.z, channels.w}) {
    const float2 values = unpack(pair, T{});
    even = fmaf(values.x, values.x, even);
    odd = fmaf(values.y, values.y, odd);
  }
  return even + odd;
}

// 1 / max(norm, 1e-12) of each row of q (0) and k (1): two threads share a slot, one writes q's and one k's.
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
  norms[half][slot] = fminf(rsqrtf(half == 0 ? sums[0] : sums[1]), 1e12F);
}

// kBlocks: blocks of 8 keys, 7 (up to 56 tokens) or 8. A block of threads keeps one head and goes from window to
// window.
template <typename T, int kBlocks, bool kCosine, Bytes kBytes>
__global__ __launch_bounds__(kThreads, 4) void attention_kernel(const MmaArguments<T> a) {
  constexpr bool kPacks = kBytes == Bytes::kResult;
  __shared__ alignas(128) unsigned char stages[kStages * kStageBytes];
  __shared__ float norms[2][kCosine ? kMaxTokens : 1];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int tile = static_cast<int>(threadIdx.x) / kWarp;  // of 16 queries
  const int t = lane % 4;
  const int g = lane / 4;
  const int head = static_cast<int>(blockIdx.y);
  const int step = static_cast<int>(gridDim.x);
  const int tokens = a.geometry.tokens();
  const int channels = a.heads * kHeadDim;
  const std::uint32_t memory = shared_address(stages);

  // A thread copies, and in the end stores, piece t of these two rows.
  const Slot upper(a.geometry, tile * 16 + g);
  const Slot lower(a.geometry, tile * 16 + g + 8);
  const bool has_upper = upper.index < tokens;
  const bool has_lower = lower.index < tokens;
  const std::uint32_t own_piece = piece_offset(upper.index, t);  // that of the lower row stands 8 rows on
  const T* const first = a.qkv + head * kHeadDim + 8 * t;
  const T* const first_pad = a.pad_qkv + head * kHeadDim + 8 * t;
  using Out = std::conditional_t<kPacks, unsigned char, T>;
  Out* const first_out = reinterpret_cast<Out*>(a.out) + head * kHeadDim + 8 * t;
  // Where `row` begins that lies `elements` after the one before: one multiplication of 32 bits.
  const auto at_row = [](auto* base, int row, int elements) {
    return base + std::uint64_t{static_cast<std::uint32_t>(row)} * static_cast<std::uint32_t>(elements);
  };
  const auto copy_row = [&](int row, std::uint32_t to) {
    const T* const from = row < 0 ? first_pad : at_row(first, row, 3 * channels);
#pragma unroll
    for (int part = 0; part < 3; ++part)
      copy_async(to + static_cast<std::uint32_t>(part) * kPartBytes, from + part * channels);
  };
  const auto copy_window = [&](int window, std::uint32_t stage) {
    Underway rows;
    if (window < a.windows) {
      const Window at(a.geometry, a.first_window + a.window_step * window);
      if (has_upper) {
        rows.upper = at.row(a.geometry, upper);
        copy_row(rows.upper, stage + own_piece);
      }
      if (has_lower) {
        rows.lower = at.row(a.geometry, lower);
        copy_row(rows.lower, stage + own_piece + 8 * kRowBytes);
      }
      rows.seams = (at.seam_below ? kSeamBelow : 0) | (at.seam_right ? kSeamRight : 0);
    }
    copies_commit();  // an empty group, too: groups are counted
    return rows;
  };

  // Slots beyond the window are zero for good: their keys are hidden by the bias, their queries stored nowhere.
  for (std::uint32_t part = 0; part < 3 * kStages; ++part) {
    const std::uint32_t at = memory + part * kPartBytes + own_piece;
    if (!has_upper) store_shared(at, uint4{});
    if (!has_lower) store_shared(at + 8 * kRowBytes, uint4{});
  }
  // The scores' sums start at the bias over the scale, and the scale is applied with the exponential: see
  // expand_bias_kernel(). The cosine form has a scale for each row and adds its bias afterwards.
  float scale = a.scale;
  if constexpr (kCosine) {
    scale = exp2f(fminf(a.logit_scale[head], static_cast<float>(kMaxLogitScale)) * kLog2e) * kLog2e;
  }
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

  uint4 bias[4];
  const auto* const fragments = reinterpret_cast<const uint4*>(a.bias + head * kHeadBias + tile * kWarp * kLaneBias);
#pragma unroll
  for (int part = 0; part < 4; ++part)
    bias[part] = fragments[part * kWarp + lane];

  const std::uint64_t out_policy = cache_policy(a.out_eviction);
  let_next_begin();
  wait_for_previous();
  ByteCopyShare share(kBytes == Bytes::kCopied ? a.copy : ByteCopy{});
  int window = static_cast<int>(blockIdx.x);
  static_assert(kStages == 3);
  Underway now = copy_window(window, memory);
  Underway next = copy_window(window + step, memory + kStageBytes);
  Underway after;

  const std::uint32_t query_place = piece_offset(tile * 16 + lane % 16, lane / 16);
  const std::uint32_t key_place = piece_offset(lane % 8, lane / 8) + kPartBytes;
  const std::uint32_t value_place = piece_offset(lane % 16, lane / 16) + 2 * kPartBytes;
  const std::uint32_t last_value_place = key_place + kPartBytes + (kBlocks - 1) * 8 * kRowBytes;
  const std::uint32_t result_place = piece_offset(upper.index, 0) + 4 * static_cast<std::uint32_t>(t);

  std::uint32_t stage = memory;
  std::uint32_t next_stage = memory + (kStages - 1) * kStageBytes;
  const auto advance = [&](std::uint32_t& place) {
    place += kStageBytes;
    if (place == memory + kStages * kStageBytes) place = memory;
  };
  for (; window < a.windows; window += step, advance(stage), advance(next_stage), now = next, next = after) {
    copies_wait<kStages - 2>();
    __syncthreads();  // the window is there, and nobody reads the one before it
    after = copy_window(window + (kStages - 1) * step, next_stage);
    if constexpr (kCosine) {
      find_norms<T>(stage, norms);
      __syncthreads();
    }
    if (tile * 16 >= tokens) continue;

    const uint4 q0 = load_matrices(stage + query_place);
    const uint4 q1 = load_matrices((stage + query_place) ^ kOtherHalf);
    const std::uint32_t first_channels[4] = {q0.x, q0.y, q0.z, q0.w};
    const std::uint32_t last_channels[4] = {q1.x, q1.y, q1.z, q1.w};
    float row_scale[2] = {};
    if constexpr (kCosine) {
      row_scale[0] = scale * norms[0][upper.index];
      row_scale[1] = scale * norms[0][lower.index];
    }
    float scores[kBlocks][4];
    find_scores<T, kCosine>(scores, stage + key_place, first_channels, last_channels, bias, row_scale, norms[1], t);
    if (now.seams != 0) hide_across_seams(scores, now.seams, upper, lower, keys_below, keys_right, hidden);
    float largest[2];
    exponentiate(scores, exponent, largest);
    const std::uint32_t ones = pack(1.0F, 1.0F, T{});
    float sum[4] = {};
    float out[4][4] = {};
    weigh_values<T>(scores, stage + value_place, stage + last_value_place, ones, sum, out);
    leave_result<T>(out, sum, stage + result_place);
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      const int target = row == 0 ? now.upper : now.lower;
      if (target < 0) continue;
      const uint4 result = load_shared(stage + own_piece + static_cast<std::uint32_t>(row) * 8 * kRowBytes);
      if constexpr (kPacks) {
        *reinterpret_cast<uint2*>(at_row(first_out, target, channels)) =
            packed(a.byte_format, result, a.inverse_scale, T{});
      } else {
        if (kBytes != Bytes::kCopied || a.out != nullptr)
          store_words(at_row(first_out, target, channels), result, out_policy);
        if constexpr (kBytes == Bytes::kCopied)
          share.store((std::int64_t{target} * channels + head * kHeadDim) / 8 + t,
                      *reinterpret_cast<const Vector<T>*>(&result));
      }
      if (a.lse != nullptr && t == 0) {
        a.lse[std::int64_t{target} * a.heads + head] = (largest[row] + log2f(sum[2 * row])) * kLn2;
      }
    }
  }
  if constexpr (kBytes == Bytes::kCopied) share.report();
}

template <typename T, Bytes kBytes>
void launch_attention(const WindowAttentionShape& shape, TokenOrder order, const WindowAttentionTensors& tensors,
                      Stream stream) {
  MmaArguments<T> arguments{};
  arguments.geometry = WindowGeometry::of(shape.grid, order);
  arguments.windows = static_cast<int>(shape.grid.window_count());
  arguments.first_window = tensors.backwards ? arguments.windows - 1 : 0;
  arguments.window_step = tensors.backwards ? -1 : 1;
  arguments.heads = static_cast<int>(shape.heads);
  arguments.scale = kLog2e / std::sqrt(static_cast<float>(kHeadDim));
  arguments.qkv = static_cast<const T*>(tensors.qkv);
  arguments.bias = static_cast<const __half*>(tensors.bias);
  arguments.logit_scale = tensors.logit_scale;
  arguments.pad_qkv = static_cast<const T*>(tensors.pad_qkv);
  arguments.out = static_cast<T*>(tensors.out);
  arguments.out_eviction = tensors.out_eviction;
  arguments.lse = tensors.lse;
  arguments.byte_format = tensors.byte_format;
  arguments.inverse_scale = tensors.out_scale > 0.0F ? 1.0F / tensors.out_scale : 1.0F;
  arguments.copy = tensors.copy;
  if (shape.score == AttentionScore::kCosine) {
    launch_over_windows(attention_kernel<T, 8, true, kBytes>, kThreads, arguments, stream);
  } else if (shape.grid.window_tokens() <= 56) {
    launch_over_windows(attention_kernel<T, 7, false, kBytes>, kThreads, arguments, stream);
  } else {
    launch_over_windows(attention_kernel<T, 8, false, kBytes>, kThreads, arguments, stream);
  }
}

}  // namespace

bool attention_on_tensor_cores(const WindowAttentionShape& shape, ElementType type) {
  return type != ElementType::kFp32 && shape.head_dim == kHeadDim && shape.grid.window_tokens() <= kMaxTokens;
}

std::int64_t attention_bias_bytes(const WindowAttentionShape& shape, ElementType type) {
  if (!attention_on_tensor_cores(shape, type)) return general_bias_bytes(shape);
  return shape.heads * kHeadBias * static_cast<std::int64_t>(sizeof(__half));
}

void expand_attention_bias(const WindowAttentionShape& shape, ElementType type, const float* table, void* bias,
                           Stream stream) {
  if (!attention_on_tensor_cores(shape, type)) {
    expand_general_bias(shape, table, static_cast<float*>(bias), stream);
    return;
  }
  expand_mma_bias(shape, table, bias, stream);
}

void window_attention_forward(const WindowAttentionShape& shape, ElementType type, TokenOrder order,
                              const WindowAttentionTensors& tensors, Stream stream) {
  const bool copies = tensors.copy.bytes != nullptr;
  require(tensors.qkv != nullptr && tensors.bias != nullptr && (tensors.out != nullptr || copies), "window_attention",
          "qkv, bias and out are needed");
  require(shape.score != AttentionScore::kCosine || tensors.logit_scale != nullptr, "window_attention",
          "the cosine score needs logit_scale");
  require(order == TokenOrder::kWindow || !shape.grid.padded() || tensors.pad_qkv != nullptr, "window_attention",
          "a padded map needs pad_qkv");
  const Extent2 windows = shape.grid.windows();
  require(shape.grid.window_count() * std::max(windows.width, windows.height) < std::numeric_limits<int>::max() &&
              shape.grid.window_count() * shape.grid.window_tokens() < std::numeric_limits<int>::max(),
          "window_attention", "too many windows");
  const bool bytes = tensors.out_scale > 0.0F;
  const bool of_bytes = tensors.qkv_scale > 0.0F;
  require(!copies || !(bytes || of_bytes), "window_attention", "one form of 8 bits only");
  require(!(bytes || of_bytes || copies) || (type == ElementType::kFp16 && attention_on_tensor_cores(shape, type)),
          "window_attention", "8 bits need fp16 on tensor cores");
  require((bytes || of_bytes) == (tensors.byte_format != ByteFormat::kNone), "window_attention",
          "8 bits need their format");
  require(!of_bytes || order == TokenOrder::kImage, "window_attention", "qkv in 8 bits stands in the image's order");
  if (shape.grid.batch == 0) return;
  if (!attention_on_tensor_cores(shape, type)) {
    general_attention(shape, type, order, tensors, stream);
  } else if (type == ElementType::kBf16) {
    launch_attention<__nv_bfloat16, Bytes::kNone>(shape, order, tensors, stream);
  } else if (copies) {
    launch_attention<__half, Bytes::kCopied>(shape, order, tensors, stream);
  } else if (of_bytes) {
    byte_attention_forward(shape, tensors, stream);
  } else if (bytes) {
    launch_attention<__half, Bytes::kResult>(shape, order, tensors, stream);
  } else {
    launch_attention<__half, Bytes::kNone>(shape, order, tensors, stream);
  }
}

}  // namespace swinscope::cuda

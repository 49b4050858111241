// Window attention on tensor cores. A warp owns one head of one window: all keys and values of a window fit into its
// registers, so nothing goes through shared memory but the addresses of the rows.
//
// Which lane holds what follows from the instructions (PTX ISA, m16n8k16): with t = lane % 4 and g = lane / 4 a lane
// has, of each 16 x 8 block of scores, rows g and g + 8 and columns 2t and 2t + 1. The order of the channels within a
// product is free as long as both factors use the same one, so a lane takes channels 8t .. 8t + 7 of its rows of q and
// k as they stand in memory, 16 bytes at once. For the second product the values of two keys must share a register: a
// lane loads channels 4g .. 4g + 3 of keys 2t, 2t + 1, 2t + 8, 2t + 9 and interleaves them. Channel 4n + j of v is then
// column n of block j, which gives each lane 8 neighbouring channels of the output: again 16 bytes.
#include <cmath>
#include <limits>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/window_attention.h"
#include "kernels/window_attention_general.h"
#include "kernels/window_attention_mma.cuh"
#include "kernels/window_geometry.cuh"

namespace swinscope::cuda {
namespace {

constexpr int kHeadDim = 32;
constexpr int kMaxTokens = 64;
constexpr int kRowTiles = 4;  // of 16 queries
constexpr float kLog2e = 1.4426950408889634F;
constexpr float kLn2 = 0.6931471805599453F;
// Halves of bias of one lane and row tile: four for each of eight blocks of keys.
constexpr int kLaneBias = 32;
constexpr std::int64_t kHeadBias = std::int64_t{kRowTiles} * kWarp * kLaneBias;

template <typename T>
struct MmaArguments {
  WindowGeometry geometry;
  int heads;
  int row_tiles;  // with queries in them
  int tiles_per_warp;
  float scale;  // of the scaled dot product, times log2 e
  const T* qkv;
  const __half* bias;
  const float* logit_scale;
  const T* pad_qkv;
  T* out;
  float* lse;
};

// What a block knows of its window.
template <typename T>
struct WindowRows {
  const T* qkv[kMaxTokens];  // first channel of q of head 0
  int out[kMaxTokens];       // row, or -1: nothing is stored
  int region[kMaxTokens];
};

template <typename T>
__device__ void find_rows(const MmaArguments<T>& a, int window, WindowRows<T>& rows) {
  for (int slot = static_cast<int>(threadIdx.x); slot < kMaxTokens; slot += static_cast<int>(blockDim.x)) {
    const bool exists = slot < a.geometry.tokens();
    // Slots beyond the window repeat its first token: finite values, whose probability is zero.
    const int row = a.geometry.row(window, exists ? slot : 0);
    rows.qkv[slot] = row < 0 ? a.pad_qkv : a.qkv + std::int64_t{row} * 3 * a.heads * kHeadDim;
    rows.out[slot] = exists ? row : -1;
    rows.region[slot] = a.geometry.region(window, exists ? slot : 0);
  }
}

// 1 / max(norm, 1e-12) of rows of which four neighbouring lanes hold 8 channels each.
template <typename T>
__device__ float inverse_norm(const uint4& channels) {
  float sum = 0.0F;
  for (const std::uint32_t pair : {channels.x, channels.y, channels.z, channels.w}) {
    const float2 values = unpack(pair, T{});
    sum += values.x * values.x + values.y * values.y;
  }
  return 1.0F / fmaxf(sqrtf(sum_over(sum, 4)), 1e-12F);
}

// The lower (upper) halves of two registers, as the values of two keys.
__device__ inline std::uint32_t low_halves(std::uint32_t first, std::uint32_t second) {
  return __byte_perm(first, second, 0x5410);
}
__device__ inline std::uint32_t high_halves(std::uint32_t first, std::uint32_t second) {
  return __byte_perm(first, second, 0x7632);
}

// kBlocks: blocks of 8 keys, 7 (49 to 56 tokens) or 8.
template <typename T, int kBlocks, bool kCosine>
__global__ __launch_bounds__(128, 3) void attention_kernel(const MmaArguments<T> a) {
  constexpr int kSteps = (kBlocks + 1) / 2;  // of 16 keys
  __shared__ WindowRows<T> rows;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int t = lane % 4;
  const int g = lane / 4;
  const int warps = static_cast<int>(blockDim.x) / kWarp;
  const int groups = a.heads / warps;
  const int window = static_cast<int>(blockIdx.x) / groups;
  const int head = static_cast<int>(blockIdx.x) % groups * warps + static_cast<int>(threadIdx.x) / kWarp;
  const int channels = a.heads * kHeadDim;
  find_rows(a, window, rows);
  __syncthreads();

  const int first_tile = static_cast<int>(blockIdx.y) * a.tiles_per_warp;
  const int last_tile = min(first_tile + a.tiles_per_warp, a.row_tiles);
  const int place = head * kHeadDim;
  const auto load_query = [&](int slot) { return load_once(rows.qkv[slot] + place + 8 * t, uint4{}); };
  uint4 next_upper = load_query(first_tile * 16 + g);
  uint4 next_lower = load_query(first_tile * 16 + g + 8);
  uint4 keys[kBlocks];
#pragma unroll
  for (int block = 0; block < kBlocks; ++block)
    keys[block] = load_once(rows.qkv[block * 8 + g] + channels + place + 8 * t, uint4{});
  std::uint32_t values[kSteps][4][2];
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
#pragma unroll
    for (int half = 0; half < (2 * step + 1 < kBlocks ? 2 : 1); ++half) {
      const int key = step * 16 + half * 8 + 2 * t;
      const uint2 first = load_once(rows.qkv[key] + 2 * channels + place + 4 * g, uint2{});
      const uint2 second = load_once(rows.qkv[key + 1] + 2 * channels + place + 4 * g, uint2{});
      values[step][0][half] = low_halves(first.x, second.x);
      values[step][1][half] = high_halves(first.x, second.x);
      values[step][2][half] = low_halves(first.y, second.y);
      values[step][3][half] = high_halves(first.y, second.y);
    }
  }

  // Column 2t (+ 1) of a block is key 2t (+ 1), whose norm the lanes with g = 2t (+ 1) have.
  float key_norm[kCosine ? kBlocks : 1][2];
  float scale = a.scale;
  if constexpr (kCosine) {
    scale = exp2_fast(fminf(a.logit_scale[head], static_cast<float>(kMaxLogitScale)) * kLog2e) * kLog2e;
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      const float norm = inverse_norm<T>(keys[block]);
      key_norm[block][0] = __shfl_sync(0xffffffffU, norm, 8 * t);
      key_norm[block][1] = __shfl_sync(0xffffffffU, norm, 8 * t + 4);
    }
  }

  const bool masked = a.geometry.masked(window);
  for (int tile = first_tile; tile < last_tile; ++tile) {
    const uint4 upper = next_upper;
    const uint4 lower = next_lower;
    if (tile + 1 < last_tile) {
      next_upper = load_query((tile + 1) * 16 + g);
      next_lower = load_query((tile + 1) * 16 + g + 8);
    }
    const uint4* const bias = reinterpret_cast<const uint4*>(a.bias + head * kHeadBias + tile * kWarp * kLaneBias);
    uint4 lane_bias[4];
#pragma unroll
    for (int part = 0; part < 4; ++part)
      lane_bias[part] = bias[part * kWarp + lane];

    float scores[kBlocks][4];
    const std::uint32_t low[4] = {upper.x, lower.x, upper.y, lower.y};
    const std::uint32_t high[4] = {upper.z, lower.z, upper.w, lower.w};
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
      for (float& score : scores[block])
        score = 0.0F;
      mma_k16(scores[block], low, keys[block].x, keys[block].y, T{});
      mma_k16(scores[block], high, keys[block].z, keys[block].w, T{});
    }

    float row_scale[2] = {scale, scale};
    if constexpr (kCosine) {
      row_scale[0] *= inverse_norm<T>(upper);
      row_scale[1] *= inverse_norm<T>(lower);
    }
    // From here on in powers of two.
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      const uint4& pairs = lane_bias[block / 2];
      const float2 b0 = unpack(block % 2 == 0 ? pairs.x : pairs.z, __half{});
      const float2 b1 = unpack(block % 2 == 0 ? pairs.y : pairs.w, __half{});
      if constexpr (kCosine) {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          scores[block][e] *= key_norm[block][e % 2];
      }
      scores[block][0] = fmaf(scores[block][0], row_scale[0], b0.x);
      scores[block][1] = fmaf(scores[block][1], row_scale[0], b0.y);
      scores[block][2] = fmaf(scores[block][2], row_scale[1], b1.x);
      scores[block][3] = fmaf(scores[block][3], row_scale[1], b1.y);
    }
    const int upper_slot = tile * 16 + g;
    const int lower_slot = upper_slot + 8;
    if (masked) {
      const float hidden = static_cast<float>(kWindowMask) * kLog2e;
      const int region[2] = {rows.region[upper_slot], rows.region[lower_slot]};
#pragma unroll
      for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          if (rows.region[block * 8 + 2 * t + e % 2] != region[e / 2]) scores[block][e] += hidden;
        }
      }
    }

    float largest[2] = {scores[0][0], scores[0][2]};
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
      for (int e = 0; e < 4; ++e)
        largest[e / 2] = fmaxf(largest[e / 2], scores[block][e]);
    }
    float sum[2] = {0.0F, 0.0F};
#pragma unroll
    for (int row = 0; row < 2; ++row)
      largest[row] = max_over(largest[row], 4);
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        scores[block][e] = exp2_fast(scores[block][e] - largest[e / 2]);
        sum[e / 2] += scores[block][e];
      }
    }
#pragma unroll
    for (int row = 0; row < 2; ++row)
      sum[row] = sum_over(sum[row], 4);

    float out[4][4] = {};
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const float(&first)[4] = scores[2 * step];
      const std::uint32_t a0 = pack(first[0], first[1], T{});
      const std::uint32_t a1 = pack(first[2], first[3], T{});
      if (2 * step + 1 < kBlocks) {
        const float(&second)[4] = scores[2 * step + 1 < kBlocks ? 2 * step + 1 : 0];
        const std::uint32_t p[4] = {a0, a1, pack(second[0], second[1], T{}), pack(second[2], second[3], T{})};
#pragma unroll
        for (int column = 0; column < 4; ++column)
          mma_k16(out[column], p, values[step][column][0], values[step][column][1], T{});
      } else {
#pragma unroll
        for (int column = 0; column < 4; ++column)
          mma_k8(out[column], a0, a1, values[step][column][0], T{});
      }
    }

#pragma unroll
    for (int row = 0; row < 2; ++row) {
      const int target = rows.out[row == 0 ? upper_slot : lower_slot];
      if (target < 0) continue;
      const float inverse = 1.0F / sum[row];
      const int e = 2 * row;
      uint4 packed;
      packed.x = pack(out[0][e] * inverse, out[1][e] * inverse, T{});
      packed.y = pack(out[2][e] * inverse, out[3][e] * inverse, T{});
      packed.z = pack(out[0][e + 1] * inverse, out[1][e + 1] * inverse, T{});
      packed.w = pack(out[2][e + 1] * inverse, out[3][e + 1] * inverse, T{});
      *reinterpret_cast<uint4*>(a.out + std::int64_t{target} * channels + place + 8 * t) = packed;
      if (a.lse != nullptr && t == 0) {
        a.lse[std::int64_t{target} * a.heads + head] = (largest[row] + log2f(sum[row])) * kLn2;
      }
    }
  }
}

// One thread a value: [head, row tile, pair of blocks, lane, 8]. Pairs outside of the window are hidden.
__global__ void expand_bias_kernel(int heads, int window_height, int window_width, const float* table, __half* bias) {
  const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (index >= heads * static_cast<int>(kHeadBias)) return;
  const int element = index % 8;
  const int lane = index / 8 % kWarp;
  const int pair = index / (8 * kWarp) % 4;
  const int tile = index / static_cast<int>(kWarp * kLaneBias) % kRowTiles;
  const int head = index / static_cast<int>(kHeadBias);
  const int key = (2 * pair + element / 4) * 8 + lane % 4 * 2 + element % 2;
  const int query = tile * 16 + lane / 4 + element % 4 / 2 * 8;
  const int tokens = window_height * window_width;
  float value = 0.0F;
  if (key >= tokens) {
    value = -std::numeric_limits<float>::infinity();
  } else if (query < tokens) {
    value = table[bias_row(window_height, window_width, query, key) * heads + head] * kLog2e;
  }
  bias[index] = __float2half_rn(value);
}

// The most warps that divide the heads evenly.
int warps_for(std::int64_t heads) {
  for (const int warps : {4, 3, 2}) {
    if (heads % warps == 0) return warps;
  }
  return 1;
}

template <typename T>
void launch_attention(const WindowAttentionShape& shape, TokenOrder order, const WindowAttentionTensors& tensors,
                      Stream stream) {
  const auto tokens = static_cast<int>(shape.grid.window_tokens());
  const int warps = warps_for(shape.heads);
  const std::int64_t blocks = shape.grid.window_count() * shape.heads / warps;
  MmaArguments<T> arguments{};
  arguments.geometry = WindowGeometry::of(shape.grid, order);
  arguments.heads = static_cast<int>(shape.heads);
  arguments.row_tiles = (tokens + 15) / 16;
  // With few windows the rows of one are spread over several warps, which then read the same keys.
  constexpr std::int64_t kFewBlocks = 300;
  arguments.tiles_per_warp = blocks < kFewBlocks ? 1 : arguments.row_tiles;
  arguments.scale = kLog2e / std::sqrt(static_cast<float>(kHeadDim));
  arguments.qkv = static_cast<const T*>(tensors.qkv);
  arguments.bias = static_cast<const __half*>(tensors.bias);
  arguments.logit_scale = tensors.logit_scale;
  arguments.pad_qkv = static_cast<const T*>(tensors.pad_qkv);
  arguments.out = static_cast<T*>(tensors.out);
  arguments.lse = tensors.lse;
  const dim3 grid(
      static_cast<unsigned>(blocks),
      static_cast<unsigned>((arguments.row_tiles + arguments.tiles_per_warp - 1) / arguments.tiles_per_warp));
  const auto threads = static_cast<unsigned>(warps * kWarp);
  if (shape.score == AttentionScore::kCosine) {
    attention_kernel<T, 8, true><<<grid, threads, 0, stream>>>(arguments);
  } else if (tokens <= 56) {
    attention_kernel<T, 7, false><<<grid, threads, 0, stream>>>(arguments);
  } else {
    attention_kernel<T, 8, false><<<grid, threads, 0, stream>>>(arguments);
  }
  SWINSCOPE_CUDA_LAUNCHED("attention_kernel");
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
  constexpr int kThreads = 256;
  expand_bias_kernel<<<blocks_for(shape.heads * kHeadBias, kThreads), kThreads, 0, stream>>>(
      static_cast<int>(shape.heads), static_cast<int>(shape.grid.window.height),
      static_cast<int>(shape.grid.window.width), table, static_cast<__half*>(bias));
  SWINSCOPE_CUDA_LAUNCHED("expand_bias_kernel");
}

void window_attention_forward(const WindowAttentionShape& shape, ElementType type, TokenOrder order,
                              const WindowAttentionTensors& tensors, Stream stream) {
  require(tensors.qkv != nullptr && tensors.bias != nullptr && tensors.out != nullptr, "window_attention",
          "qkv, bias and out are needed");
  require(shape.score != AttentionScore::kCosine || tensors.logit_scale != nullptr, "window_attention",
          "the cosine score needs logit_scale");
  require(order == TokenOrder::kWindow || !shape.grid.padded() || tensors.pad_qkv != nullptr, "window_attention",
          "a padded map needs pad_qkv");
  require(shape.grid.window_count() * shape.grid.window_tokens() < std::numeric_limits<int>::max(), "window_attention",
          "too many tokens");
  if (shape.grid.batch == 0) return;
  if (!attention_on_tensor_cores(shape, type)) {
    general_attention(shape, type, order, tensors, stream);
  } else if (type == ElementType::kFp16) {
    launch_attention<__half>(shape, order, tensors, stream);
  } else {
    launch_attention<__nv_bfloat16>(shape, order, tensors, stream);
  }
}

}  // namespace swinscope::cuda

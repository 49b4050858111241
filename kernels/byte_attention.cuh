// The kernel of byte_attention.h. As in window_attention_cuda.cu a block of four warps keeps one head, whose bias stays
// in registers, and goes from window to window; q, k and v of the next two windows are on their way into shared memory.
//
// A window's scores are one product of a warp group, of q and k as they come: rows of 32 bytes, whose two pieces of 16
// bytes change places in rows 4 to 7 of each 8 (32-byte swizzle). Only v is spread to fp16, and there each lane gets
// channels that follow each other: of channels 8 p + 2 c and 8 p + 2 c + 1 the product makes columns 2 p and 2 p + 1 of
// block c, which are those of the lanes with t = p. So results are stored from registers.
#pragma once

#include <type_traits>

#include "kernels/byte_format.cuh"
#include "kernels/early_launch.cuh"
#include "kernels/eviction.cuh"
#include "kernels/hopper_instructions.cuh"
#include "kernels/wgmma.cuh"
#include "kernels/window_attention_lanes.cuh"

namespace swinscope::cuda::byte_attention {

constexpr int kStages = 3;  // one in use, two on their way
constexpr int kThreads = kRowTiles * kWarp;
// Shared memory of a window and head as it comes: q, k and v, 64 rows of 32 bytes each.
constexpr std::uint32_t kByteRowBytes = kHeadDim;
constexpr std::uint32_t kBytePartBytes = kMaxTokens * kByteRowBytes;
constexpr std::uint32_t kByteStageBytes = 3 * kBytePartBytes;
constexpr std::uint32_t kPlaces = 2;  // of spread values: one is written while others read the one before

struct Arguments {
  WindowGeometry geometry;
  int windows;
  int first_window, window_step;  // in the order in which they are taken: up from the first, or down from the last
  int heads;
  float bias_scale;  // from bias to powers of two
  float exponent;    // from sums to powers of two
  const unsigned char* qkv;
  const __half* bias;
  void* out;
  Eviction out_eviction;
  float result_scale;  // from weighted values to results
};

__device__ constexpr std::uint32_t byte_piece_offset(int slot, int piece) {
  const int half = piece / 2 ^ (slot / 4 % 2);
  return static_cast<std::uint32_t>(slot * static_cast<int>(kByteRowBytes) + half * 16 + piece % 2 * 8);
}

// 64 rows of 32 bytes; groups of 8 rows are 256 bytes apart. In 32 bits: the upper ones are kByteRows.
constexpr std::uint64_t kByteRows = std::uint64_t{3} << 62 | std::uint64_t{8 * kByteRowBytes >> 4} << 32;
__device__ inline std::uint32_t byte_rows_descriptor(std::uint32_t address) {
  constexpr std::uint32_t kUnused = 1U << 16;
  return kUnused | ((address & 0x3ffffU) >> 4);
}

// Of a sum of probabilities, which is at least nearly 1.
__device__ inline float reciprocal(float value) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

// Eight channels of a row of v, from its copy to where the products read them; to: of a lane's first pair.
template <typename Byte>
__device__ __forceinline__ void spread_values(std::uint32_t from, std::uint32_t to) {
  const uint2 bytes = load_shared_pair(from);
  const uint2 low = unpacked<Byte>(bytes.x);
  const uint2 high = unpacked<Byte>(bytes.y);
  store_shared(to, low.x);
  store_shared(to ^ 16U, low.y);
  store_shared(to ^ 32U, high.x);
  store_shared(to ^ 48U, high.y);
}

// A thread's results of a window, which are stored while the next one's scores are on their way: the fence before those
// would wait for stores.
template <bool kPacks>
struct Results {
  using Words = std::conditional_t<kPacks, uint2, uint4>;
  int rows[2] = {-1, -1};
  Words words[2];

  __device__ void store(const Arguments& a, std::uint32_t channels, std::uint32_t column, std::uint64_t policy) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (rows[i] < 0) continue;
      const std::uint32_t at = static_cast<std::uint32_t>(rows[i]) * channels + column;
      if constexpr (kPacks) {
        *reinterpret_cast<uint2*>(static_cast<unsigned char*>(a.out) + at) = words[i];
      } else {
        store_words(static_cast<__half*>(a.out) + at, words[i], policy);
      }
    }
  }
};

// kBlocks: blocks of 8 keys, 7 (up to 56 tokens) or 8. kPacks: the result has 8 bits, too.
template <typename Byte, int kBlocks, bool kPacks>
__global__ __launch_bounds__(kThreads, 4) void attention_kernel(const Arguments a) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __shared__ alignas(256) unsigned char arrivals[kStages * kByteStageBytes];
  __shared__ alignas(128) unsigned char values[kPlaces * kPartBytes];
  const AttentionLane<kBlocks> lane(a.geometry, static_cast<int>(threadIdx.x));
  const int head = static_cast<int>(blockIdx.y);
  const int step = static_cast<int>(gridDim.x);
  const int tokens = a.geometry.tokens();
  const auto channels = static_cast<std::uint32_t>(a.heads * kHeadDim);

  // Slots beyond the window are zero for good: their keys are hidden by the bias, their queries stored nowhere.
  for (std::uint32_t at = 16 * threadIdx.x; at < sizeof(arrivals); at += 16 * kThreads)
    store_shared(shared_address(arrivals) + at, uint4{});
  for (std::uint32_t at = 16 * threadIdx.x; at < sizeof(values); at += 16 * kThreads)
    store_shared(shared_address(values) + at, uint4{});
  __syncthreads();

  // A thread copies, spreads and in the end stores piece t of these two rows; that of the lower row stands 8 rows on.
  const bool has_upper = lane.upper.index < tokens;
  const bool has_lower = lane.lower.index < tokens;
  const std::uint32_t own_arrival = shared_address(arrivals) + byte_piece_offset(lane.upper.index, lane.t);
  const std::uint32_t own_value =
      shared_address(values) + piece_offset(lane.upper.index, 0) + 4 * static_cast<std::uint32_t>(lane.t);
  const std::uint32_t own_column = static_cast<std::uint32_t>(head * kHeadDim + 8 * lane.t);
  const auto copy_row = [&](int row, std::uint32_t to) {
    std::uint32_t from = static_cast<std::uint32_t>(row) * (3 * channels) + own_column;
#pragma unroll
    for (std::uint32_t part = 0; part < 3; ++part, from += channels)
      copy_pair_async(to + part * kBytePartBytes, a.qkv + from);
  };
  const auto copy_window = [&](int window, std::uint32_t stage_bytes) {
    Underway rows;
    if (window < a.windows) {
      const Window at(a.geometry, a.first_window + a.window_step * window);
      if (has_upper) {
        rows.upper = at.row_in_image(a.geometry, lane.upper);
        copy_row(rows.upper, own_arrival + stage_bytes);
      }
      if (has_lower) {
        rows.lower = at.row_in_image(a.geometry, lane.lower);
        copy_row(rows.lower, own_arrival + stage_bytes + 8 * kByteRowBytes);
      }
      rows.seams = seams_of(at);
    }
    copies_commit();  // an empty group, too: groups are counted
    return rows;
  };

  float bias[kBlocks][4];  // times log2 e
  {
    const LaneBias halves(a.bias, head, lane);
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      const uint4& four = halves.pairs[block / 2];
      const float2 upper = unpack(block % 2 == 0 ? four.x : four.z, __half{});
      const float2 lower = unpack(block % 2 == 0 ? four.y : four.w, __half{});
      bias[block][0] = upper.x * a.bias_scale;
      bias[block][1] = upper.y * a.bias_scale;
      bias[block][2] = lower.x * a.bias_scale;
      bias[block][3] = lower.y * a.bias_scale;
    }
  }

  const std::uint64_t out_policy = cache_policy(a.out_eviction);
  let_next_begin();
  wait_for_previous();
  int window = static_cast<int>(blockIdx.x);
  Underway now = copy_window(window, 0);
  Underway next = copy_window(window + step, kByteStageBytes);
  Underway after;
  Results<kPacks> results;
  const std::uint32_t queries = byte_rows_descriptor(shared_address(arrivals));
  // Of the stages in use, and to be filled, and of the place of spread values. A lane's places count from q in fp16.
  std::uint32_t stage_bytes = 0;
  std::uint32_t free_bytes = (kStages - 1) * kByteStageBytes;
  std::uint32_t place_bytes = 0;
  const std::uint32_t value_place = shared_address(values) + lane.value_place - 2 * kPartBytes;
  const std::uint32_t last_value_place = shared_address(values) + lane.last_value_place - 2 * kPartBytes;
  const auto advance = [](std::uint32_t& bytes) {
    bytes = bytes == (kStages - 1) * kByteStageBytes ? 0 : bytes + kByteStageBytes;
  };
  for (; window < a.windows;
       window += step, advance(stage_bytes), advance(free_bytes), place_bytes ^= kPartBytes, now = next, next = after) {
    copies_wait<kStages - 2>();
    const std::uint32_t from = own_arrival + stage_bytes + 2 * kBytePartBytes;
    if (has_upper) spread_values<Byte>(from, own_value + place_bytes);
    if (has_lower) spread_values<Byte>(from + 8 * kByteRowBytes, own_value + place_bytes + 8 * kRowBytes);
    hopper::writes_done_for_products();
    __syncthreads();  // the window is there, and nobody reads the one before it
    constexpr bool kIntegers = std::is_same_v<Byte, std::int8_t>;
    std::conditional_t<kIntegers, int, float> sums[kMaxTokens / 2];
    const std::uint32_t stage_queries = queries + (stage_bytes >> 4);
    hopper::products_begin();
    WarpGroupProduct<Byte, kMaxTokens>::add(sums, kByteRows | stage_queries,
                                            kByteRows | (stage_queries + (kBytePartBytes >> 4)), true);
    hopper::products_commit();
    after = copy_window(window + (kStages - 1) * step, free_bytes);
    results.store(a, channels, own_column, out_policy);
    hopper::products_wait<0>();
    if (lane.tile * 16 >= tokens) continue;

    float scores[kBlocks][4];
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
      for (int e = 0; e < 4; ++e)
        scores[block][e] = fmaf(static_cast<float>(sums[4 * block + e]), a.exponent, bias[block][e]);
    }
    if (now.seams != 0) {
      hide_across_seams(scores, now.seams, lane.upper, lane.lower, lane.keys_below, lane.keys_right,
                        hidden_score(1.0F));
    }
    float largest[2];
    exponentiate(scores, 1.0F, largest);
    float sum[4] = {};
    float out[4][4] = {};
    weigh_values<__half>(scores, value_place + place_bytes, last_value_place + place_bytes, pack(1.0F, 1.0F, __half{}),
                         sum, out);
    results.rows[0] = now.upper;
    results.rows[1] = now.lower;
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      const float factor = reciprocal(sum[2 * row]) * a.result_scale;
      float result[8];
#pragma unroll
      for (int i = 0; i < 8; ++i)
        result[i] = out[i / 2][2 * row + i % 2];
      if constexpr (kPacks) {
        results.words[row] = packed<Byte>(result, factor);
      } else {
        const auto two = [&](int i) { return pack(result[i] * factor, result[i + 1] * factor, __half{}); };
        results.words[row] = uint4{two(0), two(2), two(4), two(6)};
      }
    }
  }
  results.store(a, channels, own_column, out_policy);
#endif
}

}  // namespace swinscope::cuda::byte_attention

// Window attention, the qkv projection before it and, in V1, the normalization before that, with 128 or 256 channels;
// compute capability 9.0. Warp groups of a block work each on its own windows: a group fetches the rows of one,
// normalizes them in registers, from which the tensor cores take them for one head after another, rounds q, k and v,
// keeps q in registers and puts k and v where its four warps, 16 queries each, find them. While one group computes
// scores another one has the tensor cores, and each one's next window is on its way. The weights of 128 channels, 96
// KB, stay in shared memory; those of 256 go by, one head after another, for all groups.
//
// With C channels a window of 49 tokens takes 384 C (C + 37) operations of its 64 rows and moves 196 C bytes;
// normalization, projection and attention apart move four times as much.
#pragma once

#include "kernels/hopper_product.cuh"
#include "kernels/hopper_rows.cuh"
#include "kernels/qkv_attention_head.cuh"

namespace swinscope::cuda::hopper {

template <int kChannels_>
struct AttentionWidth {
  static constexpr int kChannels = kChannels_;
  static constexpr int kHeads = kChannels / kHeadDim;
  static constexpr int kTiles = kChannels / kDepth;  // of 64 channels
  static constexpr int kSteps = kChannels / kStep;   // of a product
  static constexpr bool kResident = kChannels == kRowColumns;
  static constexpr int kGroups = kResident ? 4 : 3;
  static constexpr int kThreads = (kGroups + (kResident ? 0 : 1)) * kGroup;
  // Where a warp group only fetches: of a thread that attends, and of one of that group, together what 512 threads of
  // 128 begin with.
  static constexpr int kManyRegisters = 160;
  static constexpr int kFewRegisters = 32;
  static_assert(kResident || kGroups * kManyRegisters + kFewRegisters == (1 + kGroups) * 128);
  // Weights: 64 channels of a head's q, k and v.
  static constexpr int kStages = kResident ? kHeads * kTiles : 6;
  static constexpr std::uint32_t kBoxBytes = kHeadDim * kStageRowBytes;
  static constexpr std::uint32_t kWeightBytes = 3 * kBoxBytes;
  static constexpr std::uint32_t kRowBytes = kTiles * SharedRows::kHalfBytes;
  static constexpr std::uint32_t kGroupBytes = kRowBytes + kStageBytes;
  static constexpr std::uint32_t kSharedBytes = kStages * kWeightBytes + kGroups * kGroupBytes + 1024;
};

template <typename T>
struct NarrowAttentionArguments {
  WindowGeometry geometry;
  int windows;
  int first_window, window_step;  // in the order in which they are taken
  float scale;                    // of the scaled dot product, times log2 e
  const T* x;
  const T *gamma, *beta;
  const T* qkv_bias;
  const __half* bias;
  const float* logit_scale;
  T* out;

  // All multiprocessors have a window before one of them has two.
  __device__ int windows_at_once(int groups) const { return groups * static_cast<int>(gridDim.x); }
  __device__ int turns(int groups) const {
    return (windows - static_cast<int>(blockIdx.x) + windows_at_once(groups) - 1) / windows_at_once(groups);
  }
};

// Shared memory and barriers.
template <typename W>
struct NarrowAttentionMemory {
  std::uint32_t base, barriers;

  __device__ std::uint32_t weights(int stage) const {
    return base + static_cast<std::uint32_t>(stage) * W::kWeightBytes;
  }
  __device__ std::uint32_t rows(int group) const {
    return weights(W::kStages) + static_cast<std::uint32_t>(group) * W::kGroupBytes;
  }
  __device__ std::uint32_t parts(int group) const { return rows(group) + W::kRowBytes; }
  __device__ std::uint32_t full(int stage) const { return barriers + static_cast<std::uint32_t>(stage) * 8; }
  __device__ std::uint32_t empty(int stage) const { return full(W::kStages + stage); }

  // The `index`th of a window's, of one head after another.
  __device__ void load(const CUtensorMap* map, int index, int stage) const {
    barrier_arrive_expecting(full(stage), W::kWeightBytes);
#pragma unroll
    for (int part = 0; part < 3; ++part) {
      load_tile(weights(stage) + static_cast<std::uint32_t>(part) * W::kBoxBytes, map, index % W::kTiles * kDepth,
                part * W::kChannels + index / W::kTiles * kHeadDim, full(stage));
    }
  }
};

// Begins to fetch a thread's two rows of a window. Slots that no window has are zeros for good.
template <typename T, int kChannels>
class WindowRows {
 public:
  __device__ WindowRows(int tokens, std::uint32_t rows) : own_(rows) {
    for (int half = 0; half < 2; ++half) {
      if (own_.row(half) < tokens) continue;
      for (int i = 0; i < own_.kPieces; ++i)
        store_shared(own_.piece(half, i), uint4{});
    }
  }
  __device__ void begin(const T* x, const Underway& rows) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = half == 0 ? rows.upper : rows.lower;
      if (row < 0) continue;
      const T* const from = x + std::int64_t{row} * kChannels + 8 * (static_cast<int>(threadIdx.x) % kQuad);
#pragma unroll
      for (int i = 0; i < own_.kPieces; ++i)
        copy_async(own_.piece(half, i), from + i * 32);
    }
  }

 private:
  QuadRows<kChannels> own_;
};

// gamma, beta, qkv_bias, key_norms: in shared memory.
template <typename T, typename W, int kBlocks, bool kCosine>
__device__ void attend_own_windows(const NarrowAttentionArguments<T>& a, const NarrowAttentionMemory<W>& memory,
                                   const float* gamma, const float* beta, const float* qkv_bias, float* key_norms,
                                   int group) {
  const int tokens = a.geometry.tokens();
  const AttentionLane<kBlocks> lane(a.geometry, static_cast<int>(threadIdx.x) % kGroup);
  const std::uint32_t parts = memory.parts(group);
  const SharedRows shared(memory.rows(group));
  const WindowRows<T, W::kChannels> own(tokens, memory.rows(group));
  const auto begin_window = [&](int window) {
    Underway rows;
    if (window < a.windows) {
      const Window at(a.geometry, a.first_window + a.window_step * window);
      if (lane.upper.index < tokens) rows.upper = at.row(a.geometry, lane.upper);
      if (lane.lower.index < tokens) rows.lower = at.row(a.geometry, lane.lower);
      rows.seams = seams_of(at);
      own.begin(a.x, rows);
    }
    copies_commit();
    return rows;
  };
  const auto group_meets = [&] { threads_meet<kGroup>(1 + group); };
  wait_for_previous();

  const int step = a.windows_at_once(W::kGroups);
  int window = group * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
  RingPlace at(W::kStages);
  Underway next = begin_window(window);
  // A group that has no window left still takes the weights that go by for the others.
  for (int turn = a.turns(W::kGroups); turn > 0 && (!W::kResident || window < a.windows); --turn, window += step) {
    copies_wait<0>();
    __syncwarp();
    std::uint32_t operand[W::kSteps][4];
    constexpr bool kNarrow = W::kSteps == kRowSteps;
    if constexpr (kCosine || kNarrow) {
      shared.load(operand);
    } else {
      load_normalized<T>(shared, gamma, beta, operand);
    }
    __syncwarp();
    const Underway rows = next;
    next = begin_window(window + step);
    if constexpr (!kCosine && kNarrow) normalize_operand<T>(operand, gamma, beta);
#pragma unroll 1
    for (int head = 0; head < W::kHeads; ++head) {
      const LaneBias bias(a.bias, head, lane);
      float sums[kHeadColumns / 2];
      multiply_by_ring<T, W::kResident>(sums, operand, memory, at);
      group_meets();  // nobody reads k and v of the head before
      const HeadRows<T, kCosine> head_rows(sums, qkv_bias + head * kHeadDim, W::kChannels, parts, lane.result_place,
                                           lane.t, lane.upper.index, key_norms);
      group_meets();
      if (lane.tile * 16 >= tokens) continue;
      const float scale = kCosine ? cosine_scale(a.logit_scale[head]) : a.scale;
      attend_head(lane, rows, head_rows, bias, scale, key_norms, parts, a.out + head * kHeadDim, W::kChannels);
    }
  }
}

// kBlocks: blocks of 8 keys.
template <typename T, typename W, int kBlocks, bool kCosine>
__global__ __launch_bounds__(W::kThreads,
                             1) void narrow_attention_kernel(const __grid_constant__ CUtensorMap weight_map,
                                                             const NarrowAttentionArguments<T> a) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ unsigned char dynamic[];
  __shared__ std::uint64_t barriers[2 * W::kStages];
  __shared__ alignas(16) float gamma[W::kChannels];
  __shared__ alignas(16) float beta[W::kChannels];
  __shared__ alignas(16) float qkv_bias[3 * W::kChannels];
  __shared__ alignas(8) float key_norms[W::kGroups][kCosine ? kMaxTokens : 1];
  const NarrowAttentionMemory<W> memory{(shared_address(dynamic) + 1023U) & ~1023U, shared_address(barriers)};
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < W::kStages; ++stage) {
      barrier_init(memory.full(stage), 1);
      barrier_init(memory.empty(stage), W::kGroups * (kGroup / kWarp));
    }
    barrier_inits_done();
    // They do not depend on the kernel before.
    for (int stage = 0; stage < W::kStages; ++stage)
      memory.load(&weight_map, stage, stage);
  }
  if constexpr (!kCosine) {
    share_vector(gamma, a.gamma, W::kChannels);
    share_vector(beta, a.beta, W::kChannels);
  }
  share_vector(qkv_bias, a.qkv_bias, 3 * W::kChannels);
  __syncthreads();
  let_next_begin();

  const int group = static_cast<int>(threadIdx.x) / kGroup;
  if constexpr (W::kResident) {
    attend_own_windows<T, W, kBlocks, kCosine>(a, memory, gamma, beta, qkv_bias, key_norms[group], group);
  } else if (group < W::kGroups) {
    take_registers<W::kManyRegisters>();
    attend_own_windows<T, W, kBlocks, kCosine>(a, memory, gamma, beta, qkv_bias, key_norms[group], group);
  } else {
    give_registers<W::kFewRegisters>();
    if (threadIdx.x % kGroup != 0) return;
    constexpr int kEach = W::kHeads * W::kTiles;  // of a window
    const int count = a.turns(W::kGroups) * kEach;
    RingPlace at(W::kStages);
    at.parity = 1;  // all stages have been filled once
    for (int index = W::kStages; index < count; ++index, at.advance()) {
      barrier_wait(memory.empty(at.stage), at.parity ^ 1U);
      memory.load(&weight_map, index % kEach, at.stage);
    }
  }
#endif
}

}  // namespace swinscope::cuda::hopper

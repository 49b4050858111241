// Patch merging of Swin V1 from 128 channels as one kernel, compute capability 9.0: y = (LN(gather(x)) gamma + beta)
// W^T. Two warp groups, each with 64 merged tokens at a time, whose 512 channels it gathers and normalizes in
// registers, from which the tensor cores take them, while the rows after them are on their way. The weights, 256 KB, go
// by for both.
#pragma once

#include "kernels/hopper_product.cuh"
#include "kernels/hopper_rows.cuh"
#include "kernels/merge_place.cuh"

namespace swinscope::cuda::hopper {

template <typename T_>
struct PatchMergePlan {
  using T = T_;
  static constexpr int kInputs = 4 * kRowColumns;
  static constexpr int kOutputs = 2 * kRowColumns;
  static constexpr int kGroups = 2;
  static constexpr int kThreads = (1 + kGroups) * kGroup;
  static constexpr int kTiles = kInputs / kDepth;
  static constexpr int kSteps = kInputs / kStep;  // of a product
  static constexpr int kStages = 5;               // of weights: 64 inputs of 128 outputs
  static constexpr std::uint32_t kWeightBytes = kRowColumns * kStageRowBytes;
  static constexpr std::uint32_t kRowBytes = kTiles * SharedRows::kHalfBytes;
  static constexpr std::uint32_t kSharedBytes = kStages * kWeightBytes + kGroups * kRowBytes + 1024;
};

template <typename T>
struct PatchMergeArguments {
  MergePlace place;
  int rows;  // merged tokens
  const T* x;
  const T *gamma, *beta;
  T* y;

  __device__ int rows_at_once(int groups) const { return groups * static_cast<int>(gridDim.x) * kGroupRows; }
  __device__ int turns(int groups) const {
    const int first = static_cast<int>(blockIdx.x) * kGroupRows;
    return (rows - first + rows_at_once(groups) - 1) / rows_at_once(groups);
  }
};

// Shared memory and barriers.
template <typename P>
struct PatchMergeMemory {
  std::uint32_t base, barriers;

  __device__ std::uint32_t weights(int stage) const {
    return base + static_cast<std::uint32_t>(stage) * P::kWeightBytes;
  }
  __device__ std::uint32_t rows(int group) const {
    return weights(P::kStages) + static_cast<std::uint32_t>(group) * P::kRowBytes;
  }
  __device__ std::uint32_t full(int stage) const { return barriers + static_cast<std::uint32_t>(stage) * 8; }
  __device__ std::uint32_t empty(int stage) const { return full(P::kStages + stage); }

  // The `index`th of a tile's, of one half of the outputs after the other.
  __device__ void load(const CUtensorMap* map, int index, int stage) const {
    barrier_arrive_expecting(full(stage), P::kWeightBytes);
    load_permuted_tile(weights(stage), map, index % P::kTiles * kDepth, index / P::kTiles * (kRowColumns / 32),
                       full(stage));
  }
};

// Fetches a thread's pieces of two merged tokens, 8 apart; four lanes have a token, which their own warp alone reads.
template <typename P>
__device__ void fetch_merged(const PatchMergeArguments<typename P::T>& a, int first, std::uint32_t to) {
  constexpr int kVectors = P::kInputs / 8;
  constexpr int kQuarter = kVectors / 4;
  const int t = static_cast<int>(threadIdx.x) % kQuad;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = first + 8 * half;
    if (row >= a.rows) continue;
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      const std::int64_t vector = a.place(row, part * kQuarter + t, kVectors);
#pragma unroll
      for (int i = 0; i < kQuarter / kQuad; ++i) {
        const std::uint32_t place = (to ^ (static_cast<std::uint32_t>(i % 2) * 64)) +
                                    static_cast<std::uint32_t>(half) * 8 * kStageRowBytes +
                                    static_cast<std::uint32_t>(2 * part + i / 2) * SharedRows::kHalfBytes;
        copy_async_or_zeros(place, a.x + (vector < 0 ? 0 : vector + i * kQuad) * 8, vector >= 0);
      }
    }
  }
  copies_commit();
}

template <typename P>
__device__ void merge_rows(const PatchMergeArguments<typename P::T>& a, const PatchMergeMemory<P>& memory,
                           const float* gamma, const float* beta, int group) {
  using T = typename P::T;
  constexpr std::uint64_t kAdvance = kStep * 2 >> 4;
  constexpr int kTileSteps = P::kSteps / P::kTiles;
  const int thread = static_cast<int>(threadIdx.x) % kGroup;
  const int own_row = thread / kWarp * 16 + thread % kWarp / kQuad;
  const std::uint32_t own = memory.rows(group) + static_cast<std::uint32_t>(own_row) * kStageRowBytes +
                            static_cast<std::uint32_t>((thread % kQuad) ^ (own_row % 8)) * 16;
  const SharedRows shared(memory.rows(group));
  const auto release = [&](int stage) {
    __syncwarp();
    if (thread % kWarp == 0) barrier_arrive(memory.empty(stage));
  };
  wait_for_previous();

  const int step = a.rows_at_once(P::kGroups);
  int first = (group * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x)) * kGroupRows;
  RingPlace at(P::kStages);
  fetch_merged<P>(a, first + own_row, own);
  // A group that has no rows left still takes the weights that go by for the other one.
  for (int turn = a.turns(P::kGroups); turn > 0; --turn, first += step) {
    copies_wait<0>();
    __syncwarp();
    std::uint32_t operand[P::kSteps][4];
    load_normalized<T>(shared, gamma, beta, operand);
    __syncwarp();
    fetch_merged<P>(a, first + step + own_row, own);
#pragma unroll 1
    for (int half = 0; half < P::kOutputs / kRowColumns; ++half) {
      float sums[kRowColumns / 2];
      int before = 0;
#pragma unroll
      for (int tile = 0; tile < P::kTiles; ++tile, at.advance()) {
        barrier_wait(memory.full(at.stage), at.parity);
        products_begin();
#pragma unroll
        for (int i = 0; i < kTileSteps; ++i) {
          WarpGroupProduct<T, kRowColumns>::add(sums, operand[tile * kTileSteps + i],
                                                tile_descriptor(memory.weights(at.stage)) + i * kAdvance,
                                                tile == 0 && i == 0);
        }
        products_commit();
        if (tile > 0) {
          products_wait<1>();
          release(before);
        }
        before = at.stage;
      }
      products_wait<0>();
      release(before);
      store_rows(sums, a.y + half * kRowColumns, first, a.rows, P::kOutputs, [](Eight&, int, int) {});
    }
  }
}

template <typename P>
__global__ __launch_bounds__(P::kThreads, 1) void patch_merge_kernel(const __grid_constant__ CUtensorMap weight_map,
                                                                     const PatchMergeArguments<typename P::T> a) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ unsigned char dynamic[];
  __shared__ std::uint64_t barriers[2 * P::kStages];
  __shared__ alignas(16) float gamma[P::kInputs];
  __shared__ alignas(16) float beta[P::kInputs];
  const PatchMergeMemory<P> memory{(shared_address(dynamic) + 1023U) & ~1023U, shared_address(barriers)};
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < P::kStages; ++stage) {
      barrier_init(memory.full(stage), 1);
      barrier_init(memory.empty(stage), P::kGroups * (kGroup / kWarp));
    }
    barrier_inits_done();
    // They do not depend on the kernel before.
    for (int stage = 0; stage < P::kStages; ++stage)
      memory.load(&weight_map, stage, stage);
  }
  share_vector(gamma, a.gamma, P::kInputs);
  share_vector(beta, a.beta, P::kInputs);
  __syncthreads();
  let_next_begin();
  const int group = static_cast<int>(threadIdx.x) / kGroup;
  if (group < P::kGroups) {
    take_registers<232>();
    merge_rows<P>(a, memory, gamma, beta, group);
  } else {
    give_registers<40>();
    if (threadIdx.x % kGroup != 0) return;
    constexpr int kEach = P::kTiles * (P::kOutputs / kRowColumns);  // of a turn
    const int count = a.turns(P::kGroups) * kEach;
    RingPlace at(P::kStages);
    at.parity = 1;  // all stages have been filled once
    for (int index = P::kStages; index < count; ++index, at.advance()) {
      barrier_wait(memory.empty(at.stage), at.parity ^ 1U);
      memory.load(&weight_map, index % kEach, at.stage);
    }
  }
#endif
}

}  // namespace swinscope::cuda::hopper

// Products of many rows that are normalized within the kernel, compute capability 9.0:
//   y = f((LN(rows) gamma + beta) W^T + b), f: nothing or GELU.
// Two warp groups have 64 rows each in registers, from which the tensor cores take them for one tile of 128 outputs
// after another; weights go by for both. A group's next rows are on their way meanwhile, and it normalizes them itself,
// while the other group multiplies.
#pragma once

#include "kernels/hopper_product.cuh"
#include "kernels/hopper_rows.cuh"
#include "kernels/normalized_rows.h"

namespace swinscope::cuda::hopper {

template <typename T_, Finish kFinish_>
struct NormalizedRowsPlan {
  using T = T_;
  static constexpr int kInputs = kNormalizedRowsInputs;
  static constexpr Finish kFinish = kFinish_;
  static constexpr int kGroups = 2;
  static constexpr int kThreads = (1 + kGroups) * kGroup;
  // Of a thread that multiplies, and of one that does not: together what 384 threads of 168 begin with.
  static constexpr int kManyRegisters = 232;
  static constexpr int kFewRegisters = 40;
  static_assert(kGroups * kManyRegisters + kFewRegisters == (1 + kGroups) * 168);
  static constexpr int kTiles = kInputs / kDepth;
  static constexpr int kSteps = kInputs / kStep;  // of a product
  static constexpr int kMostOutputs = 2048;
  // Weights: 64 inputs of 128 outputs.
  static constexpr std::uint32_t kWeightBytes = kRowColumns * kStageRowBytes;
  static constexpr std::uint32_t kRowBytes = kTiles * SharedRows::kHalfBytes;
  // What is left beside rows and vectors.
  static constexpr int kStages = static_cast<int>((213 * 1024 - kGroups * kRowBytes) / kWeightBytes);
  static constexpr std::uint32_t kSharedBytes = kStages * kWeightBytes + kGroups * kRowBytes + 1024;
};

// Blocks along y share the outputs.
template <typename T>
struct NormalizedRowsArguments {
  int rows, outputs;
  int first_tile, tile_step;  // of 64 rows, in the order in which they are taken
  const T* x;
  const T *gamma, *beta;
  const T* bias;  // [outputs], or null
  T* y;

  __device__ int tiles() const { return (rows + kGroupRows - 1) / kGroupRows; }
  __device__ int tiles_at_once(int groups) const { return groups * static_cast<int>(gridDim.x); }
  __device__ int turns(int groups) const {
    return (tiles() - static_cast<int>(blockIdx.x) + tiles_at_once(groups) - 1) / tiles_at_once(groups);
  }
  __device__ int first_row(int index) const { return (first_tile + tile_step * index) * kGroupRows; }
  // Of 128 outputs.
  __device__ int parts_each() const { return outputs / kRowColumns / static_cast<int>(gridDim.y); }
  __device__ int first_part() const { return parts_each() * static_cast<int>(blockIdx.y); }
};

// Shared memory and barriers.
template <typename P>
struct NormalizedRowsMemory {
  std::uint32_t base, barriers;

  __device__ std::uint32_t weights(int stage) const {
    return base + static_cast<std::uint32_t>(stage) * P::kWeightBytes;
  }
  __device__ std::uint32_t rows(int group) const {
    return weights(P::kStages) + static_cast<std::uint32_t>(group) * P::kRowBytes;
  }
  __device__ std::uint32_t full(int stage) const { return barriers + static_cast<std::uint32_t>(stage) * 8; }
  __device__ std::uint32_t empty(int stage) const { return full(P::kStages + stage); }

  // The `index`th of a block's, of one part of the outputs after the other.
  __device__ void load(const CUtensorMap* map, int first_part, int index, int stage) const {
    barrier_arrive_expecting(full(stage), P::kWeightBytes);
    load_permuted_tile(weights(stage), map, index % P::kTiles * kDepth,
                       (first_part + index / P::kTiles) * (kRowColumns / 32), full(stage));
  }
};

// gamma, beta, and bias of the block's outputs: in shared memory.
template <typename P>
__device__ void multiply_own_rows(const NormalizedRowsArguments<typename P::T>& a,
                                  const NormalizedRowsMemory<P>& memory, const float* gamma, const float* beta,
                                  const float* bias, int group) {
  using T = typename P::T;
  const int t = static_cast<int>(threadIdx.x) % kQuad;
  const SharedRows shared(memory.rows(group));
  const QuadRows<P::kInputs> own(memory.rows(group));
  const auto begin_rows = [&](int index) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = a.first_row(index) + own.row(half);
      const bool there = index < a.tiles() && row < a.rows;
      const T* const from = a.x + (there ? std::int64_t{row} * P::kInputs : 0) + 8 * t;
#pragma unroll
      for (int i = 0; i < QuadRows<P::kInputs>::kPieces; ++i)
        copy_async_or_zeros(own.piece(half, i), from + i * 32, there);
    }
    copies_commit();
  };
  wait_for_previous();

  const int step = a.tiles_at_once(P::kGroups);
  int index = group * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
  RingPlace at(P::kStages);
  begin_rows(index);
  // A group that has no rows left still takes the weights that go by for the other one.
  for (int turn = a.turns(P::kGroups); turn > 0; --turn, index += step) {
    copies_wait<0>();
    __syncwarp();
    std::uint32_t operand[P::kSteps][4];
    load_normalized<T>(shared, gamma, beta, operand);
    __syncwarp();
    begin_rows(index + step);
    const int row = a.first_row(index) + own.row(0);
    T* const y = a.y + std::int64_t{row} * a.outputs + a.first_part() * kRowColumns + 8 * t;
    const bool there[2] = {index < a.tiles() && row < a.rows, index < a.tiles() && row + 8 < a.rows};
#pragma unroll 1
    for (int part = 0; part < a.parts_each(); ++part) {
      float sums[kRowColumns / 2];
      multiply_by_ring<T, false>(sums, operand, memory, at);
#pragma unroll
      for (int i = 0; i < kRowColumns / 32; ++i) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          Eight eight = eight_of(sums, i, half);
          add_vector(eight, bias + part * kRowColumns, i);
          const uint4 packed = rounded<P::kFinish>(eight, T{});
          T* const to = y + std::int64_t{8} * half * a.outputs + part * kRowColumns + i * 32;
          if (there[half]) *reinterpret_cast<uint4*>(to) = packed;
        }
      }
    }
  }
}

template <typename P>
__global__ __launch_bounds__(P::kThreads,
                             1) void normalized_rows_kernel(const __grid_constant__ CUtensorMap weight_map,
                                                            const NormalizedRowsArguments<typename P::T> a) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ unsigned char dynamic[];
  __shared__ std::uint64_t barriers[2 * P::kStages];
  __shared__ alignas(16) float gamma[P::kInputs];
  __shared__ alignas(16) float beta[P::kInputs];
  __shared__ alignas(16) float bias[P::kMostOutputs];
  const NormalizedRowsMemory<P> memory{(shared_address(dynamic) + 1023U) & ~1023U, shared_address(barriers)};
  const int each = a.parts_each() * P::kTiles;  // weights of a turn
  const int count = a.turns(P::kGroups) * each;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < P::kStages; ++stage) {
      barrier_init(memory.full(stage), 1);
      barrier_init(memory.empty(stage), P::kGroups * (kGroup / kWarp));
    }
    barrier_inits_done();
    // They do not depend on the kernel before.
    for (int stage = 0; stage < min(P::kStages, count); ++stage)
      memory.load(&weight_map, a.first_part(), stage % each, stage);
  }
  share_vector(gamma, a.gamma, P::kInputs);
  share_vector(beta, a.beta, P::kInputs);
  const int first_output = a.first_part() * kRowColumns;
  share_vector(bias, a.bias == nullptr ? nullptr : a.bias + first_output, a.parts_each() * kRowColumns);
  __syncthreads();
  let_next_begin();
  const int group = static_cast<int>(threadIdx.x) / kGroup;
  if (group < P::kGroups) {
    take_registers<P::kManyRegisters>();
    multiply_own_rows<P>(a, memory, gamma, beta, bias, group);
    return;
  }
  give_registers<P::kFewRegisters>();
  if (threadIdx.x % kGroup != 0) return;
  RingPlace at(P::kStages);
  at.parity = 1;  // all stages have been filled once
  for (int index = P::kStages; index < count; ++index, at.advance()) {
    barrier_wait(memory.empty(at.stage), at.parity ^ 1U);
    memory.load(&weight_map, a.first_part(), index % each, at.stage);
  }
#endif
}

}  // namespace swinscope::cuda::hopper

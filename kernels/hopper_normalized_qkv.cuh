// Normalization and qkv projection of a block of Swin V1 with 128 channels as one kernel, compute capability 9.0:
//   y = (LN(x) gamma + beta) W^T + b.
// All of W, 96 KB, stays in shared memory. Three warp groups, each on its own: it fetches 64 rows of x, normalizes them
// in registers, from which the tensor cores take them, and stores 384 columns, while the next rows are on their way.
#pragma once

#include "kernels/hopper_product.cuh"
#include "kernels/hopper_rows.cuh"

namespace swinscope::cuda::hopper {

template <typename T_>
struct NormalizedQkvPlan {
  using T = T_;
  static constexpr int kOutputs = 3 * kRowColumns;
  static constexpr int kSquares = kOutputs / kRowColumns;
  static constexpr int kGroups = 3;
  static constexpr int kThreads = kGroups * kGroup;
  static constexpr int kRowStages = 2;
  static constexpr std::uint32_t kHalfBytes = kRowColumns * kStageRowBytes;
  static constexpr std::uint32_t kSquareBytes = 2 * kHalfBytes;
  static constexpr std::uint32_t kWeightBytes = kSquares * kSquareBytes;
  static constexpr std::uint32_t kSharedBytes = kWeightBytes + kGroups * kRowStages * SharedRows::kBytes + 1024;
};

template <typename T>
struct NormalizedQkvPointers {
  const T *gamma, *beta;
  const T* bias;  // [384], or null
  T* y;           // [m, 384]
};

template <typename P>
__global__ __launch_bounds__(P::kThreads, 1) void normalized_qkv_kernel(const __grid_constant__ CUtensorMap x_map,
                                                                        const __grid_constant__ CUtensorMap weight_map,
                                                                        int m, int tiles, bool backwards,
                                                                        const NormalizedQkvPointers<typename P::T> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using T = typename P::T;
  extern __shared__ unsigned char dynamic[];
  __shared__ std::uint64_t barriers[1 + P::kGroups * P::kRowStages];
  __shared__ alignas(16) float gamma[kRowColumns];
  __shared__ alignas(16) float beta[kRowColumns];
  __shared__ alignas(16) float bias[P::kOutputs];
  const std::uint32_t weights = (shared_address(dynamic) + 1023U) & ~1023U;
  const std::uint32_t weights_full = shared_address(barriers);
  if (threadIdx.x == 0) {
    for (int i = 0; i < 1 + P::kGroups * P::kRowStages; ++i)
      barrier_init(shared_address(barriers + i), 1);
    barrier_inits_done();
    // They do not depend on the kernel before.
    barrier_arrive_expecting(weights_full, P::kWeightBytes);
    for (int i = 0; i < 2 * P::kSquares; ++i)
      load_permuted_tile(weights + static_cast<std::uint32_t>(i) * P::kHalfBytes, &weight_map, i % 2 * kDepth,
                         i / 2 * (kRowColumns / 32), weights_full);
  }
  share_vector(gamma, p.gamma, kRowColumns);
  share_vector(beta, p.beta, kRowColumns);
  share_vector(bias, p.bias, P::kOutputs);
  __syncthreads();
  let_next_begin();

  const auto group = static_cast<int>(threadIdx.x) / kGroup;
  const bool leads = threadIdx.x % kGroup == 0;
  const int step = static_cast<int>(gridDim.x) * P::kGroups;
  const auto row_of = [&](int tile) { return (backwards ? tiles - 1 - tile : tile) * kGroupRows; };
  const auto place = [&](int stage) { return static_cast<std::uint32_t>(group * P::kRowStages + stage); };
  const auto rows_at = [&](int stage) { return weights + P::kWeightBytes + place(stage) * SharedRows::kBytes; };
  const auto full_at = [&](int stage) { return weights_full + 8 + place(stage) * 8; };
  wait_for_previous();
  int tile = static_cast<int>(blockIdx.x) * P::kGroups + group;
  if (leads) {
    for (int stage = 0; stage < P::kRowStages && tile + stage * step < tiles; ++stage)
      load_rows(rows_at(stage), &x_map, row_of(tile + stage * step), full_at(stage));
  }
  barrier_wait(weights_full, 0);
  for (RingPlace at(P::kRowStages); tile < tiles; tile += step, at.advance()) {
    barrier_wait(full_at(at.stage), at.parity);
    const SharedRows shared(rows_at(at.stage));
    std::uint32_t operand[kRowSteps][4];
    shared.load(operand);
    threads_meet<kGroup>(1 + group);
    if (leads && tile + P::kRowStages * step < tiles)
      load_rows(rows_at(at.stage), &x_map, row_of(tile + P::kRowStages * step), full_at(at.stage));
    normalize_operand<T>(operand, gamma, beta);
#pragma unroll 1
    for (int square = 0; square < P::kSquares; ++square) {
      float sums[kRowColumns / 2];
      products_begin();
      multiply_rows<T>(sums, operand, weights + static_cast<std::uint32_t>(square) * P::kSquareBytes, true);
      products_commit();
      products_wait<0>();
      store_rows(sums, p.y + square * kRowColumns, row_of(tile), m, P::kOutputs,
                 [&](Eight& eight, int part, int) { add_vector(eight, bias + square * kRowColumns, part); });
    }
  }
#endif
}

}  // namespace swinscope::cuda::hopper

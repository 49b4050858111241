// What follows attention in a block of Swin V1 with 128 channels as one kernel, compute capability 9.0:
//   r = residual + a Wp^T + bp,   y = r + GELU((LN(r) gamma + beta) W1^T + b1) W2^T + b2.
// As hopper_mlp.cuh, but that the operand of the first product never was in memory: a warp group has the sums of the
// projection in registers, adds the residual, normalizes its 64 rows there and multiplies them. r, rounded, replaces
// the residual in shared memory until the end adds it.
#pragma once

#include "kernels/hopper_mlp.cuh"

namespace swinscope::cuda::hopper {

struct BlockEndMaps {
  const CUtensorMap *attended, *residual, *projection;
  MlpMaps mlp;
};

// In shared memory.
template <typename P>
struct BlockEndVectors {
  float projection_bias[P::kColumns];
  float gamma[P::kColumns];
  float beta[P::kColumns];
  float bias1[P::kHidden];
  float bias2[P::kColumns];
};

// The weights of all of the block's tiles: of the projection, then of the fully connected layers.
template <typename P>
__device__ void produce_weights(const MlpMemory<P>& memory, int tiles, const BlockEndMaps& maps) {
  RingPlace at(P::kStages);
  for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
    for (int index = 0; index <= 2 * P::kPieces; ++index, at.advance()) {
      barrier_wait(memory.empty(at.stage), at.parity ^ 1U);
      if (index > 0) {
        load_hidden_weights(memory, maps.mlp, index - 1, at.stage);
        continue;
      }
      barrier_arrive_expecting(memory.full(at.stage), P::kSquareBytes);
      for (int half = 0; half < 2; ++half)
        load_tile(memory.weights(at.stage) + static_cast<std::uint32_t>(half) * P::kHalfBytes, maps.projection,
                  half * kDepth, 0, memory.full(at.stage));
    }
  }
}

// A warp group and its 64 rows of each tile, which it fetches itself: those of a as soon as the projection has read the
// last ones, those of the residual when all of the tile is done.
template <typename P>
__device__ void consume_block_end(const MlpMemory<P>& memory, std::uint32_t barriers, int m, int tiles, bool backwards,
                                  const BlockEndVectors<P>& vectors, const BlockEndMaps& maps, typename P::T* y,
                                  int group) {
  using T = typename P::T;
  const int t = static_cast<int>(threadIdx.x) % kQuad;
  const bool leads = threadIdx.x % kGroup == 0;
  const std::uint32_t own = static_cast<std::uint32_t>(group) * SharedRows::kBytes;
  const std::uint32_t attended = memory.x(0) + own;
  const std::uint32_t residual = memory.x(1) + own;
  const std::uint32_t attended_full = barriers + static_cast<std::uint32_t>(group) * 16;
  const std::uint32_t residual_full = attended_full + 8;
  const SharedRows rows(residual);
  const int step = static_cast<int>(gridDim.x);
  const auto row_of = [&](int tile) { return (backwards ? tiles - 1 - tile : tile) * P::kRows + group * kGroupRows; };
  const std::uint32_t nothing = static_cast<std::uint32_t>(m) >> 31;  // m is not negative
  wait_for_previous();
  RingPlace at(P::kStages);
  int tile = static_cast<int>(blockIdx.x);
  if (leads) {
    load_rows(attended, maps.attended, row_of(tile), attended_full);
    load_rows(residual, maps.residual, row_of(tile), residual_full);
  }
  for (std::uint32_t parity = 0; tile < tiles; tile += step, parity ^= 1U) {
    const bool has_next = tile + step < tiles;
    float sums[P::kSums];
    barrier_wait(attended_full, parity);
    barrier_wait(memory.full(at.stage), at.parity);
    products_begin();
    multiply_shared_rows<T>(sums, attended, SharedRows::kHalfBytes, memory.weights(at.stage));
    products_commit();
    barrier_wait(residual_full, parity);
    std::uint32_t before[P::kColumns / 8][2];
#pragma unroll
    for (int j = 0; j < P::kColumns / 8; ++j) {
      before[j][0] = load_shared_word(rows.pair(0, j));
      before[j][1] = load_shared_word(rows.pair(1, j));
    }
    products_wait<0>();
    warp_arrive(memory.empty(at.stage));
    at.advance();
    threads_meet<kGroup>(1 + group);
    if (leads && has_next) {
      load_rows(attended, maps.attended, row_of(tile + step), attended_full);
      prefetch_rows(maps.residual, row_of(tile + step));
    }

#pragma unroll
    for (int j = 0; j < P::kColumns / 8; ++j) {
      const auto bias = *reinterpret_cast<const float2*>(vectors.projection_bias + 8 * j + 2 * t);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float* const sum = sums + 4 * j + 2 * half;
        const float2 added = unpack(before[j][half], T{});
        const std::uint32_t packed = pack(sum[0] + bias.x + added.x, sum[1] + bias.y + added.y, T{});
        store_shared(rows.pair(half, j), packed);
        const float2 r = unpack(packed, T{});
        sum[0] = r.x;
        sum[1] = r.y;
      }
    }
    std::uint32_t normalized[P::kSteps][4];
    normalize_rows<T>(sums, vectors.gamma, vectors.beta, normalized);
    multiply_hidden<P>(sums, memory, at, vectors.bias1, [&](float(&hidden)[P::kPiece / 2], std::uint32_t weights) {
      // ptxas 13.0 gives two operands in registers within a loop the same registers, although this one is needed again:
      // it may not see that a copy is one.
      std::uint32_t copy[P::kSteps][4];
#pragma unroll
      for (int i = 0; i < 4 * P::kSteps; ++i)
        asm volatile("xor.b32 %0, %1, %2;" : "=r"(copy[i / 4][i % 4]) : "r"(normalized[i / 4][i % 4]), "r"(nothing));
      products_begin();
      multiply_rows<T>(hidden, copy, weights, true);
    });
    __syncwarp();  // a quad's lanes have written each other's columns of r
    store_rows(sums, y, row_of(tile), m, P::kColumns, [&](Eight& eight, int part, int half) {
      add_vector(eight, vectors.bias2, part);
      eight.add(load_shared(rows.eight(half, part)), T{});
    });
    writes_done_for_products();
    threads_meet<kGroup>(1 + group);
    if (leads && has_next) load_rows(residual, maps.residual, row_of(tile + step), residual_full);
  }
}

// Biases: or null.
template <typename T>
struct BlockEndPointers {
  const T *projection_bias, *gamma, *beta, *bias1, *bias2;
  T* y;  // [m, 128]; may be the residual
};

template <typename P>
__global__ __launch_bounds__(P::kThreads, 1) void block_end_kernel(const __grid_constant__ CUtensorMap attended_map,
                                                                   const __grid_constant__ CUtensorMap residual_map,
                                                                   const __grid_constant__ CUtensorMap projection_map,
                                                                   const __grid_constant__ CUtensorMap weight1_map,
                                                                   const __grid_constant__ CUtensorMap weight2_map,
                                                                   int m, int tiles, bool backwards,
                                                                   const BlockEndPointers<typename P::T> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ unsigned char dynamic[];
  constexpr int kRings = P::kStages + P::kRowStages;
  __shared__ std::uint64_t barriers[2 * kRings];
  __shared__ std::uint64_t row_barriers[2 * P::kGroups];
  __shared__ alignas(16) BlockEndVectors<P> vectors;
  const MlpMemory<P> memory{(shared_address(dynamic) + 1023U) & ~1023U, shared_address(barriers)};
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < P::kStages; ++stage) {
      barrier_init(memory.full(stage), 1);
      barrier_init(memory.empty(stage), P::kGroups * (kGroup / kWarp));
    }
    for (int i = 0; i < 2 * P::kGroups; ++i)
      barrier_init(shared_address(row_barriers + i), 1);
    barrier_inits_done();
  }
  share_vector(vectors.projection_bias, p.projection_bias, P::kColumns);
  share_vector(vectors.gamma, p.gamma, P::kColumns);
  share_vector(vectors.beta, p.beta, P::kColumns);
  share_vector(vectors.bias1, p.bias1, P::kHidden);
  share_vector(vectors.bias2, p.bias2, P::kColumns);
  __syncthreads();
  let_next_begin();
  const BlockEndMaps maps{&attended_map, &residual_map, &projection_map, {&weight1_map, &weight2_map}};
  const int group = static_cast<int>(threadIdx.x) / kGroup - 1;
  if (group < 0) {
    give_registers<40>();
    if (threadIdx.x == 0) produce_weights<P>(memory, tiles, maps);
  } else {
    take_registers<232>();
    consume_block_end<P>(memory, shared_address(row_barriers), m, tiles, backwards, vectors, maps, p.y, group);
  }
#endif
}

}  // namespace swinscope::cuda::hopper

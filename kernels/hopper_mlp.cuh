// The fully connected layers of a block with 128 channels as one kernel, compute capability 9.0:
//   y = x + LN(GELU(x W1^T + b1) W2^T + b2) gamma + beta.
// The 512 hidden activations of a row never leave the multiprocessor: of 128 rows and 128 hidden columns at a time a
// warp group has the sums of the first product in registers, and their GELU, rounded, are the operand of the second one
// as they stand there. A tile of x and a ring of pieces of the weights, which all tiles share, come by the copy engine.
// Two warp groups, 64 rows each: while one computes GELU the other one has the tensor cores. hopper_block_end.cuh has
// Swin V1's.
#pragma once

#include "kernels/hopper_product.cuh"
#include "kernels/hopper_rows.cuh"

namespace swinscope::cuda::hopper {

constexpr int kMlpRows = 128;  // of a block, at a time

template <typename T_>
struct MlpSizes {
  using T = T_;
  static constexpr int kColumns = kRowColumns;
  static constexpr int kHidden = 512;
  static constexpr int kPiece = 128;  // of hidden columns
  static constexpr int kPieces = kHidden / kPiece;
  static constexpr int kGroups = kMlpRows / kGroupRows;
  static constexpr int kRows = kMlpRows;
  static constexpr int kThreads = (1 + kGroups) * kGroup;
  static constexpr int kSums = kColumns / 2;
  static constexpr int kSteps = kColumns / kStep;  // of a product
  // 128 rows of 128 columns: of x, of W1, or of W2. Two tiles of 64 columns.
  static constexpr std::uint32_t kHalfBytes = 128 * kStageRowBytes;
  static constexpr std::uint32_t kSquareBytes = 2 * kHalfBytes;
  static constexpr int kStages = 4;     // of weights
  static constexpr int kRowStages = 2;  // of rows
  static constexpr std::uint32_t kSharedBytes = (kStages + kRowStages) * kSquareBytes + 1024;
};

// As a plan of hopper_product.cuh, whose ends of tiles it has.
template <typename T>
struct MlpPlan : MlpSizes<T> {
  using Y = T;
  static constexpr bool kScales = false;
  static constexpr Finish kFinish = Finish::kNormalized;
  static constexpr bool kNormalizes = true;
};

// Shared memory and barriers.
template <typename P>
struct MlpMemory {
  std::uint32_t squares, barriers;
  __device__ std::uint32_t weights(int stage) const {
    return squares + static_cast<std::uint32_t>(stage) * P::kSquareBytes;
  }
  __device__ std::uint32_t x(int stage) const { return weights(P::kStages + stage); }
  __device__ std::uint32_t full(int stage) const { return barriers + static_cast<std::uint32_t>(stage) * 8; }
  __device__ std::uint32_t empty(int stage) const { return full(P::kStages + P::kRowStages + stage); }
  // The same of x.
  __device__ std::uint32_t x_full(int stage) const { return full(P::kStages + stage); }
  __device__ std::uint32_t x_empty(int stage) const { return empty(P::kStages + stage); }
};

struct MlpMaps {
  const CUtensorMap *weight1, *weight2;
};

// Of the pieces of a tile's weights, of both matrices in turn, the `index`th. W2's rows are permuted: its products are
// stored.
template <typename P>
__device__ void load_hidden_weights(const MlpMemory<P>& memory, const MlpMaps& maps, int index, int stage) {
  const std::uint32_t full = memory.full(stage);
  barrier_arrive_expecting(full, P::kSquareBytes);
  const int hidden = index / 2 * P::kPiece;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const std::uint32_t to = memory.weights(stage) + static_cast<std::uint32_t>(half) * P::kHalfBytes;
    if (index % 2 == 0) {
      load_tile(to, maps.weight1, half * kDepth, hidden, full);
    } else {
      load_permuted_tile(to, maps.weight2, hidden + half * kDepth, 0, full);
    }
  }
}

// A warp's lanes have read what `barrier` guards.
__device__ inline void warp_arrive(std::uint32_t barrier) {
  __syncwarp();
  if (threadIdx.x % kWarp == 0) barrier_arrive(barrier);
}

// sums = GELU(rows W1^T + b1) W2^T of the warp group's 64 rows, by the weights that come from the place `at` on.
// multiply(hidden, weights): begins hidden = rows times the square at `weights`.
template <typename P, typename Multiply>
__device__ void multiply_hidden(float (&sums)[P::kSums], const MlpMemory<P>& memory, RingPlace& at, const float* bias1,
                                const Multiply& multiply) {
  using T = typename P::T;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
#pragma unroll 1
  for (int piece = 0; piece < P::kPieces; ++piece) {
    float hidden[P::kPiece / 2];
    barrier_wait(memory.full(at.stage), at.parity);
    multiply(hidden, memory.weights(at.stage));
    products_commit();
    products_wait<0>();
    warp_arrive(memory.empty(at.stage));
    at.advance();

    // A thread's 8 sums of 16 columns are, as pairs, its part of the second product's operand.
    std::uint32_t operand[P::kSteps][4];
    const float* const bias = bias1 + piece * P::kPiece + 2 * (lane % kQuad);
#pragma unroll
    for (int i = 0; i < P::kSteps; ++i) {
      const float2 low = *reinterpret_cast<const float2*>(bias + i * kStep);
      const float2 high = *reinterpret_cast<const float2*>(bias + i * kStep + 8);
      const float* const own = hidden + 8 * i;
      const Eight eight{{own[0] + low.x, own[1] + low.y, own[2] + low.x, own[3] + low.y, own[4] + high.x,
                         own[5] + high.y, own[6] + high.x, own[7] + high.y}};
      const uint4 packed = rounded_gelu(eight, T{});
      operand[i][0] = packed.x;
      operand[i][1] = packed.y;
      operand[i][2] = packed.z;
      operand[i][3] = packed.w;
    }
    barrier_wait(memory.full(at.stage), at.parity);
    products_begin();
    multiply_rows<T>(sums, operand, memory.weights(at.stage), piece == 0);
    products_commit();
    products_wait<0>();
    warp_arrive(memory.empty(at.stage));
    at.advance();
  }
}

template <typename P>
__device__ void produce_mlp(const MlpMemory<P>& memory, int tiles, const CUtensorMap* x_map, const MlpMaps& maps) {
  const auto load_x = [&](int tile, int stage) {
    barrier_arrive_expecting(memory.x_full(stage), P::kSquareBytes);
#pragma unroll
    for (int half = 0; half < 2; ++half)
      load_tile(memory.x(stage) + static_cast<std::uint32_t>(half) * P::kHalfBytes, x_map, half * kDepth,
                tile * P::kRows, memory.x_full(stage));
  };
  constexpr int kEach = 2 * P::kPieces;  // pieces of a tile
  static_assert(P::kStages <= kEach / 2);
  prefetch_map(x_map);
  RingPlace at(P::kStages);
  RingPlace rows(P::kRowStages);
  int index = 0;
  for (; index < P::kStages; ++index, at.advance())
    load_hidden_weights(memory, maps, index, at.stage);
  wait_for_previous();
  const int step = static_cast<int>(gridDim.x);
  load_x(static_cast<int>(blockIdx.x), rows.stage);
  for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += step, index = 0) {
    for (; index < kEach; ++index, at.advance()) {
      // The next tile's rows are on their way while this one's second half is multiplied.
      if (index == kEach / 2 && tile + step < tiles) {
        rows.advance();
        barrier_wait(memory.x_empty(rows.stage), rows.parity ^ 1U);
        load_x(tile + step, rows.stage);
      }
      barrier_wait(memory.empty(at.stage), at.parity ^ 1U);
      load_hidden_weights(memory, maps, index, at.stage);
    }
  }
}

template <typename P>
__device__ void consume_mlp(const MlpMemory<P>& memory, int m, int tiles, const float* bias1,
                            const Pointers<typename P::T>& p, int group, NormalizedEnd<P> end) {
  using T = typename P::T;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int thread = static_cast<int>(threadIdx.x) % kGroup;
  const int own_row = group * kGroupRows + thread / kWarp * 16 + lane / kQuad;
  const Extents e{m, P::kColumns, P::kColumns, 1, tiles, 0, 1, 0, 0, false};
  end.vectors.fetch(p, 0, group);
  wait_for_previous();
  RingPlace at(P::kStages);
  RingPlace rows(P::kRowStages);
  for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x), rows.advance()) {
    const Place<P> place(e, p, tile * P::kRows + own_row, 0, lane % kQuad);
    Residual<P>::prefetch(place);
    float sums[P::kSums];
    barrier_wait(memory.x_full(rows.stage), rows.parity);
    const std::uint32_t x = memory.x(rows.stage) + static_cast<std::uint32_t>(group) * kGroupRows * kStageRowBytes;
    multiply_hidden<P>(sums, memory, at, bias1, [x](float(&hidden)[P::kPiece / 2], std::uint32_t weights) {
      products_begin();
      multiply_shared_rows<T>(hidden, x, P::kHalfBytes, weights);
    });
    warp_arrive(memory.x_empty(rows.stage));
    Residual<P> residual;
    residual.fetch(0, place);
    finish_normalized<P>(sums, end, residual, place, p);
  }
}

// bias1: [512], or null.
template <typename P>
__global__ __launch_bounds__(P::kThreads, 1) void mlp_kernel(const __grid_constant__ CUtensorMap x_map,
                                                             const __grid_constant__ CUtensorMap weight1_map,
                                                             const __grid_constant__ CUtensorMap weight2_map, int m,
                                                             int tiles, const typename P::T* bias1,
                                                             const Pointers<typename P::T> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ unsigned char dynamic[];
  constexpr int kRings = P::kStages + P::kRowStages;
  __shared__ std::uint64_t barriers[2 * kRings];
  __shared__ alignas(16) float vectors[P::kGroups][ResultVectors<P>::kCount * P::kColumns];
  __shared__ alignas(16) float hidden_bias[P::kHidden];
  const MlpMemory<P> memory{(shared_address(dynamic) + 1023U) & ~1023U, shared_address(barriers)};
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kRings; ++stage) {
      barrier_init(memory.full(stage), 1);
      barrier_init(memory.empty(stage), P::kGroups * (kGroup / kWarp));
    }
    barrier_inits_done();
  }
  share_vector(hidden_bias, bias1, P::kHidden);
  __syncthreads();
  let_next_begin();
  const int group = static_cast<int>(threadIdx.x) / kGroup - 1;
  if (group < 0) {
    give_registers<40>();
    if (threadIdx.x == 0) produce_mlp<P>(memory, tiles, &x_map, {&weight1_map, &weight2_map});
  } else {
    take_registers<232>();
    const MomentExchange<P> alone(0, 0, 1, group);  // a block has whole rows
    consume_mlp<P>(memory, m, tiles, hidden_bias, p, group, NormalizedEnd<P>{{vectors[group]}, alone});
  }
#endif
}

}  // namespace swinscope::cuda::hopper

// Products of many rows that are normalized within the kernel, compute capability 9.0:
//   y = f((LN(rows) gamma + beta) W^T + b), f: nothing or GELU.
// Two warp groups have 64 rows each in registers, from which the tensor cores take them for one tile of 128 outputs
// after another; weights go by for both. Meanwhile three warps read and normalize the rows after them, which then wait
// in shared memory. Rows are those of a matrix, or merged tokens that are gathered from a map (merge_place.cuh).
#pragma once

#include "kernels/hopper_product.cuh"
#include "kernels/hopper_rows.cuh"
#include "kernels/merge_place.cuh"

namespace swinscope::cuda::hopper {

template <typename T_, int kInputs_, Finish kFinish_>
struct NormalizedRowsPlan {
  using T = T_;
  static constexpr int kInputs = kInputs_;
  static constexpr Finish kFinish = kFinish_;
  static constexpr int kGroups = 2;
  static constexpr int kThreads = (1 + kGroups) * kGroup;
  // Of a thread that multiplies, and of one that does not: together what 384 threads of 168 begin with.
  static constexpr int kManyRegisters = 224;
  static constexpr int kFewRegisters = 56;
  static_assert(kGroups * kManyRegisters + kFewRegisters == (1 + kGroups) * 168);
  static constexpr int kTiles = kInputs / kDepth;
  static constexpr int kSteps = kInputs / kStep;  // of a product
  static constexpr int kMostOutputs = 2048;
  static constexpr int kRowWarps = 3;                    // that normalize
  static constexpr int kVectors = kInputs / 8;           // of 16 bytes, of a row
  static constexpr int kLaneVectors = kVectors / kWarp;  // of a lane that normalizes
  // Weights: 64 inputs of 128 outputs.
  static constexpr std::uint32_t kWeightBytes = kRowColumns * kStageRowBytes;
  static constexpr std::uint32_t kRowBytes = kTiles * SharedRows::kHalfBytes;
  // What is left beside rows and vectors.
  static constexpr int kStages = static_cast<int>((213 * 1024 - kGroups * kRowBytes) / kWeightBytes);
  static constexpr std::uint32_t kSharedBytes = kStages * kWeightBytes + kGroups * kRowBytes + 1024;
};

// Vector `vector` of a row's `vectors` stands at this vector of the matrix.
struct MatrixPlace {
  __device__ std::int64_t operator()(int row, int vector, int vectors) const {
    return std::int64_t{row} * vectors + vector;
  }
};

// Blocks along y share the outputs.
template <typename T, typename Place>
struct NormalizedRowsArguments {
  Place place;
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
  __device__ std::uint32_t rows_full(int group) const { return full(2 * P::kStages + group); }
  __device__ std::uint32_t rows_empty(int group) const { return rows_full(P::kGroups + group); }

  // The `index`th of a block's, of one part of the outputs after the other.
  __device__ void load(const CUtensorMap* map, int first_part, int index, int stage) const {
    barrier_arrive_expecting(full(stage), P::kWeightBytes);
    load_permuted_tile(weights(stage), map, index % P::kTiles * kDepth,
                       (first_part + index / P::kTiles) * (kRowColumns / 32), full(stage));
  }
};

// Rows of a tile, of which each lane of a warp has every 32nd vector of 16 bytes: no other thread touches them before
// all are normalized.
template <typename P>
class LaneVectors {
 public:
  __device__ explicit LaneVectors(std::uint32_t rows)
      : rows_(rows), lane_(static_cast<std::uint32_t>(threadIdx.x % kWarp)) {}

  __device__ int vector(int i) const { return static_cast<int>(lane_) + i * kWarp; }
  __device__ std::uint32_t place(int row, int i) const {
    const std::uint32_t vector = lane_ + static_cast<std::uint32_t>(i) * kWarp;
    return rows_ + vector / 8 * SharedRows::kHalfBytes + static_cast<std::uint32_t>(row) * kStageRowBytes +
           (vector % 8 ^ static_cast<std::uint32_t>(row % 8)) * 16;
  }

 private:
  std::uint32_t rows_, lane_;
};

// LN(row) gamma + beta, rounded, of two rows of a tile at a time, so that one's sums hide behind the other one's; the
// second one may be none.
template <typename P>
__device__ void normalize_two(const LaneVectors<P>& at, int row, int second, const float* gamma, const float* beta) {
  using T = typename P::T;
  constexpr auto kEpsilon = static_cast<float>(LayerNormShape{}.epsilon);
  constexpr float kShare = 1.0F / static_cast<float>(P::kInputs);
  constexpr int kPairs = 4 * P::kLaneVectors;
  std::uint32_t own[2][kPairs];
  float mean[2];
  float scale[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
#pragma unroll
    for (int i = 0; i < P::kLaneVectors; ++i) {
      const uint4 words = load_shared(at.place(r == 0 || second >= kGroupRows ? row : second, i));
      own[r][4 * i] = words.x;
      own[r][4 * i + 1] = words.y;
      own[r][4 * i + 2] = words.z;
      own[r][4 * i + 3] = words.w;
    }
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float sum = 0.0F;
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      const float2 pair = unpack(own[r][i], T{});
      sum += pair.x + pair.y;
    }
    mean[r] = sum_over(sum, kWarp) * kShare;
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float squares = 0.0F;
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      const float2 pair = unpack(own[r][i], T{});
      squares = fmaf(pair.x - mean[r], pair.x - mean[r], fmaf(pair.y - mean[r], pair.y - mean[r], squares));
    }
    scale[r] = rsqrtf(fmaf(sum_over(squares, kWarp), kShare, kEpsilon));
  }
#pragma unroll
  for (int i = 0; i < P::kLaneVectors; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const auto g = *reinterpret_cast<const float2*>(gamma + 8 * at.vector(i) + 2 * j);
      const auto b = *reinterpret_cast<const float2*>(beta + 8 * at.vector(i) + 2 * j);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        std::uint32_t& word = own[r][4 * i + j];
        const float2 pair = unpack(word, T{});
        word = pack(fmaf((pair.x - mean[r]) * scale[r], g.x, b.x), fmaf((pair.y - mean[r]) * scale[r], g.y, b.y), T{});
      }
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (r == 1 && second >= kGroupRows) continue;
      store_shared(at.place(r == 0 ? row : second, i),
                   uint4{own[r][4 * i], own[r][4 * i + 1], own[r][4 * i + 2], own[r][4 * i + 3]});
    }
  }
}

// Rows for both warp groups, by the `warp`th of kRowWarps: every kRowWarps-th row of 64, for one group after the other.
template <typename P, typename Place>
__device__ void produce_rows(const NormalizedRowsArguments<typename P::T, Place>& a,
                             const NormalizedRowsMemory<P>& memory, const float* gamma, const float* beta, int warp) {
  wait_for_previous();
  int index = static_cast<int>(blockIdx.x);
  for (int turn = 0; turn < a.turns(P::kGroups); ++turn) {
    for (int group = 0; group < P::kGroups; ++group, index += static_cast<int>(gridDim.x)) {
      const LaneVectors<P> at(memory.rows(group));
      if (turn > 0) barrier_wait(memory.rows_empty(group), static_cast<std::uint32_t>(turn - 1) % 2);
      const int first = index < a.tiles() ? a.first_row(index) : a.rows;  // nothing is there from a.rows on
#pragma unroll 1
      for (int row = warp; row < kGroupRows; row += P::kRowWarps) {
#pragma unroll
        for (int i = 0; i < P::kLaneVectors; ++i) {
          const std::int64_t vector = first + row < a.rows ? a.place(first + row, at.vector(i), P::kVectors) : -1;
          copy_async_or_zeros(at.place(row, i), a.x + (vector < 0 ? 0 : vector) * 8, vector >= 0);
        }
      }
      copies_commit();
      copies_wait<0>();
#pragma unroll 1
      for (int row = warp; row < kGroupRows; row += 2 * P::kRowWarps)
        normalize_two(at, row, row + P::kRowWarps, gamma, beta);
      __syncwarp();
      if (threadIdx.x % kWarp == 0) barrier_arrive(memory.rows_full(group));
    }
  }
}

// 64 rows by 128 outputs, whose weights come next.
template <typename P>
__device__ void multiply_normalized(const NormalizedRowsMemory<P>& memory, const std::uint32_t (&operand)[P::kSteps][4],
                                    RingPlace& at, float (&sums)[kRowColumns / 2]) {
  constexpr std::uint64_t kAdvance = kStep * 2 >> 4;
  constexpr int kTileSteps = P::kSteps / P::kTiles;
  const auto release = [&](int stage) {
    __syncwarp();
    if (threadIdx.x % kWarp == 0) barrier_arrive(memory.empty(stage));
  };
  int before = 0;
#pragma unroll
  for (int tile = 0; tile < P::kTiles; ++tile, at.advance()) {
    barrier_wait(memory.full(at.stage), at.parity);
    products_begin();
#pragma unroll
    for (int i = 0; i < kTileSteps; ++i) {
      WarpGroupProduct<typename P::T, kRowColumns>::add(sums, operand[tile * kTileSteps + i],
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
}

// bias: of the block's outputs, in shared memory.
template <typename P, typename Place>
__device__ void multiply_own_rows(const NormalizedRowsArguments<typename P::T, Place>& a,
                                  const NormalizedRowsMemory<P>& memory, const float* bias, int group) {
  using T = typename P::T;
  const int thread = static_cast<int>(threadIdx.x) % kGroup;
  const int own_row = thread / kWarp * 16 + thread % kWarp / kQuad;
  const SharedRows shared(memory.rows(group));
  wait_for_previous();  // what it writes may be read there

  int index = group * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
  RingPlace at(P::kStages);
  // A group that has no rows left still takes the weights that go by for the other one.
  for (int turn = 0; turn < a.turns(P::kGroups); ++turn, index += a.tiles_at_once(P::kGroups)) {
    barrier_wait(memory.rows_full(group), static_cast<std::uint32_t>(turn) % 2);
    std::uint32_t operand[P::kSteps][4];
    shared.load(operand);
    __syncwarp();
    if (thread % kWarp == 0) barrier_arrive(memory.rows_empty(group));
    const int row = a.first_row(index) + own_row;
    T* const y = a.y + std::int64_t{row} * a.outputs + a.first_part() * kRowColumns + 8 * (thread % kQuad);
    const bool there[2] = {index < a.tiles() && row < a.rows, index < a.tiles() && row + 8 < a.rows};
#pragma unroll 1
    for (int part = 0; part < a.parts_each(); ++part) {
      float sums[kRowColumns / 2];
      multiply_normalized(memory, operand, at, sums);
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

template <typename P, typename Place>
__global__ __launch_bounds__(P::kThreads,
                             1) void normalized_rows_kernel(const __grid_constant__ CUtensorMap weight_map,
                                                            const NormalizedRowsArguments<typename P::T, Place> a) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ unsigned char dynamic[];
  __shared__ std::uint64_t barriers[2 * (P::kStages + P::kGroups)];
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
    for (int group = 0; group < P::kGroups; ++group) {
      barrier_init(memory.rows_full(group), P::kRowWarps);
      barrier_init(memory.rows_empty(group), kGroup / kWarp);
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
    multiply_own_rows<P>(a, memory, bias, group);
    return;
  }
  give_registers<P::kFewRegisters>();
  const int warp = static_cast<int>(threadIdx.x) % kGroup / kWarp;
  if (warp < P::kRowWarps) {
    produce_rows<P>(a, memory, gamma, beta, warp);
  } else if (threadIdx.x % kWarp == 0) {
    RingPlace at(P::kStages);
    at.parity = 1;  // all stages have been filled once
    for (int index = P::kStages; index < count; ++index, at.advance()) {
      barrier_wait(memory.empty(at.stage), at.parity ^ 1U);
      memory.load(&weight_map, a.first_part(), index % each, at.stage);
    }
  }
#endif
}

}  // namespace swinscope::cuda::hopper

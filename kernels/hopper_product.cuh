// The product kernel for compute capability 9.0, y[m, n] = f(a[m, k] b[n, k]^T): one warp group whose first thread lets
// the copy engine bring tiles of a and b into a ring of stages, and one or two that multiply them, 64 rows each. Blocks
// stay and go from tile to tile, so that loads never pause. Two warp groups work a ring of stages apart: while one
// finishes its sums (bias, GELU, residual, normalization) the other one has the tensor cores.
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/early_launch.cuh"
#include "kernels/hopper_finish.cuh"
#include "kernels/hopper_product.h"
#include "kernels/hopper_result.cuh"
#include "kernels/wgmma.cuh"

namespace swinscope::cuda::hopper {

constexpr int kGroupRows = 64;
constexpr std::uint32_t kStageRowBytes = 128;
constexpr std::uint32_t kStepBytes = 32;  // of one product
// Of operands of 16 bits:
constexpr int kDepth = 64;  // of a stage
constexpr int kStep = 16;   // of one product
// What a block may take of the 227 KiB of shared memory, where one or two blocks share a multiprocessor.
constexpr std::uint32_t kOneBlockBytes = 200 * 1024;
constexpr std::uint32_t kTwoBlockBytes = 104 * 1024;
constexpr int kMaxStages = 8;

// T: of bias and residual; Operand: of a and b; Y: of the result. Where a and b have 8 bits, __nv_fp8_e4m3 or
// std::int8_t, sums have a scale for each column.
template <typename T_, int kColumns_, int kGroups_, Finish kFinish_, typename Operand_ = T_, typename Y_ = T_>
struct Plan {
  using T = T_;
  using Operand = Operand_;
  using Y = Y_;
  using Sum = std::conditional_t<std::is_same_v<Operand, std::int8_t>, int, float>;
  static constexpr bool kScales = sizeof(Operand) == 1;
  static constexpr int kDepth = static_cast<int>(kStageRowBytes / sizeof(Operand));  // of a stage
  static constexpr int kColumns = kColumns_;
  static constexpr int kGroups = kGroups_;  // that multiply
  static constexpr int kRows = kGroups * kGroupRows;
  static constexpr Finish kFinish = kFinish_;
  static constexpr bool kNormalizes = normalizes(kFinish);
  static constexpr int kThreads = (1 + kGroups) * kGroup;
  static constexpr std::uint32_t kABytes = kRows * kStageRowBytes;
  static constexpr std::uint32_t kStageBytes = kABytes + kColumns * kStageRowBytes;
  static constexpr int kBlocksEach = kGroups == 1 ? 2 : 1;
  static constexpr int kStages =
      std::min(kMaxStages, static_cast<int>((kBlocksEach == 2 ? kTwoBlockBytes : kOneBlockBytes) / kStageBytes));
  static constexpr std::uint32_t kSharedBytes = kStages * kStageBytes + 1024;  // and what alignment takes
  static constexpr int kSums = kColumns / 2;
};

template <typename P>
using PlanPointers = Pointers<typename P::T, typename P::Y>;

struct Extents {
  int m, n, k;
  int tiles_n, tiles;
  int first_row, row_step;  // of tiles, in the order in which they are taken: down from the first, or up from the last
  int stride_rows, stride_columns;  // of tiles, from a block's tile to its next one: no division on the way
  bool late;                        // see ProductPointers
};

// Where a block is among tiles and stages.
template <typename P>
struct Walk {
  int tile, row, column;  // of tiles
  int step = 0;           // of kDepth along k
  int stage = 0;
  std::uint32_t parity = 0;

  __device__ explicit Walk(const Extents& e)
      : tile(static_cast<int>(blockIdx.x)),
        row(e.first_row + e.row_step * (tile / e.tiles_n)),
        column(tile % e.tiles_n) {}
  __device__ void advance_stage() {
    if (++stage == P::kStages) {
      stage = 0;
      parity ^= 1U;
    }
  }
  __device__ void advance_tile(const Extents& e) {
    tile += static_cast<int>(gridDim.x);
    row += e.stride_rows;
    column += e.stride_columns;
    if (column >= e.tiles_n) {
      column -= e.tiles_n;
      row += e.row_step;
    }
  }
  __device__ void advance(const Extents& e, int steps) {
    advance_stage();
    if (++step == steps) {
      step = 0;
      advance_tile(e);
    }
  }
  __device__ int first_row() const { return row * P::kRows; }
  __device__ int first_column() const { return column * P::kColumns; }
};

// Shared memory, by addresses.
template <typename P>
struct Ring {
  std::uint32_t stages, full, empty;
  __device__ std::uint32_t a(int stage) const { return stages + static_cast<std::uint32_t>(stage) * P::kStageBytes; }
  __device__ std::uint32_t b(int stage) const { return a(stage) + P::kABytes; }
  __device__ std::uint32_t full_at(int stage) const { return full + static_cast<std::uint32_t>(stage) * 8; }
  __device__ std::uint32_t empty_at(int stage) const { return empty + static_cast<std::uint32_t>(stage) * 8; }
};

template <typename P>
__device__ void load_a(const Ring<P>& ring, const Walk<P>& at, const CUtensorMap* map) {
  load_tile(ring.a(at.stage), map, at.step * P::kDepth, at.first_row(), ring.full_at(at.stage));
}
template <typename P>
__device__ void load_b(const Ring<P>& ring, const Walk<P>& at, const CUtensorMap* map) {
  load_permuted_tile(ring.b(at.stage), map, at.step * P::kDepth, at.first_column() / 32, ring.full_at(at.stage));
}

template <typename P>
__device__ void produce(const Ring<P>& ring, const Extents& e, const CUtensorMap* a_map, const CUtensorMap* b_map) {
  const int steps = (e.k + P::kDepth - 1) / P::kDepth;
  // Weights do not depend on the kernel before: the first stages' are fetched while it ends, and the map of a.
  prefetch_map(a_map);
  Walk<P> weights(e);
  for (int i = 0; i < P::kStages && weights.tile < e.tiles; ++i, weights.advance(e, steps)) {
    barrier_arrive_expecting(ring.full_at(weights.stage), P::kStageBytes);
    load_b(ring, weights, b_map);
  }
  wait_for_previous();
  if (e.late) let_next_begin();
  Walk<P> at(e);
  for (int i = 0; i < P::kStages && at.tile < e.tiles; ++i, at.advance(e, steps))
    load_a(ring, at, a_map);
  for (; at.tile < e.tiles; at.advance(e, steps)) {
    barrier_wait(ring.empty_at(at.stage), at.parity ^ 1U);
    barrier_arrive_expecting(ring.full_at(at.stage), P::kStageBytes);
    load_a(ring, at, a_map);
    load_b(ring, at, b_map);
  }
}

// The bias of a tile's columns, in shared memory of each warp group, twice: nobody overwrites what another one still
// reads.
template <typename P>
struct TileBias {
  static constexpr int kEach = (P::kColumns + kGroup - 1) / kGroup;
  static constexpr int kVectors = P::kScales ? 4 : 2;
  float* shared;  // [kVectors, kColumns]: biases, and scales
  int half = 0;
  typename P::T own[kEach];  // as they come from memory: nothing waits for them before the products run
  float own_scale[P::kScales ? kEach : 1];

  __device__ void fetch(const Extents& e, const PlanPointers<P>& p, int first, int thread) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int column = first + thread + i * kGroup;
      own[i] = column < e.n && p.bias != nullptr ? p.bias[column] : from_float<typename P::T>(0.0F);
      if constexpr (P::kScales) own_scale[i] = column < e.n ? p.scales[column] : 0.0F;
    }
  }
  __device__ void share(int thread, int group) {
    half = P::kColumns - half;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int column = thread + i * kGroup;
      if (P::kColumns % kGroup != 0 && column >= P::kColumns) continue;
      shared[half + column] = to_float(own[i]);
      if constexpr (P::kScales) shared[2 * P::kColumns + half + column] = own_scale[i];
    }
    threads_meet<kGroup>(2 + group);
  }
  __device__ void add_to(Eight& eight, int column) const {
    const float* const from = shared + half + column;
    if constexpr (P::kScales) {
      const float* const scales = from + 2 * P::kColumns;
      eight.scale(*reinterpret_cast<const float4*>(scales), *reinterpret_cast<const float4*>(scales + 4));
    }
    eight.add(*reinterpret_cast<const float4*>(from), *reinterpret_cast<const float4*>(from + 4));
  }
};

// A thread's two rows of a tile in y and the residual, from its first column on. Of 32 columns either all exist or
// none.
template <typename P>
struct Place {
  using T = typename P::T;
  typename P::Y* y[2];
  const T* residual[2];
  int parts;  // of 32 columns
  bool exists[2];
  bool adds;  // a residual

  __device__ Place(const Extents& e, const PlanPointers<P>& p, int row, int column, int t)
      : parts((e.n - column) / 32), adds(P::kFinish == Finish::kResidual || p.residual != nullptr) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::int64_t at = std::int64_t{row + 8 * half} * e.n + column + 8 * t;
      y[half] = p.y + at;
      residual[half] = p.residual + at;
      exists[half] = row + 8 * half < e.m;
    }
  }
  // Rows that are normalized have all columns.
  __device__ bool has(int part, int half) const { return exists[half] && (P::kNormalizes || part < parts); }
};

// A thread's pieces of the residual, 16 bytes of each of its two rows for every 32 columns, a few at a time and ahead:
// they must not wait for each other, and the compiler may not move them before stores, which could be to the same
// place.
template <typename P>
struct Residual {
  static constexpr bool kRead = P::kFinish == Finish::kResidual || P::kNormalizes;
  static constexpr int kParts = P::kColumns / 32;
  static constexpr int kAhead = std::min(2, kParts);  // of 32 columns
  uint4 pieces[2][kAhead][2];

  // From memory into the L2 cache, long before it is needed.
  static __device__ void prefetch(const Place<P>& place) {
    if constexpr (kRead) {
#pragma unroll
      for (int i = 0; i < 2 * kParts; ++i)
        prefetch_if(place.adds && place.has(i / 2, i % 2), place.residual[i % 2] + i / 2 * 32);
    }
  }
  __device__ void fetch(int chunk, const Place<P>& place) {
    if constexpr (kRead) {
#pragma unroll
      for (int i = 0; i < 2 * kAhead; ++i) {
        const int part = chunk * kAhead + i / 2;
        uint4 piece{};
        if (place.adds && place.has(part, i % 2))
          piece = *reinterpret_cast<const uint4*>(place.residual[i % 2] + part * 32);
        pieces[chunk % 2][i / 2][i % 2] = piece;
      }
    }
  }
  __device__ void add_to(Eight& eight, int part, int half) const {
    if constexpr (kRead) eight.add(pieces[part / kAhead % 2][part % kAhead][half], typename P::T{});
  }
};

// Bias, GELU, residual; 16 bytes are stored at a time.
template <typename P>
__device__ void finish_tile(const typename P::Sum (&sums)[P::kSums], const TileBias<P>& bias, Residual<P>& residual,
                            const Place<P>& place, const PlanPointers<P>& p) {
  constexpr int kAhead = Residual<P>::kAhead;
  const int t = static_cast<int>(threadIdx.x) % kQuad;
#pragma unroll
  for (int part = 0; part < Residual<P>::kParts; ++part) {
    if (part % kAhead == 0 && part + kAhead < Residual<P>::kParts) residual.fetch(part / kAhead + 1, place);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      Eight eight = eight_of(sums, part, half);
      bias.add_to(eight, part * 32 + 8 * t);
      residual.add_to(eight, part, half);
      if constexpr (sizeof(typename P::Y) == 1) {
        const uint2 packed = rounded_to_bytes<P::kFinish, typename P::Y>(eight, p.inverse_scale, typename P::T{});
        if (place.has(part, half)) *reinterpret_cast<uint2*>(place.y[half] + part * 32) = packed;
      } else {
        const uint4 packed = rounded<P::kFinish>(eight, typename P::T{});
        if (place.has(part, half)) *reinterpret_cast<uint4*>(place.y[half] + part * 32) = packed;
      }
    }
  }
}

template <typename P>
using TileEnd = std::conditional_t<P::kNormalizes, NormalizedEnd<P>, TileBias<P>>;

template <typename P>
__device__ void consume(const Ring<P>& ring, const Extents& e, const PlanPointers<P>& p, int group, TileEnd<P> end) {
  constexpr int kSteps = static_cast<int>(kStageRowBytes / kStepBytes);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int thread = static_cast<int>(threadIdx.x) % kGroup;
  const int steps = (e.k + P::kDepth - 1) / P::kDepth;
  const int own_row = group * kGroupRows + thread / kWarp * 16 + lane / kQuad;
  const auto release = [&](int stage) {
    __syncwarp();
    if (lane == 0) barrier_arrive(ring.empty_at(stage));
  };
  Walk<P> at(e);
  if constexpr (P::kNormalizes) end.vectors.fetch(p, at.first_column(), group);
  // The second warp group begins when the first one has a ring of stages behind it: half a tile, or as much as there
  // is.
  if constexpr (P::kGroups == 2) {
    if (group == 1) threads_meet<2 * kGroup>(1);
  }
  bool apart = P::kGroups == 1 || group == 1;
  bool previous_finished = false;
  while (at.tile < e.tiles) {
    typename P::Sum sums[P::kSums];
    const Place<P> place(e, p, at.first_row() + own_row, at.first_column(), lane % kQuad);
    if constexpr (!P::kNormalizes) end.fetch(e, p, at.first_column(), thread);
    Residual<P>::prefetch(place);
#pragma unroll(P::kGroups == 1 ? 1 : 2)  // one group is for few rows: see hopper_split.cuh
    for (int step = 0; step < steps; ++step) {
      barrier_wait(ring.full_at(at.stage), at.parity);
      const std::uint64_t a =
          tile_descriptor(ring.a(at.stage) + static_cast<std::uint32_t>(group) * kGroupRows * kStageRowBytes);
      const std::uint64_t b = tile_descriptor(ring.b(at.stage));
      products_begin();
#pragma unroll
      for (int i = 0; i < kSteps; ++i) {
        constexpr std::uint64_t kAdvance = kStepBytes >> 4;
        WarpGroupProduct<typename P::Operand, P::kColumns>::add(sums, a + i * kAdvance, b + i * kAdvance,
                                                                step == 0 && i == 0);
      }
      products_commit();
      products_wait<1>();
      if (step > 0) release(at.stage == 0 ? P::kStages - 1 : at.stage - 1);
      if (!apart && (step + 1 == steps || step + 1 == P::kStages)) {
        apart = true;
        threads_arrive<2 * kGroup>(1);
      }
      if (step + 1 < steps) at.advance_stage();
    }
    if (!previous_finished) {
      wait_for_previous();
      previous_finished = true;
    }
    Residual<P> residual;
    residual.fetch(0, place);
    if constexpr (!P::kNormalizes) end.share(thread, group);
    products_wait<0>();
    release(at.stage);
    at.advance_stage();
    if constexpr (P::kNormalizes) {
      finish_normalized<P>(sums, end, residual, place, p);
    } else {
      finish_tile<P>(sums, end, residual, place, p);
    }
    at.advance_tile(e);
  }
  if (!previous_finished) wait_for_previous();
}

template <typename P>
__global__ __launch_bounds__(P::kThreads, P::kBlocksEach) void matmul_kernel(const __grid_constant__ CUtensorMap a_map,
                                                                             const __grid_constant__ CUtensorMap b_map,
                                                                             const Extents e, const PlanPointers<P> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ unsigned char dynamic[];
  using Exchange = MomentExchange<P>;
  __shared__ std::uint64_t barriers[2 * P::kStages + (P::kNormalizes ? Exchange::kBarriers : 0)];
  constexpr int kVectors = P::kNormalizes ? ResultVectors<P>::kCount : TileBias<P>::kVectors;
  __shared__ alignas(16) float vectors[P::kGroups][kVectors * P::kColumns];
  __shared__ float4 moments[P::kNormalizes ? Exchange::kPlaces : 1];
  const std::uint32_t first = shared_address(barriers);
  const Ring<P> ring{(shared_address(dynamic) + 1023U) & ~1023U, first, first + P::kStages * 8};
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < P::kStages; ++stage) {
      barrier_init(ring.full_at(stage), 1);
      barrier_init(ring.empty_at(stage), P::kGroups * (kGroup / kWarp));
    }
    if constexpr (P::kNormalizes) {
      for (int i = 0; i < Exchange::kBarriers; ++i)
        barrier_init(ring.full_at(2 * P::kStages + i), 1);
    }
    barrier_inits_done();
  }
  __syncthreads();
  if (!e.late) let_next_begin();
  if constexpr (P::kNormalizes) {
    // From here on the blocks of the cluster have begun, and their barriers are there.
    if (e.tiles_n > 1) {
      cluster_arrive();
      cluster_wait();
    }
  }
  const int group = static_cast<int>(threadIdx.x) / kGroup - 1;
  if (group < 0) {
    if constexpr (P::kGroups == 2) give_registers<40>();
    if (threadIdx.x == 0) produce<P>(ring, e, &a_map, &b_map);
  } else {
    if constexpr (P::kGroups == 2) take_registers<232>();
    if constexpr (P::kNormalizes) {
      const Exchange exchange(shared_address(moments), ring.full_at(2 * P::kStages), e.tiles_n, group);
      consume<P>(ring, e, p, group, NormalizedEnd<P>{{vectors[group]}, exchange});
    } else {
      consume<P>(ring, e, p, group, TileBias<P>{vectors[group], 0, {}, {}});
    }
  }
#endif
}

}  // namespace swinscope::cuda::hopper

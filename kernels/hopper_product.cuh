// The product kernel for compute capability 9.0, y[m, n] = f(a[m, k] b[n, k]^T): one warp group whose first thread lets
// the copy engine bring tiles of a and b into a ring of stages, and one or two that multiply them, 64 rows each. Blocks
// stay and go from tile to tile, so that loads never pause. Two warp groups work a ring of stages apart: while one
// finishes its sums (bias, GELU, residual) the other one has the tensor cores.
#pragma once

#include <algorithm>

#include "kernels/early_launch.cuh"
#include "kernels/hopper_instructions.cuh"
#include "kernels/hopper_product.h"
#include "kernels/wgmma.cuh"
#include "kernels/window_attention_mma.cuh"

namespace swinscope::cuda::hopper {

enum class Finish { kPlain, kGelu };

constexpr int kGroup = 128;  // threads of a warp group
constexpr int kGroupRows = 64;
constexpr int kDepth = 64;  // of a stage: 128 bytes of each row
constexpr std::uint32_t kStageRowBytes = 128;
constexpr int kStep = 16;  // of one product
constexpr int kQuad = 4;
// What a block may take of the 227 KiB of shared memory, where one or two blocks share a multiprocessor.
constexpr std::uint32_t kOneBlockBytes = 200 * 1024;
constexpr std::uint32_t kTwoBlockBytes = 104 * 1024;
constexpr int kMaxStages = 8;

template <typename T_, int kColumns_, int kGroups_, Finish kFinish_>
struct Plan {
  using T = T_;
  static constexpr int kColumns = kColumns_;
  static constexpr int kGroups = kGroups_;  // that multiply
  static constexpr int kRows = kGroups * kGroupRows;
  static constexpr Finish kFinish = kFinish_;
  static constexpr int kThreads = (1 + kGroups) * kGroup;
  static constexpr std::uint32_t kABytes = kRows * kStageRowBytes;
  static constexpr std::uint32_t kStageBytes = kABytes + kColumns * kStageRowBytes;
  static constexpr int kBlocksEach = kGroups == 1 ? 2 : 1;
  static constexpr int kStages =
      std::min(kMaxStages, static_cast<int>((kBlocksEach == 2 ? kTwoBlockBytes : kOneBlockBytes) / kStageBytes));
  static constexpr std::uint32_t kSharedBytes = kStages * kStageBytes + 1024;  // and what alignment takes
  static constexpr int kSums = kColumns / 2;
};

struct Extents {
  int m, n, k;
  int tiles_n, tiles;
};

template <typename T>
struct Pointers {
  const T* bias;      // [n], or null
  const T* residual;  // [m, n], or null; may be y
  T* y;
};

// The tanh form of GELU of two values: the exponentials in one instruction, with 11 bits.
__device__ inline void gelu(float& low, float& high) {
  constexpr float kScale = 0.79788456F;  // sqrt(2 / pi)
  constexpr float kCube = 0.044715F * kScale;
  const __half2 inner =
      __floats2half2_rn(low * fmaf(kCube, low * low, kScale), high * fmaf(kCube, high * high, kScale));
  const std::uint32_t from = *reinterpret_cast<const std::uint32_t*>(&inner);
  std::uint32_t to;
  asm("tanh.approx.f16x2 %0, %1;" : "=r"(to) : "r"(from));
  const float2 t = unpack(to, __half{});
  low = fmaf(0.5F * low, t.x, 0.5F * low);
  high = fmaf(0.5F * high, t.y, 0.5F * high);
}

// Where a block is among tiles and stages.
template <typename P>
struct Walk {
  int tile, step;  // step: of kDepth along k
  int stage = 0;
  std::uint32_t parity = 0;

  __device__ explicit Walk() : tile(static_cast<int>(blockIdx.x)), step(0) {}
  __device__ void advance_stage() {
    if (++stage == P::kStages) {
      stage = 0;
      parity ^= 1U;
    }
  }
  __device__ void advance(int steps) {
    advance_stage();
    if (++step == steps) {
      step = 0;
      tile += static_cast<int>(gridDim.x);
    }
  }
  __device__ int row(const Extents& e) const { return tile / e.tiles_n * P::kRows; }
  __device__ int column(const Extents& e) const { return tile % e.tiles_n * P::kColumns; }
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
__device__ void load_a(const Ring<P>& ring, const Walk<P>& at, const Extents& e, const CUtensorMap* map) {
  load_tile(ring.a(at.stage), map, at.step * kDepth, at.row(e), ring.full_at(at.stage));
}
template <typename P>
__device__ void load_b(const Ring<P>& ring, const Walk<P>& at, const Extents& e, const CUtensorMap* map) {
  load_permuted_tile(ring.b(at.stage), map, at.step * kDepth, at.column(e) / 32, ring.full_at(at.stage));
}

template <typename P>
__device__ void produce(const Ring<P>& ring, const Extents& e, const CUtensorMap* a_map, const CUtensorMap* b_map) {
  const int steps = (e.k + kDepth - 1) / kDepth;
  // Weights do not depend on the kernel before: the first stages' are fetched while it ends.
  Walk<P> weights;
  for (int i = 0; i < P::kStages && weights.tile < e.tiles; ++i, weights.advance(steps)) {
    barrier_arrive_expecting(ring.full_at(weights.stage), P::kStageBytes);
    load_b(ring, weights, e, b_map);
  }
  wait_for_previous();
  Walk<P> at;
  for (int i = 0; i < P::kStages && at.tile < e.tiles; ++i, at.advance(steps))
    load_a(ring, at, e, a_map);
  for (; at.tile < e.tiles; at.advance(steps)) {
    barrier_wait(ring.empty_at(at.stage), at.parity ^ 1U);
    barrier_arrive_expecting(ring.full_at(at.stage), P::kStageBytes);
    load_a(ring, at, e, a_map);
    load_b(ring, at, e, b_map);
  }
}

struct Eight {
  float values[8];
};

// The bias of a tile's columns, in shared memory of each warp group: fetched while the products run.
template <typename P>
struct TileBias {
  static constexpr int kEach = (P::kColumns + kGroup - 1) / kGroup;
  float* shared;  // [kColumns]
  float own[kEach];

  __device__ void fetch(const Extents& e, const Pointers<typename P::T>& p, int first, int thread) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int column = first + thread + i * kGroup;
      own[i] = column < e.n && p.bias != nullptr ? to_float(p.bias[column]) : 0.0F;
    }
  }
  __device__ void share(int thread, int group) const {
    const auto group_sync = [&] { asm volatile("bar.sync %0, 128;" ::"r"(2 + group) : "memory"); };
    group_sync();  // nobody needs the last tile's
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (P::kColumns % kGroup == 0 || thread + i * kGroup < P::kColumns) shared[thread + i * kGroup] = own[i];
    }
    group_sync();
  }
  __device__ Eight eight(int column) const {
    const float4 low = *reinterpret_cast<const float4*>(shared + column);
    const float4 high = *reinterpret_cast<const float4*>(shared + column + 4);
    return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
  }
};

// A thread's pieces of the residual, 16 bytes of each of its two rows for every 32 columns, a few at a time and ahead:
// they must not wait for each other, and the compiler may not move them before stores, which could be to the same
// place.
template <typename P>
struct Residual {
  static constexpr int kParts = P::kColumns / 32;
  static constexpr int kAhead = std::min(2, kParts);  // of 32 columns
  uint4 pieces[2][kAhead][2];

  // From memory into the L2 cache, long before it is needed.
  static __device__ void prefetch(const Extents& e, const Pointers<typename P::T>& p, int row, int column, int t) {
    if (p.residual == nullptr) return;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int at = column + part * 32 + 8 * t;
        if (row + 8 * half >= e.m || at >= e.n) continue;
        asm volatile("prefetch.global.L2 [%0];" ::"l"(p.residual + std::int64_t{row + 8 * half} * e.n + at));
      }
    }
  }

  __device__ void fetch(int chunk, const Extents& e, const Pointers<typename P::T>& p, int row, int column, int t) {
    if (p.residual == nullptr) return;
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int at = column + (chunk * kAhead + i) * 32 + 8 * t;
        const bool exists = row + 8 * half < e.m && at < e.n;
        pieces[chunk % 2][i][half] =
            exists ? *reinterpret_cast<const uint4*>(p.residual + std::int64_t{row + 8 * half} * e.n + at) : uint4{};
      }
    }
  }
};

// Adds the residual, rounds, and stores 8 columns of a row.
template <typename P>
__device__ void store_columns(float (&values)[8], const uint4& before, const Extents& e,
                              const Pointers<typename P::T>& p, int row, int column) {
  using T = typename P::T;
  if (p.residual != nullptr) {
    const std::uint32_t pairs[kQuad] = {before.x, before.y, before.z, before.w};
#pragma unroll
    for (int j = 0; j < kQuad; ++j) {
      const float2 x = unpack(pairs[j], T{});
      values[2 * j] += x.x;
      values[2 * j + 1] += x.y;
    }
  }
  const uint4 packed = {pack(values[0], values[1], T{}), pack(values[2], values[3], T{}),
                        pack(values[4], values[5], T{}), pack(values[6], values[7], T{})};
  if (row < e.m && column < e.n) *reinterpret_cast<uint4*>(p.y + std::int64_t{row} * e.n + column) = packed;
}

// Bias, GELU, residual. A thread has two rows, and of every 32 columns ("part") the 8 from 8 t on: see
// make_permuted_map().
template <typename P>
__device__ void finish_tile(const float (&sums)[P::kSums], const TileBias<P>& bias, Residual<P>& residual,
                            const Extents& e, const Pointers<typename P::T>& p, int row, int column) {
  constexpr int kAhead = Residual<P>::kAhead;
  const int t = static_cast<int>(threadIdx.x) % kQuad;
#pragma unroll
  for (int part = 0; part < Residual<P>::kParts; ++part) {
    if (part % kAhead == 0 && part + kAhead < Residual<P>::kParts) {
      residual.fetch(part / kAhead + 1, e, p, row, column, t);
    }
    const Eight offset = bias.eight(part * 32 + 8 * t);
    float values[2][8];
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const int of_row = i / 4 * 2 + i % 2;
      values[i / 2 % 2][of_row] = sums[part * 16 + i] + offset.values[of_row];
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if constexpr (P::kFinish == Finish::kGelu) {
#pragma unroll
        for (int i = 0; i < 8; i += 2)
          gelu(values[half][i], values[half][i + 1]);
      }
      store_columns<P>(values[half], residual.pieces[part / kAhead % 2][part % kAhead][half], e, p, row + 8 * half,
                       column + part * 32 + 8 * t);
    }
  }
}

template <typename P>
__device__ void consume(const Ring<P>& ring, const Extents& e, const Pointers<typename P::T>& p, int group,
                        TileBias<P> bias) {
  using T = typename P::T;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int thread = static_cast<int>(threadIdx.x) % kGroup;
  const int steps = (e.k + kDepth - 1) / kDepth;
  const int own_row = group * kGroupRows + thread / kWarp * 16 + lane / kQuad;
  const auto release = [&](int stage) {
    __syncwarp();
    if (lane == 0) barrier_arrive(ring.empty_at(stage));
  };
  // The second warp group begins when the first one has a ring of stages behind it: half a tile, or as much as there
  // is.
  if constexpr (P::kGroups == 2) {
    if (group == 1) asm volatile("bar.sync 1, 256;" ::: "memory");
  }
  bool apart = P::kGroups == 1 || group == 1;
  Walk<P> at;
  bool previous_finished = false;
  while (at.tile < e.tiles) {
    float sums[P::kSums];
    const int row = at.row(e) + own_row;
    const int column = at.column(e);
    bias.fetch(e, p, column, thread);
    Residual<P>::prefetch(e, p, row, column, lane % kQuad);
    for (int step = 0; step < steps; ++step) {
      barrier_wait(ring.full_at(at.stage), at.parity);
      const std::uint64_t a =
          tile_descriptor(ring.a(at.stage) + static_cast<std::uint32_t>(group) * kGroupRows * kStageRowBytes);
      const std::uint64_t b = tile_descriptor(ring.b(at.stage));
      products_begin();
#pragma unroll
      for (int i = 0; i < kDepth / kStep; ++i) {
        constexpr std::uint64_t kAdvance = kStep * 2 >> 4;
        WarpGroupProduct<T, P::kColumns>::add(sums, a + i * kAdvance, b + i * kAdvance, step == 0 && i == 0);
      }
      products_commit();
      products_wait<1>();
      if (step > 0) release(at.stage == 0 ? P::kStages - 1 : at.stage - 1);
      if (!apart && (step + 1 == steps || step + 1 == P::kStages)) {
        apart = true;
        asm volatile("bar.arrive 1, 256;" ::: "memory");
      }
      if (step + 1 < steps) at.advance_stage();
    }
    if (!previous_finished) {
      wait_for_previous();
      previous_finished = true;
    }
    Residual<P> residual;
    residual.fetch(0, e, p, row, column, lane % kQuad);
    products_wait<0>();
    release(at.stage);
    at.advance_stage();
    bias.share(thread, group);
    finish_tile<P>(sums, bias, residual, e, p, row, column);
    at.tile += static_cast<int>(gridDim.x);
  }
  if (!previous_finished) wait_for_previous();
}

template <typename P>
__global__ __launch_bounds__(P::kThreads, P::kBlocksEach) void product_kernel(const __grid_constant__ CUtensorMap a_map,
                                                                              const __grid_constant__ CUtensorMap b_map,
                                                                              const Extents e,
                                                                              const Pointers<typename P::T> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ unsigned char dynamic[];
  __shared__ std::uint64_t barriers[2 * P::kStages];
  __shared__ alignas(16) float bias[P::kGroups][P::kColumns];
  const std::uint32_t first = shared_address(barriers);
  const Ring<P> ring{(shared_address(dynamic) + 1023U) & ~1023U, first, first + P::kStages * 8};
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < P::kStages; ++stage) {
      barrier_init(ring.full_at(stage), 1);
      barrier_init(ring.empty_at(stage), P::kGroups * (kGroup / kWarp));
    }
    barrier_inits_done();
  }
  __syncthreads();
  let_next_begin();
  const int group = static_cast<int>(threadIdx.x) / kGroup - 1;
  if (group < 0) {
    if constexpr (P::kGroups == 2) give_registers<40>();
    if (threadIdx.x == 0) produce<P>(ring, e, &a_map, &b_map);
  } else {
    if constexpr (P::kGroups == 2) take_registers<232>();
    consume<P>(ring, e, p, group, TileBias<P>{bias[group], {}});
  }
#endif
}

}  // namespace swinscope::cuda::hopper

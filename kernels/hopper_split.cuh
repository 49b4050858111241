// The product kernel for few rows: tiles of 64 rows, and clusters of blocks for two reasons, alone or together.
// Blocks that share k: where there are few tiles, each block sums up its part of a tile's k, so that the GPU is full;
// then each finishes a share of the sums, for which the others send theirs into its shared memory. Sums of
// parts are added in the same order every time.
// Blocks that share b: those of tiles above each other need the same rows of b. Each fetches a slice of them for all,
// so that they come from the L2 cache once: what it delivers is what limits a product of few rows and many weights. A
// cluster may be a single block.
// With few rows a kernel also waits for its instructions, which the ones before have displaced: loops are not unrolled
// where that would only make more of them.
#pragma once

#include "kernels/early_launch.cuh"
#include "kernels/hopper_finish.cuh"
#include "kernels/hopper_product.h"
#include "kernels/wgmma.cuh"

namespace swinscope::cuda::hopper {

template <typename T_, int kColumns_, Finish kFinish_>
struct SplitPlan {
  using T = T_;
  static constexpr int kColumns = kColumns_;
  static constexpr Finish kFinish = kFinish_;
  static constexpr int kRows = 64;
  static constexpr int kDepth = 64;  // of a stage: 128 bytes of each row
  static constexpr int kGroup = 128;
  static constexpr int kThreads = kGroup + 32;  // the warp group that multiplies, and a warp that loads
  static constexpr std::uint32_t kRowBytes = kDepth * 2;
  static constexpr std::uint32_t kABytes = kRows * kRowBytes;
  static constexpr std::uint32_t kStageBytes = kABytes + kColumns * kRowBytes;
  static constexpr int kStages = kColumns > 64 ? 4 : 6;
  static constexpr int kSums = kColumns / 2;
  // Of 8 sums of a thread, which it finishes or gives away together: `unit / 2` of 32 columns, `unit % 2` of two rows.
  static constexpr int kUnits = kSums / 8;
  static constexpr std::uint32_t kUnitBytes = 8 * 4 * kGroup;
  static constexpr std::uint32_t kBarrierBytes = 128;

  // received: units from the other blocks that share k.
  static constexpr std::uint32_t shared_bytes(int received) {
    return 1024 + kStages * kStageBytes + kBarrierBytes + static_cast<std::uint32_t>(received) * kUnitBytes;
  }
  static constexpr int received(int splits) { return (splits - 1) * ((kUnits + splits - 1) / splits); }
};

struct SplitExtents {
  int m, n, k;
  int tiles_n;
  int splits;       // blocks that share k, a power of two: at most kUnits, and at most the steps along k
  int split_shift;  // splits = 1 << split_shift; from the host: nvcc 13.0 makes std::countr_zero a constant on the
                    // device
  int shares;       // blocks that share b, a power of two: at most kColumns / 8
  bool late;        // see ProductPointers

  // Units of sums are finished by the blocks that share k in turn: by which, as which of its units; how many it has.
  __device__ int owner(int unit) const { return unit & (splits - 1); }
  __device__ int place(int unit) const { return unit >> split_shift; }
  __device__ int units_of(int rank, int units) const { return (units - rank + splits - 1) >> split_shift; }
};

// Where a block's shared memory has what.
template <typename P>
struct SplitMemory {
  std::uint32_t stages, barriers, received;
  __device__ explicit SplitMemory(std::uint32_t dynamic)
      : stages((dynamic + 1023U) & ~1023U),
        barriers(stages + P::kStages * P::kStageBytes),
        received(barriers + P::kBarrierBytes) {}
  __device__ std::uint32_t a(int stage) const { return stages + static_cast<std::uint32_t>(stage) * P::kStageBytes; }
  __device__ std::uint32_t b(int stage) const { return a(stage) + P::kABytes; }
  __device__ std::uint32_t full(int stage) const { return barriers + static_cast<std::uint32_t>(stage) * 8; }
  __device__ std::uint32_t empty(int stage) const { return full(P::kStages + stage); }
  __device__ std::uint32_t all_received() const { return full(2 * P::kStages); }
  // A thread's place for the first half of a unit from the `from`th of the others; the second half stands behind those
  // of all threads.
  __device__ std::uint32_t unit(int from, int index, int each, int thread) const {
    return received + static_cast<std::uint32_t>(from * each + index) * P::kUnitBytes +
           static_cast<std::uint32_t>(thread) * 16;
  }
};

// A block's part of the work: steps from `first` up to `last`. Within a cluster those that share b follow each other:
// it is the `member`th of those of the `rank`th part of k.
struct SplitPart {
  int rank, member, first, last, row, column;
};

template <typename P>
__device__ SplitPart part_of(int block, const SplitExtents& e) {
  const int steps = (e.k + P::kDepth - 1) / P::kDepth;
  const int cluster = block / (e.splits * e.shares);
  const int rank = block / e.shares % e.splits;
  const int member = block % e.shares;
  return {rank,
          member,
          steps * rank / e.splits,
          steps * (rank + 1) / e.splits,
          (cluster / e.tiles_n * e.shares + member) * P::kRows,
          cluster % e.tiles_n * P::kColumns};
}

template <typename P>
__device__ void produce_part(const SplitMemory<P>& memory, const SplitPart& part, const SplitExtents& e,
                             const CUtensorMap* a_map, const CUtensorMap* b_map) {
  const int shares = e.shares;
  // This block's slice of the rows of b.
  const int slice = P::kColumns / shares * part.member;
  const int group = (part.column + slice) / 32;
  const int eighth = slice % 32 / 8;
  const auto sharers = static_cast<std::uint16_t>(((1U << shares) - 1U) << (part.rank * shares));
  const auto load_a = [&](int step, int stage) {
    load_tile(memory.a(stage), a_map, step * P::kDepth, part.row, memory.full(stage));
  };
  const auto load_b = [&](int step, int stage) {
    barrier_arrive_expecting(memory.full(stage), P::kStageBytes);
    const std::uint32_t to = memory.b(stage) + static_cast<std::uint32_t>(slice) * P::kRowBytes;
    if (shares == 1) {
      load_permuted_tile(to, b_map, step * P::kDepth, group, memory.full(stage));
    } else {
      load_permuted_slice_for(sharers, to, b_map, step * P::kDepth, eighth, group, memory.full(stage));
    }
  };
  const int ahead = min(P::kStages, part.last - part.first);
  // Weights do not depend on the kernel before: what the stages have no room for comes into the L2 cache while it ends.
  prefetch_map(a_map);
#pragma unroll 1
  for (int i = 0; i < ahead; ++i)
    load_b(part.first + i, i);
  if (part.row < shares * P::kRows) {
#pragma unroll 1
    for (int step = part.first + ahead; step < part.last; ++step)
      prefetch_permuted_slice(b_map, step * P::kDepth, eighth, group);
  }
  wait_for_previous();
  if (e.late) let_next_begin();
#pragma unroll 1
  for (int i = 0; i < ahead; ++i)
    load_a(part.first + i, i);
  int stage = 0;
  std::uint32_t parity = 0;
  const auto advance = [&] {
    if (++stage == P::kStages) {
      stage = 0;
      parity ^= 1U;
    }
  };
#pragma unroll 1
  for (int step = part.first + ahead; step < part.last; ++step) {
    barrier_wait(memory.empty(stage), parity);
    load_b(step, stage);
    load_a(step, stage);
    advance();
  }
  if (shares == 1) return;
  // A block stays until all have read what it fetched for them, and have told it so.
  for (int i = 0; i < ahead; ++i, advance())
    barrier_wait(memory.empty(stage), parity);
}

template <typename P>
__device__ void multiply_part(const SplitMemory<P>& memory, const SplitPart& part, const SplitExtents& e,
                              float (&sums)[P::kSums]) {
  constexpr int kStep = 16;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  // A stage is free where all that share b have read it.
  const auto release = [&](int stage) {
    __syncwarp();
    if (e.shares == 1) {
      if (lane == 0) barrier_arrive(memory.empty(stage));
    } else if (lane < e.shares) {
      barrier_arrive_there(address_in_cluster(memory.empty(stage), part.rank * e.shares + lane));
    }
  };
  int stage = 0;
  std::uint32_t parity = 0;
#pragma unroll 1
  for (int step = part.first; step < part.last; ++step) {
    barrier_wait(memory.full(stage), parity);
    const std::uint64_t a = tile_descriptor(memory.a(stage));
    const std::uint64_t b = tile_descriptor(memory.b(stage));
    products_begin();
#pragma unroll
    for (int i = 0; i < P::kDepth / kStep; ++i) {
      constexpr std::uint64_t kAdvance = kStep * 2 >> 4;
      WarpGroupProduct<typename P::T, P::kColumns>::add(sums, a + i * kAdvance, b + i * kAdvance,
                                                        step == part.first && i == 0);
    }
    products_commit();
    products_wait<1>();
    if (step > part.first) release(stage == 0 ? P::kStages - 1 : stage - 1);
    if (++stage == P::kStages) {
      stage = 0;
      parity ^= 1U;
    }
  }
  products_wait<0>();
  release(stage == 0 ? P::kStages - 1 : stage - 1);
}

// Sends the units that others finish to them, and waits for what they have of this block's.
template <typename P>
__device__ void exchange_sums(const SplitMemory<P>& memory, const SplitExtents& e, const SplitPart& part, int thread,
                              const float (&sums)[P::kSums]) {
#pragma unroll
  for (int unit = 0; unit < P::kUnits; ++unit) {
    const int owner = e.owner(unit);
    if (owner == part.rank) continue;
    const Eight eight = eight_of(sums, unit / 2, unit % 2);
    const float* const v = eight.values;
    const int block = owner * e.shares + part.member;
    const std::uint32_t place =
        memory.unit(part.rank - (part.rank > owner ? 1 : 0), e.place(unit), e.units_of(0, P::kUnits), thread);
    const std::uint32_t to = address_in_cluster(place, block);
    const std::uint32_t barrier = address_in_cluster(memory.all_received(), block);
    send(to, {v[0], v[1], v[2], v[3]}, barrier);
    send(to + P::kUnitBytes / 2, {v[4], v[5], v[6], v[7]}, barrier);
  }
  barrier_wait_for_others(memory.all_received(), 0);
}

template <typename P>
__device__ Eight total_of(const SplitMemory<P>& memory, const SplitExtents& e, int unit, int thread,
                          const float (&sums)[P::kSums]) {
  Eight total = eight_of(sums, unit / 2, unit % 2);
#pragma unroll 1
  for (int from = 0; from + 1 < e.splits; ++from) {
    const std::uint32_t at = memory.unit(from, e.place(unit), e.units_of(0, P::kUnits), thread);
    total.add(load_shared_floats(at), load_shared_floats(at + P::kUnitBytes / 2));
  }
  return total;
}

template <typename P>
__device__ void consume_part(const SplitMemory<P>& memory, const SplitPart& part, const SplitExtents& e,
                             const Pointers<typename P::T>& p) {
  using T = typename P::T;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kWarp;
  const int row = part.row + thread / kWarp * 16 + lane / 4;
  const int column = part.column + 8 * (lane % 4);
  const auto mine = [&](int unit) { return e.owner(unit) == part.rank; };
  const auto exists = [&](int unit) {
    return mine(unit) && row + 8 * (unit % 2) < e.m && column + unit / 2 * 32 < e.n;
  };
  const auto place = [&](int unit) { return std::int64_t{row + 8 * (unit % 2)} * e.n + column + unit / 2 * 32; };

  // On their way while the products run.
  uint4 bias[P::kUnits / 2];
#pragma unroll
  for (int i = 0; i < P::kUnits / 2; ++i) {
    bias[i] = uint4{};
    if (p.bias != nullptr && column + i * 32 < e.n && (mine(2 * i) || mine(2 * i + 1))) {
      bias[i] = *reinterpret_cast<const uint4*>(p.bias + column + i * 32);
    }
  }
  wait_for_previous();
  constexpr bool kRead = P::kFinish == Finish::kResidual;
  uint4 residual[kRead ? P::kUnits : 1];
  if constexpr (kRead) {
#pragma unroll
    for (int unit = 0; unit < P::kUnits; ++unit) {
      residual[unit] = uint4{};
      if (exists(unit)) residual[unit] = *reinterpret_cast<const uint4*>(p.residual + place(unit));
    }
  }

  float sums[P::kSums];
  multiply_part<P>(memory, part, e, sums);
  if (e.splits > 1) exchange_sums<P>(memory, e, part, thread, sums);
#pragma unroll
  for (int unit = 0; unit < P::kUnits; ++unit) {
    if (!exists(unit)) continue;
    Eight eight = total_of<P>(memory, e, unit, thread, sums);
    eight.add(bias[unit / 2], T{});
    if constexpr (kRead) eight.add(residual[unit], T{});
    *reinterpret_cast<uint4*>(p.y + place(unit)) = rounded<P::kFinish>(eight, T{});
  }
}

template <typename P>
__global__ __launch_bounds__(P::kThreads) void split_k_matmul_kernel(const __grid_constant__ CUtensorMap a_map,
                                                                     const __grid_constant__ CUtensorMap b_map,
                                                                     const SplitExtents e,
                                                                     const Pointers<typename P::T> p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ unsigned char dynamic[];
  const SplitMemory<P> memory(shared_address(dynamic));
  const SplitPart part = part_of<P>(static_cast<int>(blockIdx.x), e);
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < P::kStages; ++stage) {
      barrier_init(memory.full(stage), 1);
      barrier_init(memory.empty(stage), static_cast<std::uint32_t>(P::kGroup / kWarp * e.shares));
    }
    barrier_init(memory.all_received(), 1);
    barrier_arrive_expecting(
        memory.all_received(),
        static_cast<std::uint32_t>((e.splits - 1) * e.units_of(part.rank, P::kUnits)) * P::kUnitBytes);
    barrier_inits_done();
  }
  __syncthreads();
  if (!e.late) let_next_begin();
  // From here on all blocks have begun, and their barriers are there.
  if (e.splits * e.shares > 1) {
    cluster_arrive();
    cluster_wait();
  }
  if (threadIdx.x < P::kGroup) {
    consume_part<P>(memory, part, e, p);
  } else if (threadIdx.x == P::kGroup) {
    produce_part<P>(memory, part, e, &a_map, &b_map);
  }
#endif
}

}  // namespace swinscope::cuda::hopper

// What the product kernels for compute capability 9.0 are made of (PTX ISA): barriers in shared memory, tiles that the
// copy engine brings there (TMA), warp group products, clusters of blocks.
#pragma once

#include <cstdint>

#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace swinscope::cuda::hopper {

// Barriers: a phase ends when all expected arrivals have come and all announced bytes.
__device__ inline void barrier_init(std::uint32_t barrier, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// Makes barriers known to the copy engine; a barrier of the threads must follow.
__device__ inline void barrier_inits_done() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ inline void barrier_arrive_expecting(std::uint32_t barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ inline void barrier_arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ inline void barrier_wait(std::uint32_t barrier, std::uint32_t parity) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// A place in a ring of stages, and how often it has been gone round.
struct RingPlace {
  int stages;
  int stage = 0;
  std::uint32_t parity = 0;
  __device__ explicit RingPlace(int count) : stages(count) {}
  __device__ void advance() {
    if (++stage == stages) {
      stage = 0;
      parity ^= 1U;
    }
  }
};

// What threads wrote to shared memory is there for warp group products, once they have met.
__device__ inline void writes_done_for_products() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Before its first use, which else waits for the map itself.
__device__ inline void prefetch_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
// A box of the tensor behind `map`, whose first element is (column, row), to shared memory; counts its bytes at `full`.
__device__ inline void load_tile(std::uint32_t to, const CUtensorMap* map, int column, int row, std::uint32_t full) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          to),
      "l"(map), "r"(column), "r"(row), "r"(full)
      : "memory");
}
// The same with a cache_policy().
__device__ inline void load_tile(std::uint32_t to, const CUtensorMap* map, int column, int row, std::uint32_t full,
                                 std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, "
      "%3}], [%4], %5;" ::"r"(to),
      "l"(map), "r"(column), "r"(row), "r"(full), "l"(policy)
      : "memory");
}
// Into the L2 cache only.
__device__ inline void prefetch_tile(const CUtensorMap* map, int column, int row) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global [%0, {%1, %2}];" ::"l"(map), "r"(column), "r"(row)
               : "memory");
}
// A box of make_permuted_map(), whose first element is (column, first of 32 * group rows).
__device__ inline void load_permuted_tile(std::uint32_t to, const CUtensorMap* map, int column, int group,
                                          std::uint32_t full) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %3, %3, %4}], "
      "[%5];" ::"r"(to),
      "l"(map), "r"(column), "r"(0), "r"(group), "r"(full)
      : "memory");
}

// A slice of such a box, from its `eighth`th 8 rows on, to the same place in each block of the cluster whose bit in
// `blocks` is set; counts its bytes at each one's barrier at the place of `full`.
__device__ inline void load_permuted_slice_for(std::uint16_t blocks, std::uint32_t to, const CUtensorMap* map,
                                               int column, int eighth, int group, std::uint32_t full) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, "
      "%3, %3, %4, %5}], [%6], %7;" ::"r"(to),
      "l"(map), "r"(column), "r"(0), "r"(eighth), "r"(group), "r"(full), "h"(blocks)
      : "memory");
}

// The same into the L2 cache only.
__device__ inline void prefetch_permuted_slice(const CUtensorMap* map, int column, int eighth, int group) {
  asm volatile("cp.async.bulk.prefetch.tensor.5d.L2.global [%0, {%1, %2, %2, %3, %4}];" ::"l"(map), "r"(column), "r"(0),
               "r"(eighth), "r"(group)
               : "memory");
}

// Warp group products read shared memory by descriptors. Tiles have rows of 128 bytes whose 16-byte pieces the copy
// engine permuted by the row (128-byte swizzle); groups of 8 rows are 1024 bytes apart.
__device__ inline std::uint64_t tile_descriptor(std::uint32_t address) {
  constexpr std::uint64_t kSwizzle128 = std::uint64_t{1} << 62;
  constexpr std::uint64_t kGroupStride = std::uint64_t{1024 >> 4} << 32;
  constexpr std::uint64_t kUnused = std::uint64_t{1} << 16;
  return kSwizzle128 | kGroupStride | kUnused | ((address & 0x3ffffU) >> 4);
}
__device__ inline void products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void products_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kPending>
__device__ inline void products_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// Barriers of part of a block; number 0 is that of all threads.
template <int kThreads>
__device__ inline void threads_meet(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
}
template <int kThreads>
__device__ inline void threads_arrive(int barrier) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
}

// Blocks of a cluster are there together and reach each other's shared memory. Whole warps arrive once and wait once:
// then all blocks have begun, and know each other's barriers where barrier_inits_done() came before.
__device__ inline void cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
__device__ inline void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
// What lies at `shared` in this block, in that of number `block`.
__device__ inline std::uint32_t address_in_cluster(std::uint32_t shared, int block) {
  std::uint32_t address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared), "r"(block));
  return address;
}
// To another block's memory; counts its 16 bytes at a barrier of that block.
__device__ inline void send(std::uint32_t to, const float4& v, std::uint32_t barrier) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to),
      "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w), "r"(barrier)
      : "memory");
}
// barrier_arrive() at a barrier of another block: says that this thread has read something, and nothing about what it
// wrote, for which the scope of a cluster would need a fence for the whole GPU.
__device__ inline void barrier_arrive_there(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// barrier_wait() for what other blocks sent.
__device__ inline void barrier_wait_for_others(std::uint32_t barrier, std::uint32_t parity) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
__device__ inline float4 load_shared_floats(std::uint32_t address) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(address)
               : "memory");
  return v;
}

// From memory into the L2 cache, where `wanted`.
__device__ inline void prefetch_if(bool wanted, const void* address) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %1, 0;\n@p prefetch.global.L2 [%0];\n}\n" ::"l"(address),
               "r"(wanted ? 1 : 0));
}

__device__ inline __half2 tanh_fast(__half2 x) {
  std::uint32_t y;
  asm("tanh.approx.f16x2 %0, %1;" : "=r"(y) : "r"(*reinterpret_cast<const std::uint32_t*>(&x)));
  return *reinterpret_cast<const __half2*>(&y);
}

// Registers of each thread of a warp group from here on.
template <int kRegisters>
__device__ inline void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ inline void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

}  // namespace swinscope::cuda::hopper

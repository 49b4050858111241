// The instructions that the attention kernel is made of: tensor core products (PTX ISA, m16n8k16 and m16n8k8 with fp32
// sums), matrices from shared memory, asynchronous copies.
#pragma once

#include <cstdint>

#include "kernels/async_copy.cuh"
#include "kernels/device_math.cuh"
#include "kernels/exp2_fast.cuh"

namespace swinscope::cuda {

// sum[16 x 8] += a[16 x 16] * b[16 x 8]
__device__ inline void mma_k16(float (&sum)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                               __half) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ inline void mma_k16(float (&sum)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                               __nv_bfloat16) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// sum[16 x 8] += a[16 x 8] * b[8 x 8]
__device__ inline void mma_k8(float (&sum)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t b0, __half) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a0), "r"(a1), "r"(b0));
}
__device__ inline void mma_k8(float (&sum)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t b0, __nv_bfloat16) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a0), "r"(a1), "r"(b0));
}

// Two values in one register, the first one low.
__device__ inline std::uint32_t pack(float low, float high, __half) {
  const __half2 pair = __floats2half2_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}
__device__ inline std::uint32_t pack(float low, float high, __nv_bfloat16) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}
__device__ inline float2 unpack(std::uint32_t pair, __half) {
  return __half22float2(*reinterpret_cast<const __half2*>(&pair));
}
__device__ inline float2 unpack(std::uint32_t pair, __nv_bfloat16) {
  return __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(&pair));
}

// Shared memory is addressed by 32-bit numbers: sums and exclusive ors of them are cheaper than pointers.
__device__ inline std::uint32_t shared_address(const void* shared) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}
__device__ inline void store_shared(std::uint32_t at, std::uint32_t value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(value) : "memory");
}
__device__ inline void store_shared(std::uint32_t at, const uint4& v) {
  asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(at), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
__device__ inline std::uint32_t load_shared_word(std::uint32_t at) {
  std::uint32_t word;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(at) : "memory");
  return word;
}
__device__ inline uint4 load_shared(std::uint32_t at) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(at)
               : "memory");
  return v;
}
__device__ inline uint2 load_shared_pair(std::uint32_t at) {
  uint2 v;
  asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(at) : "memory");
  return v;
}

// Four 8 x 8 matrices of 16-bit values from shared memory; lane 8 i + r gives the address of row r of matrix i. Each
// lane gets two neighbours of row lane / 4 (transposed: of column lane / 4) of each matrix.
__device__ inline uint4 load_matrices(std::uint32_t row) {
  uint4 m;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(m.x), "=r"(m.y), "=r"(m.z), "=r"(m.w)
               : "r"(row)
               : "memory");
  return m;
}
__device__ inline uint4 load_matrices_transposed(std::uint32_t row) {
  uint4 m;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(m.x), "=r"(m.y), "=r"(m.z), "=r"(m.w)
               : "r"(row)
               : "memory");
  return m;
}

// 16 bytes from global to shared memory without passing through registers; arrives by the time of copies_wait().
__device__ inline void copy_async(std::uint32_t shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
}
// The same of 8 bytes.
__device__ inline void copy_pair_async(std::uint32_t shared, const void* global) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(shared), "l"(global) : "memory");
}

}  // namespace swinscope::cuda

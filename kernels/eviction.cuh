// Loads and stores of 16 bytes with an L2 cache policy (PTX createpolicy, .L2::cache_hint), for the kernels that honour
// eviction.h. A policy changes no bits of a result.
#pragma once

#include "kernels/device_math.cuh"
#include "kernels/eviction.h"

namespace swinscope::cuda {

// For the loads and stores below.
__device__ inline std::uint64_t cache_policy(Eviction eviction) {
  std::uint64_t policy = 0;
  if (eviction == Eviction::kFirst) {
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  } else if (eviction == Eviction::kLast) {
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  } else {
    asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  }
  return policy;
}

template <typename T>
__device__ Vector<T> load_vector(const T* from, std::uint64_t policy) {
  static_assert(sizeof(Vector<T>) == sizeof(uint4));
  Vector<T> vector;
  auto& words = reinterpret_cast<uint4&>(vector);
  asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
               : "l"(from), "l"(policy)
               : "memory");
  return vector;
}

__device__ inline void store_words(void* to, const uint4& words, std::uint64_t policy) {
  asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(to), "r"(words.x), "r"(words.y),
               "r"(words.z), "r"(words.w), "l"(policy)
               : "memory");
}
template <typename T>
__device__ void store_vector(T* to, const Vector<T>& vector, std::uint64_t policy) {
  store_words(to, reinterpret_cast<const uint4&>(vector), policy);
}

}  // namespace swinscope::cuda

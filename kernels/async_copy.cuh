// Copies from global to shared memory that pass through no register, so that a thread has many of them on their way.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

namespace swinscope::cuda {

// kBytes that are aligned to as many. 4, 8 and 16 arrive by the time of copies_wait(), fewer at once.
template <int kBytes>
__device__ void copy_async(void* shared, const void* global) {
  if constexpr (kBytes == 2) {
    *static_cast<unsigned short*>(shared) = *static_cast<const unsigned short*>(global);
  } else {
    static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
    const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    if constexpr (kBytes == 16) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
    } else {
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global), "n"(kBytes) : "memory");
    }
  }
}
// 16 bytes, or as many zeros.
__device__ inline void copy_async_or_zeros(std::uint32_t shared, const void* global, bool wanted) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(wanted ? 16 : 0)
               : "memory");
}
__device__ inline void copies_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Until at most kPending of this thread's committed groups are on their way.
template <int kPending>
__device__ inline void copies_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace swinscope::cuda

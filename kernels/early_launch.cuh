// Early launches (programmatic dependent launch): a kernel begins while the one before it in the stream still runs, and
// waits for that one's end before it touches anything that the one before reads or writes.
#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda_call.h"

namespace swinscope::cuda {

// The next kernel may be launched from here on. It still waits for this one's end where it says wait_for_previous().
__device__ inline void let_next_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
// Every kernel that is launched by launch_early() calls it, even where it needs nothing: the kernel after it relies on
// everything before being finished.
__device__ inline void wait_for_previous() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Brings the share of the `part`th of so many blocks of memory into the L2 cache and waits for nothing. For the first
// lanes of the block's warps; `begin` and `bytes` are multiples of 16.
constexpr std::int64_t kCachePiece = 4096;
__device__ inline void bring_into_cache(const void* begin, std::int64_t bytes, int part, int parts) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if (threadIdx.x % 32 != 0) return;
  const int warps = static_cast<int>(blockDim.x) / 32;
  const std::int64_t first = std::int64_t{part} * warps + threadIdx.x / 32;
  for (std::int64_t at = first * kCachePiece; at < bytes; at += std::int64_t{parts} * warps * kCachePiece)
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(static_cast<const char*>(begin) + at),
                 "r"(static_cast<unsigned>(min(kCachePiece, bytes - at)))
                 : "memory");
#else
  (void)begin, (void)bytes, (void)part, (void)parts;
#endif
}

bool early_launches_offered();  // compute capability 9.0 and newer

struct LaunchShape {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
  unsigned cluster = 1;  // blocks along x that are there together; more than one from compute capability 9.0 on
};

template <typename... Parameters, typename... Arguments>
void launch_early(void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
                  const Arguments&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute attributes[2] = {};
  config.attrs = attributes;
  if (early_launches_offered()) {
    cudaLaunchAttribute& early = attributes[config.numAttrs++];
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
  }
  if (shape.cluster > 1) {
    cudaLaunchAttribute& cluster = attributes[config.numAttrs++];
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = shape.cluster;
    cluster.val.clusterDim.y = 1;
    cluster.val.clusterDim.z = 1;
  }
  SWINSCOPE_CUDA(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}

}  // namespace swinscope::cuda

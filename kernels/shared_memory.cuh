// Raises a kernel's limit of dynamic shared memory, which is 48 KB unless asked for. For launchers, on the host.
#pragma once

#include <cstdint>

#include "kernels/cuda_call.h"

namespace swinscope::cuda {

// Lets `kernel` have more dynamic shared memory than 48 KB.
template <typename Kernel>
void allow_shared(Kernel* kernel, std::int64_t bytes) {
  if (bytes <= (48 << 10)) return;
  SWINSCOPE_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
}

}  // namespace swinscope::cuda

// Checks for every CUDA call. For sources that include CUDA's headers.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime.h>

#include "kernels/device.h"

namespace swinscope::cuda {

[[noreturn]] void throw_error(cudaError_t status, const char* call, const char* file, int line);
[[noreturn]] void throw_error(cublasStatus_t status, const char* call, const char* file, int line);

inline void check(cudaError_t status, const char* call, const char* file, int line) {
  if (status != cudaSuccess) throw_error(status, call, file, line);
}
inline void check(cublasStatus_t status, const char* call, const char* file, int line) {
  if (status != CUBLAS_STATUS_SUCCESS) throw_error(status, call, file, line);
}

}  // namespace swinscope::cuda

// Throws cuda::Error with the call and its place.
#define SWINSCOPE_CUDA(call) ::swinscope::cuda::check((call), #call, __FILE__, __LINE__)
// After each launch: what the launch itself was refused for.
#define SWINSCOPE_CUDA_LAUNCHED(kernel) \
  ::swinscope::cuda::check(cudaGetLastError(), "launch of " kernel, __FILE__, __LINE__)

// How kernels are launched whose blocks keep one head and go from window to window.
#pragma once

#include <algorithm>

#include "kernels/cuda_call.h"
#include "kernels/early_launch.cuh"

namespace swinscope::cuda {

// As many blocks as the GPU holds at once, with about equally many windows each. Arguments have windows and heads.
template <typename Arguments>
void launch_over_windows(void (*kernel)(Arguments), int threads, const Arguments& arguments, Stream stream) {
  int device = 0;
  int multiprocessors = 0;
  int blocks_each = 0;
  SWINSCOPE_CUDA(cudaGetDevice(&device));
  SWINSCOPE_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  SWINSCOPE_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_each, kernel, threads, 0));
  const int shares = std::max(1, multiprocessors * blocks_each / arguments.heads);
  const int turns = (arguments.windows + shares - 1) / shares;
  const dim3 grid(static_cast<unsigned>((arguments.windows + turns - 1) / turns),
                  static_cast<unsigned>(arguments.heads));
  launch_early(kernel, {grid, dim3(static_cast<unsigned>(threads))}, stream, arguments);
}

}  // namespace swinscope::cuda

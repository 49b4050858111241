// 2^x by the special function unit, for the softmax of attention, whose scores are scaled by log2(e) beforehand.
#pragma once

#include <cuda_runtime.h>

namespace swinscope::cuda {

// 2^x in one instruction, within two units of the last digit; 0 below 2^-126.
__device__ inline float exp2_fast(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return exp2f(x);
#endif
}

}  // namespace swinscope::cuda

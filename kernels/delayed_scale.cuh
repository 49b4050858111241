// What a kernel does that leaves its result in 8 bits, too (delayed_scale.h): a vector of eight at a time, and the
// largest magnitude at its end.
#pragma once

#include "kernels/byte_format.cuh"
#include "kernels/delayed_scale.h"
#include "kernels/device_math.cuh"

namespace swinscope::cuda {

// A thread's share.
class ByteCopyShare {
 public:
  // After the kernel before has ended.
  __device__ explicit ByteCopyShare(const ByteCopy& to)
      : to_(to), inverse_(to.bytes == nullptr ? 0.0F : 1.0F / to.scale->scale) {}

  // Vector `index` of the tensor.
  template <typename T>
  __device__ void store(std::int64_t index, const Vector<T>& rounded) {
    static_assert(Vector<T>::kLength == 8);
    float values[8];
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      values[e] = to_float(rounded.values[e]);
      largest_ = fmaxf(largest_, fabsf(values[e]));
    }
    static_cast<uint2*>(to_.bytes)[index] = packed(to_.format, values, inverse_);
  }

  // By all lanes of a warp. Whoever is no larger than what is known leaves it alone: most of all.
  __device__ void report() const {
    if (to_.bytes == nullptr) return;
    const unsigned most = __reduce_max_sync(0xffffffffU, __float_as_uint(largest_));
    if (threadIdx.x % kWarp == 0 && most > __ldcg(&to_.scale->largest)) atomicMax(&to_.scale->largest, most);
  }

 private:
  ByteCopy to_;
  float inverse_;
  float largest_ = 0.0F;
};

}  // namespace swinscope::cuda

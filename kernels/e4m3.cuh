// Rounding to e4m3 (e4m3.h) on the device: to nearest, beyond the largest number to the largest.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

namespace swinscope::cuda {

// Two numbers in 16 bits, the first one low.
__device__ inline std::uint32_t pack_e4m3(float low, float high) {
  return __nv_cvt_float2_to_fp8x2(make_float2(low, high), __NV_SATFINITE, __NV_E4M3);
}
__device__ inline std::uint32_t pack_e4m3(__half2 pair) {
  return __nv_cvt_halfraw2_to_fp8x2(pair, __NV_SATFINITE, __NV_E4M3);
}
// Eight of them from what stands in registers as pairs of T, each times `inverse`.
__device__ inline uint2 packed_e4m3(const uint4& pairs, float inverse, __half) {
  const __half2 factor = __float2half2_rn(inverse);
  const auto two = [&](std::uint32_t a, std::uint32_t b) {
    const __half2 low = __hmul2(*reinterpret_cast<const __half2*>(&a), factor);
    const __half2 high = __hmul2(*reinterpret_cast<const __half2*>(&b), factor);
    return pack_e4m3(low) | pack_e4m3(high) << 16;
  };
  return {two(pairs.x, pairs.y), two(pairs.z, pairs.w)};
}

// Four of them, each times `scale`, as two pairs.
__device__ inline uint2 unpacked_e4m3(std::uint32_t four, __half2 scale) {
  const auto pair = [&](std::uint32_t two) {
    const __half2 values = __half2(__nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(two), __NV_E4M3));
    const __half2 scaled = __hmul2(values, scale);
    return *reinterpret_cast<const std::uint32_t*>(&scaled);
  };
  return {pair(four & 0xffffU), pair(four >> 16)};
}

}  // namespace swinscope::cuda

// Rounding to the formats of byte_format.h on the device, and back, several numbers at a time. Byte: __nv_fp8_e4m3 or
// std::int8_t. To nearest, ties to even; beyond the largest number to the largest.
//
// Integers: beside 1.5 times a large enough power of two floating-point numbers are a step of 1 apart, and their lowest
// byte is that of the integer added to it. So one multiplication and addition scales and rounds; then the largest is
// cut off, and bytes are picked out.
#pragma once

#include <cstdint>
#include <type_traits>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "kernels/byte_format.h"

namespace swinscope::cuda {

constexpr float kIntegersFrom = 0x1.8p23F;
constexpr float kHalfIntegersFrom = 0x1.8p10F;
constexpr float kLargestInteger = largest_number(ByteFormat::kInt8);

// Two numbers in 16 bits, the first one low.
__device__ inline std::uint32_t pack_e4m3(float low, float high) {
  return __nv_cvt_float2_to_fp8x2(make_float2(low, high), __NV_SATFINITE, __NV_E4M3);
}
__device__ inline std::uint32_t pack_e4m3(__half2 pair) {
  return __nv_cvt_halfraw2_to_fp8x2(pair, __NV_SATFINITE, __NV_E4M3);
}
// Four numbers, the first one lowest.
__device__ inline std::uint32_t pack_e4m3(float a, float b, float c, float d) {
  std::uint32_t four;
  asm("{\n.reg .b16 low, high;\n"
      "cvt.rn.satfinite.e4m3x2.f32 low, %2, %1;\n"
      "cvt.rn.satfinite.e4m3x2.f32 high, %4, %3;\n"
      "mov.b32 %0, {low, high};\n}\n"
      : "=r"(four)
      : "f"(a), "f"(b), "f"(c), "f"(d));
  return four;
}
// An integer in the lowest byte, of a number times `inverse`.
__device__ inline std::uint32_t integer_bits(float value, float inverse) {
  const float sum = fminf(fmaf(value, inverse, kIntegersFrom), kIntegersFrom + kLargestInteger);
  return __float_as_uint(fmaxf(sum, kIntegersFrom - kLargestInteger));
}
// Two in bytes 0 and 2.
__device__ inline std::uint32_t integer_bits(__half2 pair, __half2 factor) {
  const __half2 sum = __hmin2(__hfma2(pair, factor, __float2half2_rn(kHalfIntegersFrom)),
                              __float2half2_rn(kHalfIntegersFrom + kLargestInteger));
  const __half2 cut = __hmax2(sum, __float2half2_rn(kHalfIntegersFrom - kLargestInteger));
  return *reinterpret_cast<const std::uint32_t*>(&cut);
}

// Eight numbers, each times `inverse`.
template <typename Byte>
__device__ inline uint2 packed(const float (&v)[8], float inverse) {
  const auto four = [&](int i) {
    if constexpr (std::is_same_v<Byte, std::int8_t>) {
      const auto two = [&](int j) {
        return __byte_perm(integer_bits(v[j], inverse), integer_bits(v[j + 1], inverse), 0x0040);
      };
      return __byte_perm(two(i), two(i + 2), 0x5410);
    } else {
      return pack_e4m3(v[i] * inverse, v[i + 1] * inverse, v[i + 2] * inverse, v[i + 3] * inverse);
    }
  };
  return {four(0), four(4)};
}
// The same of what stands in registers as pairs of fp16; the factor is rounded to that, too.
template <typename Byte>
__device__ inline uint2 packed(const uint4& pairs, float inverse, __half) {
  const __half2 factor = __float2half2_rn(inverse);
  const auto four = [&](const std::uint32_t& a, const std::uint32_t& b) {
    const __half2 low = *reinterpret_cast<const __half2*>(&a);
    const __half2 high = *reinterpret_cast<const __half2*>(&b);
    if constexpr (std::is_same_v<Byte, std::int8_t>) {
      return __byte_perm(integer_bits(low, factor), integer_bits(high, factor), 0x6420);
    } else {
      return pack_e4m3(__hmul2(low, factor)) | pack_e4m3(__hmul2(high, factor)) << 16;
    }
  };
  return {four(pairs.x, pairs.y), four(pairs.z, pairs.w)};
}
// Both where the format is no template parameter: for kernels that wait for memory.
template <typename... Arguments>
__device__ inline uint2 packed(ByteFormat format, const Arguments&... arguments) {
  return format == ByteFormat::kInt8 ? packed<std::int8_t>(arguments...) : packed<__nv_fp8_e4m3>(arguments...);
}

// Four of them as two pairs of fp16.
template <typename Byte>
__device__ inline uint2 unpacked(std::uint32_t four) {
  if constexpr (std::is_same_v<Byte, std::int8_t>) {
    // With 0x64 before it a byte is an fp16 number, that of 1024 and the byte without a sign, which is 128 more here.
    const std::uint32_t from = four ^ 0x80808080U;
    const auto pair = [&](unsigned selector) {
      const std::uint32_t bits = __byte_perm(from, 0x64646464U, selector);
      const __half2 values = __hsub2(*reinterpret_cast<const __half2*>(&bits), __float2half2_rn(1024.0F + 128.0F));
      return *reinterpret_cast<const std::uint32_t*>(&values);
    };
    return {pair(0x4140), pair(0x4342)};
  } else {
    const auto pair = [&](std::uint32_t two) {
      const __half2 values(__nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(two), __NV_E4M3));
      return *reinterpret_cast<const std::uint32_t*>(&values);
    };
    return {pair(four & 0xffffU), pair(four >> 16)};
  }
}

}  // namespace swinscope::cuda

// The epilogues of our GEMM kernels: bias, tanh GELU or residual on the sums of a warp group in fp32, rounding, and
// 16-byte stores. A thread holds 8 neighbouring columns of a row at a time.
#pragma once

#include "kernels/byte_format.cuh"
#include "kernels/hopper_instructions.cuh"
#include "kernels/window_attention_mma.cuh"

namespace swinscope::cuda::hopper {

// After the bias. kNormalized: hopper_result.cuh; the last two: the same, with 8 bits beside the result.
enum class Finish { kPlain, kGelu, kResidual, kNormalized, kNormalizedE4m3, kNormalizedInt8 };
constexpr bool normalizes(Finish finish) { return finish >= Finish::kNormalized; }

constexpr int kGroup = 128;  // threads of a warp group
constexpr int kQuad = 4;     // lanes that have the same rows

// Over the lanes that have the same rows; all of them must be here.
__device__ inline float sum_over_quad(float value) {
  const unsigned quad = 0xfU << (threadIdx.x % kWarp / kQuad * kQuad);
  value += __shfl_xor_sync(quad, value, 1);
  return value + __shfl_xor_sync(quad, value, 2);
}

template <typename T, typename Y = T>
struct Pointers {
  const T* bias;      // [n], or null
  const T* residual;  // [m, n], read with kResidual, and with kNormalized where it is not null; may be y
  Y* y;
  const T* gamma = nullptr;  // [n], as beta: of kNormalized
  const T* beta = nullptr;
  const float* scales = nullptr;   // [n], of the sums: where operands are bytes
  float inverse_scale = 1.0F;      // of the result in bytes
  unsigned char* bytes = nullptr;  // [m, n], beside what is normalized
};

// 8 columns of a row that follow each other.
struct Eight {
  float values[8];

  __device__ void add(const float4& low, const float4& high) {
    const float of[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (int i = 0; i < 8; ++i)
      values[i] += of[i];
  }
  __device__ void scale(const float4& low, const float4& high) {
    const float by[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (int i = 0; i < 8; ++i)
      values[i] *= by[i];
  }
  template <typename T>
  __device__ void add(const uint4& packed, T type) {
    const std::uint32_t pairs[4] = {packed.x, packed.y, packed.z, packed.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 pair = unpack(pairs[i], type);
      values[2 * i] += pair.x;
      values[2 * i + 1] += pair.y;
    }
  }
  template <typename T>
  __device__ uint4 rounded(T type) const {
    return {pack(values[0], values[1], type), pack(values[2], values[3], type), pack(values[4], values[5], type),
            pack(values[6], values[7], type)};
  }
};

// tanh(sqrt(2 / pi) (z + 0.044715 z^3)), with 11 bits.
__device__ inline __half2 gelu_tanh(__half2 z) {
  const __half2 scale = __float2half2_rn(0.79788456F);  // sqrt(2 / pi)
  const __half2 cube = __float2half2_rn(0.044715F * 0.79788456F);
  return tanh_fast(__hmul2(z, __hfma2(__hmul2(z, z), cube, scale)));
}

// The tanh form of GELU, z / 2 (1 + tanh(...)), two values at a time and rounded: in fp16 all of it of what is rounded
// to fp16 first, with fewer instructions; for bf16 but for the tanh in fp32.
__device__ inline std::uint32_t rounded_gelu(float low, float high, __half) {
  const __half2 z = __floats2half2_rn(low, high);
  const __half2 half = __hmul2(z, __float2half2_rn(0.5F));
  const __half2 y = __hfma2(half, gelu_tanh(z), half);
  return *reinterpret_cast<const std::uint32_t*>(&y);
}
__device__ inline std::uint32_t rounded_gelu(float low, float high, __nv_bfloat16 type) {
  const float2 t = __half22float2(gelu_tanh(__floats2half2_rn(low, high)));
  low *= 0.5F;
  high *= 0.5F;
  return pack(fmaf(low, t.x, low), fmaf(high, t.y, high), type);
}
template <typename T>
__device__ uint4 rounded_gelu(const Eight& eight, T type) {
  const float* const v = eight.values;
  return {rounded_gelu(v[0], v[1], type), rounded_gelu(v[2], v[3], type), rounded_gelu(v[4], v[5], type),
          rounded_gelu(v[6], v[7], type)};
}
// As it is stored.
template <Finish kFinish, typename T>
__device__ uint4 rounded(const Eight& eight, T type) {
  if constexpr (kFinish == Finish::kGelu) {
    return rounded_gelu(eight, type);
  } else {
    return eight.rounded(type);
  }
}

// In 8 bits, times `inverse`.
template <Finish kFinish, typename Byte>
__device__ uint2 rounded_to_bytes(const Eight& eight, float inverse, __half type) {
  if constexpr (kFinish == Finish::kGelu) {
    return packed<Byte>(rounded_gelu(eight, type), inverse, type);
  } else {
    return packed<Byte>(eight.values, inverse);
  }
}

// A thread has, of each 32 columns, the 8 from 8 t on of two rows: see make_permuted_map(). Where its sum of the `i`th
// column from 32 `part` on of its upper (0) or lower (1) row is.
__device__ constexpr int sum_at(int part, int half, int i) { return part * 16 + i / 2 * 4 + half * 2 + i % 2; }

template <typename Sum, int kSums>
__device__ Eight eight_of(const Sum (&sums)[kSums], int part, int half) {
  Eight eight;
#pragma unroll
  for (int i = 0; i < 8; ++i)
    eight.values[i] = static_cast<float>(sums[sum_at(part, half, i)]);
  return eight;
}

}  // namespace swinscope::cuda::hopper

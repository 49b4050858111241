// Cumulative distribution and density of the standard normal, for GELU (x Phi(x)) and its derivative: exact with erfc
// in fp32, by one exponential and one division in 16-bit types.
#pragma once

namespace swinscope::cuda {

struct Normal {
  float cumulative;
  float density;
};

// The normal distribution. In 16-bit types erf is Abramowitz and Stegun's 7.1.26 (error below 1.5e-7, far below what
// such a result keeps), whose exponential is the density's: one exponential and one division for both, where erff and
// expf would make the kernel wait for arithmetic rather than for memory.
template <typename T>
__device__ Normal normal_distribution(float x) {
  constexpr float kInverseSqrt2Pi = 0.3989422804014327F;
  if constexpr (sizeof(T) == 4) {
    return {0.5F * erfcf(-0.70710678118654752F * x), kInverseSqrt2Pi * expf(-0.5F * x * x)};
  } else {
    const float e = __expf(-0.5F * x * x);
    const float t = __fdividef(1.0F, fmaf(0.3275911F * 0.70710678118654752F, fabsf(x), 1.0F));
    float tail = fmaf(1.061405429F, t, -1.453152027F);
    tail = fmaf(tail, t, 1.421413741F);
    tail = fmaf(tail, t, -0.284496736F);
    tail = fmaf(tail, t, 0.254829592F);
    tail *= 0.5F * t * e;
    return {x < 0.0F ? tail : 1.0F - tail, kInverseSqrt2Pi * e};
  }
}

}  // namespace swinscope::cuda

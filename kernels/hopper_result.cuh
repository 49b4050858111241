// Layer normalization of a product's rows at the end of the kernel for many rows:
//   y = LN(a b^T + bias) gamma + beta (+ residual).
// A block's tile has whole rows, or the blocks of a cluster have a tile each of the same rows, beside each other, and
// tell each other the moments of their parts. Squares are summed up around the mean of a part, so that neither a mean
// far from zero nor a single large value costs digits of the variance; how parts are joined: Chan, Golub, LeVeque 1983.
#pragma once

#include "kernels/hopper_finish.cuh"
#include "kernels/hopper_product.h"
#include "kernels/layernorm.h"

namespace swinscope::cuda::hopper {

constexpr auto kResultEpsilon = static_cast<float>(LayerNormShape{}.epsilon);

// Bias, gamma and beta of a block's columns, and where operands are bytes what sums are multiplied by, in shared memory
// of each warp group: they are the same for all its tiles.
template <typename P>
struct ResultVectors {
  static constexpr int kScale = 3;
  static constexpr int kCount = P::kScales ? 4 : 3;
  float* shared;  // [kCount, kColumns]

  __device__ void fetch(const Pointers<typename P::T>& p, int first, int group) const {
    const typename P::T* const from[3] = {p.bias, p.gamma, p.beta};
    const int thread = static_cast<int>(threadIdx.x) % kGroup;
    if constexpr (P::kScales) {
      for (int column = thread; column < P::kColumns; column += kGroup)
        shared[kScale * P::kColumns + column] = p.scales[first + column];
    }
#pragma unroll
    for (int vector = 0; vector < 3; ++vector) {
      for (int column = thread; column < P::kColumns; column += kGroup) {
        shared[vector * P::kColumns + column] = from[vector] == nullptr ? 0.0F : to_float(from[vector][first + column]);
      }
    }
    threads_meet<kGroup>(2 + group);
  }
  __device__ Eight eight(int vector, int column) const {
    const float* const from = shared + vector * P::kColumns + column;
    const auto low = *reinterpret_cast<const float4*>(from);
    const auto high = *reinterpret_cast<const float4*>(from + 4);
    return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
  }
};

// Between warp groups that have the same rows. There are two places for what comes, used in turn: another block may be
// one tile ahead, and not two, since it needs this one's moments of each.
template <typename P>
class MomentExchange {
 public:
  static constexpr int kQuads = kGroup / kQuad;
  static constexpr int kPlaces = 2 * P::kGroups * (kMostBeside - 1) * kQuads;  // of 16 bytes
  static constexpr int kBarriers = 2 * P::kGroups;

  __device__ MomentExchange(std::uint32_t places, std::uint32_t barriers, int blocks, int group)
      : places_(places),
        barriers_(barriers),
        blocks_(blocks),
        rank_(static_cast<int>(blockIdx.x) % blocks),
        group_(group) {}

  // own: mean and sum of squares around it of the thread's upper row (x, y) and lower row (z, w) in this block's
  // columns. A quad has the same in all lanes.
  __device__ void tell(const float4& own) const {
    if (blocks_ == 1) return;
    if (threadIdx.x % kGroup == 0) {
      barrier_arrive_expecting(barrier(), static_cast<std::uint32_t>(blocks_ - 1) * kQuads * sizeof(float4));
    }
#pragma unroll 1
    for (int block = static_cast<int>(threadIdx.x) % kQuad; block < blocks_; block += kQuad) {
      if (block == rank_) continue;
      send(address_in_cluster(place(rank_ - (rank_ > block ? 1 : 0)), block), own,
           address_in_cluster(barrier(), block));
    }
  }
  // The same of whole rows, once all have told theirs: in the order of the blocks, so that all get the same bits.
  __device__ float4 join(const float4& own) {
    if (blocks_ == 1) return own;
    barrier_wait_for_others(barrier(), turn_ / 2 % 2);
    float4 whole{};
#pragma unroll 1
    for (int from = 0; from < blocks_; ++from) {
      const float4 part = part_of(from, own);
      whole.x += part.x;
      whole.z += part.z;
    }
    const float share = 1.0F / static_cast<float>(blocks_);
    whole.x *= share;
    whole.z *= share;
#pragma unroll 1
    for (int from = 0; from < blocks_; ++from) {
      const float4 part = part_of(from, own);
      const float upper = part.x - whole.x;
      const float lower = part.z - whole.z;
      whole.y += fmaf(upper * upper, static_cast<float>(P::kColumns), part.y);
      whole.w += fmaf(lower * lower, static_cast<float>(P::kColumns), part.w);
    }
    ++turn_;
    return whole;
  }
  __device__ int columns() const { return blocks_ * P::kColumns; }

 private:
  __device__ std::uint32_t slot() const { return turn_ % 2 * P::kGroups + static_cast<std::uint32_t>(group_); }
  __device__ std::uint32_t barrier() const { return barriers_ + slot() * 8; }
  // Of this thread's quad, for the `from`th of the others.
  __device__ std::uint32_t place(int from) const {
    const std::uint32_t quad = threadIdx.x % kGroup / kQuad;
    return places_ + ((slot() * (kMostBeside - 1) + static_cast<std::uint32_t>(from)) * kQuads + quad) * sizeof(float4);
  }
  __device__ float4 part_of(int from, const float4& own) const {
    return from == rank_ ? own : load_shared_floats(place(from - (from > rank_ ? 1 : 0)));
  }

  std::uint32_t places_, barriers_;
  int blocks_, rank_, group_;
  std::uint32_t turn_ = 0;
};

template <typename P>
struct NormalizedEnd {
  ResultVectors<P> vectors;
  MomentExchange<P> exchange;
};

// What becomes of a sum, in fp32 in the sum's own register: with a second set of them they would not suffice.
__device__ inline void keep(float value, float& sum) { sum = value; }
__device__ inline void keep(float value, int& sum) { sum = __float_as_int(value); }
__device__ inline float kept(float sum) { return sum; }
__device__ inline float kept(int sum) { return __int_as_float(sum); }

template <typename P, typename Sum, typename Residual, typename Place>
__device__ void finish_normalized(Sum (&sums)[P::kSums], NormalizedEnd<P>& end, Residual& residual, const Place& place,
                                  const Pointers<typename P::T>& p) {
  constexpr int kParts = P::kColumns / 32;
  constexpr int kAhead = Residual::kAhead;
  const int t = static_cast<int>(threadIdx.x) % kQuad;
  // Two sums each, so that additions wait less for each other.
  float totals[2][2] = {};
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    const Eight bias = end.vectors.eight(0, part * 32 + 8 * t);
    Eight scale{};
    if constexpr (P::kScales) scale = end.vectors.eight(ResultVectors<P>::kScale, part * 32 + 8 * t);
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      Sum& place_of_sum = sums[sum_at(part, i % 2, i / 2)];
      auto sum = static_cast<float>(place_of_sum);
      if constexpr (P::kScales) sum *= scale.values[i / 2];
      sum += bias.values[i / 2];
      totals[i % 2][i / 2 % 2] += sum;
      keep(sum, place_of_sum);
    }
  }
  float means[2];
  float squares[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    means[half] = sum_over(totals[half][0] + totals[half][1], kQuad) * (1.0F / static_cast<float>(P::kColumns));
    float partial[2] = {};
#pragma unroll
    for (int i = 0; i < kParts * 8; ++i) {
      Sum& place_of_sum = sums[sum_at(i / 8, half, i % 8)];
      const float centred = kept(place_of_sum) - means[half];
      keep(centred, place_of_sum);
      partial[i % 2] = fmaf(centred, centred, partial[i % 2]);
    }
    squares[half] = sum_over(partial[0] + partial[1], kQuad);
  }
  const float4 own{means[0], squares[0], means[1], squares[1]};
  end.exchange.tell(own);
  const float4 whole = end.exchange.join(own);
  const float inverse = 1.0F / static_cast<float>(end.exchange.columns());
  const float scale[2] = {rsqrtf(fmaf(whole.y, inverse, kResultEpsilon)),
                          rsqrtf(fmaf(whole.w, inverse, kResultEpsilon))};
  const float offset[2] = {(own.x - whole.x) * scale[0], (own.z - whole.z) * scale[1]};
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    if (part % kAhead == 0 && part + kAhead < kParts) residual.fetch(part / kAhead + 1, place);
    const Eight gamma = end.vectors.eight(1, part * 32 + 8 * t);
    const Eight beta = end.vectors.eight(2, part * 32 + 8 * t);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      Eight eight;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const float centred = kept(sums[sum_at(part, half, i)]);
        eight.values[i] = fmaf(fmaf(centred, scale[half], offset[half]), gamma.values[i], beta.values[i]);
      }
      residual.add_to(eight, part, half);
      const uint4 wide = eight.rounded(typename P::T{});
      if (!place.has(part, half)) continue;
      *reinterpret_cast<uint4*>(place.y[half] + part * 32) = wide;
      if constexpr (P::kFinish != Finish::kNormalized) {
        using Byte = std::conditional_t<P::kFinish == Finish::kNormalizedInt8, std::int8_t, __nv_fp8_e4m3>;
        *reinterpret_cast<uint2*>(p.bytes + (place.y[half] - p.y) + part * 32) =
            packed<Byte>(wide, p.inverse_scale, typename P::T{});
      }
    }
  }
}

}  // namespace swinscope::cuda::hopper

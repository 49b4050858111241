// Neighbouring channels of one pixel that a thread computes in fp32: 16 bytes of them, or one where the channels, or
// the distance from pixel to pixel, are no multiple of that.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "kernels/device_math.cuh"

namespace swinscope::cuda {

template <typename T, int kLength>
struct alignas(kLength * sizeof(T)) ChannelPiece {
  T values[kLength];
};

template <int kLength>
struct ChannelFloats {
  float values[kLength];
};

template <int kLength, typename T>
__device__ ChannelFloats<kLength> load_channels(const T* from) {
  const auto piece = *reinterpret_cast<const ChannelPiece<T, kLength>*>(from);
  ChannelFloats<kLength> result;
#pragma unroll
  for (int e = 0; e < kLength; ++e)
    result.values[e] = to_float(piece.values[e]);
  return result;
}

template <int kLength, typename T>
__device__ void store_channels(T* to, const ChannelFloats<kLength>& channels) {
  ChannelPiece<T, kLength> piece;
#pragma unroll
  for (int e = 0; e < kLength; ++e)
    piece.values[e] = from_float<T>(channels.values[e]);
  *reinterpret_cast<ChannelPiece<T, kLength>*>(to) = piece;
}

// to += weight * from.
template <int kLength>
__device__ void add_scaled(float weight, const ChannelFloats<kLength>& from, ChannelFloats<kLength>& to) {
#pragma unroll
  for (int e = 0; e < kLength; ++e)
    to.values[e] = fmaf(weight, from.values[e], to.values[e]);
}

// low + weight * (high - low).
template <int kLength>
__device__ ChannelFloats<kLength> between(const ChannelFloats<kLength>& low, const ChannelFloats<kLength>& high,
                                          float weight) {
  ChannelFloats<kLength> result;
#pragma unroll
  for (int e = 0; e < kLength; ++e)
    result.values[e] = fmaf(weight, high.values[e] - low.values[e], low.values[e]);
  return result;
}

// Calls body.template operator()<T, kLength>(), with as many channels a piece as divide all `extents`: the channels and
// the distances from pixel to pixel. Memory must be aligned to as many.
template <typename Body>
void with_channel_pieces(ElementType type, std::initializer_list<std::int64_t> extents, const Body& body) {
  with_element_type(type, [&]<typename T>() {
    constexpr int kLength = Vector<T>::kLength;
    bool whole = true;
    for (const std::int64_t extent : extents)
      whole = whole && extent % kLength == 0;
    if (whole) return body.template operator()<T, kLength>();
    return body.template operator()<T, 1>();
  });
}

}  // namespace swinscope::cuda

// Forward, a block has one bin and 32 pieces of channels; its 8 warps share out the bin's pixels and add their sums in
// order. Backward, a thread has a piece of one pixel and gathers from the few bins that hold it, so no atomics.
#include "kernels/adaptive_pool.h"
#include "kernels/channel_piece.cuh"
#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"

namespace swinscope::cuda {
namespace {

constexpr int kGroups = 8;  // of a block: pixels of its bin at once
constexpr int kThreads = kGroups * kWarp;

struct Extents {
  int height;
  int width;
  int channels;
  int side;

  // Bin i holds the pixels [i * extent / side, ceil((i + 1) * extent / side)), and so does pixel p lie in the bins
  // [p * side / extent, ceil((p + 1) * side / extent)).
  struct Range {
    int begin;
    int end;
    __device__ int length() const { return end - begin; }
  };
  __device__ Range pixels_of(int bin, int extent) const {
    return {bin * extent / side, ((bin + 1) * extent + side - 1) / side};
  }
  __device__ Range bins_of(int pixel, int extent) const {
    return {pixel * side / extent, ((pixel + 1) * side + extent - 1) / extent};
  }
};

// A block has a warp of channel pieces of one bin.
template <typename T, int kLength>
__global__ __launch_bounds__(kThreads) void grid_pool_kernel(const Extents s, const T* x, T* y) {
  __shared__ float met[kGroups][kWarp * kLength];
  const int lane = static_cast<int>(threadIdx.x) % kWarp * kLength;
  const int group = static_cast<int>(threadIdx.x) / kWarp;
  const int channel = static_cast<int>(blockIdx.x) * kWarp * kLength + lane;
  const auto bin = static_cast<int>(blockIdx.y);
  const auto rows = s.pixels_of(bin / s.side % s.side, s.height);
  const auto columns = s.pixels_of(bin % s.side, s.width);
  const int pixels = rows.length() * columns.length();
  const T* const image = x + std::int64_t{bin / (s.side * s.side)} * s.height * s.width * s.channels + channel;
  ChannelFloats<kLength> sum{};
  if (channel < s.channels) {
#pragma unroll 4
    for (int i = group; i < pixels; i += kGroups) {
      const int row = rows.begin + i / columns.length();
      const int column = columns.begin + i % columns.length();
      add_scaled(1.0F, load_channels<kLength>(image + (std::int64_t{row} * s.width + column) * s.channels), sum);
    }
  }
#pragma unroll
  for (int e = 0; e < kLength; ++e)
    met[group][lane + e] = sum.values[e];
  __syncthreads();
  if (group != 0 || channel >= s.channels) return;
#pragma unroll
  for (int e = 0; e < kLength; ++e) {
    for (int i = 1; i < kGroups; ++i)
      sum.values[e] += met[i][lane + e];
    sum.values[e] /= static_cast<float>(pixels);
  }
  store_channels<kLength>(y + std::int64_t{bin} * s.channels + channel, sum);
}

// A thread a piece of a pixel, which lies in few bins.
template <typename T, int kLength>
__global__ __launch_bounds__(kThreads) void grid_pool_backward_kernel(const Extents s, std::int64_t count, const T* dy,
                                                                      bool accumulate, T* dx) {
  const std::int64_t index = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (index >= count) return;
  const int pieces = s.channels / kLength;
  const auto channel = static_cast<int>(index % pieces) * kLength;
  const std::int64_t pixel = index / pieces;
  const auto rows = s.bins_of(static_cast<int>(pixel / s.width % s.height), s.height);
  const auto columns = s.bins_of(static_cast<int>(pixel % s.width), s.width);
  const T* const image = dy + pixel / s.width / s.height * s.side * s.side * s.channels + channel;
  T* const to = dx + pixel * s.channels + channel;
  ChannelFloats<kLength> sum{};
  for (int row = rows.begin; row < rows.end; ++row) {
    for (int column = columns.begin; column < columns.end; ++column) {
      const int pixels = s.pixels_of(row, s.height).length() * s.pixels_of(column, s.width).length();
      add_scaled(1.0F / static_cast<float>(pixels),
                 load_channels<kLength>(image + (std::int64_t{row} * s.side + column) * s.channels), sum);
    }
  }
  if (accumulate) add_scaled(1.0F, load_channels<kLength>(to), sum);
  store_channels<kLength>(to, sum);
}

Extents extents_of(const AdaptivePoolShape& s) {
  for (const std::int64_t extent : {s.height, s.width, s.side})
    require(extent > 0 && extent < (1 << 14), "adaptive_pool", "extent out of range");
  require(s.channels > 0 && s.channels < (1 << 24) && s.batch >= 0 && s.bins() < (1 << 16), "adaptive_pool",
          "channels, batch or side out of range");
  const auto narrow = [](std::int64_t value) { return static_cast<int>(value); };
  return {narrow(s.height), narrow(s.width), narrow(s.channels), narrow(s.side)};
}

}  // namespace

void adaptive_pool_forward(const AdaptivePoolShape& s, ElementType type, const void* x, void* y, Stream stream) {
  const Extents extents = extents_of(s);
  if (s.batch == 0) return;
  with_channel_pieces(type, {s.channels}, [&]<typename T, int kLength>() {
    const dim3 grid(blocks_for(s.channels, std::int64_t{kWarp} * kLength), static_cast<unsigned>(s.bins()));
    grid_pool_kernel<T, kLength><<<grid, kThreads, 0, stream>>>(extents, static_cast<const T*>(x), static_cast<T*>(y));
  });
  SWINSCOPE_CUDA_LAUNCHED("grid_pool_kernel");
}

void adaptive_pool_backward(const AdaptivePoolShape& s, ElementType type, const void* dy, bool accumulate, void* dx,
                            Stream stream) {
  const Extents extents = extents_of(s);
  if (s.batch == 0) return;
  with_channel_pieces(type, {s.channels}, [&]<typename T, int kLength>() {
    const std::int64_t count = s.pixels() * (s.channels / kLength);
    grid_pool_backward_kernel<T, kLength><<<blocks_for(count, kThreads), kThreads, 0, stream>>>(
        extents, count, static_cast<const T*>(dy), accumulate, static_cast<T*>(dx));
  });
  SWINSCOPE_CUDA_LAUNCHED("grid_pool_backward_kernel");
}

}  // namespace swinscope::cuda

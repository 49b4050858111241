#include <algorithm>

#include "kernels/bilinear_axis.cuh"
#include "kernels/channel_piece.cuh"
#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/resized_rows.cuh"
#include "kernels/tap_fusion.h"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kSide = 3;
constexpr int kTaps = kSide * kSide;
constexpr int kRowsDown = 8;  // of the output that a thread walks down

struct Grid {
  BilinearAxis rows;
  BilinearAxis columns;
  int outputs;
  int row_shares;
};

template <typename T, int kLength>
__global__ __launch_bounds__(kThreads) void tap_gather_kernel(const Grid g, const T* taps, T* y) {
  const int pieces = g.outputs / kLength;
  const int index = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (index >= g.columns.to * pieces) return;
  const int column = index / pieces;
  const int channel = index % pieces * kLength;
  const int image_index = static_cast<int>(blockIdx.y) / g.row_shares;
  const int first_row = static_cast<int>(blockIdx.y) % g.row_shares * kRowsDown;
  const int end_row = min(first_row + kRowsDown, g.rows.to);
  const std::int64_t stride = std::int64_t{kTaps} * g.outputs;
  const T* const image = taps + std::int64_t{image_index} * g.rows.from * g.columns.from * stride + channel;
  // The three taps of one row of the kernel, each at its shifted column.
  const auto load_row = [&](int tap_row, int row) {
    const T* const pixels = image + std::int64_t{row} * g.columns.from * stride + tap_row * kSide * g.outputs;
    ChannelFloats<kLength> sum{};
#pragma unroll
    for (int tap = 0; tap < kSide; ++tap) {
      const int shifted = column + tap - kSide / 2;
      if (shifted < 0 || shifted >= g.columns.to) continue;
      const auto place = g.columns.place(shifted);
      const T* const from = pixels + tap * g.outputs;
      add_scaled(1.0F,
                 between(load_channels<kLength>(from + place.low * stride),
                         load_channels<kLength>(from + place.high * stride), place.weight),
                 sum);
    }
    return sum;
  };
  RowPair<kLength> pairs[kSide];
  for (int row = first_row; row < end_row; ++row) {
    T* const to = y + ((std::int64_t{image_index} * g.rows.to + row) * g.columns.to + column) * g.outputs + channel;
    auto sum = load_channels<kLength>(to);
#pragma unroll
    for (int tap_row = 0; tap_row < kSide; ++tap_row) {
      const int shifted = row + tap_row - kSide / 2;
      if (shifted < 0 || shifted >= g.rows.to) continue;
      const auto here = pairs[tap_row].at(g.rows.place(shifted), [&](int from) { return load_row(tap_row, from); });
      add_scaled(1.0F, here, sum);
    }
    store_channels<kLength>(to, sum);
  }
}

// A thread has all taps of a piece of one pixel: what each of them gets of a row of dy is added up once for the three
// rows of the kernel.
template <typename T, int kLength>
__global__ __launch_bounds__(kThreads) void tap_gather_backward_kernel(const Grid g, const T* dy, T* dtaps) {
  const int pieces = g.outputs / kLength;
  const int index = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (index >= g.columns.from * pieces) return;
  const int column = index / pieces;
  const int channel = index % pieces * kLength;
  const int row = static_cast<int>(blockIdx.y) % g.rows.from;
  const int image_index = static_cast<int>(blockIdx.y) / g.rows.from;
  const T* const image = dy + std::int64_t{image_index} * g.rows.to * g.columns.to * g.outputs + channel;
  const int first_x = g.columns.first_reader(column);
  const int end_x = g.columns.readers_end(column);
  const int first_y = g.rows.first_reader(row);
  const int end_y = g.rows.readers_end(row);
  ChannelFloats<kLength> sums[kTaps] = {};
  for (int i = max(first_y - 1, 0); i < min(end_y + 1, g.rows.to); ++i) {
    ChannelFloats<kLength> of_row[kSide] = {};
#pragma unroll 2
    for (int j = max(first_x - 1, 0); j < min(end_x + 1, g.columns.to); ++j) {
      const auto gradient = load_channels<kLength>(image + (std::int64_t{i} * g.columns.to + j) * g.outputs);
#pragma unroll
      for (int tap = 0; tap < kSide; ++tap) {
        const int read = j + tap - kSide / 2;  // the enlarged pixel that this tap takes for output j
        const bool reads = read >= first_x && read < end_x;
        add_scaled(reads ? g.columns.weight_of(read, column) : 0.0F, gradient, of_row[tap]);
      }
    }
#pragma unroll
    for (int tap_row = 0; tap_row < kSide; ++tap_row) {
      const int read = i + tap_row - kSide / 2;
      if (read < first_y || read >= end_y) continue;
      const float weight = g.rows.weight_of(read, row);
#pragma unroll
      for (int tap = 0; tap < kSide; ++tap)
        add_scaled(weight, of_row[tap], sums[tap_row * kSide + tap]);
    }
  }
  T* const to =
      dtaps + ((std::int64_t{image_index} * g.rows.from + row) * g.columns.from + column) * kTaps * g.outputs + channel;
#pragma unroll
  for (int tap = 0; tap < kTaps; ++tap)
    store_channels<kLength>(to + tap * g.outputs, sums[tap]);
}

// Where element i of the packed weight [9, outputs, inputs] lies in the weight [outputs, 9, stride].
struct Packing {
  std::int64_t outputs;
  std::int64_t inputs;
  std::int64_t stride;

  std::int64_t count() const { return kTaps * outputs * inputs; }
  __device__ std::int64_t place(std::int64_t i) const {
    const std::int64_t row = i / inputs;
    return (row % outputs * kTaps + row / outputs) * stride + i % inputs;
  }
};

template <typename T, int kLength>
__global__ void pack_kernel(const Packing packing, std::int64_t count, const T* weight, T* packed) {
  const std::int64_t i = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kLength;
  if (i < count) store_channels<kLength>(packed + i, load_channels<kLength>(weight + packing.place(i)));
}

template <int kLength>
__global__ void unpack_kernel(const Packing packing, std::int64_t count, const float* dpacked, bool accumulate,
                              float* dweight) {
  const std::int64_t i = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kLength;
  if (i >= count) return;
  float* const to = dweight + packing.place(i);
  auto gradient = load_channels<kLength>(dpacked + i);
  if (accumulate) add_scaled(1.0F, load_channels<kLength>(to), gradient);
  store_channels<kLength>(to, gradient);
}

Grid grid_of(const TapFusionShape& s) {
  for (const std::int64_t extent : {s.height, s.width, s.out_height, s.out_width})
    require(extent > 0 && extent <= kLargestResizeExtent, "tap_fusion", "extent out of range");
  require(s.batch >= 0 && s.outputs > 0 && s.outputs <= (1 << 13), "tap_fusion", "batch or outputs out of range");
  require(s.batch * std::max(s.height, s.out_height) < (1 << 16), "tap_fusion", "batch or height out of range");
  return {BilinearAxis::of(s.height, s.out_height), BilinearAxis::of(s.width, s.out_width), static_cast<int>(s.outputs),
          static_cast<int>((s.out_height + kRowsDown - 1) / kRowsDown)};
}

Packing packing_of(const TapFusionShape& s) {
  require(s.inputs > 0 && s.outputs > 0 && s.weight_stride() >= s.inputs, "tap_fusion",
          "the weight is narrower than its slice");
  return {s.outputs, s.inputs, s.weight_stride()};
}

}  // namespace

void tap_fusion_pack(const TapFusionShape& s, ElementType type, const void* weight, void* packed, Stream stream) {
  const Packing packing = packing_of(s);
  with_channel_pieces(type, {s.inputs, s.weight_stride()}, [&]<typename T, int kLength>() {
    pack_kernel<T, kLength><<<blocks_for(packing.count(), std::int64_t{kThreads} * kLength), kThreads, 0, stream>>>(
        packing, packing.count(), static_cast<const T*>(weight), static_cast<T*>(packed));
  });
  SWINSCOPE_CUDA_LAUNCHED("pack_kernel");
}

void tap_fusion_unpack(const TapFusionShape& s, const float* dpacked, bool accumulate, float* dweight, Stream stream) {
  const Packing packing = packing_of(s);
  const auto launch = [&]<int kLength>() {
    unpack_kernel<kLength><<<blocks_for(packing.count(), std::int64_t{kThreads} * kLength), kThreads, 0, stream>>>(
        packing, packing.count(), dpacked, accumulate, dweight);
  };
  if (s.inputs % 4 == 0 && s.weight_stride() % 4 == 0) {
    launch.operator()<4>();
  } else {
    launch.operator()<1>();
  }
  SWINSCOPE_CUDA_LAUNCHED("unpack_kernel");
}

void tap_fusion_gather(const TapFusionShape& s, ElementType type, const void* taps, void* y, Stream stream) {
  const Grid g = grid_of(s);
  if (s.batch == 0) return;
  with_channel_pieces(type, {s.outputs}, [&]<typename T, int kLength>() {
    const dim3 grid(blocks_for(s.out_width * (s.outputs / kLength), kThreads),
                    static_cast<unsigned>(s.batch * g.row_shares));
    tap_gather_kernel<T, kLength><<<grid, kThreads, 0, stream>>>(g, static_cast<const T*>(taps), static_cast<T*>(y));
  });
  SWINSCOPE_CUDA_LAUNCHED("tap_gather_kernel");
}

void tap_fusion_gather_backward(const TapFusionShape& s, ElementType type, const void* dy, void* dtaps, Stream stream) {
  const Grid g = grid_of(s);
  if (s.batch == 0) return;
  with_element_type(type, [&]<typename T>() {
    // Twelve sums of eight channels would leave room for few threads.
    const auto launch = [&]<int kLength>() {
      const dim3 grid(blocks_for(s.width * (s.outputs / kLength), kThreads), static_cast<unsigned>(s.batch * s.height));
      tap_gather_backward_kernel<T, kLength>
          <<<grid, kThreads, 0, stream>>>(g, static_cast<const T*>(dy), static_cast<T*>(dtaps));
    };
    if (s.outputs % 4 == 0) {
      launch.template operator()<4>();
    } else {
      launch.template operator()<1>();
    }
  });
  SWINSCOPE_CUDA_LAUNCHED("tap_gather_backward_kernel");
}

}  // namespace swinscope::cuda

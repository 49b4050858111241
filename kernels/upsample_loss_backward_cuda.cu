// The gradient of the pixel losses, at the size of the logits. A block has some rows and columns of logits and kClasses
// classes. It walks down the intervals between its rows: each thread has one column of the output there, takes the
// softmax again and adds up what its pixels give to the row above and to the row below; then each column of logits
// gathers what the threads that lie around it have. No atomics: every sum has an order that depends on the shape alone.
#include <algorithm>
#include <cmath>

#include "kernels/bilinear_axis.cuh"
#include "kernels/channel_piece.cuh"
#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/exp2_fast.cuh"
#include "kernels/pixel_loss_shape.h"
#include "kernels/upsample_loss.h"

namespace swinscope::cuda {
namespace {

// Holds 64 columns of logits enlarged 4 times, or 16 enlarged 16 times, with the half intervals on both sides.
constexpr int kThreads = 288;
constexpr int kClasses = 8;
constexpr int kQuads = kClasses / 4;
constexpr std::int64_t kMostColumns = kThreads / kQuads;
// Rows of logits of a block. The interval above the first is computed twice.
constexpr std::int64_t kRowsEach = 8;
// In floats: multiples of 16 bytes that spread neighbours over the banks.
constexpr int kLogitStride = kClasses + 4;
constexpr int kSumStride = 2 * kClasses + 4;
constexpr float kLog2e = 1.4426950408889634F;

using Channels = ChannelFloats<kClasses>;
using Quad = ChannelFloats<4>;

template <typename T>
struct Arguments {
  BilinearAxis rows;
  BilinearAxis columns;
  int classes;
  int class_blocks;
  int columns_each;
  int row_shares;  // blocks for the rows of an image
  const T* logits;
  const std::uint8_t* labels;
  const float* lse;
  float scale;
  const float* loss_scale;  // null: 1
  T* dlogits;
};

__device__ Channels load_shared(const float* from) {
  Channels result;
#pragma unroll
  for (int part = 0; part < kQuads; ++part) {
    const Vector<float> quad = load_vector(from + part * 4);
#pragma unroll
    for (int e = 0; e < 4; ++e)
      result.values[part * 4 + e] = quad.values[e];
  }
  return result;
}

__device__ void store_shared(float* to, const Channels& channels) {
#pragma unroll
  for (int part = 0; part < kQuads; ++part) {
    Vector<float> quad;
#pragma unroll
    for (int e = 0; e < 4; ++e)
      quad.values[e] = channels.values[part * 4 + e];
    store_vector(to + part * 4, quad);
  }
}

// What the pixels of one column between two rows of logits give to the upper and to the lower row.
struct IntervalSums {
  Channels upper;
  Channels lower;
};

template <typename T>
__device__ IntervalSums interval_sums(const Arguments<T>& a, int image, int interval, int column, int first_class,
                                      const Channels& upper, const Channels& lower) {
  const int first = interval == 0 ? 0 : a.rows.first_from(interval);
  // Below the middle of the last row there is no lower one: it counts whole.
  const bool last = interval == a.rows.from - 1;
  const int end = last ? a.rows.to : a.rows.first_from(interval + 1);
  Channels all{};
  IntervalSums sums{};
#pragma unroll 2
  for (int row = first; row < end; ++row) {
    const std::int64_t at = (std::int64_t{image} * a.rows.to + row) * a.columns.to + column;
    const float down =
        last ? 0.0F : static_cast<float>(a.rows.coordinate(row) - interval * 2 * a.rows.to) * a.rows.unit;
    const int label = a.labels[at];
    // exp(z - lse) is 0 for pixels that do not count.
    float offset = -a.lse[at] * kLog2e;
    if (label >= a.classes) offset = label == kIgnoredLabel ? -INFINITY : NAN;
#pragma unroll
    for (int e = 0; e < kClasses; ++e) {
      const float z = fmaf(down, lower.values[e] - upper.values[e], upper.values[e]);
      float gradient = exp2_fast(fmaf(z, kLog2e, offset));
      if (first_class + e == label) gradient -= 1.0F;
      all.values[e] += gradient;
      sums.lower.values[e] = fmaf(down, gradient, sums.lower.values[e]);
    }
  }
#pragma unroll
  for (int e = 0; e < kClasses; ++e)
    sums.upper.values[e] = all.values[e] - sums.lower.values[e];
  return sums;
}

template <typename T>
__global__ __launch_bounds__(kThreads, 3) void pixel_loss_backward_kernel(const Arguments<T> a) {
  // The rows of logits above and below the interval, by parity; and the threads' sums.
  __shared__ __align__(16) float logits[2][(kMostColumns + 2) * kLogitStride];
  __shared__ __align__(16) float sums[kThreads * kSumStride];
  const int thread = static_cast<int>(threadIdx.x);
  const int first_class = static_cast<int>(blockIdx.x) % a.class_blocks * kClasses;
  const int first_low = static_cast<int>(blockIdx.x) / a.class_blocks * a.columns_each;
  const int end_low = min(first_low + a.columns_each, a.columns.from);
  const int image = static_cast<int>(blockIdx.y) / a.row_shares;
  const int first_row = static_cast<int>(blockIdx.y) % a.row_shares * static_cast<int>(kRowsEach);
  const int end_row = min(first_row + static_cast<int>(kRowsEach), a.rows.from);

  const int first_column = a.columns.first_reader(first_low);
  const int end_column = a.columns.readers_end(end_low - 1);
  const int column = min(first_column + thread, end_column - 1);
  const auto place = a.columns.place(column);
  const int tile_first = max(first_low - 1, 0);
  const int tile_end = min(end_low + 1, a.columns.from);
  // Of the gathering: two threads for each column of logits.
  const int own_low = first_low + thread / kQuads;
  const int own_quad = thread % kQuads * 4;
  const bool gathers = own_low < end_low;
  const int first_reader = gathers ? a.columns.first_reader(own_low) : 0;
  const int readers_end = gathers ? a.columns.readers_end(own_low) : 0;
  const float scale = a.loss_scale == nullptr ? a.scale : a.scale * *a.loss_scale;

  const auto load_row = [&](int row) {
    const T* const pixels = a.logits + (std::int64_t{image} * a.rows.from + row) * a.columns.from * a.classes;
    for (int i = thread; i < (tile_end - tile_first) * kClasses; i += kThreads) {
      const int wanted = first_class + i % kClasses;
      logits[row % 2][i / kClasses * kLogitStride + i % kClasses] =
          wanted < a.classes ? to_float(pixels[(tile_first + i / kClasses) * a.classes + wanted]) : 0.0F;
    }
  };
  const auto resized = [&](int row) {
    return between(load_shared(logits[row % 2] + (place.low - tile_first) * kLogitStride),
                   load_shared(logits[row % 2] + (place.high - tile_first) * kLogitStride), place.weight);
  };
  Quad from_above{};
  const int first_interval = max(first_row - 1, 0);
  load_row(first_interval);
  for (int interval = first_interval; interval < end_row; ++interval) {
    if (interval + 1 < a.rows.from) load_row(interval + 1);
    __syncthreads();
    if (first_column + thread < end_column) {
      const Channels upper = resized(interval);
      const Channels lower = resized(min(interval + 1, a.rows.from - 1));
      const IntervalSums mine = interval_sums(a, image, interval, column, first_class, upper, lower);
      store_shared(sums + thread * kSumStride, mine.upper);
      store_shared(sums + thread * kSumStride + kClasses, mine.lower);
    }
    __syncthreads();
    Quad upper = from_above;
    Quad lower{};
#pragma unroll 2
    for (int reader = first_reader; reader < readers_end; ++reader) {
      const float* const from = sums + (reader - first_column) * kSumStride + own_quad;
      const float weight = a.columns.weight_of(reader, own_low);
      add_scaled(weight, load_channels<4>(from), upper);
      add_scaled(weight, load_channels<4>(from + kClasses), lower);
    }
    from_above = lower;
    if (!gathers || interval < first_row) continue;
    T* const to = a.dlogits + ((std::int64_t{image} * a.rows.from + interval) * a.columns.from + own_low) * a.classes;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int wanted = first_class + own_quad + e;
      if (wanted < a.classes) to[wanted] = from_float<T>(scale * upper.values[e]);
    }
  }
}

// The columns of logits of a block: as many as its threads can have the readers of, and no block much smaller.
std::int64_t columns_each(const UpsampleShape& s) {
  const auto readers = [&](std::int64_t columns) {
    return std::min(s.out_width, ((columns + 1) * s.out_width + s.width - 1) / s.width + 1);
  };
  require(readers(1) <= kThreads, "upsample_loss_backward", "a row is enlarged too much");
  std::int64_t most = 1;
  while (most < std::min(kMostColumns, s.width) && readers(most + 1) <= kThreads)
    ++most;
  const std::int64_t blocks = (s.width + most - 1) / most;
  return (s.width + blocks - 1) / blocks;
}

}  // namespace

void upsample_loss_backward(const UpsampleShape& s, ElementType type, const PixelLossTensors& tensors,
                            double pixel_scale, const float* loss_scale, void* dlogits, Stream stream) {
  check_pixel_loss(s);
  if (s.batch == 0) return;
  const std::int64_t columns = columns_each(s);
  const std::int64_t shares = (s.height + kRowsEach - 1) / kRowsEach;
  const std::int64_t class_blocks = (s.channels + kClasses - 1) / kClasses;
  require(s.batch * shares < (1 << 16), "upsample_loss_backward", "batch or height out of range");
  with_element_type(type, [&]<typename T>() {
    Arguments<T> arguments{};
    arguments.rows = BilinearAxis::of(s.height, s.out_height);
    arguments.columns = BilinearAxis::of(s.width, s.out_width);
    arguments.classes = static_cast<int>(s.channels);
    arguments.class_blocks = static_cast<int>(class_blocks);
    arguments.columns_each = static_cast<int>(columns);
    arguments.row_shares = static_cast<int>(shares);
    arguments.logits = static_cast<const T*>(tensors.logits);
    arguments.labels = tensors.labels;
    arguments.lse = tensors.lse;
    arguments.scale = static_cast<float>(pixel_scale);
    arguments.loss_scale = loss_scale;
    arguments.dlogits = static_cast<T*>(dlogits);
    const dim3 grid(blocks_for(s.width, columns) * static_cast<unsigned>(class_blocks),
                    static_cast<unsigned>(s.batch * shares));
    pixel_loss_backward_kernel<T><<<grid, kThreads, 0, stream>>>(arguments);
  });
  SWINSCOPE_CUDA_LAUNCHED("pixel_loss_backward_kernel");
}

}  // namespace swinscope::cuda

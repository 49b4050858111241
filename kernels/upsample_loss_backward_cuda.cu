// The gradient of the pixel losses, at the size of the logits. A block has some rows and columns of logits and kClasses
// classes. It walks down the intervals between its rows: each thread has one column of the output there, takes the
// softmax again and adds up what its pixels give to the row above and to the row below; then each column of logits
// gathers what the threads that lie around it have. Meanwhile what the next interval needs is on its way. No atomics:
// every sum has an order that depends on the shape alone.
#include <algorithm>
#include <cmath>

#include "kernels/async_copy.cuh"
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
constexpr int kParts = 2 * kQuads;  // of the sums of a thread, for the row above and for the one below
constexpr int kMostColumns = kThreads / kQuads;
constexpr int kRowsAtOnce = 4;  // of the output that a thread has on their way
// In floats: a multiple of 16 bytes that spreads neighbours over the banks.
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
  int rows_each;   // of logits, of a block; the interval above the first is computed twice
  int row_shares;  // blocks for the rows of an image
  const T* logits;
  const std::uint8_t* labels;
  const float* lse;
  float scale;
  const float* loss_scale;  // null: 1
  T* dlogits;
};

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

// The pixels of a thread's column: labels and lse of some rows, as they are in memory.
struct Pixels {
  float lse[kRowsAtOnce];
  int label[kRowsAtOnce];
};

template <typename T>
__device__ Pixels load_pixels(const Arguments<T>& a, std::int64_t column_of_image, int first, int end) {
  Pixels result;
#pragma unroll
  for (int r = 0; r < kRowsAtOnce; ++r) {
    if (first + r >= end) break;
    const std::int64_t at = column_of_image + std::int64_t{first + r} * a.columns.to;
    result.lse[r] = a.lse[at];
    result.label[r] = a.labels[at];
  }
  return result;
}

// The output rows between a row of logits and the next.
struct Interval {
  int first;
  int end;
};

__device__ inline int interval_end(const BilinearAxis& rows, int interval) {
  return interval >= rows.from - 1 ? rows.to : rows.first_from(interval + 1);
}

// What the pixels of one column in an interval give to the rows of logits: the lower one's share of it, and all.
struct IntervalSums {
  Channels all;
  Channels lower;

  // A pixel that lies `down` below the upper row, as a fraction of the interval.
  __device__ void add(float down, float lse, int label, int classes, int first_class, const Channels& upper,
                      const Channels& step) {
    // exp(z - lse) is 0 for pixels that do not count.
    float offset = -lse * kLog2e;
    if (label >= classes) offset = label == kIgnoredLabel ? -INFINITY : NAN;
#pragma unroll
    for (int e = 0; e < kClasses; ++e) {
      const float probability = exp2_fast(fmaf(fmaf(down, step.values[e], upper.values[e]), kLog2e, offset));
      all.values[e] += probability;
      lower.values[e] = fmaf(down, probability, lower.values[e]);
    }
    const int own = label - first_class;
    if (own < 0 || own >= kClasses || label >= classes) return;
#pragma unroll
    for (int e = 0; e < kClasses; ++e) {
      all.values[e] -= e == own ? 1.0F : 0.0F;
      lower.values[e] -= e == own ? down : 0.0F;
    }
  }
};

// What the threads of a block share.
template <typename T>
struct Shared {
  T logits[2][(kMostColumns + 2) * kClasses];    // two rows of them, by parity
  float sums[kThreads * kSumStride];             // of the threads: for the row above, for the row below
  float from_above[2][kMostColumns * kClasses];  // what the interval above gave to a row, by parity
  float weights[kThreads];                       // of the right one of the columns of logits that a thread lies between
  int4 readers[kMostColumns];                    // first, first that it is left of, end
};

// Where a block is.
struct Place {
  int first_class;
  int first_low;  // columns of logits
  int end_low;
  int image;
  int first_row;  // of logits
  int end_row;
  int tile_first;  // columns of logits that its pixels lie between
  int tile_end;
  int first_column;  // of the output
  int end_column;

  template <typename T>
  __device__ static Place of(const Arguments<T>& a) {
    Place p{};
    p.first_class = static_cast<int>(blockIdx.x) % a.class_blocks * kClasses;
    p.first_low = static_cast<int>(blockIdx.x) / a.class_blocks * a.columns_each;
    p.end_low = min(p.first_low + a.columns_each, a.columns.from);
    p.image = static_cast<int>(blockIdx.y) / a.row_shares;
    p.first_row = static_cast<int>(blockIdx.y) % a.row_shares * a.rows_each;
    p.end_row = min(p.first_row + a.rows_each, a.rows.from);
    p.tile_first = max(p.first_low - 1, 0);
    p.tile_end = min(p.end_low + 1, a.columns.from);
    p.first_column = a.columns.first_reader(p.first_low);
    p.end_column = a.columns.readers_end(p.end_low - 1);
    return p;
  }
};

// What does not change from interval to interval; zeros for classes that are not there, which nobody copies.
template <typename T>
__device__ void prepare(const Arguments<T>& a, const Place& p, Shared<T>& shared) {
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < (kMostColumns + 2) * kClasses; i += kThreads)
    shared.logits[0][i] = shared.logits[1][i] = from_float<T>(0.0F);
  const auto place = a.columns.place(min(p.first_column + thread, p.end_column - 1));
  shared.weights[thread] = place.low == place.high ? 0.0F : place.weight;
  for (int i = thread; i < p.end_low - p.first_low; i += kThreads) {
    const int low = p.first_low + i;
    shared.readers[i] = {a.columns.first_reader(low), low == 0 ? 0 : a.columns.first_from(low),
                         a.columns.readers_end(low), 0};
  }
}

template <typename T, int kPair>
__device__ void request_row(const Arguments<T>& a, const Place& p, int row, Shared<T>& shared) {
  constexpr int kPairs = kClasses / kPair;
  if (row < a.rows.from) {
    const T* const pixels =
        a.logits + ((std::int64_t{p.image} * a.rows.from + row) * a.columns.from + p.tile_first) * a.classes;
    for (int i = static_cast<int>(threadIdx.x); i < (p.tile_end - p.tile_first) * kPairs; i += kThreads) {
      const int wanted = p.first_class + i % kPairs * kPair;
      if (wanted < a.classes)
        copy_async<kPair * sizeof(T)>(shared.logits[row % 2] + i * kPair, pixels + i / kPairs * a.classes + wanted);
    }
  }
  copies_commit();
}

// Column by column of the logits, what the threads around it have for four classes.
template <typename T, int kPair>
__device__ void gather(const Arguments<T>& a, const Place& p, int interval, float scale, Shared<T>& shared) {
  const int count = (p.end_low - p.first_low) * kParts;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
    const int part = i % kParts;
    const int quad = part % kQuads * 4;
    const int4 readers = shared.readers[i / kParts];
    float* const kept = shared.from_above[interval % 2] + i / kParts * kClasses + quad;
    const float* const before = shared.from_above[(interval + 1) % 2] + i / kParts * kClasses + quad;
    const bool of_upper = part < kQuads;
    Quad sum{};
#pragma unroll 4
    for (int reader = readers.x; reader < readers.z; ++reader) {
      const float right = shared.weights[reader - p.first_column];
      add_scaled(reader < readers.y ? right : 1.0F - right,
                 load_channels<4>(shared.sums + (reader - p.first_column) * kSumStride + part * 4), sum);
    }
    if (!of_upper) {
      store_channels<4>(kept, sum);
    } else if (interval >= p.first_row) {
      if (interval > 0) add_scaled(1.0F, load_channels<4>(before), sum);
      T* const to =
          a.dlogits +
          ((std::int64_t{p.image} * a.rows.from + interval) * a.columns.from + p.first_low + i / kParts) * a.classes;
#pragma unroll
      for (int e = 0; e < 4; e += kPair) {
        ChannelFloats<kPair> pair;
#pragma unroll
        for (int of = 0; of < kPair; ++of)
          pair.values[of] = scale * sum.values[e + of];
        const int wanted = p.first_class + quad + e;
        if (wanted < a.classes) store_channels<kPair>(to + wanted, pair);
      }
    }
  }
}

// kPair: neighbouring logits that are aligned together, 4 bytes of them where that is so.
template <typename T, int kPair>
__global__ __launch_bounds__(kThreads, 3) void pixel_loss_backward_kernel(const Arguments<T> a) {
  __shared__ __align__(16) Shared<T> shared;
  const Place p = Place::of(a);
  const int thread = static_cast<int>(threadIdx.x);
  const int column = min(p.first_column + thread, p.end_column - 1);
  const bool exists = p.first_column + thread < p.end_column;
  const auto place = a.columns.place(column);
  const float scale = a.loss_scale == nullptr ? a.scale : a.scale * *a.loss_scale;
  const std::int64_t column_of_image = std::int64_t{p.image} * a.rows.to * a.columns.to + column;
  const auto resized = [&](int row) {
    return between(load_channels<kClasses>(shared.logits[row % 2] + (place.low - p.tile_first) * kClasses),
                   load_channels<kClasses>(shared.logits[row % 2] + (place.high - p.tile_first) * kClasses),
                   place.weight);
  };
  const int first_interval = max(p.first_row - 1, 0);
  Interval rows{first_interval == 0 ? 0 : a.rows.first_from(first_interval), interval_end(a.rows, first_interval)};
  Pixels pixels = load_pixels(a, column_of_image, rows.first, rows.end);
  prepare(a, p, shared);
  __syncthreads();
  request_row<T, kPair>(a, p, first_interval, shared);
  request_row<T, kPair>(a, p, first_interval + 1, shared);
  copies_wait<0>();
  __syncthreads();
  Channels upper = resized(first_interval);
  for (int interval = first_interval; interval < p.end_row; ++interval) {
    copies_wait<0>();
    __syncthreads();  // the lower row is there; nobody reads the upper one or the sums of the interval above
    request_row<T, kPair>(a, p, interval + 2, shared);
    // Below the middle of the last row there is no lower one: it counts whole.
    const bool last = interval == a.rows.from - 1;
    const Channels lower = last ? upper : resized(interval + 1);
    Channels step;
#pragma unroll
    for (int e = 0; e < kClasses; ++e)
      step.values[e] = lower.values[e] - upper.values[e];
    IntervalSums sums{};
    for (int row = rows.first; row < rows.end; row += kRowsAtOnce) {
#pragma unroll
      for (int r = 0; r < kRowsAtOnce; ++r) {
        if (row + r >= rows.end) break;
        const int distance = last ? 0 : a.rows.coordinate(row + r) - interval * 2 * a.rows.to;
        sums.add(static_cast<float>(distance) * a.rows.unit, pixels.lse[r], pixels.label[r], a.classes, p.first_class,
                 upper, step);
      }
      if (row + kRowsAtOnce < rows.end) pixels = load_pixels(a, column_of_image, row + kRowsAtOnce, rows.end);
    }
    if (exists) {
      Channels above;
#pragma unroll
      for (int e = 0; e < kClasses; ++e)
        above.values[e] = sums.all.values[e] - sums.lower.values[e];
      store_shared(shared.sums + thread * kSumStride, above);
      store_shared(shared.sums + thread * kSumStride + kClasses, sums.lower);
    }
    upper = lower;
    rows = {rows.end, interval_end(a.rows, interval + 1)};
    pixels = load_pixels(a, column_of_image, rows.first, rows.end);
    __syncthreads();
    gather<T, kPair>(a, p, interval, scale, shared);
  }
}

// The columns of logits of a block: as many as its threads can have the readers of, and no block much smaller.
std::int64_t columns_each(const UpsampleShape& s) {
  const auto readers = [&](std::int64_t columns) {
    return std::min(s.out_width, ((columns + 1) * s.out_width + s.width - 1) / s.width + 1);
  };
  require(readers(1) <= kThreads, "upsample_loss_backward", "a row is enlarged too much");
  std::int64_t most = 1;
  while (most < std::min<std::int64_t>(kMostColumns, s.width) && readers(most + 1) <= kThreads)
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
  const std::int64_t rows_each = s.height >= 64 ? 16 : 8;
  const std::int64_t shares = (s.height + rows_each - 1) / rows_each;
  const std::int64_t class_blocks = (s.channels + kClasses - 1) / kClasses;
  require(s.batch * shares < (1 << 16), "upsample_loss_backward", "batch or height out of range");
  with_element_type(type, [&]<typename T>() {
    Arguments<T> arguments{};
    arguments.rows = BilinearAxis::of(s.height, s.out_height);
    arguments.columns = BilinearAxis::of(s.width, s.out_width);
    arguments.classes = static_cast<int>(s.channels);
    arguments.class_blocks = static_cast<int>(class_blocks);
    arguments.columns_each = static_cast<int>(columns);
    arguments.rows_each = static_cast<int>(rows_each);
    arguments.row_shares = static_cast<int>(shares);
    arguments.logits = static_cast<const T*>(tensors.logits);
    arguments.labels = tensors.labels;
    arguments.lse = tensors.lse;
    arguments.scale = static_cast<float>(pixel_scale);
    arguments.loss_scale = loss_scale;
    arguments.dlogits = static_cast<T*>(dlogits);
    const dim3 grid(blocks_for(s.width, columns) * static_cast<unsigned>(class_blocks),
                    static_cast<unsigned>(s.batch * shares));
    const auto launch = [&]<int kPair>() {
      pixel_loss_backward_kernel<T, kPair><<<grid, kThreads, 0, stream>>>(arguments);
    };
    constexpr int kPair = 4 / static_cast<int>(sizeof(T));
    if (s.channels % kPair == 0) {
      launch.template operator()<kPair>();
    } else {
      launch.template operator()<1>();
    }
  });
  SWINSCOPE_CUDA_LAUNCHED("pixel_loss_backward_kernel");
}

}  // namespace swinscope::cuda

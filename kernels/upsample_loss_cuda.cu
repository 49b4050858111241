// Cross-entropy at the size of the labels from logits that stay small: every kernel resizes on the fly. Output pixels
// between the same two rows and columns of the logits share the four pixels there, so a thread takes a column of them.
// A block has all classes of the logits around its pixels in shared memory: they are loaded at once, and there is
// nothing to wait for between one class and the next.
#include <algorithm>
#include <cmath>

#include "kernels/bilinear_axis.cuh"
#include "kernels/channel_piece.cuh"
#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/exp2_fast.cuh"
#include "kernels/pixel_loss_shape.h"
#include "kernels/shared_memory.cuh"
#include "kernels/upsample_loss.h"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kRows = 4;    // of the output that a thread has at once
constexpr int kAtOnce = 8;  // classes in registers
constexpr int kLoads = 8;   // of logits that a thread has on their way
constexpr int kSumThreads = 256;
constexpr float kLog2e = 1.4426950408889634F;
// Takes the place of classes that are not there. Finite, so that between two of them there is no NaN.
constexpr float kAbsent = -1e30F;

using Channels = ChannelFloats<kAtOnce>;

struct BlockLoss {
  double loss;
  int count;
  int correct;
};

template <typename T>
struct Arguments {
  BilinearAxis rows;
  BilinearAxis columns;
  int classes;
  int columns_each;  // of a block
  int pixel_stride;  // of logits in shared memory
  int row_parts;     // blocks for the output rows between two rows of logits
  const T* logits;
  const std::uint8_t* labels;
  float* lse;
  BlockLoss* losses;
  std::uint8_t* predicted;
};

__device__ Channels load_shared(const float* from) {
  Channels result;
#pragma unroll
  for (int part = 0; part < kAtOnce / 4; ++part) {
    const Vector<float> quad = load_vector(from + part * 4);
#pragma unroll
    for (int e = 0; e < 4; ++e)
      result.values[part * 4 + e] = quad.values[e];
  }
  return result;
}

// The rows of the output that a block has: up to kRows of those whose upper row of logits is `low`.
struct RowPart {
  int image;
  int low;
  int first;
  int count;  // none where there are fewer rows than parts
};

template <typename T>
__device__ RowPart row_part_of(const Arguments<T>& a) {
  const int part = static_cast<int>(blockIdx.y) % a.row_parts;
  const int low = static_cast<int>(blockIdx.y) / a.row_parts % a.rows.from;
  const int first = (low == 0 ? 0 : a.rows.first_from(low)) + part * kRows;
  const int end = low == a.rows.from - 1 ? a.rows.to : a.rows.first_from(low + 1);
  return {static_cast<int>(blockIdx.y) / a.row_parts / a.rows.from, low, first, min(kRows, end - first)};
}

// Of one output pixel, class by class: the sum of exponentials below the largest logit, and the first of the groups of
// kAtOnce classes that has it.
struct Softmax {
  float largest = -INFINITY;
  float sum = 0.0F;
  int group = 0;

  template <bool kSum>
  __device__ void add(const Channels& z, int first_class) {
    float largest_here = z.values[0];
#pragma unroll
    for (int e = 1; e < kAtOnce; ++e)
      largest_here = fmaxf(largest_here, z.values[e]);
    if (largest_here > largest) {
      if constexpr (kSum) sum *= exp2_fast((largest - largest_here) * kLog2e);
      largest = largest_here;
      group = first_class;
    }
    if constexpr (kSum) {
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e)
        sum += exp2_fast(fmaf(z.values[e], kLog2e, -largest * kLog2e));
    }
  }
};

// The logits that a block's pixels lie between: `span` pixels of the upper row, then as many of the lower one.
template <typename T>
struct Source {
  const T* upper;
  const T* lower;
  int span;
};

// kPair: neighbouring logits that are aligned together, 4 bytes of them where that is so.
template <int kPair, typename T>
__device__ void load_tile(const Source<T>& from, int classes, int stride, float* tile) {
  const int pairs = classes / kPair;
  const int count = 2 * from.span * pairs;
  int pixel = static_cast<int>(threadIdx.x) / pairs;
  int pair = static_cast<int>(threadIdx.x) % pairs;
  const int pixels_on = kThreads / pairs;
  const int pairs_on = kThreads % pairs;
  for (int first = static_cast<int>(threadIdx.x); first < count; first += kLoads * kThreads) {
    ChannelPiece<T, kPair> pieces[kLoads];
    float* to[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      if (first + i * kThreads >= count) break;
      const T* const logits =
          pixel < from.span ? from.upper + pixel * classes : from.lower + (pixel - from.span) * classes;
      pieces[i] = *reinterpret_cast<const ChannelPiece<T, kPair>*>(logits + pair * kPair);
      to[i] = tile + pixel * stride + pair * kPair;
      pixel += pixels_on;
      pair += pairs_on;
      if (pair < pairs) continue;
      pair -= pairs;
      ++pixel;
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      if (first + i * kThreads >= count) break;
#pragma unroll
      for (int e = 0; e < kPair; ++e)
        to[i][e] = to_float(pieces[i].values[e]);
    }
  }
  for (int i = static_cast<int>(threadIdx.x); i < 2 * from.span; i += kThreads) {
    for (int c = classes; c % kAtOnce != 0; ++c)
      tile[i * stride + c] = kAbsent;
  }
}

// A thread's column of pixels between two rows of logits in shared memory.
struct Corners {
  const float* left;
  const float* right;
  int lower;  // from the upper row to the lower one, in floats
  float weight;

  __device__ Channels row(int c, int offset) const {
    return between(load_shared(left + offset + c), load_shared(right + offset + c), weight);
  }
  // One logit, `down` of the way to the lower row, by the same arithmetic.
  __device__ float logit(int c, float down) const {
    const float upper = fmaf(weight, right[c] - left[c], left[c]);
    const float below = fmaf(weight, right[lower + c] - left[lower + c], left[lower + c]);
    return fmaf(down, below - upper, upper);
  }
  __device__ int first_largest(const Softmax& pixel, float down) const {
    const Channels z = between(row(pixel.group, 0), row(pixel.group, lower), down);
    int first = pixel.group;
#pragma unroll
    for (int e = kAtOnce - 1; e >= 0; --e) {
      if (z.values[e] == pixel.largest) first = pixel.group + e;
    }
    return first;
  }
};

// One pixel whose classes are added up.
template <typename T>
__device__ void add_loss_of(const Arguments<T>& a, std::int64_t at, const Softmax& pixel, const Corners& corners,
                            float down, BlockLoss& sums) {
  const float exponentials = logf(pixel.sum);
  a.lse[at] = pixel.largest + exponentials;
  const int label = a.labels[at];
  if (label == kIgnoredLabel) return;
  ++sums.count;
  if (label >= a.classes) {
    sums.loss += static_cast<double>(NAN);
    return;
  }
  // Not lse - z, of which little would be left where the label is the largest.
  sums.loss += static_cast<double>(exponentials + (pixel.largest - corners.logit(label, down)));
  if (label / kAtOnce * kAtOnce == pixel.group && corners.first_largest(pixel, down) == label) ++sums.correct;
}

template <typename T, int kPair, bool kLoss>
__global__ __launch_bounds__(kThreads) void pixel_loss_kernel(const Arguments<T> a) {
  extern __shared__ __align__(16) float tile[];
  const RowPart part = row_part_of(a);
  BlockLoss mine{};
  if (part.count > 0) {
    const int first_column = static_cast<int>(blockIdx.x) * a.columns_each;
    const int end_column = min(first_column + a.columns_each, a.columns.to);
    const int column = first_column + static_cast<int>(threadIdx.x);
    const bool exists = column < end_column;
    const auto place = a.columns.place(min(column, end_column - 1));
    const int first_place = a.columns.place(first_column).low;
    const int span = a.columns.place(end_column - 1).high - first_place + 1;
    const auto pixels_of = [&](int row) {
      return a.logits + ((std::int64_t{part.image} * a.rows.from + row) * a.columns.from + first_place) * a.classes;
    };
    load_tile<kPair>(Source<T>{pixels_of(part.low), pixels_of(min(part.low + 1, a.rows.from - 1)), span}, a.classes,
                     a.pixel_stride, tile);
    const Corners corners{tile + (place.low - first_place) * a.pixel_stride,
                          tile + (place.high - first_place) * a.pixel_stride, span * a.pixel_stride, place.weight};
    float down[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      down[r] = a.rows.place(part.first + min(r, part.count - 1)).weight;
    Softmax pixels[kRows];
    __syncthreads();
#pragma unroll 1
    for (int c = 0; c < a.classes; c += kAtOnce) {
      const Channels upper = corners.row(c, 0);
      const Channels lower = corners.row(c, corners.lower);
#pragma unroll
      for (int r = 0; r < kRows; ++r)
        pixels[r].template add<kLoss>(between(upper, lower, down[r]), c);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (!exists || r >= part.count) continue;
      const std::int64_t at = (std::int64_t{part.image} * a.rows.to + part.first + r) * a.columns.to + column;
      if constexpr (kLoss) {
        add_loss_of(a, at, pixels[r], corners, down[r], mine);
      } else {
        a.predicted[at] = static_cast<std::uint8_t>(corners.first_largest(pixels[r], down[r]));
      }
    }
  }
  if constexpr (kLoss) {
    const BlockLoss total{block_sum<kThreads>(mine.loss), block_sum<kThreads>(mine.count),
                          block_sum<kThreads>(mine.correct)};
    if (threadIdx.x == 0) a.losses[std::int64_t{blockIdx.y} * gridDim.x + blockIdx.x] = total;
  }
}

// One block adds up all blocks, in an order that depends on their number only.
__global__ __launch_bounds__(kSumThreads) void pixel_loss_sums_kernel(std::int64_t blocks, const BlockLoss* losses,
                                                                      LossSums* sums) {
  double loss = 0.0;
  std::int64_t count = 0;
  std::int64_t correct = 0;
  for (std::int64_t block = threadIdx.x; block < blocks; block += kSumThreads) {
    loss += losses[block].loss;
    count += losses[block].count;
    correct += losses[block].correct;
  }
  loss = block_sum<kSumThreads>(loss);
  count = block_sum<kSumThreads>(count);
  correct = block_sum<kSumThreads>(correct);
  if (threadIdx.x != 0) return;
  sums->loss += loss;
  sums->count += count;
  sums->correct += correct;
}

// How an output is dealt out to blocks, by shape alone.
struct Grid {
  std::int64_t columns_each;
  std::int64_t column_blocks;
  std::int64_t row_parts;
  std::int64_t row_blocks;
  std::int64_t pixel_stride;
  std::int64_t shared_bytes;

  std::int64_t blocks() const { return column_blocks * row_blocks; }
};

Grid grid_of(const UpsampleShape& s) {
  constexpr std::int64_t kMostShared = 96 << 10;
  Grid grid{};
  // A multiple of 16 bytes that spreads neighbouring pixels over the banks.
  grid.pixel_stride = (s.channels + kAtOnce - 1) / kAtOnce * kAtOnce + 4;
  const auto bytes = [&](std::int64_t columns) {
    const std::int64_t span = std::min(s.width, (columns - 1) * s.width / s.out_width + 3);
    return 2 * span * grid.pixel_stride * element_bytes(ElementType::kFp32);
  };
  grid.columns_each = kThreads;
  while (bytes(grid.columns_each) > kMostShared)  // of many classes, or where the output is not much larger
    grid.columns_each /= 2;
  grid.shared_bytes = bytes(grid.columns_each);
  grid.column_blocks = (s.out_width + grid.columns_each - 1) / grid.columns_each;
  // Above the middle of the first row of logits there is half an interval more.
  const std::int64_t most_rows = s.height == 1 ? s.out_height : (3 * s.out_height + 2 * s.height - 1) / (2 * s.height);
  grid.row_parts = (most_rows + kRows - 1) / kRows;
  grid.row_blocks = s.batch * s.height * grid.row_parts;
  require(grid.row_blocks < (1 << 16), "upsample_loss", "batch or height out of range");
  return grid;
}

template <bool kLoss>
void launch(const UpsampleShape& s, ElementType type, const PixelLossTensors& tensors, std::uint8_t* predicted,
            Stream stream) {
  const Grid grid = grid_of(s);
  with_element_type(type, [&]<typename T>() {
    Arguments<T> arguments{};
    arguments.rows = BilinearAxis::of(s.height, s.out_height);
    arguments.columns = BilinearAxis::of(s.width, s.out_width);
    arguments.classes = static_cast<int>(s.channels);
    arguments.columns_each = static_cast<int>(grid.columns_each);
    arguments.pixel_stride = static_cast<int>(grid.pixel_stride);
    arguments.row_parts = static_cast<int>(grid.row_parts);
    arguments.logits = static_cast<const T*>(tensors.logits);
    arguments.labels = tensors.labels;
    arguments.lse = tensors.lse;
    arguments.losses = static_cast<BlockLoss*>(tensors.workspace);
    arguments.predicted = predicted;
    const dim3 blocks(static_cast<unsigned>(grid.column_blocks), static_cast<unsigned>(grid.row_blocks));
    const auto run = [&]<int kPair>() {
      allow_shared(pixel_loss_kernel<T, kPair, kLoss>, grid.shared_bytes);
      pixel_loss_kernel<T, kPair, kLoss>
          <<<blocks, kThreads, static_cast<std::size_t>(grid.shared_bytes), stream>>>(arguments);
    };
    constexpr int kPair = 4 / static_cast<int>(sizeof(T));
    if (s.channels % kPair == 0) {
      run.template operator()<kPair>();
    } else {
      run.template operator()<1>();
    }
  });
  SWINSCOPE_CUDA_LAUNCHED("pixel_loss_kernel");
}

__global__ void add_loss_kernel(double weight, const LossSums* part, LossSums* sums) {
  sums->loss += weight * part->loss;
}

__global__ void pixel_loss_scale_kernel(const LossSums* sums, const float* loss_scale, float* scale) {
  *scale = sums->count == 0 ? __int_as_float(0x7fffffff)
                            : static_cast<float>(static_cast<double>(*loss_scale) / static_cast<double>(sums->count));
}

}  // namespace

std::int64_t upsample_loss_workspace_bytes(const UpsampleShape& s) {
  return grid_of(s).blocks() * static_cast<std::int64_t>(sizeof(BlockLoss));
}

void upsample_loss_forward(const UpsampleShape& s, ElementType type, const PixelLossTensors& tensors, Stream stream) {
  check_pixel_loss(s);
  if (s.batch == 0) return;
  launch<true>(s, type, tensors, nullptr, stream);
  pixel_loss_sums_kernel<<<1, kSumThreads, 0, stream>>>(grid_of(s).blocks(),
                                                        static_cast<const BlockLoss*>(tensors.workspace), tensors.sums);
  SWINSCOPE_CUDA_LAUNCHED("pixel_loss_sums_kernel");
}

void upsample_argmax(const UpsampleShape& s, ElementType type, const void* logits, std::uint8_t* classes,
                     Stream stream) {
  check_pixel_loss(s);
  if (s.batch == 0) return;
  PixelLossTensors tensors;
  tensors.logits = logits;
  launch<false>(s, type, tensors, classes, stream);
}

void add_loss(double weight, const LossSums* part, LossSums* sums, Stream stream) {
  add_loss_kernel<<<1, 1, 0, stream>>>(weight, part, sums);
  SWINSCOPE_CUDA_LAUNCHED("add_loss_kernel");
}

void pixel_loss_scale(const LossSums* sums, const float* loss_scale, float* scale, Stream stream) {
  pixel_loss_scale_kernel<<<1, 1, 0, stream>>>(sums, loss_scale, scale);
  SWINSCOPE_CUDA_LAUNCHED("pixel_loss_scale_kernel");
}

}  // namespace swinscope::cuda

// Bilinear resize and its gradient. A thread has a piece of channels of one column and walks down some rows: forward it
// keeps two input rows in registers, backward it sums the outputs that read its inputs, so no atomics and the same bits
// each time. The plain gradient scatters with fp32 atomics, as PyTorch's does.
#include <algorithm>

#include "kernels/bilinear_axis.cuh"
#include "kernels/channel_piece.cuh"
#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/resized_rows.cuh"
#include "kernels/upsample.h"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 256;
// Rows of the output that a thread of the forward pass walks down.
constexpr int kRowsDown = 8;
// Rows of the input that a thread of the backward pass walks down. The outputs between two of them are read once for
// both, so that k rows read k + 1 rows' outputs; more threads where the map is small.
constexpr std::int64_t kMostRowsBack = 4;
constexpr std::int64_t kEnoughThreads = 1 << 18;

template <typename T>
struct Arguments {
  BilinearAxis rows;
  BilinearAxis columns;
  int pieces;      // of a pixel's channels
  int rows_each;   // of a thread
  int row_shares;  // threads that share a column of an image
  const T* from;
  const T* addend;  // null: none
  T* to;
  std::int64_t from_stride;  // elements from pixel to pixel
  std::int64_t to_stride;
};

// Which piece of which column, and which rows of which image a thread has; neighbouring threads have neighbouring
// pieces.
struct Share {
  bool exists;
  int column;
  int channel;  // first
  int image;
  int first_row;
  int end_row;
};

template <typename T>
__device__ Share share_of(const Arguments<T>& a, int length, int columns, int rows) {
  const int index = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  const int first = static_cast<int>(blockIdx.y) % a.row_shares * a.rows_each;
  return {index < columns * a.pieces,
          index / a.pieces,
          index % a.pieces * length,
          static_cast<int>(blockIdx.y) / a.row_shares,
          first,
          min(first + a.rows_each, rows)};
}

template <typename T, int kLength>
__global__ __launch_bounds__(kThreads) void upsample_kernel(const Arguments<T> a) {
  const Share share = share_of(a, kLength, a.columns.to, a.rows.to);
  if (!share.exists) return;
  const auto column = a.columns.place(share.column);
  const T* const image =
      a.from + std::int64_t{share.image} * a.rows.from * a.columns.from * a.from_stride + share.channel;
  const auto load_row = [&](int row) {
    const T* const pixels = image + std::int64_t{row} * a.columns.from * a.from_stride;
    return between(load_channels<kLength>(pixels + column.low * a.from_stride),
                   load_channels<kLength>(pixels + column.high * a.from_stride), column.weight);
  };
  RowPair<kLength> pair;
  for (int row = share.first_row; row < share.end_row; ++row) {
    ChannelFloats<kLength> y = pair.at(a.rows.place(row), load_row);
    const std::int64_t at =
        ((std::int64_t{share.image} * a.rows.to + row) * a.columns.to + share.column) * a.to_stride + share.channel;
    if (a.addend != nullptr) add_scaled(1.0F, load_channels<kLength>(a.addend + at), y);
    store_channels<kLength>(a.to + at, y);
  }
}

template <typename T, int kLength>
__global__ __launch_bounds__(kThreads) void upsample_backward_kernel(const Arguments<T> a) {
  const Share share = share_of(a, kLength, a.columns.from, a.rows.from);
  if (!share.exists) return;
  const T* const image = a.from + std::int64_t{share.image} * a.rows.to * a.columns.to * a.from_stride + share.channel;
  const int first_column = a.columns.first_reader(share.column);
  const int end_column = a.columns.readers_end(share.column);
  const auto row_sum = [&](int row) {
    const T* const pixels = image + std::int64_t{row} * a.columns.to * a.from_stride;
    ChannelFloats<kLength> sum{};
#pragma unroll 4
    for (int column = first_column; column < end_column; ++column) {
      add_scaled(a.columns.weight_of(column, share.column), load_channels<kLength>(pixels + column * a.from_stride),
                 sum);
    }
    return sum;
  };
  // Of rows `current` and current + 1. What the row before the thread's first gets is another thread's to add up.
  ChannelFloats<kLength> upper{};
  ChannelFloats<kLength> lower{};
  int current = share.first_row - 1;
  const auto finish_row = [&] {
    if (current >= share.first_row) {
      T* const to =
          a.to + ((std::int64_t{share.image} * a.rows.from + current) * a.columns.from + share.column) * a.to_stride +
          share.channel;
      if (a.addend != nullptr) add_scaled(1.0F, load_channels<kLength>(to), upper);
      store_channels<kLength>(to, upper);
    }
    upper = lower;
    lower = {};
    ++current;
  };
  const int end = a.rows.readers_end(share.end_row - 1);
  for (int row = a.rows.first_reader(share.first_row); row < end; ++row) {
    const auto place = a.rows.place(row);
    while (current < place.low)
      finish_row();
    const ChannelFloats<kLength> sum = row_sum(row);
    const bool last = place.low == place.high;
    add_scaled(last ? 1.0F : 1.0F - place.weight, sum, upper);
    if (!last) add_scaled(place.weight, sum, lower);
  }
  while (current < share.end_row)
    finish_row();
}

// A thread an output.
template <typename T>
__global__ __launch_bounds__(kThreads) void upsample_scatter_kernel(const Arguments<T> a, std::int64_t count,
                                                                    float* dx) {
  const std::int64_t index = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (index >= count) return;
  const int channels = a.pieces;
  const auto channel = static_cast<int>(index % channels);
  const std::int64_t pixel = index / channels;
  const auto column = a.columns.place(static_cast<int>(pixel % a.columns.to));
  const auto row = a.rows.place(static_cast<int>(pixel / a.columns.to % a.rows.to));
  const std::int64_t image = pixel / a.columns.to / a.rows.to;
  const float dy = to_float(a.from[pixel * a.from_stride + channel]);
  float* const map = dx + image * a.rows.from * a.columns.from * channels + channel;
  const auto add = [&](int y, int x, float weight) {
    atomicAdd(map + (std::int64_t{y} * a.columns.from + x) * channels, weight * dy);
  };
  add(row.low, column.low, (1.0F - row.weight) * (1.0F - column.weight));
  add(row.low, column.high, (1.0F - row.weight) * column.weight);
  add(row.high, column.low, row.weight * (1.0F - column.weight));
  add(row.high, column.high, row.weight * column.weight);
}

template <typename T>
__global__ __launch_bounds__(kThreads) void round_sums_kernel(std::int64_t count, const float* sums, bool accumulate,
                                                              T* dx) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  dx[i] = from_float<T>(accumulate ? to_float(dx[i]) + sums[i] : sums[i]);
}

void check(const UpsampleShape& s, std::int64_t stride) {
  for (const std::int64_t extent : {s.height, s.width, s.out_height, s.out_width})
    require(extent > 0 && extent <= kLargestResizeExtent, "upsample", "extent out of range");
  // A row of either map has fewer than 2^31 elements, and a column of all images fewer than 2^16 blocks.
  require(s.batch >= 0 && s.channels > 0 && s.channels <= (1 << 16), "upsample", "batch or channels out of range");
  require(s.batch * std::max(s.height, s.out_height) < (1 << 16), "upsample", "batch or height out of range");
  require(stride == 0 || stride >= s.channels, "upsample", "the stride is shorter than a pixel");
}

template <typename T>
Arguments<T> arguments_of(const UpsampleShape& s, std::int64_t length) {
  Arguments<T> arguments{};
  arguments.rows = BilinearAxis::of(s.height, s.out_height);
  arguments.columns = BilinearAxis::of(s.width, s.out_width);
  arguments.pieces = static_cast<int>(s.channels / length);
  return arguments;
}

template <typename T>
dim3 share_rows(Arguments<T>& arguments, std::int64_t batch, std::int64_t columns, std::int64_t rows,
                std::int64_t rows_each) {
  arguments.rows_each = static_cast<int>(rows_each);
  arguments.row_shares = static_cast<int>((rows + rows_each - 1) / rows_each);
  return {blocks_for(columns * arguments.pieces, kThreads), static_cast<unsigned>(batch * arguments.row_shares)};
}

}  // namespace

void upsample_forward(const UpsampleShape& s, ElementType type, const UpsampleTensors& tensors, Stream stream) {
  check(s, tensors.y_stride);
  if (s.batch == 0) return;
  const std::int64_t stride = tensors.y_stride == 0 ? s.channels : tensors.y_stride;
  with_channel_pieces(type, {s.channels, stride}, [&]<typename T, int kLength>() {
    Arguments<T> arguments = arguments_of<T>(s, kLength);
    arguments.from = static_cast<const T*>(tensors.x);
    arguments.addend = static_cast<const T*>(tensors.addend);
    arguments.to = static_cast<T*>(tensors.y);
    arguments.from_stride = s.channels;
    arguments.to_stride = stride;
    const dim3 grid = share_rows(arguments, s.batch, s.out_width, s.out_height, kRowsDown);
    upsample_kernel<T, kLength><<<grid, kThreads, 0, stream>>>(arguments);
  });
  SWINSCOPE_CUDA_LAUNCHED("upsample_kernel");
}

void upsample_backward(const UpsampleShape& s, ElementType type, const UpsampleGradientTensors& tensors,
                       Stream stream) {
  check(s, tensors.dy_stride);
  if (s.batch == 0) return;
  const std::int64_t stride = tensors.dy_stride == 0 ? s.channels : tensors.dy_stride;
  with_channel_pieces(type, {s.channels, stride}, [&]<typename T, int kLength>() {
    Arguments<T> arguments = arguments_of<T>(s, kLength);
    arguments.from = static_cast<const T*>(tensors.dy);
    arguments.to = static_cast<T*>(tensors.dx);
    if (tensors.accumulate) arguments.addend = arguments.to;
    arguments.from_stride = stride;
    arguments.to_stride = s.channels;
    const std::int64_t row_threads = s.pixels() * arguments.pieces;
    const dim3 grid = share_rows(arguments, s.batch, s.width, s.height,
                                 std::clamp<std::int64_t>(row_threads / kEnoughThreads, 1, kMostRowsBack));
    upsample_backward_kernel<T, kLength><<<grid, kThreads, 0, stream>>>(arguments);
  });
  SWINSCOPE_CUDA_LAUNCHED("upsample_backward_kernel");
}

std::int64_t upsample_backward_plain_workspace_bytes(const UpsampleShape& s) {
  return s.pixels() * s.channels * element_bytes(ElementType::kFp32);
}

void upsample_backward_plain(const UpsampleShape& s, ElementType type, const UpsampleGradientTensors& tensors,
                             Stream stream) {
  check(s, tensors.dy_stride);
  if (s.batch == 0) return;
  auto* const sums = static_cast<float*>(tensors.workspace);
  clear(sums, upsample_backward_plain_workspace_bytes(s), stream);
  with_element_type(type, [&]<typename T>() {
    Arguments<T> arguments = arguments_of<T>(s, 1);
    arguments.from = static_cast<const T*>(tensors.dy);
    arguments.from_stride = tensors.dy_stride == 0 ? s.channels : tensors.dy_stride;
    const std::int64_t outputs = s.out_pixels() * s.channels;
    upsample_scatter_kernel<T><<<blocks_for(outputs, kThreads), kThreads, 0, stream>>>(arguments, outputs, sums);
    SWINSCOPE_CUDA_LAUNCHED("upsample_scatter_kernel");
    const std::int64_t inputs = s.pixels() * s.channels;
    round_sums_kernel<T><<<blocks_for(inputs, kThreads), kThreads, 0, stream>>>(inputs, sums, tensors.accumulate,
                                                                                static_cast<T*>(tensors.dx));
    SWINSCOPE_CUDA_LAUNCHED("round_sums_kernel");
  });
}

}  // namespace swinscope::cuda

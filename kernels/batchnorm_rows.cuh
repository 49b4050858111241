// What the kernels of batch normalization share: a warp has neighbouring pieces of channels, a block some rows of them,
// and each thread keeps its channels' parameters in registers.
#pragma once

#include <algorithm>

#include "kernels/batchnorm.h"
#include "kernels/channel_piece.cuh"
#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"

namespace swinscope::cuda::batchnorm {

constexpr int kGroups = 8;  // rows at once
constexpr int kThreads = kGroups * kWarp;

// The rows of a block, by shape alone.
struct RowShares {
  std::int64_t rows_each = 0;
  std::int64_t blocks = 0;

  // At least `least` rows for each thread, and not more blocks than `most`.
  static RowShares of(std::int64_t rows, std::int64_t least, std::int64_t most) {
    const std::int64_t wanted = std::clamp<std::int64_t>(rows / (kGroups * least), 1, most);
    RowShares shares;
    shares.rows_each = std::max<std::int64_t>(1, (rows + wanted - 1) / wanted);
    shares.blocks = std::max<std::int64_t>(1, (rows + shares.rows_each - 1) / shares.rows_each);
    return shares;
  }
};

// Of the passes that leave sums for a second stage.
inline RowShares sum_shares(std::int64_t rows) { return RowShares::of(rows, 16, 512); }
// Of those that write a map.
inline RowShares map_shares(std::int64_t rows) { return RowShares::of(rows, 8, 1 << 15); }

struct ThreadRows {
  int channel;  // first
  bool exists;
  std::int64_t begin;  // of the block
  std::int64_t first;  // of the thread, which takes every kGroups-th
  std::int64_t end;

  __device__ ThreadRows(int channels, int length, std::int64_t rows, std::int64_t rows_each) {
    channel = (static_cast<int>(blockIdx.x) * kWarp + static_cast<int>(threadIdx.x) % kWarp) * length;
    exists = channel < channels;
    begin = std::int64_t{blockIdx.y} * rows_each;
    first = begin + threadIdx.x / kWarp;
    end = begin + rows_each < rows ? begin + rows_each : rows;
  }
};

inline dim3 grid_of(std::int64_t channels, int length, const RowShares& shares) {
  return {blocks_for(channels, std::int64_t{kWarp} * length), static_cast<unsigned>(shares.blocks)};
}

// y = (x - mean) * scale + beta with scale = rstd * gamma. Forward and backward take the same bits, so that a gradient
// passes exactly where the output is above 0.
template <typename T, int kLength>
struct Affine {
  ChannelFloats<kLength> mean;
  ChannelFloats<kLength> scale;
  ChannelFloats<kLength> beta;

  __device__ void load(const float* statistics, int channels, int channel, const T* gamma, const T* offset) {
    mean = load_channels<kLength>(statistics + channel);
    scale = load_channels<kLength>(gamma + channel);
    beta = load_channels<kLength>(offset + channel);
#pragma unroll
    for (int e = 0; e < kLength; ++e)
      scale.values[e] *= statistics[channels + channel + e];
  }
  __device__ float operator()(int e, float x) const {
    return fmaf(x - mean.values[e], scale.values[e], beta.values[e]);
  }
  __device__ bool passes(int e, float x) const { return !(to_float(from_float<T>((*this)(e, x))) <= 0.0F); }
};

inline void check(const BatchNormShape& shape, std::int64_t stride) {
  require(shape.rows > 0 && shape.channels > 0 && shape.channels < (1 << 24) && shape.epsilon >= 0, "batchnorm",
          "rows, channels or epsilon out of range");
  require(stride == 0 || stride >= shape.channels, "batchnorm", "the stride is shorter than a row");
}

}  // namespace swinscope::cuda::batchnorm

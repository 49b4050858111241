// The backward pass of batch normalization, with ReLU's where one follows. The first kernel leaves each block's sums of
// dy and of dy * normalized x, which partial_sums.h adds up; the second writes dx from the sums over all ranks.
#include "kernels/batchnorm.h"
#include "kernels/batchnorm_rows.cuh"
#include "kernels/partial_sums.h"

namespace swinscope::cuda {
namespace {

using namespace batchnorm;

template <typename T>
struct Arguments {
  std::int64_t rows;
  std::int64_t rows_each;
  int channels;
  const T* x;
  const float* statistics;
  const T* gamma;
  const T* beta;
  bool relu;
  const T* dy;
  std::int64_t dy_stride;
  float* partials;  // [blocks, 2, channels]
  const float* sums;
  T* dx;
};

// The gradient of the normalization's output, and its normalized input.
template <typename T, int kLength>
struct Row {
  ChannelFloats<kLength> dy;
  ChannelFloats<kLength> normalized;

  __device__ Row(const Arguments<T>& a, const Affine<T, kLength>& affine, const ChannelFloats<kLength>& rstd,
                 std::int64_t row, int channel) {
    normalized = load_channels<kLength>(a.x + row * a.channels + channel);
    dy = load_channels<kLength>(a.dy + row * a.dy_stride + channel);
#pragma unroll
    for (int e = 0; e < kLength; ++e) {
      if (a.relu && !affine.passes(e, normalized.values[e])) dy.values[e] = 0.0F;
      normalized.values[e] = (normalized.values[e] - affine.mean.values[e]) * rstd.values[e];
    }
  }
};

template <typename T, int kLength>
__global__ __launch_bounds__(kThreads) void batchnorm_sums_kernel(const Arguments<T> a) {
  __shared__ float met[2][kGroups][kWarp * kLength];
  const ThreadRows own(a.channels, kLength, a.rows, a.rows_each);
  const int lane = static_cast<int>(threadIdx.x) % kWarp * kLength;
  const int group = static_cast<int>(threadIdx.x) / kWarp;
  ChannelFloats<kLength> sum{};
  ChannelFloats<kLength> projection{};
  if (own.exists) {
    Affine<T, kLength> affine;
    affine.load(a.statistics, a.channels, own.channel, a.gamma, a.beta);
    ChannelFloats<kLength> rstd;
#pragma unroll
    for (int e = 0; e < kLength; ++e)
      rstd.values[e] = a.statistics[a.channels + own.channel + e];
#pragma unroll 2
    for (std::int64_t row = own.first; row < own.end; row += kGroups) {
      const Row<T, kLength> of(a, affine, rstd, row, own.channel);
#pragma unroll
      for (int e = 0; e < kLength; ++e) {
        sum.values[e] += of.dy.values[e];
        projection.values[e] = fmaf(of.dy.values[e], of.normalized.values[e], projection.values[e]);
      }
    }
  }
#pragma unroll
  for (int e = 0; e < kLength; ++e) {
    met[0][group][lane + e] = sum.values[e];
    met[1][group][lane + e] = projection.values[e];
  }
  __syncthreads();
  if (group != 0 || !own.exists) return;
  float* const out = a.partials + std::int64_t{blockIdx.y} * 2 * a.channels + own.channel;
#pragma unroll
  for (int e = 0; e < kLength; ++e) {
    float totals[2] = {};
    for (int i = 0; i < kGroups; ++i) {
      totals[0] += met[0][i][lane + e];
      totals[1] += met[1][i][lane + e];
    }
    out[e] = totals[0];
    out[a.channels + e] = totals[1];
  }
}

template <typename T, int kLength>
__global__ __launch_bounds__(kThreads) void batchnorm_backward_kernel(const Arguments<T> a) {
  const ThreadRows own(a.channels, kLength, a.rows, a.rows_each);
  if (!own.exists) return;
  Affine<T, kLength> affine;
  affine.load(a.statistics, a.channels, own.channel, a.gamma, a.beta);
  const float rows = a.statistics[2 * a.channels];
  ChannelFloats<kLength> rstd;
  ChannelFloats<kLength> center;
  ChannelFloats<kLength> projection;
#pragma unroll
  for (int e = 0; e < kLength; ++e) {
    rstd.values[e] = a.statistics[a.channels + own.channel + e];
    center.values[e] = a.sums[own.channel + e] / rows;
    projection.values[e] = a.sums[a.channels + own.channel + e] / rows;
  }
#pragma unroll 2
  for (std::int64_t row = own.first; row < own.end; row += kGroups) {
    Row<T, kLength> of(a, affine, rstd, row, own.channel);
#pragma unroll
    for (int e = 0; e < kLength; ++e) {
      of.dy.values[e] = affine.scale.values[e] *
                        (of.dy.values[e] - center.values[e] - of.normalized.values[e] * projection.values[e]);
    }
    store_channels<kLength>(a.dx + row * a.channels + own.channel, of.dy);
  }
}

template <typename T>
Arguments<T> arguments_of(const BatchNormShape& shape, const BatchNormGradientTensors& tensors,
                          const RowShares& shares) {
  Arguments<T> arguments{};
  arguments.rows = shape.rows;
  arguments.rows_each = shares.rows_each;
  arguments.channels = static_cast<int>(shape.channels);
  arguments.x = static_cast<const T*>(tensors.x);
  arguments.statistics = tensors.statistics;
  arguments.gamma = static_cast<const T*>(tensors.gamma);
  arguments.beta = static_cast<const T*>(tensors.beta);
  arguments.relu = tensors.relu;
  arguments.dy = static_cast<const T*>(tensors.dy);
  arguments.dy_stride = tensors.dy_stride == 0 ? shape.channels : tensors.dy_stride;
  arguments.partials = static_cast<float*>(tensors.workspace);
  arguments.sums = tensors.sums;
  arguments.dx = static_cast<T*>(tensors.dx);
  return arguments;
}

}  // namespace

void batchnorm_backward_sums(const BatchNormShape& shape, ElementType type, const BatchNormGradientTensors& tensors,
                             Stream stream) {
  check(shape, tensors.dy_stride);
  const RowShares shares = sum_shares(shape.rows);
  with_channel_pieces(type, {shape.channels, tensors.dy_stride}, [&]<typename T, int kLength>() {
    batchnorm_sums_kernel<T, kLength>
        <<<grid_of(shape.channels, kLength, shares), kThreads, 0, stream>>>(arguments_of<T>(shape, tensors, shares));
  });
  SWINSCOPE_CUDA_LAUNCHED("batchnorm_sums_kernel");
  PartialSums sums;
  sums.count = shares.blocks;
  sums.stride = 2 * shape.channels;
  sums.columns = shape.channels;
  sums.partials = static_cast<const float*>(tensors.workspace);
  sums.out[0] = tensors.sums;
  sums.out[1] = tensors.sums + shape.channels;
  add_partial_sums(sums, stream);
  // Once more: the ranks' sums will be added to the first ones, these are this rank's.
  sums.out[0] = tensors.dbeta;
  sums.out[1] = tensors.dgamma;
  sums.accumulate = tensors.accumulate;
  add_partial_sums(sums, stream);
}

void batchnorm_backward(const BatchNormShape& shape, ElementType type, const BatchNormGradientTensors& tensors,
                        Stream stream) {
  check(shape, tensors.dy_stride);
  const RowShares shares = map_shares(shape.rows);
  with_channel_pieces(type, {shape.channels, tensors.dy_stride}, [&]<typename T, int kLength>() {
    batchnorm_backward_kernel<T, kLength>
        <<<grid_of(shape.channels, kLength, shares), kThreads, 0, stream>>>(arguments_of<T>(shape, tensors, shares));
  });
  SWINSCOPE_CUDA_LAUNCHED("batchnorm_backward_kernel");
}

}  // namespace swinscope::cuda

// The forward pass of batch normalization. Blocks sum distances to their first row, so that a large mean costs no
// digits; the blocks' and then the ranks' moments are merged in double (Chan, Golub, LeVeque), and a last kernel
// normalizes, with ReLU where wanted. The same bits each time.
#include "kernels/batchnorm.h"
#include "kernels/batchnorm_rows.cuh"

namespace swinscope::cuda {
namespace {

using namespace batchnorm;

template <typename T>
struct Arguments {
  std::int64_t rows;
  std::int64_t rows_each;
  int channels;
  const T* x;
  float* partials;  // [blocks, 2, channels]
  const float* statistics;
  const T* gamma;
  const T* beta;
  bool relu;
  T* y;
  std::int64_t y_stride;
};

// Moments of the block's rows. The sums are of the distances to the first of them: about a standard deviation, whatever
// the mean is.
template <typename T, int kLength>
__global__ __launch_bounds__(kThreads) void moments_kernel(const Arguments<T> a) {
  __shared__ float met[2][kGroups][kWarp * kLength];
  const ThreadRows own(a.channels, kLength, a.rows, a.rows_each);
  const int lane = static_cast<int>(threadIdx.x) % kWarp * kLength;
  const int group = static_cast<int>(threadIdx.x) / kWarp;
  ChannelFloats<kLength> pivot{};
  ChannelFloats<kLength> sum{};
  ChannelFloats<kLength> squares{};
  if (own.exists) {
    pivot = load_channels<kLength>(a.x + own.begin * a.channels + own.channel);
#pragma unroll 4
    for (std::int64_t row = own.first; row < own.end; row += kGroups) {
      const auto x = load_channels<kLength>(a.x + row * a.channels + own.channel);
#pragma unroll
      for (int e = 0; e < kLength; ++e) {
        const float distance = x.values[e] - pivot.values[e];
        sum.values[e] += distance;
        squares.values[e] = fmaf(distance, distance, squares.values[e]);
      }
    }
  }
#pragma unroll
  for (int e = 0; e < kLength; ++e) {
    met[0][group][lane + e] = sum.values[e];
    met[1][group][lane + e] = squares.values[e];
  }
  __syncthreads();
  if (group != 0 || !own.exists) return;
  const auto rows = static_cast<float>(own.end - own.begin);
  float* const out = a.partials + std::int64_t{blockIdx.y} * 2 * a.channels + own.channel;
#pragma unroll
  for (int e = 0; e < kLength; ++e) {
    float total = 0.0F;
    float total_squares = 0.0F;
    for (int i = 0; i < kGroups; ++i) {
      total += met[0][i][lane + e];
      total_squares += met[1][i][lane + e];
    }
    const float shift = total / rows;
    out[e] = pivot.values[e] + shift;
    out[a.channels + e] = fmaxf(0.0F, fmaf(-shift, total, total_squares));
  }
}

// Mean and sum of squared distances of some rows; those of other rows are merged into them.
struct Moments {
  double rows = 0.0;
  double mean = 0.0;
  double squares = 0.0;

  __device__ void merge(double other_rows, double other_mean, double other_squares) {
    if (other_rows <= 0.0) return;
    const double all = rows + other_rows;
    const double apart = other_mean - mean;
    mean += apart * (other_rows / all);
    squares += other_squares + apart * apart * (rows * other_rows / all);
    rows = all;
  }
};

// A warp of channels; kGroups threads each merge a run of the blocks' moments, then one merges theirs.
__global__ __launch_bounds__(kThreads) void merge_moments_kernel(std::int64_t rows, std::int64_t rows_each,
                                                                 std::int64_t blocks, int channels,
                                                                 const float* partials, float* moments) {
  __shared__ double met[3][kGroups][kWarp];  // rows, mean, squares
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int group = static_cast<int>(threadIdx.x) / kWarp;
  const int channel = static_cast<int>(blockIdx.x) * kWarp + lane;
  const std::int64_t run = (blocks + kGroups - 1) / kGroups;
  Moments mine;
  if (channel < channels) {
    for (std::int64_t block = group * run; block < min((group + 1) * run, blocks); ++block) {
      const float* const from = partials + block * 2 * channels + channel;
      mine.merge(static_cast<double>(min(rows_each, rows - block * rows_each)), from[0], from[channels]);
    }
  }
  met[0][group][lane] = mine.rows;
  met[1][group][lane] = mine.mean;
  met[2][group][lane] = mine.squares;
  __syncthreads();
  if (group != 0 || channel >= channels) return;
  for (int i = 1; i < kGroups; ++i)
    mine.merge(met[0][i][lane], met[1][i][lane], met[2][i][lane]);
  moments[channel] = static_cast<float>(mine.mean);
  moments[channels + channel] = static_cast<float>(mine.squares);
  if (channel == 0) moments[2 * channels] = static_cast<float>(rows);
}

__global__ __launch_bounds__(kThreads) void statistics_kernel(BatchNormShape shape, std::int64_t ranks,
                                                              const float* moments, float* statistics,
                                                              float* running_mean, float* running_variance) {
  const std::int64_t channel = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::int64_t channels = shape.channels;
  if (channel >= channels) return;
  Moments all;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const float* const from = moments + rank * (2 * channels + 1);
    all.merge(from[2 * channels], from[channel], from[channels + channel]);
  }
  const double variance = all.squares / all.rows;
  statistics[channel] = static_cast<float>(all.mean);
  statistics[channels + channel] = static_cast<float>(1.0 / sqrt(variance + shape.epsilon));
  if (channel == 0) statistics[2 * channels] = static_cast<float>(all.rows);
  const auto move = [&](float& running, double now) {
    running = static_cast<float>((1.0 - shape.momentum) * static_cast<double>(running) + shape.momentum * now);
  };
  if (running_mean != nullptr) move(running_mean[channel], all.mean);
  if (running_variance != nullptr) {
    move(running_variance[channel], all.rows > 1.0 ? all.squares / (all.rows - 1.0) : variance);
  }
}

__global__ __launch_bounds__(kThreads) void running_kernel(BatchNormShape shape, const float* running_mean,
                                                           const float* running_variance, float* statistics) {
  const std::int64_t channel = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (channel >= shape.channels) return;
  statistics[channel] = running_mean[channel];
  statistics[shape.channels + channel] =
      static_cast<float>(1.0 / sqrt(static_cast<double>(running_variance[channel]) + shape.epsilon));
  if (channel == 0) statistics[2 * shape.channels] = 0.0F;
}

template <typename T, int kLength>
__global__ __launch_bounds__(kThreads) void normalize_kernel(const Arguments<T> a) {
  const ThreadRows own(a.channels, kLength, a.rows, a.rows_each);
  if (!own.exists) return;
  Affine<T, kLength> affine;
  affine.load(a.statistics, a.channels, own.channel, a.gamma, a.beta);
#pragma unroll 4
  for (std::int64_t row = own.first; row < own.end; row += kGroups) {
    auto x = load_channels<kLength>(a.x + row * a.channels + own.channel);
#pragma unroll
    for (int e = 0; e < kLength; ++e) {
      const float y = affine(e, x.values[e]);
      x.values[e] = a.relu && y < 0.0F ? 0.0F : y;
    }
    store_channels<kLength>(a.y + row * a.y_stride + own.channel, x);
  }
}

}  // namespace

std::int64_t batchnorm_workspace_bytes(const BatchNormShape& shape) {
  return sum_shares(shape.rows).blocks * 2 * shape.channels * element_bytes(ElementType::kFp32);
}

void batchnorm_moments(const BatchNormShape& shape, ElementType type, const void* x, float* moments, void* workspace,
                       Stream stream) {
  check(shape, 0);
  const RowShares shares = sum_shares(shape.rows);
  auto* const partials = static_cast<float*>(workspace);
  with_channel_pieces(type, {shape.channels}, [&]<typename T, int kLength>() {
    Arguments<T> arguments{};
    arguments.rows = shape.rows;
    arguments.rows_each = shares.rows_each;
    arguments.channels = static_cast<int>(shape.channels);
    arguments.x = static_cast<const T*>(x);
    arguments.partials = partials;
    moments_kernel<T, kLength><<<grid_of(shape.channels, kLength, shares), kThreads, 0, stream>>>(arguments);
  });
  SWINSCOPE_CUDA_LAUNCHED("moments_kernel");
  merge_moments_kernel<<<blocks_for(shape.channels, kWarp), kThreads, 0, stream>>>(
      shape.rows, shares.rows_each, shares.blocks, static_cast<int>(shape.channels), partials, moments);
  SWINSCOPE_CUDA_LAUNCHED("merge_moments_kernel");
}

void batchnorm_statistics(const BatchNormShape& shape, const float* moments, std::int64_t ranks, float* statistics,
                          float* running_mean, float* running_variance, Stream stream) {
  check(shape, 0);
  require(ranks > 0, "batchnorm_statistics", "no ranks");
  statistics_kernel<<<blocks_for(shape.channels, kThreads), kThreads, 0, stream>>>(shape, ranks, moments, statistics,
                                                                                   running_mean, running_variance);
  SWINSCOPE_CUDA_LAUNCHED("statistics_kernel");
}

void batchnorm_running(const BatchNormShape& shape, const float* running_mean, const float* running_variance,
                       float* statistics, Stream stream) {
  check(shape, 0);
  running_kernel<<<blocks_for(shape.channels, kThreads), kThreads, 0, stream>>>(shape, running_mean, running_variance,
                                                                                statistics);
  SWINSCOPE_CUDA_LAUNCHED("running_kernel");
}

void batchnorm_forward(const BatchNormShape& shape, ElementType type, const BatchNormTensors& tensors, Stream stream) {
  check(shape, tensors.y_stride);
  const RowShares shares = map_shares(shape.rows);
  const std::int64_t stride = tensors.y_stride == 0 ? shape.channels : tensors.y_stride;
  with_channel_pieces(type, {shape.channels, stride}, [&]<typename T, int kLength>() {
    Arguments<T> arguments{};
    arguments.rows = shape.rows;
    arguments.rows_each = shares.rows_each;
    arguments.channels = static_cast<int>(shape.channels);
    arguments.x = static_cast<const T*>(tensors.x);
    arguments.statistics = tensors.statistics;
    arguments.gamma = static_cast<const T*>(tensors.gamma);
    arguments.beta = static_cast<const T*>(tensors.beta);
    arguments.relu = tensors.relu;
    arguments.y = static_cast<T*>(tensors.y);
    arguments.y_stride = stride;
    normalize_kernel<T, kLength><<<grid_of(shape.channels, kLength, shares), kThreads, 0, stream>>>(arguments);
  });
  SWINSCOPE_CUDA_LAUNCHED("normalize_kernel");
}

}  // namespace swinscope::cuda

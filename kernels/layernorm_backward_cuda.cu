// The backward pass of layer normalization. A row of x and dy is read once and stays in registers; mean and standard
// deviation are taken again rather than kept. Each block has rows of its own and adds up its share of dgamma and dbeta,
// which a second kernel sums up.
#include <algorithm>
#include <limits>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/delayed_scale.cuh"
#include "kernels/device_math.cuh"
#include "kernels/early_launch.cuh"
#include "kernels/layernorm.h"
#include "kernels/merge_place.cuh"
#include "kernels/partial_sums.h"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 128;
// Three blocks fit on a multiprocessor: twice what an H100 or H200 holds at once.
constexpr int kBlocksEach = 3;
constexpr std::int64_t kMostBlocks = 792;
// Fewer would make the partial sums, up to 3 C values a block, cost as much as the rows themselves.
constexpr std::int64_t kLeastRows = 8;
constexpr std::int64_t kPlainBlocks = 128;

// By shape alone: the sums' order must not depend on the GPU.
std::int64_t blocks_of(std::int64_t rows, std::int64_t groups) {
  return std::clamp<std::int64_t>(rows / (groups * kLeastRows), 1, kMostBlocks);
}

template <typename T>
struct Arguments {
  int rows;
  int rows_per_block;
  float epsilon;
  MergePlace place;
  const T* x;
  const T* gamma;
  const T* dy;
  const T* residual;
  T* dx;
  const float* sample_scale;
  int rows_per_sample;
  float* partials;  // [blocks, 2 or 3, channels]
  bool backwards;   // from the last block to the first
  ByteCopy copy;    // of dx
};

// Sums of two values over the kLanes threads that share a row; more than a warp meet in shared memory, where every call
// has a place of its own.
template <int kLanes>
__device__ float2 row_sums(float2 value, float2* meeting) {
  value.x = sum_over(value.x, min(kLanes, kWarp));
  value.y = sum_over(value.y, min(kLanes, kWarp));
  if constexpr (kLanes > kWarp) {
    constexpr int kWarps = kLanes / kWarp;
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    if (threadIdx.x % kWarp == 0) meeting[warp] = value;
    __syncthreads();
    value = {0.0F, 0.0F};
#pragma unroll
    for (int i = 0; i < kWarps; ++i) {
      value.x += meeting[warp / kWarps * kWarps + i].x;
      value.y += meeting[warp / kWarps * kWarps + i].y;
    }
  }
  return value;
}

// What a kernel is made for.
enum class Rows {
  kPlain,
  kGathered,     // from a map: see MergePlace
  kSummed,       // dx is summed up, too
  kPlainCopied,  // as kPlain and kSummed, and dx has a copy in 8 bits
  kSummedCopied,
};

// kLanes threads share a row and hold kVectors 16-byte pieces of it each.
template <typename T, int kLanes, int kVectors, Rows kRows>
__global__ __launch_bounds__(kThreads,
                             kVectors <= 3 ? kBlocksEach : 1) void layernorm_backward_kernel(const Arguments<T> a) {
  using Piece = Vector<T>;
  constexpr int kLength = Piece::kLength;
  constexpr int kElements = kVectors * kLength;
  constexpr int kRowVectors = kLanes * kVectors;
  constexpr int kChannels = kRowVectors * kLength;
  constexpr int kGroups = kThreads / kLanes;
  constexpr bool kGather = kRows == Rows::kGathered;
  constexpr int kSums = kRows == Rows::kSummed || kRows == Rows::kSummedCopied ? 3 : 2;
  constexpr bool kCopies = kRows >= Rows::kPlainCopied;
  constexpr float kInverseCount = 1.0F / static_cast<float>(kChannels);
  __shared__ float2 meeting[3][kThreads / kWarp];
  __shared__ float sums[kGroups * kChannels];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int group = static_cast<int>(threadIdx.x) / kLanes;
  float totals[kSums][kElements] = {};  // of dgamma, dbeta, dx
  const auto block = static_cast<int>(a.backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
  const int first = block * a.rows_per_block;
  const int end = min(first + a.rows_per_block, a.rows);
  let_next_begin();
  wait_for_previous();
  ByteCopyShare share(kCopies ? a.copy : ByteCopy{});
  // All threads take part in the sums: those beyond the end repeat the last row and count for nothing.
  for (int begin = first; begin < end; begin += kGroups) {
    const bool exists = begin + group < end;
    const int row = min(begin + group, a.rows - 1);
    Piece gamma[kVectors];  // each time: kept from row to row it would take registers that the sums need
    Piece x[kVectors];
    Piece dy[kVectors];
    Piece residual[kVectors] = {};
    std::int64_t place[kVectors];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const std::int64_t own = std::int64_t{row} * kRowVectors + lane + v * kLanes;
      place[v] = kGather ? a.place(row, lane + v * kLanes, kRowVectors) : own;
      x[v] = place[v] < 0 ? Piece{} : load_vector(a.x + place[v] * kLength);
      dy[v] = load_vector(a.dy + own * kLength);
      gamma[v] = load_vector(a.gamma + (lane + v * kLanes) * kLength);
      if (!kGather && a.residual != nullptr) residual[v] = load_vector(a.residual + own * kLength);
    }
    float scale = exists ? 1.0F : 0.0F;
    if (a.sample_scale != nullptr) scale *= a.sample_scale[row / a.rows_per_sample];
    float2 sum{};
#pragma unroll
    for (int i = 0; i < kElements; ++i)
      sum.x += to_float(x[i / kLength].values[i % kLength]);
    const float mean = row_sums<kLanes>(sum, meeting[0]).x * kInverseCount;
    float2 squares{};
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
      const float centred = to_float(x[i / kLength].values[i % kLength]) - mean;
      squares.x += centred * centred;
    }
    const float rstd = rsqrtf(row_sums<kLanes>(squares, meeting[1]).x * kInverseCount + a.epsilon);
    float2 products{};  // of g and of g * xhat
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
      const float normalized = (to_float(x[i / kLength].values[i % kLength]) - mean) * rstd;
      const float gradient = scale * to_float(dy[i / kLength].values[i % kLength]);
      const float g = gradient * to_float(gamma[i / kLength].values[i % kLength]);
      products.x += g;
      products.y += g * normalized;
      totals[0][i] += gradient * normalized;
      totals[1][i] += gradient;
    }
    products = row_sums<kLanes>(products, meeting[2]);
    if (!exists) continue;
    const float g_mean = products.x * kInverseCount;
    const float projection = products.y * kInverseCount;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (place[v] < 0) continue;
#pragma unroll
      for (int e = 0; e < kLength; ++e) {
        const float normalized = (to_float(x[v].values[e]) - mean) * rstd;
        const float g = scale * to_float(dy[v].values[e]) * to_float(gamma[v].values[e]);
        const float dx = fmaf(rstd, g - g_mean - normalized * projection, to_float(residual[v].values[e]));
        if constexpr (kSums == 3) totals[2][v * kLength + e] += dx;
        x[v].values[e] = from_float<T>(dx);
      }
      if (!kCopies || a.dx != nullptr) store_vector(a.dx + place[v] * kLength, x[v]);
      if constexpr (kCopies) share.store(place[v], x[v]);
    }
  }
  if constexpr (kCopies) share.report();
    // The groups' sums in order.
#pragma unroll
  for (int part = 0; part < kSums; ++part) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
      const int channel = (lane + i / kLength * kLanes) * kLength + i % kLength;
      sums[group * kChannels + channel] = totals[part][i];
    }
    __syncthreads();
    for (int channel = static_cast<int>(threadIdx.x); channel < kChannels; channel += kThreads) {
      float total = 0.0F;
      for (int i = 0; i < kGroups; ++i)
        total += sums[i * kChannels + channel];
      a.partials[(std::int64_t{block} * kSums + part) * kChannels + channel] = total;
    }
  }
}

// For any number of channels: the same in three kernels, and in as many passes over memory.
template <typename T>
__global__ __launch_bounds__(kThreads) void plain_statistics_kernel(std::int64_t channels, float epsilon, const T* x,
                                                                    float2* statistics) {
  const T* const row = x + blockIdx.x * channels;
  float sum = 0.0F;
  for (std::int64_t c = threadIdx.x; c < channels; c += kThreads)
    sum += to_float(row[c]);
  const float mean = block_sum<kThreads>(sum) / static_cast<float>(channels);
  float squares = 0.0F;
  for (std::int64_t c = threadIdx.x; c < channels; c += kThreads) {
    const float centred = to_float(row[c]) - mean;
    squares += centred * centred;
  }
  const float variance = block_sum<kThreads>(squares) / static_cast<float>(channels);
  if (threadIdx.x == 0) statistics[blockIdx.x] = {mean, rsqrtf(variance + epsilon)};
}

// A thread a channel; a block row of the grid has a share of the rows.
template <typename T>
__global__ __launch_bounds__(kThreads) void plain_parameters_kernel(Arguments<T> a, std::int64_t channels,
                                                                    const float2* statistics) {
  const std::int64_t channel = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (channel >= channels) return;
  const int first = static_cast<int>(blockIdx.y) * a.rows_per_block;
  const int end = min(first + a.rows_per_block, a.rows);
  float dgamma = 0.0F;
  float dbeta = 0.0F;
  for (int row = first; row < end; ++row) {
    const float2 of_row = statistics[row];
    const std::int64_t at = row * channels + channel;
    const float scale = a.sample_scale == nullptr ? 1.0F : a.sample_scale[row / a.rows_per_sample];
    const float gradient = scale * to_float(a.dy[at]);
    dgamma += gradient * (to_float(a.x[at]) - of_row.x) * of_row.y;
    dbeta += gradient;
  }
  a.partials[std::int64_t{blockIdx.y} * 2 * channels + channel] = dgamma;
  a.partials[(std::int64_t{blockIdx.y} * 2 + 1) * channels + channel] = dbeta;
}

template <typename T>
__global__ __launch_bounds__(kThreads) void plain_input_kernel(Arguments<T> a, std::int64_t channels,
                                                               const float2* statistics) {
  const auto row = static_cast<int>(blockIdx.x);
  const float2 of_row = statistics[row];
  const float scale = a.sample_scale == nullptr ? 1.0F : a.sample_scale[row / a.rows_per_sample];
  float g_sum = 0.0F;
  float projection = 0.0F;
  for (std::int64_t c = threadIdx.x; c < channels; c += kThreads) {
    const std::int64_t at = row * channels + c;
    const float g = scale * to_float(a.dy[at]) * to_float(a.gamma[c]);
    g_sum += g;
    projection += g * (to_float(a.x[at]) - of_row.x) * of_row.y;
  }
  g_sum = block_sum<kThreads>(g_sum) / static_cast<float>(channels);
  projection = block_sum<kThreads>(projection) / static_cast<float>(channels);
  for (std::int64_t c = threadIdx.x; c < channels; c += kThreads) {
    const std::int64_t at = row * channels + c;
    const float g = scale * to_float(a.dy[at]) * to_float(a.gamma[c]);
    const float normalized = (to_float(a.x[at]) - of_row.x) * of_row.y;
    const float residual = a.residual == nullptr ? 0.0F : to_float(a.residual[at]);
    a.dx[at] = from_float<T>(fmaf(of_row.y, g - g_sum - normalized * projection, residual));
  }
}

template <typename T>
std::int64_t launch_plain(const LayerNormShape& shape, Arguments<T> arguments, void* workspace, Stream stream) {
  const std::int64_t blocks = std::min(kPlainBlocks, shape.rows);
  arguments.rows_per_block = static_cast<int>((shape.rows + blocks - 1) / blocks);
  auto* const statistics = reinterpret_cast<float2*>(static_cast<float*>(workspace) + blocks * 2 * shape.channels);
  const auto rows = static_cast<unsigned>(shape.rows);
  plain_statistics_kernel<T><<<rows, kThreads, 0, stream>>>(shape.channels, arguments.epsilon, arguments.x, statistics);
  SWINSCOPE_CUDA_LAUNCHED("plain_statistics_kernel");
  const dim3 grid(blocks_for(shape.channels, kThreads), static_cast<unsigned>(blocks));
  plain_parameters_kernel<T><<<grid, kThreads, 0, stream>>>(arguments, shape.channels, statistics);
  SWINSCOPE_CUDA_LAUNCHED("plain_parameters_kernel");
  plain_input_kernel<T><<<rows, kThreads, 0, stream>>>(arguments, shape.channels, statistics);
  SWINSCOPE_CUDA_LAUNCHED("plain_input_kernel");
  return blocks;
}

// All return the number of blocks, each of which left partial sums.
template <typename T, int kLanes, int kVectors>
std::int64_t launch(Arguments<T> arguments, Rows rows, Stream stream) {
  constexpr std::int64_t kGroups = kThreads / kLanes;
  const std::int64_t wanted = blocks_of(arguments.rows, kGroups);
  const std::int64_t turns = (arguments.rows + wanted * kGroups - 1) / (wanted * kGroups);
  arguments.rows_per_block = static_cast<int>(turns * kGroups);
  const unsigned blocks = blocks_for(arguments.rows, turns * kGroups);
  auto kernel = layernorm_backward_kernel<T, kLanes, kVectors, Rows::kPlain>;
  if (rows == Rows::kGathered) kernel = layernorm_backward_kernel<T, kLanes, kVectors, Rows::kGathered>;
  if (rows == Rows::kSummed) kernel = layernorm_backward_kernel<T, kLanes, kVectors, Rows::kSummed>;
  if constexpr (sizeof(T) == 2) {
    if (rows == Rows::kPlainCopied) kernel = layernorm_backward_kernel<T, kLanes, kVectors, Rows::kPlainCopied>;
    if (rows == Rows::kSummedCopied) kernel = layernorm_backward_kernel<T, kLanes, kVectors, Rows::kSummedCopied>;
  }
  launch_early(kernel, {dim3(blocks), dim3(kThreads)}, stream, arguments);
  return blocks;
}

// 0 where no kernel has rows of that many vectors.
template <typename T>
std::int64_t launch_for(std::int64_t vectors, const Arguments<T>& arguments, Rows rows, Stream stream) {
  switch (vectors) {
    case 4:
      return launch<T, 4, 1>(arguments, rows, stream);
    case 8:
      return launch<T, 8, 1>(arguments, rows, stream);
    case 12:
      return launch<T, 4, 3>(arguments, rows, stream);
    case 16:
      return launch<T, 16, 1>(arguments, rows, stream);
    case 24:
      return launch<T, 8, 3>(arguments, rows, stream);
    case 32:
      return launch<T, 32, 1>(arguments, rows, stream);
    case 48:
      return launch<T, 16, 3>(arguments, rows, stream);
    case 64:
      return launch<T, 32, 2>(arguments, rows, stream);
    case 96:
      return launch<T, 32, 3>(arguments, rows, stream);
    case 128:
      return launch<T, 64, 2>(arguments, rows, stream);
    case 192:
      return launch<T, 64, 3>(arguments, rows, stream);
    case 256:
      return launch<T, 128, 2>(arguments, rows, stream);
    case 384:
      return launch<T, 128, 3>(arguments, rows, stream);
    default:
      break;
  }
  if constexpr (sizeof(T) == 4) {  // twice as many vectors for the widest rows
    if (vectors == 512) return launch<T, 128, 4>(arguments, rows, stream);
    if (vectors == 768) return launch<T, 128, 6>(arguments, rows, stream);
  }
  return 0;
}

}  // namespace

std::int64_t layernorm_backward_workspace_bytes(const LayerNormShape& shape) {
  const std::int64_t blocks = std::max(blocks_of(shape.rows, 1), kPlainBlocks);
  return (blocks * 3 * shape.channels + 2 * shape.rows) * element_bytes(ElementType::kFp32);
}

void layernorm_backward(const LayerNormShape& shape, ElementType type, const LayerNormGradientTensors& tensors,
                        Stream stream, const PatchMergeShape* gather) {
  constexpr const char* kOperation = "layernorm_backward";
  require(shape.channels > 0 && shape.channels % 8 == 0, kOperation, "channels must be a multiple of 8");
  require(gather == nullptr || (shape.channels == 4 * gather->channels && gather->channels % 8 == 0 &&
                                shape.rows == gather->merged_tokens() && tensors.residual == nullptr),
          kOperation, "the rows must be those of the gathered map, without a residual");
  require(shape.rows < std::numeric_limits<int>::max(), kOperation, "too many rows");
  require(tensors.sample_scale == nullptr || (tensors.residual == nullptr && tensors.rows_per_sample > 0), kOperation,
          "a scale for each sample needs the rows of a sample and goes without a residual");
  if (shape.rows == 0) {
    if (tensors.accumulate) return;
    clear(tensors.dgamma, shape.channels * 4, stream);
    clear(tensors.dbeta, shape.channels * 4, stream);
    if (tensors.dx_sums != nullptr) clear(tensors.dx_sums, shape.channels * 4, stream);
    return;
  }
  require(gather == nullptr || tensors.dx_sums == nullptr, kOperation, "a map's gradient is not summed up");
  const bool copies = tensors.copy.bytes != nullptr;
  require(!copies || (gather == nullptr && type != ElementType::kFp32), kOperation,
          "8 bits are of 16-bit types, and not of a map");
  const bool sums = tensors.dx_sums != nullptr;
  Rows rows = sums ? Rows::kSummed : Rows::kPlain;
  if (copies) rows = sums ? Rows::kSummedCopied : Rows::kPlainCopied;
  if (gather != nullptr) rows = Rows::kGathered;
  std::int64_t blocks = 0;
  with_element_type(type, [&]<typename T>() {
    Arguments<T> arguments{};
    arguments.rows = static_cast<int>(shape.rows);
    arguments.epsilon = static_cast<float>(shape.epsilon);
    if (gather != nullptr) arguments.place = MergePlace::of(*gather);
    arguments.x = static_cast<const T*>(tensors.x);
    arguments.gamma = static_cast<const T*>(tensors.gamma);
    arguments.dy = static_cast<const T*>(tensors.dy);
    arguments.residual = static_cast<const T*>(tensors.residual);
    arguments.dx = static_cast<T*>(tensors.dx);
    arguments.sample_scale = tensors.sample_scale;
    arguments.rows_per_sample = static_cast<int>(tensors.rows_per_sample);
    arguments.partials = static_cast<float*>(tensors.workspace);
    arguments.backwards = tensors.backwards;
    arguments.copy = tensors.copy;
    blocks = launch_for(shape.channels / Vector<T>::kLength, arguments, rows, stream);
    if (blocks > 0) return;
    require(rows == Rows::kPlain, kOperation, "no kernel gathers or sums up rows of this many channels");
    blocks = launch_plain(shape, arguments, tensors.workspace, stream);
  });
  const std::int64_t stride = (sums ? 3 : 2) * shape.channels;
  add_partial_sums({blocks,
                    stride,
                    shape.channels,
                    static_cast<const float*>(tensors.workspace),
                    {tensors.dgamma, tensors.dbeta, tensors.dx_sums},
                    tensors.accumulate},
                   stream);
}

}  // namespace swinscope::cuda

// The forward pass of layer normalization. A group of lanes, at most a warp unless rows are few, reads a row once in
// 16-byte pieces and keeps it in registers for mean and variance, both in fp32. Widths are template parameters; blocks
// take several rows in turn while the next one is loaded. The plain kernel, for the ladder's lower rungs, reads a row
// three times.
#include <algorithm>
#include <bit>
#include <limits>

#include "kernels/byte_format.cuh"
#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/delayed_scale.cuh"
#include "kernels/device_math.cuh"
#include "kernels/early_launch.cuh"
#include "kernels/eviction.cuh"
#include "kernels/layernorm.h"
#include "kernels/merge_place.cuh"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kPlainThreads = 256;
// A group of lanes takes so many rows one after another that all blocks are on the GPU at once and end together: gamma
// and beta stay in registers, and the next row is on its way while this one is summed up. Wider rows take too many
// registers for two,
constexpr int kMostVectorsInTurn = 4;
// and the widest for the row and what is added to it, or gamma and beta, or all of them.
constexpr int kMostVectorsWithAddend = 12;
constexpr int kMostVectorsWithScale = 12;
constexpr int kMostVectorsWithBoth = 6;

// Which rows are normalized, and what is added.
enum class Rows {
  kPlain,
  kGathered,      // from a map: see MergePlace
  kWithResidual,  // y = residual + scale * normalized x
  kSummed,        // x + scale * branch is normalized, and stored, too
  kBytes,         // kPlain, and y has 8 bits
  kWithResidualAndBytes,
  // With a copy in 8 bits of a scale in memory:
  kPlainCopied,
  kWithResidualCopied,
  kSummedCopied,
};

template <typename T>
struct Arguments {
  int rows;
  int rows_in_turn;
  int row_blocks;  // the ones behind them, where there are any, bring memory into the cache
  float epsilon;
  MergePlace place;
  const T* x;
  const T* gamma;
  const T* beta;
  const T* residual;
  T* y;
  const float* sample_scale;  // null: 1
  int rows_per_sample;
  const T* branch;  // kSummed only
  T* sum;
  const void* ahead;
  std::int64_t ahead_bytes;
  bool backwards;
  Eviction x_eviction, y_eviction;
  ByteFormat byte_format;
  uint2* bytes;
  float inverse_byte_scale;
  ByteCopy copy;

  __device__ float scale(int row) const { return sample_scale == nullptr ? 1.0F : sample_scale[row / rows_per_sample]; }
};

// Of the kLanes neighbouring lanes that share a row, more than a warp perhaps. All threads of a block take part.
template <int kLanes>
__device__ float sum_of_row(float value) {
  if constexpr (kLanes <= kWarp) return sum_over(value, kLanes);
  constexpr int kWarpsEach = kLanes > kWarp ? kLanes / kWarp : 1;
  __shared__ float parts[kThreads / kWarp];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const float own = sum_over(value, kWarp);
  __syncthreads();  // nobody reads the sums before
  if (threadIdx.x % kWarp == 0) parts[warp] = own;
  __syncthreads();
  float sum = 0.0F;
#pragma unroll
  for (int i = 0; i < kWarpsEach; ++i)
    sum += parts[warp / kWarpsEach * kWarpsEach + i];
  return sum;
}

// kLanes neighbouring lanes share a row and hold kVectors 16-byte pieces each: kLanes * kVectors * kLength channels.
template <typename T, int kLanes, int kVectors, Rows kRows>
__global__ __launch_bounds__(kThreads) void layernorm_kernel(const Arguments<T> a) {
  using Piece = Vector<T>;
  constexpr int kLength = Piece::kLength;
  constexpr int kRowVectors = kLanes * kVectors;
  constexpr int kGroups = kThreads / kLanes;
  // Gamma and beta come before the row, and what is added with it: else each row would wait for memory again, and
  // stores keep the compiler from loading them earlier by itself.
  constexpr bool kAddsAfter =
      kRows == Rows::kWithResidual || kRows == Rows::kWithResidualAndBytes || kRows == Rows::kWithResidualCopied;
  constexpr bool kSums = kRows == Rows::kSummed || kRows == Rows::kSummedCopied;
  constexpr bool kCopies = kRows >= Rows::kPlainCopied;
  constexpr bool kBytes = kRows == Rows::kBytes || kRows == Rows::kWithResidualAndBytes;
  constexpr bool kAdds = kAddsAfter || kSums;
  constexpr bool kKeepScale = kVectors <= (kAdds ? kMostVectorsWithBoth : kMostVectorsWithScale);
  constexpr bool kAddendAhead = kAdds && kVectors <= kMostVectorsWithAddend;
  constexpr int kAddendVectors = kAddendAhead ? kVectors : 1;
  constexpr float kInverseCount = 1.0F / static_cast<float>(kRowVectors * kLength);
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const auto index = static_cast<int>(blockIdx.x);
  if (index >= a.row_blocks) {
    let_next_begin();  // it waits for this kernel, and so for the blocks with rows, which wait for the one before
    bring_into_cache(a.ahead, a.ahead_bytes, index - a.row_blocks, static_cast<int>(gridDim.x) - a.row_blocks);
    return;
  }
  // In each turn a block takes kGroups rows that follow each other.
  const int block = a.backwards ? a.row_blocks - 1 - index : index;
  int row = block * kGroups * a.rows_in_turn + static_cast<int>(threadIdx.x) / kLanes;
  const std::uint64_t x_policy = cache_policy(a.x_eviction);
  const std::uint64_t y_policy = cache_policy(a.y_eviction);
  // All lanes take part in the sums; those beyond the end repeat the last row and store nothing.
  const auto load_row = [&](int wanted, Piece(&x)[kVectors]) {
    const int existing = min(wanted, a.rows - 1);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if constexpr (kRows == Rows::kGathered) {
        const std::int64_t place = a.place(existing, lane + v * kLanes, kRowVectors);
        x[v] = place < 0 ? Piece{} : load_vector(a.x + place * kLength, x_policy);
      } else {
        x[v] = load_vector(a.x + (std::int64_t{existing} * kRowVectors + lane + v * kLanes) * kLength, x_policy);
      }
    }
  };
  const T* const addend = kSums ? a.branch : a.residual;
  const auto load_addend = [&](int wanted, Piece(&ahead)[kAddendVectors]) {
    const int existing = min(wanted, a.rows - 1);
#pragma unroll
    for (int v = 0; v < kAddendVectors; ++v)
      ahead[v] = load_vector(addend + (std::int64_t{existing} * kRowVectors + lane + v * kLanes) * kLength);
  };
  Piece gamma[kKeepScale ? kVectors : 1];
  Piece beta[kKeepScale ? kVectors : 1];
  if constexpr (kKeepScale) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      gamma[v] = load_vector(a.gamma + (lane + v * kLanes) * kLength);
      beta[v] = load_vector(a.beta + (lane + v * kLanes) * kLength);
    }
  }
  if (a.ahead_bytes > 0 && static_cast<int>(gridDim.x) == a.row_blocks) {
    bring_into_cache(a.ahead, a.ahead_bytes, index, a.row_blocks);
  }
  let_next_begin();
  wait_for_previous();
  ByteCopyShare share(kCopies ? a.copy : ByteCopy{});
  Piece x[kVectors];
  Piece ahead[kAddendVectors];
  load_row(row, x);
  if constexpr (kAddendAhead) load_addend(row, ahead);
  // Vector v of what is added to row `existing`.
  const auto added_vector = [&](int existing, int v) {
    if constexpr (kAddendAhead) {
      return ahead[v];
    } else {
      return load_vector(addend + (std::int64_t{existing} * kRowVectors + lane + v * kLanes) * kLength);
    }
  };
  for (int turn = 0; turn < a.rows_in_turn; ++turn, row += kGroups) {
    Piece next[kVectors];
    Piece next_ahead[kAddendVectors];
    if constexpr (kVectors <= kMostVectorsInTurn) {
      if (turn + 1 < a.rows_in_turn) {
        load_row(row + kGroups, next);
        if constexpr (kAddendAhead) load_addend(row + kGroups, next_ahead);
      }
    }
    const int existing = min(row, a.rows - 1);
    const float sample_scale = kAdds ? a.scale(existing) : 1.0F;
    if constexpr (kSums) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const Piece branch = added_vector(existing, v);
#pragma unroll
        for (int e = 0; e < kLength; ++e)
          x[v].values[e] = from_float<T>(fmaf(sample_scale, to_float(branch.values[e]), to_float(x[v].values[e])));
        if (row < a.rows) store_vector(a.sum + (std::int64_t{row} * kRowVectors + lane + v * kLanes) * kLength, x[v]);
      }
    }
    float sum = 0.0F;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
#pragma unroll
      for (int e = 0; e < kLength; ++e)
        sum += to_float(x[v].values[e]);
    }
    const float mean = sum_of_row<kLanes>(sum) * kInverseCount;
    float squares = 0.0F;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
#pragma unroll
      for (int e = 0; e < kLength; ++e) {
        const float centred = to_float(x[v].values[e]) - mean;
        squares += centred * centred;
      }
    }
    const float rstd = rsqrtf(sum_of_row<kLanes>(squares) * kInverseCount + a.epsilon);
    if (row < a.rows) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int channel = (lane + v * kLanes) * kLength;
        const std::int64_t out = std::int64_t{row} * kRowVectors * kLength + channel;
        Piece scale;
        Piece offset;
        if constexpr (kKeepScale) {
          scale = gamma[v];
          offset = beta[v];
        } else {
          scale = load_vector(a.gamma + channel);
          offset = load_vector(a.beta + channel);
        }
        Piece residual{};
        if constexpr (kAddsAfter) residual = added_vector(row, v);
        float y[kLength];
#pragma unroll
        for (int e = 0; e < kLength; ++e) {
          const float normalized = (to_float(x[v].values[e]) - mean) * rstd;
          const float scaled = normalized * to_float(scale.values[e]) + to_float(offset.values[e]);
          y[e] = kAddsAfter ? to_float(residual.values[e]) + sample_scale * scaled : scaled;
          x[v].values[e] = from_float<T>(y[e]);
          if constexpr (kAddsAfter && kBytes) y[e] = to_float(x[v].values[e]);
        }
        if constexpr (kRows != Rows::kBytes)
          if (!kCopies || a.y != nullptr) store_vector(a.y + out, x[v], y_policy);
        if constexpr (kCopies) share.store(out / kLength, x[v]);
        if constexpr (kBytes) a.bytes[out / kLength] = packed(a.byte_format, y, a.inverse_byte_scale);
      }
    }
    if constexpr (kVectors <= kMostVectorsInTurn) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        x[v] = next[v];
        if constexpr (kAddendAhead) ahead[v] = next_ahead[v];
      }
    }
  }
  if constexpr (kCopies) share.report();
}

template <typename T>
__global__ void layernorm_plain_kernel(std::int64_t channels, float epsilon, const T* x, const T* gamma, const T* beta,
                                       const T* residual, const float* sample_scale, std::int64_t rows_per_sample,
                                       T* y) {
  const float sample = sample_scale == nullptr ? 1.0F : sample_scale[blockIdx.x / rows_per_sample];
  const T* const row = x + blockIdx.x * channels;
  float sum = 0.0F;
  for (std::int64_t c = threadIdx.x; c < channels; c += kPlainThreads)
    sum += to_float(row[c]);
  const float mean = block_sum<kPlainThreads>(sum) / static_cast<float>(channels);
  float squares = 0.0F;
  for (std::int64_t c = threadIdx.x; c < channels; c += kPlainThreads) {
    const float centred = to_float(row[c]) - mean;
    squares += centred * centred;
  }
  const float rstd = rsqrtf(block_sum<kPlainThreads>(squares) / static_cast<float>(channels) + epsilon);
  for (std::int64_t c = threadIdx.x; c < channels; c += kPlainThreads) {
    const std::int64_t at = blockIdx.x * channels + c;
    const float scaled = (to_float(row[c]) - mean) * rstd * to_float(gamma[c]) + to_float(beta[c]);
    y[at] = from_float<T>((residual == nullptr ? 0.0F : to_float(residual[at])) + sample * scaled);
  }
}

// Blocks that bring memory into the cache where it is more than a few pieces for each warp of those that have rows:
// those would wait behind them.
unsigned fetching_blocks(std::int64_t bytes, unsigned row_blocks) {
  constexpr std::int64_t kWarps = kThreads / kWarp;
  constexpr std::int64_t kFewPieces = 16;
  const std::int64_t pieces = (bytes + kCachePiece - 1) / kCachePiece;
  if (pieces <= kFewPieces * kWarps * row_blocks) return 0;
  return static_cast<unsigned>(device_info().multiprocessors);
}

// Blocks that the GPU holds at once.
template <typename T, int kLanes, int kVectors, Rows kRows>
std::int64_t blocks_at_once() {
  static const std::int64_t count = [] {
    int each = 0;
    SWINSCOPE_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, layernorm_kernel<T, kLanes, kVectors, kRows>,
                                                                 kThreads, 0));
    return std::int64_t{std::max(1, each)} * device_info().multiprocessors;
  }();
  return count;
}

template <typename T, int kLanes, int kVectors, Rows kRows>
void launch_rows(Arguments<T> arguments, Stream stream) {
  constexpr std::int64_t kGroups = kThreads / kLanes;
  const std::int64_t single = (arguments.rows + kGroups - 1) / kGroups;
  const std::int64_t at_once = blocks_at_once<T, kLanes, kVectors, kRows>();
  arguments.rows_in_turn = kVectors <= kMostVectorsInTurn ? static_cast<int>((single + at_once - 1) / at_once) : 1;
  const unsigned blocks = blocks_for(arguments.rows, kGroups * arguments.rows_in_turn);
  arguments.row_blocks = static_cast<int>(blocks);
  const unsigned all_blocks = blocks + fetching_blocks(arguments.ahead_bytes, blocks);
  launch_early(layernorm_kernel<T, kLanes, kVectors, kRows>, {dim3(all_blocks), dim3(kThreads)}, stream, arguments);
}

template <typename T, int kLanes, int kVectors>
bool launch_with_bytes(const Arguments<T>& arguments, Rows rows, Stream stream) {
  switch (rows) {
    case Rows::kBytes:
      launch_rows<T, kLanes, kVectors, Rows::kBytes>(arguments, stream);
      return true;
    case Rows::kWithResidualAndBytes:
      launch_rows<T, kLanes, kVectors, Rows::kWithResidualAndBytes>(arguments, stream);
      return true;
    case Rows::kPlainCopied:
      launch_rows<T, kLanes, kVectors, Rows::kPlainCopied>(arguments, stream);
      return true;
    case Rows::kWithResidualCopied:
      launch_rows<T, kLanes, kVectors, Rows::kWithResidualCopied>(arguments, stream);
      return true;
    case Rows::kSummedCopied:
      launch_rows<T, kLanes, kVectors, Rows::kSummedCopied>(arguments, stream);
      return true;
    default:
      return false;
  }
}

template <typename T, int kLanes, int kVectors>
bool launch(const Arguments<T>& arguments, Rows rows, Stream stream) {
  switch (rows) {
    case Rows::kPlain:
      launch_rows<T, kLanes, kVectors, Rows::kPlain>(arguments, stream);
      break;
    case Rows::kGathered:
      launch_rows<T, kLanes, kVectors, Rows::kGathered>(arguments, stream);
      break;
    case Rows::kWithResidual:
      launch_rows<T, kLanes, kVectors, Rows::kWithResidual>(arguments, stream);
      break;
    case Rows::kSummed:
      launch_rows<T, kLanes, kVectors, Rows::kSummed>(arguments, stream);
      break;
    default:
      if constexpr (sizeof(T) == 2) return launch_with_bytes<T, kLanes, kVectors>(arguments, rows, stream);
      return false;
  }
  return true;
}

// Returns false where no kernel has rows of that many vectors. kLanes is the largest power of two that divides them, a
// warp at most unless rows are too few to give each multiprocessor a block.
template <typename T>
bool launch_for(std::int64_t vectors, const Arguments<T>& arguments, Rows rows, Stream stream) {
  const bool few = arguments.rows <= device_info().multiprocessors * (kThreads / kWarp);
  if (few && vectors == 192) return launch<T, 64, 3>(arguments, rows, stream);
  if (few && vectors == 256) return launch<T, 64, 4>(arguments, rows, stream);
  if (few && vectors == 384) return launch<T, 128, 3>(arguments, rows, stream);
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
      return launch<T, 32, 4>(arguments, rows, stream);
    case 192:
      return launch<T, 32, 6>(arguments, rows, stream);
    case 256:
      return launch<T, 32, 8>(arguments, rows, stream);
    case 384:
      return launch<T, 32, 12>(arguments, rows, stream);
    default:
      break;
  }
  if constexpr (sizeof(T) == 4) {  // twice as many vectors for the widest rows
    if (vectors == 512) return launch<T, 32, 16>(arguments, rows, stream);
    if (vectors == 768) return launch<T, 32, 24>(arguments, rows, stream);
  }
  return false;
}

template <typename T>
Arguments<T> arguments_of(const LayerNormShape& shape, const void* gamma, const void* beta) {
  Arguments<T> arguments{};
  arguments.rows = static_cast<int>(shape.rows);
  arguments.epsilon = static_cast<float>(shape.epsilon);
  arguments.gamma = static_cast<const T*>(gamma);
  arguments.beta = static_cast<const T*>(beta);
  return arguments;
}

}  // namespace

void layernorm_forward(const LayerNormShape& shape, ElementType type, const LayerNormTensors& tensors, Stream stream,
                       const PatchMergeShape* gather) {
  const std::int64_t unit = gather == nullptr ? 8 : 32;
  require(shape.channels > 0 && shape.channels % unit == 0, "layernorm", "channels must be a multiple of 8");
  require(gather == nullptr || (shape.channels == 4 * gather->channels && shape.rows == gather->merged_tokens()),
          "layernorm", "the rows must be those of the gathered map");
  const bool copies = tensors.copy.bytes != nullptr;
  require(gather == nullptr || (tensors.residual == nullptr && tensors.bytes == nullptr && !copies), "layernorm",
          "a gathered row has no residual, and is not rounded to bytes");
  require(tensors.bytes == nullptr || !copies, "layernorm", "one form of bytes only");
  require((tensors.bytes != nullptr) == (tensors.byte_format != ByteFormat::kNone), "layernorm",
          "bytes need their format");
  require(shape.rows < std::numeric_limits<int>::max(), "layernorm", "too many rows");
  require(tensors.ahead_bytes >= 0 && tensors.ahead_bytes % 16 == 0 &&
              std::bit_cast<std::uintptr_t>(tensors.ahead) % 16 == 0,
          "layernorm", "memory to fetch ahead must begin and end at multiples of 16 bytes");
  require(tensors.sample_scale == nullptr || (tensors.residual != nullptr && tensors.rows_per_sample > 0), "layernorm",
          "a scale for each sample needs a residual and the rows of a sample");
  if (shape.rows == 0) return;
  bool launched = false;
  with_element_type(type, [&]<typename T>() {
    Arguments<T> arguments = arguments_of<T>(shape, tensors.gamma, tensors.beta);
    if (gather != nullptr) arguments.place = MergePlace::of(*gather);
    arguments.x = static_cast<const T*>(tensors.x);
    arguments.residual = static_cast<const T*>(tensors.residual);
    arguments.y = static_cast<T*>(tensors.y);
    arguments.sample_scale = tensors.sample_scale;
    arguments.rows_per_sample = static_cast<int>(tensors.rows_per_sample);
    arguments.ahead = tensors.ahead;
    arguments.ahead_bytes = tensors.ahead_bytes;
    arguments.backwards = tensors.backwards;
    arguments.x_eviction = tensors.x_eviction;
    arguments.y_eviction = tensors.y_eviction;
    Rows rows = tensors.residual != nullptr ? Rows::kWithResidual : Rows::kPlain;
    if (gather != nullptr) rows = Rows::kGathered;
    if (tensors.bytes != nullptr) {
      arguments.bytes = static_cast<uint2*>(tensors.bytes);
      arguments.byte_format = tensors.byte_format;
      arguments.inverse_byte_scale = 1.0F / tensors.byte_scale;
      rows = tensors.residual != nullptr ? Rows::kWithResidualAndBytes : Rows::kBytes;
    }
    if (copies) rows = tensors.residual != nullptr ? Rows::kWithResidualCopied : Rows::kPlainCopied;
    arguments.copy = tensors.copy;
    launched = launch_for(shape.channels / Vector<T>::kLength, arguments, rows, stream);
  });
  if (!launched) {
    require(gather == nullptr, "layernorm", "no kernel gathers rows of this many channels");
    require(tensors.bytes == nullptr && !copies, "layernorm", "no kernel rounds rows of this many channels to bytes");
    layernorm_forward_plain(shape, type, tensors, stream);
  }
}

void residual_layernorm_forward(const LayerNormShape& shape, ElementType type, const ResidualNormTensors& tensors,
                                Stream stream) {
  require(shape.channels > 0 && shape.channels % 8 == 0, "residual_layernorm", "channels must be a multiple of 8");
  require(shape.rows < std::numeric_limits<int>::max(), "residual_layernorm", "too many rows");
  require(tensors.sample_scale == nullptr || tensors.rows_per_sample > 0, "residual_layernorm",
          "a scale for each sample needs the rows of a sample");
  if (shape.rows == 0) return;
  bool launched = false;
  with_element_type(type, [&]<typename T>() {
    Arguments<T> arguments = arguments_of<T>(shape, tensors.gamma, tensors.beta);
    arguments.x = static_cast<const T*>(tensors.x);
    arguments.branch = static_cast<const T*>(tensors.branch);
    arguments.sum = static_cast<T*>(tensors.sum);
    arguments.y = static_cast<T*>(tensors.y);
    arguments.sample_scale = tensors.sample_scale;
    arguments.rows_per_sample = static_cast<int>(tensors.rows_per_sample);
    arguments.backwards = tensors.backwards;
    arguments.copy = tensors.copy;
    const Rows rows = tensors.copy.bytes == nullptr ? Rows::kSummed : Rows::kSummedCopied;
    launched = launch_for(shape.channels / Vector<T>::kLength, arguments, rows, stream);
  });
  require(launched, "residual_layernorm", "no kernel has rows of this many channels");
}

void layernorm_forward_plain(const LayerNormShape& shape, ElementType type, const LayerNormTensors& tensors,
                             Stream stream) {
  if (shape.rows == 0) return;
  with_element_type(type, [&]<typename T>() {
    layernorm_plain_kernel<T><<<static_cast<unsigned>(shape.rows), kPlainThreads, 0, stream>>>(
        shape.channels, static_cast<float>(shape.epsilon), static_cast<const T*>(tensors.x),
        static_cast<const T*>(tensors.gamma), static_cast<const T*>(tensors.beta),
        static_cast<const T*>(tensors.residual), tensors.sample_scale, tensors.rows_per_sample,
        static_cast<T*>(tensors.y));
  });
  SWINSCOPE_CUDA_LAUNCHED("layernorm_plain_kernel");
}

}  // namespace swinscope::cuda

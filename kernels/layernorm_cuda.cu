#include <limits>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/early_launch.cuh"
#include "kernels/layernorm.h"
#include "kernels/patch_merge.h"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kPlainThreads = 256;
// Rows that a group of lanes takes one after another, where there are so many rows that the GPU is full anyway: gamma
// and beta stay in registers, and the next row is on its way while this one is summed up.
constexpr int kRowsInTurn = 4;
constexpr std::int64_t kManyBlocks = 2048;
// Wider rows take too many registers for two.
constexpr int kMostVectorsInTurn = 4;

// Where vector `vector` of a row begins: in one of the four rows that make a merged token.
struct MergePlace {
  int height = 0;  // of the map to gather from
  int width = 0;
  int merged_height = 0;
  int merged_width = 0;

  // Negative: padding.
  __device__ std::int64_t operator()(int row, int vector, int vectors) const {
    const int quarter = vectors / 4;
    const int part = vector / quarter;
    const int y = row / merged_width % merged_height * 2 + part % 2;
    const int x = row % merged_width * 2 + part / 2;
    if (y >= height || x >= width) return -1;
    return (std::int64_t{row / (merged_width * merged_height) * height + y} * width + x) * quarter + vector % quarter;
  }
};

template <typename T>
struct Arguments {
  int rows;
  int rows_in_turn;
  float epsilon;
  MergePlace place;
  const T* x;
  const T* gamma;
  const T* beta;
  const T* residual;
  T* y;
};

// kLanes neighbouring lanes share a row and hold kVectors 16-byte pieces each: kLanes * kVectors * kLength channels.
template <typename T, int kLanes, int kVectors, bool kGather>
__global__ __launch_bounds__(kThreads) void layernorm_kernel(const Arguments<T> a) {
  using Piece = Vector<T>;
  constexpr int kLength = Piece::kLength;
  constexpr int kRowVectors = kLanes * kVectors;
  constexpr int kGroups = kThreads / kLanes;
  constexpr bool kKeepScale = kVectors <= 3;
  constexpr float kInverseCount = 1.0F / static_cast<float>(kRowVectors * kLength);
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  // In each turn a block takes kGroups rows that follow each other.
  int row = static_cast<int>(blockIdx.x) * kGroups * a.rows_in_turn + static_cast<int>(threadIdx.x) / kLanes;
  // All lanes take part in the sums; those beyond the end repeat the last row and store nothing.
  const auto load_row = [&](int wanted, Piece(&x)[kVectors]) {
    const int existing = min(wanted, a.rows - 1);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if constexpr (kGather) {
        const std::int64_t place = a.place(existing, lane + v * kLanes, kRowVectors);
        x[v] = place < 0 ? Piece{} : load_vector(a.x + place * kLength);
      } else {
        x[v] = load_vector(a.x + (std::int64_t{existing} * kRowVectors + lane + v * kLanes) * kLength);
      }
    }
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
  let_next_begin();
  wait_for_previous();
  Piece x[kVectors];
  load_row(row, x);
  for (int turn = 0; turn < a.rows_in_turn; ++turn, row += kGroups) {
    Piece next[kVectors];
    if constexpr (kVectors <= kMostVectorsInTurn) {
      if (turn + 1 < a.rows_in_turn) load_row(row + kGroups, next);
    }
    float sum = 0.0F;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
#pragma unroll
      for (int e = 0; e < kLength; ++e)
        sum += to_float(x[v].values[e]);
    }
    const float mean = sum_over(sum, kLanes) * kInverseCount;
    float squares = 0.0F;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
#pragma unroll
      for (int e = 0; e < kLength; ++e) {
        const float centred = to_float(x[v].values[e]) - mean;
        squares += centred * centred;
      }
    }
    const float rstd = rsqrtf(sum_over(squares, kLanes) * kInverseCount + a.epsilon);
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
        if (a.residual != nullptr) residual = load_vector(a.residual + out);
#pragma unroll
        for (int e = 0; e < kLength; ++e) {
          const float normalized = (to_float(x[v].values[e]) - mean) * rstd;
          const float scaled = normalized * to_float(scale.values[e]) + to_float(offset.values[e]);
          x[v].values[e] = from_float<T>(to_float(residual.values[e]) + scaled);
        }
        store_vector(a.y + out, x[v]);
      }
    }
    if constexpr (kVectors <= kMostVectorsInTurn) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v)
        x[v] = next[v];
    }
  }
}

__device__ float block_sum(float value) {
  __shared__ float partial[kPlainThreads / kWarp];
  value = sum_over(value, kWarp);
  __syncthreads();
  if (threadIdx.x % kWarp == 0) partial[threadIdx.x / kWarp] = value;
  __syncthreads();
  float total = 0.0F;
  for (const float part : partial)
    total += part;
  return total;
}

template <typename T>
__global__ void layernorm_plain_kernel(std::int64_t channels, float epsilon, const T* x, const T* gamma, const T* beta,
                                       const T* residual, T* y) {
  const T* const row = x + blockIdx.x * channels;
  float sum = 0.0F;
  for (std::int64_t c = threadIdx.x; c < channels; c += kPlainThreads)
    sum += to_float(row[c]);
  const float mean = block_sum(sum) / static_cast<float>(channels);
  float squares = 0.0F;
  for (std::int64_t c = threadIdx.x; c < channels; c += kPlainThreads) {
    const float centred = to_float(row[c]) - mean;
    squares += centred * centred;
  }
  const float rstd = rsqrtf(block_sum(squares) / static_cast<float>(channels) + epsilon);
  for (std::int64_t c = threadIdx.x; c < channels; c += kPlainThreads) {
    const std::int64_t at = blockIdx.x * channels + c;
    const float scaled = (to_float(row[c]) - mean) * rstd * to_float(gamma[c]) + to_float(beta[c]);
    y[at] = from_float<T>((residual == nullptr ? 0.0F : to_float(residual[at])) + scaled);
  }
}

template <typename T, int kLanes, int kVectors>
bool launch(Arguments<T> arguments, bool gather, Stream stream) {
  constexpr int kGroups = kThreads / kLanes;
  const bool in_turn = kVectors <= kMostVectorsInTurn && arguments.rows / kGroups > kManyBlocks;
  arguments.rows_in_turn = in_turn ? kRowsInTurn : 1;
  const unsigned blocks = blocks_for(arguments.rows, std::int64_t{kGroups} * arguments.rows_in_turn);
  const auto kernel =
      gather ? layernorm_kernel<T, kLanes, kVectors, true> : layernorm_kernel<T, kLanes, kVectors, false>;
  launch_early(kernel, {dim3(blocks), dim3(kThreads)}, stream, arguments);
  return true;
}

// Returns false where no kernel has rows of that many vectors: kLanes is the largest power of two that divides them.
template <typename T>
bool launch_for(std::int64_t vectors, const Arguments<T>& arguments, bool gather, Stream stream) {
  switch (vectors) {
    case 4:
      return launch<T, 4, 1>(arguments, gather, stream);
    case 8:
      return launch<T, 8, 1>(arguments, gather, stream);
    case 12:
      return launch<T, 4, 3>(arguments, gather, stream);
    case 16:
      return launch<T, 16, 1>(arguments, gather, stream);
    case 24:
      return launch<T, 8, 3>(arguments, gather, stream);
    case 32:
      return launch<T, 32, 1>(arguments, gather, stream);
    case 48:
      return launch<T, 16, 3>(arguments, gather, stream);
    case 64:
      return launch<T, 32, 2>(arguments, gather, stream);
    case 96:
      return launch<T, 32, 3>(arguments, gather, stream);
    case 128:
      return launch<T, 32, 4>(arguments, gather, stream);
    case 192:
      return launch<T, 32, 6>(arguments, gather, stream);
    case 256:
      return launch<T, 32, 8>(arguments, gather, stream);
    case 384:
      return launch<T, 32, 12>(arguments, gather, stream);
    default:
      break;
  }
  if constexpr (sizeof(T) == 4) {  // twice as many vectors for the widest rows
    if (vectors == 512) return launch<T, 32, 16>(arguments, gather, stream);
    if (vectors == 768) return launch<T, 32, 24>(arguments, gather, stream);
  }
  return false;
}

}  // namespace

void layernorm_forward(const LayerNormShape& shape, ElementType type, const LayerNormTensors& tensors, Stream stream,
                       const PatchMergeShape* gather) {
  const std::int64_t unit = gather == nullptr ? 8 : 32;
  require(shape.channels > 0 && shape.channels % unit == 0, "layernorm", "channels must be a multiple of 8");
  require(gather == nullptr || (shape.channels == 4 * gather->channels && shape.rows == gather->merged_tokens()),
          "layernorm", "the rows must be those of the gathered map");
  require(shape.rows < std::numeric_limits<int>::max(), "layernorm", "too many rows");
  if (shape.rows == 0) return;
  bool launched = false;
  with_element_type(type, [&]<typename T>() {
    const std::int64_t vectors = shape.channels / Vector<T>::kLength;
    MergePlace place;
    if (gather != nullptr) {
      place = {static_cast<int>(gather->height), static_cast<int>(gather->width),
               static_cast<int>(gather->merged_height()), static_cast<int>(gather->merged_width())};
    }
    const Arguments<T> arguments{static_cast<int>(shape.rows),        1,
                                 static_cast<float>(shape.epsilon),   place,
                                 static_cast<const T*>(tensors.x),    static_cast<const T*>(tensors.gamma),
                                 static_cast<const T*>(tensors.beta), static_cast<const T*>(tensors.residual),
                                 static_cast<T*>(tensors.y)};
    launched = launch_for(vectors, arguments, gather != nullptr, stream);
  });
  if (!launched) {
    require(gather == nullptr, "layernorm", "no kernel gathers rows of this many channels");
    layernorm_forward_plain(shape, type, tensors, stream);
  }
}

void layernorm_forward_plain(const LayerNormShape& shape, ElementType type, const LayerNormTensors& tensors,
                             Stream stream) {
  if (shape.rows == 0) return;
  with_element_type(type, [&]<typename T>() {
    layernorm_plain_kernel<T><<<static_cast<unsigned>(shape.rows), kPlainThreads, 0, stream>>>(
        shape.channels, static_cast<float>(shape.epsilon), static_cast<const T*>(tensors.x),
        static_cast<const T*>(tensors.gamma), static_cast<const T*>(tensors.beta),
        static_cast<const T*>(tensors.residual), static_cast<T*>(tensors.y));
  });
  SWINSCOPE_CUDA_LAUNCHED("layernorm_plain_kernel");
}

}  // namespace swinscope::cuda

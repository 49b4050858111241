#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/layernorm.h"
#include "kernels/patch_merge.h"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kPlainThreads = 256;

// Where vector `vector` of a row begins: in a plain row, or in one of the four rows that make a merged token.
struct RowPlace {
  std::int64_t vectors = 0;  // of a row
  std::int64_t height = 0;   // of the map to gather from; 0: plain rows
  std::int64_t width = 0;
  std::int64_t merged_height = 0;
  std::int64_t merged_width = 0;

  // Negative: padding.
  __device__ std::int64_t operator()(std::int64_t row, std::int64_t vector) const {
    if (height == 0) return row * vectors + vector;
    const std::int64_t quarter = vectors / 4;
    const std::int64_t part = vector / quarter;
    const std::int64_t y = row / merged_width % merged_height * 2 + part % 2;
    const std::int64_t x = row % merged_width * 2 + part / 2;
    if (y >= height || x >= width) return -1;
    return ((row / (merged_width * merged_height) * height + y) * width + x) * quarter + vector % quarter;
  }
};

template <typename T>
struct Arguments {
  std::int64_t rows;
  int lanes;  // that share a row
  float epsilon;
  RowPlace place;
  const T* x;
  const T* gamma;
  const T* beta;
  const T* residual;
  T* y;
};

// `lanes` neighbouring lanes share a row and hold kVectors 16-byte pieces each: lanes * kVectors * kLength channels.
template <typename T, int kVectors>
__global__ __launch_bounds__(kThreads) void layernorm_kernel(const Arguments<T> a) {
  constexpr int kLength = Vector<T>::kLength;
  const int lane = static_cast<int>(threadIdx.x) % a.lanes;
  const std::int64_t wanted = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) / a.lanes;
  // All lanes take part in the sums; those beyond the end repeat the last row and store nothing.
  const std::int64_t row = wanted < a.rows ? wanted : a.rows - 1;
  Vector<T> x[kVectors];
  float sum = 0.0F;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t place = a.place(row, lane + v * a.lanes);
    x[v] = place < 0 ? Vector<T>{} : load_vector(a.x + place * kLength);
  }
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
#pragma unroll
    for (int e = 0; e < kLength; ++e)
      sum += to_float(x[v].values[e]);
  }
  const float inverse_count = 1.0F / static_cast<float>(a.lanes * kVectors * kLength);
  const float mean = sum_over(sum, a.lanes) * inverse_count;
  float squares = 0.0F;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
#pragma unroll
    for (int e = 0; e < kLength; ++e) {
      const float centred = to_float(x[v].values[e]) - mean;
      squares += centred * centred;
    }
  }
  const float rstd = rsqrtf(sum_over(squares, a.lanes) * inverse_count + a.epsilon);
  if (wanted >= a.rows) return;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t channel = std::int64_t{lane + v * a.lanes} * kLength;
    const std::int64_t out = row * a.place.vectors * kLength + channel;
    const Vector<T> gamma = load_vector(a.gamma + channel);
    const Vector<T> beta = load_vector(a.beta + channel);
    Vector<T> residual{};
    if (a.residual != nullptr) residual = load_vector(a.residual + out);
#pragma unroll
    for (int e = 0; e < kLength; ++e) {
      const float normalized = (to_float(x[v].values[e]) - mean) * rstd;
      const float scaled = normalized * to_float(gamma.values[e]) + to_float(beta.values[e]);
      x[v].values[e] = from_float<T>(to_float(residual.values[e]) + scaled);
    }
    store_vector(a.y + out, x[v]);
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

template <typename T, int kVectors>
void launch(const Arguments<T>& arguments, Stream stream) {
  const unsigned blocks = blocks_for(arguments.rows * arguments.lanes, kThreads);
  layernorm_kernel<T, kVectors><<<blocks, kThreads, 0, stream>>>(arguments);
}

// Returns false where no kernel has that many vectors for each lane.
template <typename T>
bool launch_for(int vectors_per_lane, const Arguments<T>& arguments, Stream stream) {
  switch (vectors_per_lane) {
    case 1:
      launch<T, 1>(arguments, stream);
      return true;
    case 2:
      launch<T, 2>(arguments, stream);
      return true;
    case 3:
      launch<T, 3>(arguments, stream);
      return true;
    case 4:
      launch<T, 4>(arguments, stream);
      return true;
    case 6:
      launch<T, 6>(arguments, stream);
      return true;
    case 8:
      launch<T, 8>(arguments, stream);
      return true;
    case 12:
      launch<T, 12>(arguments, stream);
      return true;
    default:
      break;
  }
  if constexpr (sizeof(T) == 4) {  // twice as many vectors for the widest rows
    switch (vectors_per_lane) {
      case 16:
        launch<T, 16>(arguments, stream);
        return true;
      case 24:
        launch<T, 24>(arguments, stream);
        return true;
      default:
        break;
    }
  }
  return false;
}

int lanes_for(std::int64_t vectors) {
  int lanes = 1;
  while (lanes < kWarp && vectors % (2 * lanes) == 0)
    lanes *= 2;
  return lanes;
}

}  // namespace

void layernorm_forward(const LayerNormShape& shape, ElementType type, const LayerNormTensors& tensors, Stream stream,
                       const PatchMergeShape* gather) {
  const std::int64_t unit = gather == nullptr ? 8 : 32;
  require(shape.channels > 0 && shape.channels % unit == 0, "layernorm", "channels must be a multiple of 8");
  require(gather == nullptr || (shape.channels == 4 * gather->channels && shape.rows == gather->merged_tokens()),
          "layernorm", "the rows must be those of the gathered map");
  if (shape.rows == 0) return;
  bool launched = false;
  with_element_type(type, [&]<typename T>() {
    const std::int64_t vectors = shape.channels / Vector<T>::kLength;
    RowPlace place{vectors, 0, 0, 0, 0};
    if (gather != nullptr) {
      place = {vectors, gather->height, gather->width, gather->merged_height(), gather->merged_width()};
    }
    const Arguments<T> arguments{shape.rows,
                                 lanes_for(vectors),
                                 static_cast<float>(shape.epsilon),
                                 place,
                                 static_cast<const T*>(tensors.x),
                                 static_cast<const T*>(tensors.gamma),
                                 static_cast<const T*>(tensors.beta),
                                 static_cast<const T*>(tensors.residual),
                                 static_cast<T*>(tensors.y)};
    launched = launch_for(static_cast<int>(vectors / arguments.lanes), arguments, stream);
  });
  if (!launched) {
    require(gather == nullptr, "layernorm", "no kernel gathers rows of this many channels");
    layernorm_forward_plain(shape, type, tensors, stream);
    return;
  }
  SWINSCOPE_CUDA_LAUNCHED("layernorm_kernel");
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

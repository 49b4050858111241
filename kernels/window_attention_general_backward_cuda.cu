// A block keeps one head and goes over its share of the windows. In the first half of a window a thread owns a query
// and reads all keys and values from shared memory, in the second half it owns a key and reads all queries. Sums of
// dscores for the position bias are kept in memory that only this block touches.
#include <algorithm>
#include <cmath>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/window_attention_backward.h"
#include "kernels/window_geometry.cuh"

namespace swinscope::cuda {
namespace {

constexpr int kMostThreads = 128;
constexpr std::int64_t kBlocks = 528;                           // about
constexpr std::int64_t kMostPairSums = std::int64_t{16} << 20;  // of all shares and heads

template <typename T>
struct GeneralArguments {
  WindowGeometry geometry;
  int windows;
  int heads;
  bool cosine;
  const T* qkv;
  const float* bias;  // [heads, key, query]
  const float* logit_scale;
  const T* pad_qkv;
  const float* lse;
  const T* dout;
  T* dqkv;
  T* padding;
  float* share_sums;
  float* scale_sums;
};

// A row of q, k or v, in the cosine form divided by its norm; `inverse` is 1 / max(norm, 1e-12), or 1.
template <int kDim>
struct UnitRow {
  float values[kDim];
  float inverse = 1.0F;

  template <typename T>
  __device__ void load(const T* from, bool normalize) {
    float squares = 0.0F;
#pragma unroll
    for (int c = 0; c < kDim; ++c) {
      values[c] = to_float(from[c]);
      squares += values[c] * values[c];
    }
    if (!normalize) return;
    inverse = 1.0F / fmaxf(sqrtf(squares), 1e-12F);
#pragma unroll
    for (float& value : values)
      value *= inverse;
  }

  // The gradient of this row becomes that of the row before it was divided: none for a row of norm zero. Returns what
  // lies along it.
  __device__ float denormalize(float (&gradient)[kDim]) const {
    constexpr float kClamped = 0.999e12F;
    float along = 0.0F;
#pragma unroll
    for (int c = 0; c < kDim; ++c)
      along += values[c] * gradient[c];
    const float factor = inverse > kClamped ? 0.0F : inverse;
#pragma unroll
    for (int c = 0; c < kDim; ++c)
      gradient[c] = (gradient[c] - along * values[c]) * factor;
    return along;
  }
};

template <int kDim>
__device__ float dot(const float (&a)[kDim], const float* b) {
  float sum = 0.0F;
#pragma unroll
  for (int c = 0; c < kDim; ++c)
    sum += a[c] * b[c];
  return sum;
}

// Shared memory: two arrays [tokens, kDim] (keys and values, then queries and dout), then [tokens] LSE, row sums of
// P o dP, and regions.
template <typename T, int kDim>
__global__ __launch_bounds__(kMostThreads) void general_backward_kernel(const GeneralArguments<T> a) {
  extern __shared__ float shared[];
  __shared__ float warp_sums[kMostThreads / kWarp];
  const int tokens = a.geometry.tokens();
  float* const first = shared;
  float* const second = first + tokens * kDim;
  float* const lse = second + tokens * kDim;
  float* const means = lse + tokens;
  int* const regions = reinterpret_cast<int*>(means + tokens);
  const int head = static_cast<int>(blockIdx.y);
  const int channels = a.heads * kDim;
  const auto threads = static_cast<int>(blockDim.x);
  const auto thread = static_cast<int>(threadIdx.x);
  const float scale =
      a.cosine ? expf(fminf(a.logit_scale[head], static_cast<float>(kMaxLogitScale))) : 1.0F / sqrtf(float{kDim});
  const float* const bias = a.bias + std::int64_t{head} * tokens * tokens;
  float* const sums = a.share_sums + (std::int64_t{blockIdx.x} * a.heads + head) * tokens * tokens;
  const auto source = [&](int row, int part) {
    const T* const token = row < 0 ? a.pad_qkv : a.qkv + std::int64_t{row} * (3 * channels);
    return token + part * channels + head * kDim;
  };
  const auto store = [&](int window, int slot, int row, int part, const float(&values)[kDim]) {
    T* const token = row < 0 ? a.padding + (std::int64_t{window} * tokens + slot) * (3 * channels)
                             : a.dqkv + std::int64_t{row} * (3 * channels);
#pragma unroll
    for (int c = 0; c < kDim; ++c)
      token[part * channels + head * kDim + c] = from_float<T>(values[c]);
  };
  // Padding has no output, and so no gradient.
  const auto load_gradient = [&](int row, float* to) {
#pragma unroll
    for (int c = 0; c < kDim; ++c)
      to[c] = row < 0 ? 0.0F : to_float(a.dout[std::int64_t{row} * channels + head * kDim + c]);
  };
  float scale_sum = 0.0F;
  for (int window = static_cast<int>(blockIdx.x); window < a.windows; window += static_cast<int>(gridDim.x)) {
    const bool masked = a.geometry.masked(window);
    const auto score = [&](float product, int query, int key) {
      const float mask = masked && regions[query] != regions[key] ? static_cast<float>(kWindowMask) : 0.0F;
      return product * scale + bias[key * tokens + query] + mask;
    };
    __syncthreads();  // nobody reads the window before
    for (int slot = thread; slot < tokens; slot += threads) {
      const int row = a.geometry.row(window, slot);
      UnitRow<kDim> key;
      key.load(source(row, 1), a.cosine);
#pragma unroll
      for (int c = 0; c < kDim; ++c) {
        first[slot * kDim + c] = key.values[c];
        second[slot * kDim + c] = to_float(source(row, 2)[c]);
      }
      lse[slot] = row < 0 ? INFINITY : a.lse[std::int64_t{row} * a.heads + head];
      regions[slot] = a.geometry.region(window, slot);
    }
    __syncthreads();
    for (int slot = thread; slot < tokens; slot += threads) {
      const int row = a.geometry.row(window, slot);
      UnitRow<kDim> query;
      query.load(source(row, 0), a.cosine);
      float gradient[kDim];
      load_gradient(row, gradient);
      const auto probability = [&](int key) {
        return expf(score(dot(query.values, first + key * kDim), slot, key) - lse[slot]);
      };
      // dq = sum of P o (dP - mean) k. The mean comes first, and of probabilities that add up to 1 whatever the LSE's
      // last digit is: where one key has nearly all of a row, what is left of its gradient is small beside either.
      float mean = 0.0F;
      float all = 0.0F;
      for (int key = 0; key < tokens; ++key) {
        const float p = probability(key);
        mean += p * dot(gradient, second + key * kDim);
        all += p;
      }
      mean = all > 0.0F ? mean / all : 0.0F;  // padding asks nothing
      means[slot] = mean;
      float weighted[kDim] = {};
      for (int key = 0; key < tokens; ++key) {
        const float d = scale * probability(key) * (dot(gradient, second + key * kDim) - mean);
#pragma unroll
        for (int c = 0; c < kDim; ++c)
          weighted[c] += d * first[key * kDim + c];
      }
      if (a.cosine) scale_sum += query.denormalize(weighted);
      store(window, slot, row, 0, weighted);
    }
    __syncthreads();
    for (int slot = thread; slot < tokens; slot += threads) {
      const int row = a.geometry.row(window, slot);
      UnitRow<kDim> query;
      query.load(source(row, 0), a.cosine);
#pragma unroll
      for (int c = 0; c < kDim; ++c)
        first[slot * kDim + c] = query.values[c];
      load_gradient(row, second + slot * kDim);
    }
    __syncthreads();
    for (int slot = thread; slot < tokens; slot += threads) {
      const int row = a.geometry.row(window, slot);
      UnitRow<kDim> key;
      UnitRow<kDim> value;
      key.load(source(row, 1), a.cosine);
      value.load(source(row, 2), false);
      float dk[kDim] = {};
      float dv[kDim] = {};
      for (int query = 0; query < tokens; ++query) {
        const float p = expf(score(dot(key.values, first + query * kDim), query, slot) - lse[query]);
        const float d = p * (dot(value.values, second + query * kDim) - means[query]);
#pragma unroll
        for (int c = 0; c < kDim; ++c) {
          dk[c] += d * first[query * kDim + c];
          dv[c] += p * second[query * kDim + c];
        }
        float* const sum = sums + query * tokens + slot;
        *sum = window == static_cast<int>(blockIdx.x) ? d : *sum + d;
      }
#pragma unroll
      for (float& d : dk)
        d *= scale;
      if (a.cosine) key.denormalize(dk);
      store(window, slot, row, 1, dk);
      store(window, slot, row, 2, dv);
    }
  }
  if (!a.cosine) return;
  scale_sum = sum_over(scale_sum, kWarp);
  if (thread % kWarp == 0) warp_sums[thread / kWarp] = scale_sum;
  __syncthreads();
  if (thread != 0) return;
  float total = 0.0F;
  for (int warp = 0; warp < threads / kWarp; ++warp)
    total += warp_sums[warp];
  const bool free = a.logit_scale[head] <= static_cast<float>(kMaxLogitScale);
  a.scale_sums[std::int64_t{blockIdx.x} * a.heads + head] = free ? total : 0.0F;
}

template <typename T, int kDim>
void launch(const WindowAttentionShape& shape, TokenOrder order, const WindowAttentionGradientTensors& tensors,
            const BackwardWorkspace& places, Stream stream) {
  const std::int64_t tokens = shape.grid.window_tokens();
  const auto bytes = static_cast<int>(tokens * (2 * kDim + 3) * 4);
  const auto kernel = general_backward_kernel<T, kDim>;
  SWINSCOPE_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  GeneralArguments<T> arguments{};
  arguments.geometry = WindowGeometry::of(shape.grid, order);
  arguments.windows = static_cast<int>(shape.grid.window_count());
  arguments.heads = static_cast<int>(shape.heads);
  arguments.cosine = shape.score == AttentionScore::kCosine;
  arguments.qkv = static_cast<const T*>(tensors.qkv);
  arguments.bias = static_cast<const float*>(tensors.bias);
  arguments.logit_scale = tensors.logit_scale;
  arguments.pad_qkv = static_cast<const T*>(tensors.pad_qkv);
  arguments.lse = tensors.lse;
  arguments.dout = static_cast<const T*>(tensors.dout);
  arguments.dqkv = static_cast<T*>(tensors.dqkv);
  arguments.padding = static_cast<T*>(places.padding(tensors.workspace));
  arguments.share_sums = places.share_sums(tensors.workspace);
  arguments.scale_sums = places.scale_sums(tensors.workspace);
  const dim3 grid(static_cast<unsigned>(places.shares), static_cast<unsigned>(shape.heads));
  const auto threads =
      static_cast<unsigned>(std::min<std::int64_t>((tokens + kWarp - 1) / kWarp * kWarp, kMostThreads));
  general_backward_kernel<T, kDim><<<grid, threads, static_cast<std::size_t>(bytes), stream>>>(arguments);
  SWINSCOPE_CUDA_LAUNCHED("general_backward_kernel");
}

}  // namespace

BackwardWorkspace general_backward_workspace(const WindowAttentionShape& shape) {
  BackwardWorkspace places;
  places.heads = shape.heads;
  places.pairs = shape.grid.window_tokens() * shape.grid.window_tokens();
  const std::int64_t most = std::min(kBlocks / shape.heads, kMostPairSums / (shape.heads * places.pairs));
  places.shares = std::clamp<std::int64_t>(most, 1, std::max<std::int64_t>(shape.grid.window_count(), 1));
  return places;
}

void general_attention_backward(const WindowAttentionShape& shape, ElementType type, TokenOrder order,
                                const WindowAttentionGradientTensors& tensors, const BackwardWorkspace& places,
                                Stream stream) {
  require(shape.head_dim == 16 || shape.head_dim == 32, "window_attention_backward",
          "heads must have 16 or 32 channels");
  require(shape.grid.window_tokens() <= 576, "window_attention_backward", "windows may have 576 tokens at most");
  with_element_type(type, [&]<typename T>() {
    if (shape.head_dim == 16) {
      launch<T, 16>(shape, order, tensors, places, stream);
    } else {
      launch<T, 32>(shape, order, tensors, places, stream);
    }
  });
}

}  // namespace swinscope::cuda

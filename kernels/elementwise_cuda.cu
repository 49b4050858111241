// Operations that touch each element once: GELU, bias, residual sum, conversion, random values.
#include "kernels/bias.h"
#include "kernels/check.h"
#include "kernels/convert.h"
#include "kernels/cuda_call.h"
#include "kernels/delayed_scale.cuh"
#include "kernels/device_math.cuh"
#include "kernels/gelu.h"
#include "kernels/normal_distribution.cuh"
#include "kernels/residual.h"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 256;

template <typename T>
__global__ void gelu_kernel(std::int64_t vectors, bool backwards, const T* x, T* y) {
  const unsigned block = backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  const std::int64_t i = std::int64_t{block} * kThreads + threadIdx.x;
  if (i >= vectors) return;
  Vector<T> v = load_vector(x + i * Vector<T>::kLength);
#pragma unroll
  for (T& value : v.values)
    value = from_float<T>(to_float(value) * normal_distribution<T>(to_float(value)).cumulative);
  store_vector(y + i * Vector<T>::kLength, v);
}

template <typename T>
__global__ void gelu_with_bytes_kernel(std::int64_t vectors, bool backwards, const T* x, T* y, ByteCopy copy) {
  const unsigned block = backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  const std::int64_t i = std::int64_t{block} * kThreads + threadIdx.x;
  ByteCopyShare share(copy);
  if (i < vectors) {
    Vector<T> v = load_vector(x + i * Vector<T>::kLength);
#pragma unroll
    for (T& value : v.values)
      value = from_float<T>(to_float(value) * normal_distribution<T>(to_float(value)).cumulative);
    if (y != nullptr) store_vector(y + i * Vector<T>::kLength, v);
    share.store(i, v);
  }
  share.report();
}

template <typename T>
__global__ void bias_kernel(std::int64_t vectors, std::int64_t vectors_per_row, const T* x, const T* bias, T* y) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= vectors) return;
  Vector<T> v = load_vector(x + i * Vector<T>::kLength);
  const Vector<T> b = load_vector(bias + i % vectors_per_row * Vector<T>::kLength);
#pragma unroll
  for (int e = 0; e < Vector<T>::kLength; ++e)
    v.values[e] = from_float<T>(to_float(v.values[e]) + to_float(b.values[e]));
  store_vector(y + i * Vector<T>::kLength, v);
}

template <typename T>
__global__ void add_kernel(std::int64_t vectors, const T* x, const T* branch, T* y) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= vectors) return;
  Vector<T> v = load_vector(x + i * Vector<T>::kLength);
  const Vector<T> b = load_vector(branch + i * Vector<T>::kLength);
#pragma unroll
  for (int e = 0; e < Vector<T>::kLength; ++e)
    v.values[e] = from_float<T>(to_float(v.values[e]) + to_float(b.values[e]));
  store_vector(y + i * Vector<T>::kLength, v);
}

// y = x + scale * branch; without x, y = scale * branch.
template <typename T>
__global__ void scaled_branch_kernel(std::int64_t vectors, std::int64_t vectors_per_sample, const T* x, const T* branch,
                                     const float* scale, T* y) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= vectors) return;
  const float factor = scale[i / vectors_per_sample];
  Vector<T> v{};
  if (x != nullptr) v = load_vector(x + i * Vector<T>::kLength);
  const Vector<T> b = load_vector(branch + i * Vector<T>::kLength);
#pragma unroll
  for (int e = 0; e < Vector<T>::kLength; ++e)
    v.values[e] = from_float<T>(fmaf(factor, to_float(b.values[e]), to_float(v.values[e])));
  store_vector(y + i * Vector<T>::kLength, v);
}

template <typename T>
__global__ void add_into_kernel(std::int64_t vectors, const T* x, float* y) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= vectors) return;
  const Vector<T> v = load_vector(x + i * Vector<T>::kLength);
#pragma unroll
  for (int part = 0; part < Vector<T>::kLength / 4; ++part) {
    float* const at = y + i * Vector<T>::kLength + part * 4;
    Vector<float> sum = load_vector(at);
#pragma unroll
    for (int e = 0; e < 4; ++e)
      sum.values[e] += to_float(v.values[part * 4 + e]);
    store_vector(at, sum);
  }
}

template <typename From, typename To>
__global__ void convert_kernel(std::int64_t count, const From* from, To* to) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) to[i] = from_float<To>(to_float(from[i]));
}

// splitmix64
__device__ std::uint64_t random_bits(std::uint64_t seed, std::int64_t index) {
  std::uint64_t z = seed + (static_cast<std::uint64_t>(index) + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

template <typename T>
__global__ void random_kernel(std::int64_t count, std::uint64_t seed, T* to) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  to[i] = from_float<T>(static_cast<float>(random_bits(seed, i) >> 40) * 0x1p-23F - 1.0F);
}

__global__ void random_bytes_kernel(std::int64_t count, std::uint64_t seed, unsigned char* to) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) to[i] = static_cast<unsigned char>(random_bits(seed, i) & 0xbfU);
}

__global__ void nothing_kernel() {}

__global__ void cycles_kernel(std::int64_t cycles) {
  const std::int64_t start = clock64();
  while (clock64() - start < cycles) {
  }
}

template <typename T>
std::int64_t vectors_in(std::int64_t count, const char* operation) {
  require(count % 8 == 0, operation, "the number of elements must be a multiple of 8");
  return count / Vector<T>::kLength;
}

}  // namespace

void gelu_forward(std::int64_t count, ElementType type, const void* x, void* y, Stream stream, bool backwards,
                  const ByteCopy& copy) {
  if (count == 0) return;
  if (copy.bytes != nullptr) {
    require(type != ElementType::kFp32, "gelu", "8 bits are of 16-bit types");
    const std::int64_t vectors = vectors_in<__half>(count, "gelu");
    const auto launch = [&]<typename T>() {
      gelu_with_bytes_kernel<T><<<blocks_for(vectors, kThreads), kThreads, 0, stream>>>(
          vectors, backwards, static_cast<const T*>(x), static_cast<T*>(y), copy);
    };
    type == ElementType::kFp16 ? launch.template operator()<__half>() : launch.template operator()<__nv_bfloat16>();
    SWINSCOPE_CUDA_LAUNCHED("gelu_with_bytes_kernel");
    return;
  }
  with_element_type(type, [&]<typename T>() {
    const std::int64_t vectors = vectors_in<T>(count, "gelu");
    gelu_kernel<T><<<blocks_for(vectors, kThreads), kThreads, 0, stream>>>(vectors, backwards, static_cast<const T*>(x),
                                                                           static_cast<T*>(y));
  });
  SWINSCOPE_CUDA_LAUNCHED("gelu_kernel");
}

void bias_forward(const BiasShape& shape, ElementType type, const void* x, const void* bias, void* y, Stream stream) {
  const std::int64_t count = shape.rows * shape.columns;
  if (count == 0) return;
  with_element_type(type, [&]<typename T>() {
    const std::int64_t per_row = vectors_in<T>(shape.columns, "bias");
    const std::int64_t vectors = shape.rows * per_row;
    bias_kernel<T><<<blocks_for(vectors, kThreads), kThreads, 0, stream>>>(
        vectors, per_row, static_cast<const T*>(x), static_cast<const T*>(bias), static_cast<T*>(y));
  });
  SWINSCOPE_CUDA_LAUNCHED("bias_kernel");
}

void residual_forward(const ResidualShape& shape, ElementType type, const void* x, const void* branch, void* y,
                      Stream stream) {
  const std::int64_t count = shape.batch * shape.sample_elements;
  if (count == 0) return;
  with_element_type(type, [&]<typename T>() {
    const std::int64_t vectors = vectors_in<T>(count, "residual");
    add_kernel<T><<<blocks_for(vectors, kThreads), kThreads, 0, stream>>>(
        vectors, static_cast<const T*>(x), static_cast<const T*>(branch), static_cast<T*>(y));
  });
  SWINSCOPE_CUDA_LAUNCHED("add_kernel");
}

namespace {

void scaled_branch(const ResidualShape& shape, ElementType type, const void* x, const void* branch, const float* scale,
                   void* y, Stream stream) {
  const std::int64_t count = shape.batch * shape.sample_elements;
  if (count == 0) return;
  with_element_type(type, [&]<typename T>() {
    const std::int64_t per_sample = vectors_in<T>(shape.sample_elements, "residual");
    const std::int64_t vectors = shape.batch * per_sample;
    scaled_branch_kernel<T><<<blocks_for(vectors, kThreads), kThreads, 0, stream>>>(
        vectors, per_sample, static_cast<const T*>(x), static_cast<const T*>(branch), scale, static_cast<T*>(y));
  });
  SWINSCOPE_CUDA_LAUNCHED("scaled_branch_kernel");
}

}  // namespace

void residual_forward(const ResidualShape& shape, ElementType type, const void* x, const void* branch,
                      const float* scale, void* y, Stream stream) {
  if (scale == nullptr) return residual_forward(shape, type, x, branch, y, stream);
  scaled_branch(shape, type, x, branch, scale, y, stream);
}

void residual_backward(const ResidualShape& shape, ElementType type, const float* scale, const void* dy, void* dbranch,
                       Stream stream) {
  require(scale != nullptr, "residual_backward", "without a scale the branch's gradient is dy");
  scaled_branch(shape, type, nullptr, dy, scale, dbranch, stream);
}

void add_into(std::int64_t count, ElementType type, const void* x, float* y, Stream stream) {
  if (count == 0) return;
  with_element_type(type, [&]<typename T>() {
    const std::int64_t vectors = vectors_in<T>(count, "add_into");
    add_into_kernel<T><<<blocks_for(vectors, kThreads), kThreads, 0, stream>>>(vectors, static_cast<const T*>(x), y);
  });
  SWINSCOPE_CUDA_LAUNCHED("add_into_kernel");
}

void convert(std::int64_t count, ElementType from_type, const void* from, ElementType to_type, void* to,
             Stream stream) {
  if (count == 0) return;
  with_element_type(from_type, [&]<typename From>() {
    with_element_type(to_type, [&]<typename To>() {
      convert_kernel<From, To><<<blocks_for(count, kThreads), kThreads, 0, stream>>>(
          count, static_cast<const From*>(from), static_cast<To*>(to));
    });
  });
  SWINSCOPE_CUDA_LAUNCHED("convert_kernel");
}

void fill_random(std::int64_t count, ElementType type, std::uint64_t seed, void* to, Stream stream) {
  if (count == 0) return;
  with_element_type(type, [&]<typename T>() {
    random_kernel<T><<<blocks_for(count, kThreads), kThreads, 0, stream>>>(count, seed, static_cast<T*>(to));
  });
  SWINSCOPE_CUDA_LAUNCHED("random_kernel");
}

void fill_random_bytes(std::int64_t count, std::uint64_t seed, void* to, Stream stream) {
  if (count == 0) return;
  random_bytes_kernel<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(count, seed,
                                                                            static_cast<unsigned char*>(to));
  SWINSCOPE_CUDA_LAUNCHED("random_bytes_kernel");
}

void launch_nothing(Stream stream) {
  nothing_kernel<<<1, kWarp, 0, stream>>>();
  SWINSCOPE_CUDA_LAUNCHED("nothing_kernel");
}

void launch_cycles(std::int64_t cycles, Stream stream) {
  cycles_kernel<<<1, 1, 0, stream>>>(cycles);
  SWINSCOPE_CUDA_LAUNCHED("cycles_kernel");
}

}  // namespace swinscope::cuda

// Adds the ranks' parts of a gradient bucket in fp32, in the ranks' order. Blocks are short, so that they run between
// the backward pass's kernels. Bound by memory.
#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/sum_parts.h"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kAtOnce = 4;  // parts whose loads are under way together

// A vector a thread: blocks are short, so that they find a place between those of other kernels.
template <typename T>
__global__ __launch_bounds__(kThreads) void sum_parts_kernel(const T* parts, int ranks, std::int64_t count, T* out) {
  constexpr int kLength = Vector<T>::kLength;
  const std::int64_t at = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kLength;
  if (at >= count) return;
  float sums[kLength] = {};
  for (int first = 0; first < ranks; first += kAtOnce) {
    Vector<T> values[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (first + i < ranks) values[i] = load_vector(parts + (first + i) * count + at);
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (first + i >= ranks) break;
#pragma unroll
      for (int element = 0; element < kLength; ++element)
        sums[element] += to_float(values[i].values[element]);
    }
  }
  Vector<T> rounded;
#pragma unroll
  for (int element = 0; element < kLength; ++element)
    rounded.values[element] = from_float<T>(sums[element]);
  store_vector(out + at, rounded);
}

}  // namespace

void sum_parts(ElementType type, const void* parts, int ranks, std::int64_t count, void* out, Stream stream) {
  if (count == 0) return;
  with_element_type(type, [&]<typename T>() {
    constexpr int kLength = Vector<T>::kLength;
    require(count % kLength == 0, "sum_parts", "parts are whole vectors");
    sum_parts_kernel<<<blocks_for(count / kLength, kThreads), kThreads, 0, stream>>>(
        static_cast<const T*>(parts), ranks, count, static_cast<T*>(out));
  });
  SWINSCOPE_CUDA_LAUNCHED("sum_parts_kernel");
}

}  // namespace swinscope::cuda

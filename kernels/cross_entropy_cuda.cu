// The loss of the classifier: a block for each row takes maximum, sum of exponentials and loss in fp32; one block then
// adds the rows in double, in an order that depends on their number only. The gradient reuses the saved log of the sum.
#include <cmath>

#include "kernels/check.h"
#include "kernels/cross_entropy.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;

// The first class with the largest logit.
struct Largest {
  float value;
  int index;

  __device__ Largest with(Largest other) const {
    const bool later = other.value < value || (other.value == value && other.index > index);
    return later ? *this : other;
  }
};

__device__ Largest block_largest(Largest mine) {
  __shared__ Largest partial[kWarps];
  for (int step = kWarp / 2; step > 0; step /= 2) {
    mine = mine.with({__shfl_xor_sync(0xffffffffU, mine.value, step), __shfl_xor_sync(0xffffffffU, mine.index, step)});
  }
  if (threadIdx.x % kWarp == 0) partial[threadIdx.x / kWarp] = mine;
  __syncthreads();
  Largest total = partial[0];
  for (int warp = 1; warp < kWarps; ++warp)
    total = total.with(partial[warp]);
  return total;
}

// A block a row. The loss is written with lse - z, which is small where it matters, rather than with z itself.
template <typename T>
__global__ __launch_bounds__(kThreads) void loss_kernel(int classes, float smoothing, const T* logits,
                                                        const std::int32_t* labels, float* row_loss, float* row_lse,
                                                        std::int32_t* predicted) {
  const T* const z = logits + std::int64_t{blockIdx.x} * classes;
  Largest largest{-INFINITY, classes};
  for (int k = static_cast<int>(threadIdx.x); k < classes; k += kThreads)
    largest = largest.with({to_float(z[k]), k});
  largest = block_largest(largest);
  float sum = 0.0F;
  for (int k = static_cast<int>(threadIdx.x); k < classes; k += kThreads)
    sum += expf(to_float(z[k]) - largest.value);
  const float lse = largest.value + logf(block_sum<kThreads>(sum));
  float distances = 0.0F;
  for (int k = static_cast<int>(threadIdx.x); k < classes; k += kThreads)
    distances += lse - to_float(z[k]);
  distances = block_sum<kThreads>(distances);
  if (threadIdx.x != 0) return;
  const std::int32_t label = labels[blockIdx.x];
  float loss = 0.0F;
  if (label >= classes) loss = NAN;
  if (label >= 0 && label < classes) {
    loss = (1.0F - smoothing) * (lse - to_float(z[label])) + smoothing / static_cast<float>(classes) * distances;
  }
  row_loss[blockIdx.x] = loss;
  row_lse[blockIdx.x] = lse;
  predicted[blockIdx.x] = largest.index;
}

// One block adds up all rows, in an order that depends on their number only.
__global__ __launch_bounds__(kThreads) void loss_sums_kernel(std::int64_t rows, const std::int32_t* labels,
                                                             const float* row_loss, const std::int32_t* predicted,
                                                             LossSums* sums) {
  double loss = 0.0;
  int count = 0;
  int correct = 0;
  for (std::int64_t row = threadIdx.x; row < rows; row += kThreads) {
    if (labels[row] < 0) continue;
    loss += static_cast<double>(row_loss[row]);
    ++count;
    if (predicted[row] == labels[row]) ++correct;
  }
  loss = block_sum<kThreads>(loss);
  count = block_sum<kThreads>(count);
  correct = block_sum<kThreads>(correct);
  if (threadIdx.x != 0) return;
  sums->loss += loss;
  sums->count += count;
  sums->correct += correct;
}

template <typename T>
__global__ __launch_bounds__(kThreads) void loss_gradient_kernel(int classes, float smoothing, const T* logits,
                                                                 const std::int32_t* labels, const float* row_lse,
                                                                 float row_scale, const float* loss_scale, T* dlogits) {
  const std::int64_t begin = std::int64_t{blockIdx.x} * classes;
  const std::int32_t label = labels[blockIdx.x];
  const float lse = row_lse[blockIdx.x];
  const float everywhere = smoothing / static_cast<float>(classes);
  float scale = label < classes ? row_scale : NAN;
  if (loss_scale != nullptr) scale *= *loss_scale;
  for (int k = static_cast<int>(threadIdx.x); k < classes; k += kThreads) {
    const float target = everywhere + (k == label ? 1.0F - smoothing : 0.0F);
    const float gradient = scale * (expf(to_float(logits[begin + k]) - lse) - target);
    dlogits[begin + k] = from_float<T>(label < 0 ? 0.0F : gradient);
  }
}

void check(const CrossEntropyShape& shape) {
  require(shape.classes > 0 && shape.classes < (1 << 30), "cross_entropy", "classes out of range");
  require(shape.smoothing >= 0.0 && shape.smoothing <= 1.0, "cross_entropy", "smoothing outside [0, 1]");
}

}  // namespace

void cross_entropy_forward(const CrossEntropyShape& shape, ElementType type, const void* logits,
                           const std::int32_t* labels, float* row_loss, float* lse, std::int32_t* predicted,
                           LossSums* sums, Stream stream) {
  check(shape);
  if (shape.rows == 0) return;
  with_element_type(type, [&]<typename T>() {
    loss_kernel<T><<<static_cast<unsigned>(shape.rows), kThreads, 0, stream>>>(
        static_cast<int>(shape.classes), static_cast<float>(shape.smoothing), static_cast<const T*>(logits), labels,
        row_loss, lse, predicted);
  });
  SWINSCOPE_CUDA_LAUNCHED("loss_kernel");
  loss_sums_kernel<<<1, kThreads, 0, stream>>>(shape.rows, labels, row_loss, predicted, sums);
  SWINSCOPE_CUDA_LAUNCHED("loss_sums_kernel");
}

void cross_entropy_backward(const CrossEntropyShape& shape, ElementType type, const void* logits,
                            const std::int32_t* labels, const float* lse, double row_scale, const float* loss_scale,
                            void* dlogits, Stream stream) {
  check(shape);
  if (shape.rows == 0) return;
  with_element_type(type, [&]<typename T>() {
    loss_gradient_kernel<T><<<static_cast<unsigned>(shape.rows), kThreads, 0, stream>>>(
        static_cast<int>(shape.classes), static_cast<float>(shape.smoothing), static_cast<const T*>(logits), labels,
        lse, static_cast<float>(row_scale), loss_scale, static_cast<T*>(dlogits));
  });
  SWINSCOPE_CUDA_LAUNCHED("loss_gradient_kernel");
}

}  // namespace swinscope::cuda

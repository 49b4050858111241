// Prepares the weights of a GEMM that normalizes its input (normalized_product.h): gamma is multiplied into them, and
// the corrections of mean and bias are summed from the rounded weights.
#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/normalized_product.h"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 256;

// A block for each output.
template <typename T>
__global__ __launch_bounds__(kThreads) void fold_normalization_kernel(std::int64_t inputs, const FoldedNormTensors t) {
  const auto output = static_cast<std::int64_t>(blockIdx.x);
  const float* const weight = t.weight + output * inputs;
  T* const folded = static_cast<T*>(t.folded) + output * inputs;
  float sum = 0.0F;
  float bias = 0.0F;
  for (std::int64_t i = threadIdx.x; i < inputs; i += kThreads) {
    const T value = from_float<T>(weight[i] * t.gamma[i]);
    folded[i] = value;
    sum += to_float(value);
    bias = fmaf(weight[i], t.beta[i], bias);
  }
  sum = block_sum<kThreads>(sum);
  bias = block_sum<kThreads>(bias);
  if (threadIdx.x != 0) return;
  t.corrections[output] = sum;
  t.corrections[gridDim.x + output] = bias + (t.bias == nullptr ? 0.0F : t.bias[output]);
}

}  // namespace

void fold_normalization(std::int64_t inputs, std::int64_t outputs, ElementType type, const FoldedNormTensors& tensors,
                        Stream stream) {
  require(inputs > 0 && outputs > 0, "fold_normalization", "extents must be positive");
  with_element_type(type, [&]<typename T>() {
    fold_normalization_kernel<T><<<static_cast<unsigned>(outputs), kThreads, 0, stream>>>(inputs, tensors);
  });
  SWINSCOPE_CUDA_LAUNCHED("fold_normalization_kernel");
}

}  // namespace swinscope::cuda

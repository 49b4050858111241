// Draws the keep-or-drop scale of each block's two branches and each sample, from a counter-based generator keyed by
// step, branch and sample: the same bits as the CPU's, whatever the batch or the number of ranks.
#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/stochastic_depth.h"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 128;

// workloads/hash_stream.h: the stream of the name "drop_path.<step>.<branch>".
__device__ std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

struct NameHash {  // FNV-1a
  std::uint64_t value = 0xCBF29CE484222325U;

  __device__ void add(char letter) { value = (value ^ static_cast<unsigned char>(letter)) * 0x100000001B3U; }
  __device__ void add(const char* text) {
    for (; *text != '\0'; ++text)
      add(*text);
  }
  __device__ void add(std::uint64_t number) {
    std::uint64_t digit = 1;
    while (number / digit >= 10)
      digit *= 10;
    for (; digit > 0; digit /= 10)
      add(static_cast<char>('0' + number / digit % 10));
  }
};

__global__ __launch_bounds__(kThreads) void depth_kernel(StochasticDepthShape shape, const SamplePlace* place,
                                                         float* scales) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= 2 * shape.blocks * shape.batch) return;
  const auto branch = static_cast<int>(i / shape.batch);
  const double p = shape.blocks > 1 ? shape.rate * (branch / 2) / (shape.blocks - 1) : shape.rate;
  NameHash name;
  name.add("drop_path.");
  name.add(static_cast<std::uint64_t>(place->step));
  name.add('.');
  name.add(static_cast<std::uint64_t>(branch));
  const std::uint64_t key = name.value ^ mix(shape.seed);
  const auto sample = static_cast<std::uint64_t>(place->first_sample + i % shape.batch);
  const std::uint64_t bits = mix(key + (sample + 1) * 0x9E3779B97F4A7C15U);
  const double unit = static_cast<double>(bits >> 40) * (1.0 / 16777216.0);
  scales[i] = unit < p ? 0.0F : static_cast<float>(1.0 / (1.0 - p));
}

}  // namespace

void stochastic_depth_scales(const StochasticDepthShape& shape, const SamplePlace* place, float* scales,
                             Stream stream) {
  require(shape.rate >= 0.0 && shape.rate < 1.0, "stochastic_depth", "the rate must lie in [0, 1)");
  const std::int64_t count = 2 * shape.blocks * shape.batch;
  if (count == 0) return;
  depth_kernel<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(shape, place, scales);
  SWINSCOPE_CUDA_LAUNCHED("depth_kernel");
}

}  // namespace swinscope::cuda

// Packs a 3x3 convolution's weight for the GEMM of tap fusion, [outputs, 9, inputs] to [9, outputs, inputs], and
// unpacks its gradient. tap_gather_cuda.cu and tap_gather_backward_cuda.cu have what follows the GEMM.
#include "kernels/channel_piece.cuh"
#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/tap_fusion.h"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kTaps = 9;

// Where element i of the packed weight [9, outputs, inputs] lies in the weight [outputs, 9, stride].
struct Packing {
  std::int64_t outputs;
  std::int64_t inputs;
  std::int64_t stride;

  std::int64_t count() const { return kTaps * outputs * inputs; }
  __device__ std::int64_t place(std::int64_t i) const {
    const std::int64_t row = i / inputs;
    return (row % outputs * kTaps + row / outputs) * stride + i % inputs;
  }
};

template <typename T, int kLength>
__global__ void pack_kernel(const Packing packing, std::int64_t count, const T* weight, T* packed) {
  const std::int64_t i = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kLength;
  if (i < count) store_channels<kLength>(packed + i, load_channels<kLength>(weight + packing.place(i)));
}

template <int kLength>
__global__ void unpack_kernel(const Packing packing, std::int64_t count, const float* dpacked, bool accumulate,
                              float* dweight) {
  const std::int64_t i = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kLength;
  if (i >= count) return;
  float* const to = dweight + packing.place(i);
  auto gradient = load_channels<kLength>(dpacked + i);
  if (accumulate) add_scaled(1.0F, load_channels<kLength>(to), gradient);
  store_channels<kLength>(to, gradient);
}

Packing packing_of(const TapFusionShape& s) {
  require(s.inputs > 0 && s.outputs > 0 && s.weight_stride() >= s.inputs, "tap_fusion",
          "the weight is narrower than its slice");
  return {s.outputs, s.inputs, s.weight_stride()};
}

}  // namespace

void tap_fusion_pack(const TapFusionShape& s, ElementType type, const void* weight, void* packed, Stream stream) {
  const Packing packing = packing_of(s);
  with_channel_pieces(type, {s.inputs, s.weight_stride()}, [&]<typename T, int kLength>() {
    pack_kernel<T, kLength><<<blocks_for(packing.count(), std::int64_t{kThreads} * kLength), kThreads, 0, stream>>>(
        packing, packing.count(), static_cast<const T*>(weight), static_cast<T*>(packed));
  });
  SWINSCOPE_CUDA_LAUNCHED("pack_kernel");
}

void tap_fusion_unpack(const TapFusionShape& s, const float* dpacked, bool accumulate, float* dweight, Stream stream) {
  const Packing packing = packing_of(s);
  const auto launch = [&]<int kLength>() {
    unpack_kernel<kLength><<<blocks_for(packing.count(), std::int64_t{kThreads} * kLength), kThreads, 0, stream>>>(
        packing, packing.count(), dpacked, accumulate, dweight);
  };
  if (s.inputs % 4 == 0 && s.weight_stride() % 4 == 0) {
    launch.operator()<4>();
  } else {
    launch.operator()<1>();
  }
  SWINSCOPE_CUDA_LAUNCHED("unpack_kernel");
}

}  // namespace swinscope::cuda

// Launches the fused qkv projection and window attention for 128 and 256 channels (hopper_narrow_attention.cuh).
#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/hopper_narrow_attention.cuh"
#include "kernels/narrow_attention.h"

namespace swinscope::cuda {
namespace {

template <typename T, typename W, int kBlocks, bool kCosine>
void launch(const WindowAttentionShape& shape, ElementType type, const QkvAttentionTensors& t, Stream stream) {
  const auto kernel = hopper::narrow_attention_kernel<T, W, kBlocks, kCosine>;
  static const bool ready = [kernel] {
    SWINSCOPE_CUDA(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(W::kSharedBytes)));
    return true;
  }();
  require(ready, "narrow_attention", "the kernel is not ready");
  hopper::NarrowAttentionArguments<T> a{};
  a.geometry = WindowGeometry::of(shape.grid, TokenOrder::kImage);
  a.windows = static_cast<int>(shape.grid.window_count());
  a.first_window = t.backwards ? a.windows - 1 : 0;
  a.window_step = t.backwards ? -1 : 1;
  a.scale = kLog2e / std::sqrt(static_cast<float>(kHeadDim));
  a.x = static_cast<const T*>(t.x);
  a.gamma = static_cast<const T*>(t.gamma);
  a.beta = static_cast<const T*>(t.beta);
  a.qkv_bias = static_cast<const T*>(t.qkv_bias);
  a.bias = static_cast<const __half*>(t.bias);
  a.logit_scale = t.logit_scale;
  a.out = static_cast<T*>(t.out);
  LaunchShape launch;
  launch.grid = dim3(static_cast<unsigned>(std::min(a.windows, device_info().multiprocessors)));
  launch.block = dim3(W::kThreads);
  launch.shared_bytes = W::kSharedBytes;
  const hopper::TensorMap weight = hopper::make_row_map(type, t.weight, 3 * W::kChannels, W::kChannels, kHeadDim);
  launch_early(kernel, launch, stream, std::bit_cast<CUtensorMap>(weight), a);
}

template <typename T, typename W>
void launch_score(const WindowAttentionShape& shape, ElementType type, const QkvAttentionTensors& tensors,
                  Stream stream) {
  if (shape.score == AttentionScore::kCosine) {
    launch<T, W, 8, true>(shape, type, tensors, stream);
  } else {
    launch<T, W, 7, false>(shape, type, tensors, stream);
  }
}

template <typename T>
void launch_type(const WindowAttentionShape& shape, ElementType type, const QkvAttentionTensors& tensors,
                 Stream stream) {
  if (shape.channels() == 128) {
    launch_score<T, hopper::AttentionWidth<128>>(shape, type, tensors, stream);
  } else {
    launch_score<T, hopper::AttentionWidth<256>>(shape, type, tensors, stream);
  }
}

}  // namespace

void narrow_attention_forward(const WindowAttentionShape& shape, ElementType type, const QkvAttentionTensors& tensors,
                              Stream stream) {
  static const DeviceInfo gpu = device_info();
  require(narrow_attention_offered(shape, type, gpu), "narrow_attention", "there is no kernel for such windows here");
  const bool normalizes = tensors.gamma != nullptr && tensors.beta != nullptr;
  require(normalizes == (shape.score == AttentionScore::kScaledDot), "narrow_attention",
          "gamma and beta are needed with the scaled dot product, and with it alone");
  if (type == ElementType::kFp16) {
    launch_type<__half>(shape, type, tensors, stream);
  } else {
    launch_type<__nv_bfloat16>(shape, type, tensors, stream);
  }
}

}  // namespace swinscope::cuda

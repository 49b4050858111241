// Launches the kernel of byte_attention.cuh.
#include <cmath>
#include <limits>

#include "kernels/byte_attention.cuh"
#include "kernels/byte_attention.h"
#include "kernels/check.h"
#include "kernels/hopper_product.h"
#include "kernels/window_launch.cuh"

namespace swinscope::cuda {
namespace {

using byte_attention::Arguments;

template <typename Byte, bool kPacks>
void launch(const Arguments& arguments, Stream stream) {
  if (arguments.geometry.window_height * arguments.geometry.window_width <= 56) {
    launch_over_windows(byte_attention::attention_kernel<Byte, 7, kPacks>, byte_attention::kThreads, arguments, stream);
  } else {
    launch_over_windows(byte_attention::attention_kernel<Byte, 8, kPacks>, byte_attention::kThreads, arguments, stream);
  }
}

}  // namespace

void byte_attention_forward(const WindowAttentionShape& shape, const WindowAttentionTensors& tensors, Stream stream) {
  require(hopper::offered(), "byte_attention", "q, k and v in 8 bits need compute capability 9.0");
  require(shape.score == AttentionScore::kScaledDot && !shape.grid.padded() && tensors.lse == nullptr, "byte_attention",
          "no cosine, padding or lse with q, k and v in 8 bits");
  require(shape.grid.tokens() * 3 * shape.channels() <= std::numeric_limits<std::uint32_t>::max(), "byte_attention",
          "q, k and v of more than 4 GiB");
  const float qkv_scale = tensors.qkv_scale;
  Arguments a{};
  a.geometry = WindowGeometry::of(shape.grid, TokenOrder::kImage);
  a.windows = static_cast<int>(shape.grid.window_count());
  a.first_window = tensors.backwards ? a.windows - 1 : 0;
  a.window_step = tensors.backwards ? -1 : 1;
  a.heads = static_cast<int>(shape.heads);
  a.bias_scale = kLog2e / std::sqrt(static_cast<float>(kHeadDim));
  a.exponent = a.bias_scale * qkv_scale * qkv_scale;
  a.qkv = static_cast<const unsigned char*>(tensors.qkv);
  a.bias = static_cast<const __half*>(tensors.bias);
  a.out = tensors.out;
  a.out_eviction = tensors.out_eviction;
  const bool packs = tensors.out_scale > 0.0F;
  a.result_scale = packs ? qkv_scale / tensors.out_scale : qkv_scale;
  if (tensors.byte_format == ByteFormat::kInt8) {
    packs ? launch<std::int8_t, true>(a, stream) : launch<std::int8_t, false>(a, stream);
  } else {
    packs ? launch<__nv_fp8_e4m3, true>(a, stream) : launch<__nv_fp8_e4m3, false>(a, stream);
  }
}

}  // namespace swinscope::cuda

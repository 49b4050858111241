// Convolution of a bilinearly enlarged map without the enlarged map: GEMMs at the small size, one a tap (CPU) or one
// for all nine (device), and a gather. Forward and backward; the device's GEMM is the caller's. `swin --tap-fusion`.
#pragma once

#include <cstdint>

#include "kernels/cost.h"
#include "kernels/device.h"

namespace swinscope {

// A 3x3 convolution of a bilinearly enlarged map, computed at the small size: mixing channels commutes with the resize,
//   convolution(Up(P)) = sum over the taps of shift(Up(W_tap * P)),
// where a shift that leaves the image gives zeros, as the padding does. The products shrink by the ratio of the areas.
// An exact identity: only the order of summation differs.
//
// The weight is that of convolution.h with kernel 3, slices included.
struct TapFusionShape {
  std::int64_t batch = 0;
  std::int64_t height = 0;  // of the small map
  std::int64_t width = 0;
  std::int64_t out_height = 0;
  std::int64_t out_width = 0;
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  std::int64_t weight_inputs = 0;  // 0: inputs

  constexpr std::int64_t pixels() const { return batch * height * width; }
  constexpr std::int64_t out_pixels() const { return batch * out_height * out_width; }
  constexpr std::int64_t weight_stride() const { return weight_inputs == 0 ? inputs : weight_inputs; }
  constexpr std::int64_t tap_elements() const { return pixels() * 9 * outputs; }
};

OperationCost tap_fusion_forward_cost(const TapFusionShape& shape, std::int64_t element_bytes);
OperationCost tap_fusion_backward_cost(const TapFusionShape& shape, std::int64_t element_bytes);

namespace cpu {

// y += the convolution of the enlarged x. taps: [tap_elements()], a workspace.
template <typename T>
void tap_fusion_forward(const TapFusionShape& shape, const T* x, const T* weight, T* taps, T* y);

// dx overwritten, dweight += its gradient.
template <typename T>
void tap_fusion_backward(const TapFusionShape& shape, const T* x, const T* weight, const T* dy, T* taps, T* dx,
                         T* dweight);

}  // namespace cpu
namespace cuda {

// On a GPU the products are matmul.h's, whose operands are densely packed: with `packed` the weight as [9, outputs,
// inputs] and `taps` as [pixels, 9, outputs],
//   forward   taps = x packed^T, one product, then tap_fusion_gather();
//   backward  tap_fusion_gather_backward(), then dx = dtaps packed and dpacked = dtaps^T x.
void tap_fusion_pack(const TapFusionShape& shape, ElementType type, const void* weight, void* packed, Stream stream);
// dweight = or, where `accumulate`, += the packed gradient; both of fp32.
void tap_fusion_unpack(const TapFusionShape& shape, const float* dpacked, bool accumulate, float* dweight,
                       Stream stream);

// y += the sum of the shifted and enlarged taps. Extents as in cuda::upsample_forward(), and the map is the smaller one
// both ways.
void tap_fusion_gather(const TapFusionShape& shape, ElementType type, const void* taps, void* y, Stream stream);
// dtaps, overwritten; without atomics, in an order that depends on the shape alone.
void tap_fusion_gather_backward(const TapFusionShape& shape, ElementType type, const void* dy, void* dtaps,
                                Stream stream);

}  // namespace cuda
}  // namespace swinscope

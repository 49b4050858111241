// Bilinear resize of NHWC maps and its gradient, on the CPU and on the device. The gradient is gathered, so it is the
// same to the bit each time; a version with atomics, as PyTorch's, is there for comparison.
#pragma once

#include <cstdint>

#include "kernels/cost.h"
#include "kernels/device.h"

namespace swinscope {

// Bilinear resize of NHWC maps, as torch.nn.functional.interpolate(mode="bilinear", align_corners=False).
struct UpsampleShape {
  std::int64_t batch = 0;
  std::int64_t height = 0;  // of the input
  std::int64_t width = 0;
  std::int64_t out_height = 0;
  std::int64_t out_width = 0;
  std::int64_t channels = 0;

  constexpr std::int64_t pixels() const { return batch * height * width; }
  constexpr std::int64_t out_pixels() const { return batch * out_height * out_width; }
};

OperationCost upsample_forward_cost(const UpsampleShape& shape, bool accumulates, std::int64_t element_bytes);
OperationCost upsample_backward_cost(const UpsampleShape& shape, bool accumulates, std::int64_t element_bytes);

namespace cpu {

// y = or, where `accumulate`, += the resized x.
template <typename T>
void upsample_forward(const UpsampleShape& shape, const T* x, bool accumulate, T* y);

// dx = or += the gradient, gathered: each input adds up what the outputs that read it give back, in their order.
template <typename T>
void upsample_backward(const UpsampleShape& shape, const T* dy, bool accumulate, T* dx);

}  // namespace cpu
namespace cuda {

// Extents are at most 16384 pixels. Pointers must be aligned to 16 bytes where channels and strides are multiples of 16
// bytes, which is what is fast.
struct UpsampleTensors {
  const void* x = nullptr;
  const void* addend = nullptr;  // where given, y = addend + the resized x; laid out as y, and may be y
  void* y = nullptr;
  std::int64_t y_stride = 0;  // elements from pixel to pixel: y is a slice of a wider map. 0: channels
};

void upsample_forward(const UpsampleShape& shape, ElementType type, const UpsampleTensors& tensors, Stream stream);

struct UpsampleGradientTensors {
  const void* dy = nullptr;
  std::int64_t dy_stride = 0;  // as y_stride
  void* dx = nullptr;
  bool accumulate = false;    // dx is added to, else overwritten
  void* workspace = nullptr;  // upsample_backward_plain() only
};

// Gathered, as the CPU's: no atomics, in an order that depends on the shape alone, sums in fp32.
void upsample_backward(const UpsampleShape& shape, ElementType type, const UpsampleGradientTensors& tensors,
                       Stream stream);

// The same as PyTorch's: each output adds to the four inputs that it read, by atomic operations on a map of zeros; its
// last bits differ from run to run. The map is of fp32, so that 16-bit types keep their tolerance.
std::int64_t upsample_backward_plain_workspace_bytes(const UpsampleShape& shape);
void upsample_backward_plain(const UpsampleShape& shape, ElementType type, const UpsampleGradientTensors& tensors,
                             Stream stream);

}  // namespace cuda
}  // namespace swinscope

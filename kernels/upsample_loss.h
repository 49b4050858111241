// Cross-entropy and predicted class by pixel from logits at a lower resolution: the resize happens within the kernels,
// so that the enlarged logits, classes times pixels, are never stored. On the CPU and on the device.
#pragma once

#include <cstdint>

#include "kernels/cost.h"
#include "kernels/cross_entropy.h"
#include "kernels/device.h"
#include "kernels/upsample.h"

namespace swinscope {

// Pixels that count neither for the loss nor for its gradient.
inline constexpr std::uint8_t kIgnoredLabel = 255;

// Softmax cross-entropy of logits after a bilinear resize to the size of the labels, without the resized logits in
// memory: shape.channels are the classes, at most 255. The same as upsample_forward() and cross_entropy_forward() on
// its output, and as their backward passes.
struct PixelLoss {
  double sum = 0.0;          // over the counted pixels
  std::int64_t count = 0;    // pixels that were not ignored
  std::int64_t correct = 0;  // counted pixels whose label is the first largest logit

  constexpr PixelLoss& operator+=(const PixelLoss& other) {
    sum += other.sum;
    count += other.count;
    correct += other.correct;
    return *this;
  }
};

OperationCost upsample_loss_forward_cost(const UpsampleShape& shape, std::int64_t element_bytes);
OperationCost upsample_loss_backward_cost(const UpsampleShape& shape, std::int64_t element_bytes);
OperationCost upsample_argmax_cost(const UpsampleShape& shape, std::int64_t element_bytes);

namespace cpu {

// labels: [batch, out_height, out_width]. lse: log of the sum of exponentials at every pixel, for the backward pass.
// rows: [batch * out_height], a workspace: the loss of each row of pixels. Throws std::invalid_argument for a label
// that is neither below the number of classes nor kIgnoredLabel.
template <typename T>
PixelLoss upsample_loss_forward(const UpsampleShape& shape, const T* logits, const std::uint8_t* labels, T* lse,
                                PixelLoss* rows);

// dlogits, at the size of the logits and overwritten, of pixel_scale * (sum over the counted pixels of their loss).
template <typename T>
void upsample_loss_backward(const UpsampleShape& shape, const T* logits, const std::uint8_t* labels, const T* lse,
                            double pixel_scale, T* dlogits);

// classes: [batch, out_height, out_width], the first class with the largest resized logit.
template <typename T>
void upsample_argmax(const UpsampleShape& shape, const T* logits, std::uint8_t* classes);

}  // namespace cpu
namespace cuda {

struct PixelLossTensors {
  const void* logits = nullptr;
  const std::uint8_t* labels = nullptr;
  float* lse = nullptr;      // [batch, out_height, out_width]
  LossSums* sums = nullptr;  // the batch is added, in an order that depends on the shape alone
  void* workspace = nullptr;
};

std::int64_t upsample_loss_workspace_bytes(const UpsampleShape& shape);

// As the CPU's; extents as in cuda::upsample_forward(). A label that is neither below the number of classes nor
// kIgnoredLabel makes the loss and the gradient NaN: labels are checked where they are read.
void upsample_loss_forward(const UpsampleShape& shape, ElementType type, const PixelLossTensors& tensors,
                           Stream stream);

// dlogits, overwritten, of pixel_scale * *loss_scale * (sum over the counted pixels of their loss), gathered without
// atomics. loss_scale is in device memory, so that it may have a factor that depends on the batch, 1 / (pixels that
// count); null: 1. Throws std::invalid_argument for an enlargement of a row by more than 140 times.
void upsample_loss_backward(const UpsampleShape& shape, ElementType type, const PixelLossTensors& tensors,
                            double pixel_scale, const float* loss_scale, void* dlogits, Stream stream);

void upsample_argmax(const UpsampleShape& shape, ElementType type, const void* logits, std::uint8_t* classes,
                     Stream stream);

// sums->loss += weight * part.loss.
void add_loss(double weight, const LossSums* part, LossSums* sums, Stream stream);
// *scale = *loss_scale / sums->count; NaN where nothing counts, so that no update is made of such a batch.
void pixel_loss_scale(const LossSums* sums, const float* loss_scale, float* scale, Stream stream);

}  // namespace cuda
}  // namespace swinscope

// Softmax cross-entropy of [rows, classes] logits with label smoothing, its gradient and the count of correct
// predictions, on the CPU and on the device. Losses by pixel are in upsample_loss.h.
#pragma once

#include <cstdint>

#include "kernels/cost.h"
#include "kernels/device.h"

namespace swinscope {

// Softmax cross-entropy with label smoothing (Szegedy et al. 2016, arXiv:1512.00567, section 7), as
// torch.nn.functional.cross_entropy(label_smoothing): with s = smoothing and K classes the target
// distribution is (1 - s) on the label plus s / K on every class. Rows with a negative label are ignored: no
// loss, zero gradient.
struct CrossEntropyShape {
  std::int64_t rows = 0;
  std::int64_t classes = 0;
  double smoothing = 0.0;
};

struct CrossEntropyResult {
  double mean_loss = 0.0;    // over the counted rows; 0 when there are none
  std::int64_t count = 0;    // rows that were not ignored
  std::int64_t correct = 0;  // counted rows whose label is the first largest logit
};

OperationCost cross_entropy_forward_cost(const CrossEntropyShape& shape, std::int64_t element_bytes);
OperationCost cross_entropy_backward_cost(const CrossEntropyShape& shape, std::int64_t element_bytes);

namespace cpu {

// logits: [rows, classes]; labels: [rows]; row_loss, lse: [rows] (per-row loss, and log of the sum of
// exponentials for the backward pass; both are written for ignored rows too, with loss 0). Throws
// std::invalid_argument for a label >= classes or a smoothing outside [0, 1].
template <typename T>
CrossEntropyResult cross_entropy_forward(const CrossEntropyShape& shape, const T* logits, const std::int32_t* labels,
                                         T* row_loss, T* lse);

// dlogits = row_scale * (softmax(logits) - target), overwritten; may be logits. row_scale = 1 / count gives
// the gradient of the mean loss; data parallel ranks use world-wide counts.
template <typename T>
void cross_entropy_backward(const CrossEntropyShape& shape, const T* logits, const std::int32_t* labels, const T* lse,
                            double row_scale, T* dlogits);

}  // namespace cpu
namespace cuda {

// In device memory. CrossEntropyResult before the division, so that batches add up.
struct LossSums {
  double loss = 0.0;
  std::int64_t count = 0;
  std::int64_t correct = 0;
};

// As the CPU's, and adds the batch to `sums`, in row order. A label that is not below the number of classes makes the
// loss and the gradient NaN: labels are checked where they are read. row_loss, lse, predicted: [rows]; predicted is the
// first class with the largest logit.
void cross_entropy_forward(const CrossEntropyShape& shape, ElementType type, const void* logits,
                           const std::int32_t* labels, float* row_loss, float* lse, std::int32_t* predicted,
                           LossSums* sums, Stream stream);

// dlogits = row_scale * *loss_scale * (softmax(logits) - target); may be logits. loss_scale in device memory, null: 1.
void cross_entropy_backward(const CrossEntropyShape& shape, ElementType type, const void* logits,
                            const std::int32_t* labels, const float* lse, double row_scale, const float* loss_scale,
                            void* dlogits, Stream stream);

}  // namespace cuda
}  // namespace swinscope

// The loss of semantic segmentation: cross-entropy of the logits resized to the labels, plus 0.4 times that of the
// auxiliary head's (Zhao et al. 2017, arXiv 1612.01105, section 3.3), both the mean over the pixels that are not
// ignored. T is float or double.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/upsample_loss.h"
#include "workloads/annotate.h"
#include "workloads/execute/host_model.h"
#include "workloads/models/model_table.h"

namespace swinscope {

inline constexpr double kAuxiliaryWeight = 0.4;

template <typename T>
class SegmentationLoss {
 public:
  SegmentationLoss(const SwinConfig& config, std::int64_t batch);

  struct Result {
    PixelLoss main;
    PixelLoss auxiliary;
    // Summed like the gradients: divided by the pixels that count on all ranks it is the mean.
    double sum() const { return main.sum + kAuxiliaryWeight * auxiliary.sum; }
  };

  // labels: [batch, size, size], which must stay until the backward pass. Throws std::invalid_argument for a label that
  // is neither a class nor kIgnoredLabel.
  Result forward(const Logits<T>& logits, std::span<const std::uint8_t> labels);
  // Gradients of pixel_scale * sum(): pixel_scale = 1 / pixels that count, of all ranks.
  void backward(double pixel_scale);
  const T* main_gradient() const { return main_.gradient.data(); }
  const T* auxiliary_gradient() const { return auxiliary_.gradient.data(); }

 private:
  struct Part {
    Part(const char* path, const UpsampleShape& logits_shape);
    PixelLoss forward(const T* given, const std::uint8_t* labels);
    void backward(const std::uint8_t* labels, double pixel_scale);

    UpsampleShape shape;
    Operation operation;
    const T* logits = nullptr;
    std::vector<T> lse, gradient;
    std::vector<PixelLoss> rows;
  };

  Part main_;
  Part auxiliary_;
  const std::uint8_t* labels_ = nullptr;
};

}  // namespace swinscope

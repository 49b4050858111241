// What a model is trained for, by its task: the cross-entropy of each image's class; or of each pixel's, of the logits
// resized to the labels, plus 0.4 times that of the auxiliary head's (Zhao et al. 2017, arXiv 1612.01105, section 3.3),
// over the pixels that are not ignored. T is float or double.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "workloads/annotate.h"
#include "workloads/confusion.h"
#include "workloads/execute/host_model.h"
#include "workloads/models/model_table.h"
#include "workloads/training_data.h"

namespace swinscope {

inline constexpr double kAuxiliaryWeight = 0.4;

// Divided by `count` of all ranks, `loss` is the mean.
struct LossTotals {
  double loss = 0.0;
  std::int64_t count = 0;  // of images or pixels with a label
  std::int64_t correct = 0;

  LossTotals& operator+=(const LossTotals& other) {
    loss += other.loss;
    count += other.count;
    correct += other.correct;
    return *this;
  }
};

template <typename T>
class Loss {
 public:
  Loss() = default;
  virtual ~Loss() = default;
  Loss(const Loss&) = delete;
  Loss& operator=(const Loss&) = delete;
  Loss(Loss&&) = delete;
  Loss& operator=(Loss&&) = delete;

  // The batch's, to be filled; they stay until the next batch.
  virtual Labels labels() = 0;
  // The images from that one on do not count, where data do not say so themselves.
  virtual void ignore_from(std::int64_t image) = 0;
  // How many of the labels count, where that differs from batch to batch; else -1.
  virtual std::int64_t counted() const = 0;
  // Throws std::invalid_argument for a label that is neither a class nor kIgnoredLabel. Auxiliary logits may be absent.
  virtual LossTotals forward(const Logits<T>& logits) = 0;
  // Gradients of scale * LossTotals::loss.
  virtual void backward(double scale) = 0;
  virtual const T* gradient() const = 0;
  virtual const T* auxiliary_gradient() const = 0;  // null without an auxiliary head
  // Segmentation: adds the classes of the last forward pass's pixels.
  virtual void count_answers(Confusion& confusion) = 0;
};

template <typename T>
std::unique_ptr<Loss<T>> make_loss(const SwinConfig& config, std::int64_t batch, double label_smoothing);

}  // namespace swinscope

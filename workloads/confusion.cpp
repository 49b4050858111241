#include "workloads/confusion.h"

#include <numeric>
#include <stdexcept>

#include "kernels/upsample_loss.h"

namespace swinscope {

Confusion::Confusion(int classes) : classes_(static_cast<std::size_t>(classes)), counts_(classes_ * classes_) {}

void Confusion::add(std::span<const std::uint8_t> labels, std::span<const std::uint8_t> answers) {
  if (labels.size() != answers.size()) throw std::invalid_argument("Confusion: not an answer for each label");
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == kIgnoredLabel) continue;
    if (labels[i] >= classes_ || answers[i] >= classes_) throw std::invalid_argument("Confusion: not a class");
    ++counts_[labels[i] * classes_ + answers[i]];
  }
}

std::vector<double> Confusion::iou() const {
  std::vector<double> result(classes_, -1.0);
  for (std::size_t c = 0; c < classes_; ++c) {
    double either = -count(c, c);
    for (std::size_t other = 0; other < classes_; ++other)
      either += count(c, other) + count(other, c);
    if (either > 0.0) result[c] = count(c, c) / either;
  }
  return result;
}

double Confusion::mean_iou() const {
  double sum = 0.0;
  int occurring = 0;
  for (const double share : iou()) {
    if (share < 0.0) continue;
    sum += share;
    ++occurring;
  }
  return occurring == 0 ? 0.0 : sum / occurring;
}

double Confusion::pixel_accuracy() const {
  const double all = std::accumulate(counts_.begin(), counts_.end(), 0.0);
  double right = 0.0;
  for (std::size_t c = 0; c < classes_; ++c)
    right += count(c, c);
  return all > 0.0 ? right / all : 0.0;
}

}  // namespace swinscope

// How well pixels are told apart: which class was answered for which, and the mean intersection over union of it
// (Everingham et al. 2010, "The PASCAL Visual Object Classes Challenge", section 4.3).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace swinscope {

class Confusion {
 public:
  explicit Confusion(int classes);

  // Counts pixel by pixel; labels of kIgnoredLabel do not count. Throws std::invalid_argument for other labels or
  // answers that are no classes.
  void add(std::span<const std::uint8_t> labels, std::span<const std::uint8_t> answers);

  // Pixels by label and answer, [classes, classes]: plain sums, to be added up over ranks (exact up to 2^53 pixels).
  std::span<double> counts() { return counts_; }

  // Share of the pixels of either that are of both, averaged over the classes that occur in labels or answers. 0 where
  // nothing was counted.
  double mean_iou() const;
  // Share of the pixels that were answered right.
  double pixel_accuracy() const;
  // Of each class; negative for one that does not occur.
  std::vector<double> iou() const;

 private:
  double count(std::size_t label, std::size_t answer) const { return counts_[label * classes_ + answer]; }

  std::size_t classes_;
  std::vector<double> counts_;
};

}  // namespace swinscope

#include "workloads/segmentation_loss.h"

#include <stdexcept>

namespace swinscope {
namespace {

UpsampleShape shape_at(const SwinConfig& config, std::int64_t batch, int stage) {
  const std::int64_t side = stage_shape(config, stage).resolution;
  return {batch, side, side, config.image_size, config.image_size, config.classes};
}

}  // namespace

template <typename T>
SegmentationLoss<T>::Part::Part(const char* path, const UpsampleShape& logits_shape)
    : shape(logits_shape),
      operation{RangeName(path),
                make_payload(upsample_loss_forward_cost(shape, sizeof(T)), OperationClass::kLoss, precision_of<T>(),
                             {shape.batch, shape.height, shape.width, shape.channels},
                             {shape.batch, shape.out_height, shape.out_width}),
                make_payload(upsample_loss_backward_cost(shape, sizeof(T)), OperationClass::kLoss, precision_of<T>(),
                             {shape.batch, shape.out_height, shape.out_width},
                             {shape.batch, shape.height, shape.width, shape.channels})},
      lse(static_cast<std::size_t>(shape.out_pixels())),
      gradient(static_cast<std::size_t>(shape.pixels() * shape.channels)),
      rows(static_cast<std::size_t>(shape.batch * shape.out_height)) {}

template <typename T>
PixelLoss SegmentationLoss<T>::Part::forward(const T* given, const std::uint8_t* labels) {
  const OperationRange range(operation.name, operation.forward);
  logits = given;
  return cpu::upsample_loss_forward<T>(shape, given, labels, lse.data(), rows.data());
}

template <typename T>
void SegmentationLoss<T>::Part::backward(const std::uint8_t* labels, double pixel_scale) {
  const OperationRange range(operation.name, operation.backward);
  cpu::upsample_loss_backward<T>(shape, logits, labels, lse.data(), pixel_scale, gradient.data());
}

template <typename T>
SegmentationLoss<T>::SegmentationLoss(const SwinConfig& config, std::int64_t batch)
    : main_("loss", shape_at(config, batch, 0)), auxiliary_("loss.aux", shape_at(config, batch, config.stages - 2)) {}

template <typename T>
typename SegmentationLoss<T>::Result SegmentationLoss<T>::forward(const Logits<T>& logits,
                                                                  std::span<const std::uint8_t> labels) {
  if (static_cast<std::int64_t>(labels.size()) != main_.shape.out_pixels()) {
    throw std::invalid_argument("SegmentationLoss: not a label for each pixel");
  }
  labels_ = labels.data();
  return {main_.forward(logits.main, labels_), auxiliary_.forward(logits.auxiliary, labels_)};
}

template <typename T>
void SegmentationLoss<T>::backward(double pixel_scale) {
  main_.backward(labels_, pixel_scale);
  auxiliary_.backward(labels_, kAuxiliaryWeight * pixel_scale);
}

template class SegmentationLoss<float>;
template class SegmentationLoss<double>;

}  // namespace swinscope

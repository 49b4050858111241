#include "workloads/loss.h"

#include <algorithm>
#include <stdexcept>

#include "kernels/cross_entropy.h"
#include "kernels/upsample_loss.h"

namespace swinscope {
namespace {

template <typename T>
class ClassLoss : public Loss<T> {
 public:
  ClassLoss(std::int64_t batch, int classes, double label_smoothing)
      : shape_{batch, classes, label_smoothing},
        operation_{RangeName("loss"),
                   make_payload(cross_entropy_forward_cost(shape_, sizeof(T)), OperationClass::kLoss, precision_of<T>(),
                                {batch, classes}, {batch}),
                   make_payload(cross_entropy_backward_cost(shape_, sizeof(T)), OperationClass::kLoss,
                                precision_of<T>(), {batch, classes}, {batch, classes})},
        labels_(static_cast<std::size_t>(batch)),
        row_loss_(labels_.size()),
        lse_(labels_.size()),
        gradient_(labels_.size() * static_cast<std::size_t>(classes)) {}

  Labels labels() override { return labels_; }
  void ignore_from(std::int64_t /*image*/) override {}
  std::int64_t counted() const override { return -1; }
  LossTotals forward(const Logits<T>& logits) override {
    const OperationRange range(operation_.name, operation_.forward);
    logits_ = logits.main;
    const CrossEntropyResult result =
        cpu::cross_entropy_forward<T>(shape_, logits_, labels_.data(), row_loss_.data(), lse_.data());
    return {result.mean_loss * static_cast<double>(result.count), result.count, result.correct};
  }
  void backward(double scale) override {
    const OperationRange range(operation_.name, operation_.backward);
    cpu::cross_entropy_backward<T>(shape_, logits_, labels_.data(), lse_.data(), scale, gradient_.data());
  }
  const T* gradient() const override { return gradient_.data(); }
  const T* auxiliary_gradient() const override { return nullptr; }
  void count_answers(Confusion& /*confusion*/) override {
    throw std::logic_error("ClassLoss: images have no pixels to count");
  }

 private:
  CrossEntropyShape shape_;
  Operation operation_;
  std::vector<std::int32_t> labels_;
  std::vector<T> row_loss_, lse_, gradient_;
  const T* logits_ = nullptr;
};

UpsampleShape shape_at(const SwinConfig& config, std::int64_t batch, int stage) {
  const std::int64_t side = stage_shape(config, stage).resolution;
  return {batch, side, side, config.image_size, config.image_size, config.classes};
}

// Of one of the two heads.
template <typename T>
class MapLoss {
 public:
  MapLoss(const char* path, const UpsampleShape& logits_shape)
      : shape_(logits_shape),
        operation_{RangeName(path),
                   make_payload(upsample_loss_forward_cost(shape_, sizeof(T)), OperationClass::kLoss, precision_of<T>(),
                                map(), pixels()),
                   make_payload(upsample_loss_backward_cost(shape_, sizeof(T)), OperationClass::kLoss,
                                precision_of<T>(), pixels(), map())},
        lse_(static_cast<std::size_t>(shape_.out_pixels())),
        rows_(static_cast<std::size_t>(shape_.batch * shape_.out_height)) {}

  ShapeExtents map() const { return {shape_.batch, shape_.height, shape_.width, shape_.channels}; }
  ShapeExtents pixels() const { return {shape_.batch, shape_.out_height, shape_.out_width}; }
  const UpsampleShape& shape() const { return shape_; }
  const T* logits() const { return logits_; }
  const T* gradient() const { return gradient_.data(); }

  PixelLoss forward(const T* logits, const std::uint8_t* labels) {
    const OperationRange range(operation_.name, operation_.forward);
    logits_ = logits;
    return cpu::upsample_loss_forward<T>(shape_, logits, labels, lse_.data(), rows_.data());
  }
  void backward(const std::uint8_t* labels, double scale) {
    const OperationRange range(operation_.name, operation_.backward);
    gradient_.resize(static_cast<std::size_t>(shape_.pixels() * shape_.channels));
    cpu::upsample_loss_backward<T>(shape_, logits_, labels, lse_.data(), scale, gradient_.data());
  }

 private:
  UpsampleShape shape_;
  Operation operation_;
  const T* logits_ = nullptr;
  std::vector<T> lse_, gradient_;
  std::vector<PixelLoss> rows_;
};

template <typename T>
class SceneLoss : public Loss<T> {
 public:
  SceneLoss(const SwinConfig& config, std::int64_t batch)
      : main_("loss", shape_at(config, batch, 0)),
        auxiliary_("loss.aux", shape_at(config, batch, config.stages - 2)),
        answer_{RangeName("answer"),
                make_payload(upsample_argmax_cost(main_.shape(), sizeof(T)), OperationClass::kOther, precision_of<T>(),
                             main_.map(), main_.pixels()),
                {}},
        labels_(static_cast<std::size_t>(main_.shape().out_pixels())) {}

  Labels labels() override { return labels_; }
  void ignore_from(std::int64_t image) override {
    const std::int64_t pixels = main_.shape().out_pixels() / main_.shape().batch;
    std::fill(labels_.begin() + std::clamp<std::int64_t>(image, 0, main_.shape().batch) * pixels, labels_.end(),
              kIgnoredLabel);
  }
  std::int64_t counted() const override {
    return static_cast<std::int64_t>(labels_.size()) - std::ranges::count(labels_, kIgnoredLabel);
  }
  LossTotals forward(const Logits<T>& logits) override {
    const PixelLoss main = main_.forward(logits.main, labels_.data());
    LossTotals totals{main.sum, main.count, main.correct};
    if (logits.auxiliary != nullptr)
      totals.loss += kAuxiliaryWeight * auxiliary_.forward(logits.auxiliary, labels_.data()).sum;
    return totals;
  }
  void backward(double scale) override {
    main_.backward(labels_.data(), scale);
    auxiliary_.backward(labels_.data(), kAuxiliaryWeight * scale);
  }
  const T* gradient() const override { return main_.gradient(); }
  const T* auxiliary_gradient() const override { return auxiliary_.gradient(); }
  void count_answers(Confusion& confusion) override {
    answers_.resize(labels_.size());
    {
      const OperationRange range(answer_.name, answer_.forward);
      cpu::upsample_argmax<T>(main_.shape(), main_.logits(), answers_.data());
    }
    confusion.add(labels_, answers_);
  }

 private:
  MapLoss<T> main_, auxiliary_;
  Operation answer_;
  std::vector<std::uint8_t> labels_, answers_;
};

}  // namespace

template <typename T>
std::unique_ptr<Loss<T>> make_loss(const SwinConfig& config, std::int64_t batch, double label_smoothing) {
  if (config.task == Task::kSegmentation) return std::make_unique<SceneLoss<T>>(config, batch);
  return std::make_unique<ClassLoss<T>>(batch, config.classes, label_smoothing);
}

template std::unique_ptr<Loss<float>> make_loss(const SwinConfig&, std::int64_t, double);
template std::unique_ptr<Loss<double>> make_loss(const SwinConfig&, std::int64_t, double);

}  // namespace swinscope

#include "workloads/uper_head.h"

#include <algorithm>

#include <fmt/format.h>

namespace swinscope {
namespace {

template <typename T>
void grow(std::vector<T>& map, std::int64_t count) {
  map.resize(std::max(map.size(), static_cast<std::size_t>(count)));
}

}  // namespace

template <typename T>
UperHead<T>::UperHead(ParameterStore<T>& store, ParameterBinder<T>& binder, const SwinConfig& config,
                      std::int64_t batch, const UperOptions& options, Communicator& communicator)
    : config_(config), batch_(batch), training_(options.training), last_(config.stages - 1) {
  const std::int64_t d = config.head_channels;
  build_pyramid(store, binder, communicator);
  build_stages(store, binder, communicator);
  build_fusion(store, binder, options.tap_fusion, communicator);
  classifier_ = std::make_unique<LinearLayer<T>>(binder, "h.cls", "head.classifier",
                                                 LinearShape{batch * side(0) * side(0), d, config.classes});
  if (training_) {
    const std::int64_t pixels = batch * side(last_ - 1) * side(last_ - 1);
    auxiliary_ = std::make_unique<ConvNormLayer<T>>(
        store, binder, conv("h.aux.0", "head.aux", last_ - 1, stage_shape(config, last_ - 1).width, d / 2, 3),
        communicator);
    auxiliary_classifier_ = std::make_unique<LinearLayer<T>>(binder, "h.aux.1", "head.aux.classifier",
                                                             LinearShape{pixels, d / 2, config.classes});
    auxiliary_logits_.resize(static_cast<std::size_t>(pixels * config.classes));
  }
  build_buffers();
}

template <typename T>
std::int64_t UperHead<T>::side(int stage) const {
  return stage_shape(config_, stage).resolution;
}

template <typename T>
std::int64_t UperHead<T>::count(int stage, std::int64_t channels) const {
  return batch_ * side(stage) * side(stage) * channels;
}

template <typename T>
ConvNormSetup UperHead<T>::conv(const std::string& parameters, const std::string& path, int stage, std::int64_t inputs,
                                std::int64_t outputs, std::int64_t kernel) const {
  return {parameters, path,
          ConvolutionShape{.batch = batch_,
                           .height = side(stage),
                           .width = side(stage),
                           .inputs = inputs,
                           .outputs = outputs,
                           .kernel = kernel},
          training_};
}

// Of maps with the head's channels.
template <typename T>
UpsampleShape UperHead<T>::resize(std::int64_t from, int stage) const {
  return {batch_, from, from, side(stage), side(stage), config_.head_channels};
}

template <typename T>
void UperHead<T>::build_pyramid(ParameterStore<T>& store, ParameterBinder<T>& binder, Communicator& communicator) {
  const std::int64_t d = config_.head_channels;
  const std::int64_t width = stage_shape(config_, last_).width;
  const std::int64_t pixels = count(last_, 1);
  const auto levels = static_cast<std::int64_t>(kPyramidSides.size());
  const std::int64_t together = width + levels * d;
  pyramid_input_ = std::make_unique<ConcatPart<T>>("head.pyramid.concat", pixels, width, 0, together);
  for (std::int64_t i = 0; i < levels; ++i) {
    const std::int64_t grid = kPyramidSides.at(static_cast<std::size_t>(i));
    const std::string path = fmt::format("head.pyramid{}", grid);
    ConvNormSetup setup = conv(fmt::format("h.ppm.{}.1", i), path, last_, width, d, 1);
    setup.shape.height = setup.shape.width = grid;
    levels_.push_back({GridPoolLayer<T>(path + ".pool", {batch_, side(last_), side(last_), width, grid}),
                       ConvNormLayer<T>(store, binder, setup, communicator),
                       ResizeLayer<T>(path + ".resize", resize(grid, last_)),
                       ConcatPart<T>(path + ".concat", pixels, d, width + i * d, together),
                       Map(static_cast<std::size_t>(batch_ * grid * grid * width))});
  }
  bottleneck_ = std::make_unique<ConvNormLayer<T>>(
      store, binder, conv("h.bott", "head.bottleneck", last_, together, d, 3), communicator);
  pyramid_.resize(static_cast<std::size_t>(pixels * together));
}

template <typename T>
void UperHead<T>::build_stages(ParameterStore<T>& store, ParameterBinder<T>& binder, Communicator& communicator) {
  const std::int64_t d = config_.head_channels;
  for (int i = 0; i < last_; ++i) {
    const auto path = [i](const char* what) { return fmt::format("head.{}{}", what, i + 1); };
    stages_.push_back(
        {ConvNormLayer<T>(store, binder,
                          conv(fmt::format("h.lat.{}", i), path("lateral"), i, stage_shape(config_, i).width, d, 1),
                          communicator),
         ResizeLayer<T>(path("lateral") + ".resize", resize(side(i + 1), i)),
         ConvNormLayer<T>(store, binder, conv(fmt::format("h.fpn.{}", i), path("fpn"), i, d, d, 3), communicator),
         Map(static_cast<std::size_t>(count(i, d))), Map(training_ ? static_cast<std::size_t>(count(i, d)) : 0)});
  }
}

template <typename T>
void UperHead<T>::build_fusion(ParameterStore<T>& store, ParameterBinder<T>& binder, bool tap_fusion,
                               Communicator& communicator) {
  const std::int64_t d = config_.head_channels;
  FusionSetup setup{conv("h.fuse", "head.fusion", 0, config_.stages * d, d, 3), d, {}, tap_fusion};
  for (int i = 0; i <= last_; ++i)
    setup.sides.push_back(side(i));
  fusion_ = make_fusion(store, binder, setup, communicator);
}

template <typename T>
void UperHead<T>::build_buffers() {
  const std::int64_t d = config_.head_channels;
  logits_.resize(static_cast<std::size_t>(count(0, config_.classes)));
  resized_.resize(static_cast<std::size_t>(count(last_, d)));
  if (!training_) return;
  pyramid_gradient_.resize(pyramid_.size());
  last_gradient_.resize(static_cast<std::size_t>(count(last_, d)));
  wide_gradient_.resize(static_cast<std::size_t>(count(0, d)));
  for (int i = 0; i <= last_; ++i)
    grow(narrow_gradient_, count(i, std::max<std::int64_t>(d, stage_shape(config_, i).width)));
  for (const Level& level : levels_) {  // a grid may be finer than a small map
    grow(narrow_gradient_, static_cast<std::int64_t>(level.pooled.size()));
    grow(wide_gradient_, level.conv.output_count());
  }
}

template <typename T>
typename UperHead<T>::Logits UperHead<T>::forward(std::span<const T* const> features) {
  features_.assign(features.begin(), features.end());
  const T* const deepest = features_.back();
  pyramid_input_->forward(deepest, pyramid_.data());
  for (Level& level : levels_) {
    level.pool.forward(deepest, level.pooled.data());
    level.resize.forward(level.conv.forward(level.pooled.data()), false, resized_.data());
    level.part.forward(resized_.data(), pyramid_.data());
  }
  const T* next = bottleneck_->forward(pyramid_.data());
  for (std::size_t i = stages_.size(); i-- > 0;) {
    Stage& stage = stages_[i];
    const T* const lateral = stage.lateral.forward(features_[i]);
    std::copy_n(lateral, stage.joined.size(), stage.joined.data());  // the lateral's own output is needed as it is
    stage.from_next.forward(next, true, stage.joined.data());
    next = stage.joined.data();
  }
  fuse();
  if (!training_) return {logits_.data(), nullptr};
  auxiliary_classifier_->forward(auxiliary_->forward(features_[stages_.size() - 1]), auxiliary_logits_.data());
  return {logits_.data(), auxiliary_logits_.data()};
}

template <typename T>
void UperHead<T>::fuse() {
  for (std::size_t i = 0; i < stages_.size(); ++i)
    fusion_->add(i, stages_[i].output.forward(stages_[i].joined.data()));
  fusion_->add(stages_.size(), bottleneck_->output());
  classifier_->forward(fusion_->join(), logits_.data());
}

// Leaves the gradients of l_i in the stages, as far as they come from the outputs.
template <typename T>
void UperHead<T>::backward_fusion(const T* dlogits) {
  classifier_->backward(fusion_->output(), dlogits, wide_gradient_.data());
  fusion_->begin_backward(wide_gradient_.data());
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    Stage& stage = stages_[i];
    fusion_->backward(i, stage.output.output(), narrow_gradient_.data());
    stage.output.backward(stage.joined.data(), narrow_gradient_.data(), stage.gradient.data());
  }
  fusion_->backward(stages_.size(), bottleneck_->output(), last_gradient_.data());
}

// From the bottleneck's gradient, in last_gradient_, to f_S's.
template <typename T>
void UperHead<T>::backward_pyramid(T* gradient) {
  bottleneck_->backward(pyramid_.data(), last_gradient_.data(), pyramid_gradient_.data());
  pyramid_input_->backward(pyramid_gradient_.data(), gradient);
  for (Level& level : levels_) {
    level.part.backward(pyramid_gradient_.data(), resized_.data());
    level.resize.backward(resized_.data(), false, wide_gradient_.data());
    level.conv.backward(level.pooled.data(), wide_gradient_.data(), narrow_gradient_.data());
    level.pool.backward(narrow_gradient_.data(), gradient);
  }
}

template <typename T>
void UperHead<T>::backward(const T* dlogits, const T* dauxiliary, std::span<T* const> gradients) {
  backward_fusion(dlogits);
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    Stage& stage = stages_[i];
    T* const next = i + 1 < stages_.size() ? stages_[i + 1].gradient.data() : last_gradient_.data();
    stage.from_next.backward(stage.gradient.data(), true, next);
    stage.lateral.backward(features_[i], stage.gradient.data(), gradients[i]);
  }
  backward_pyramid(gradients[stages_.size()]);
  const std::size_t beside = stages_.size() - 1;
  auxiliary_classifier_->backward(auxiliary_->output(), dauxiliary, wide_gradient_.data());
  auxiliary_->backward(features_[beside], wide_gradient_.data(), narrow_gradient_.data());
  cpu::add_into<T>(count(static_cast<int>(beside), stage_shape(config_, static_cast<int>(beside)).width),
                   narrow_gradient_.data(), gradients[beside]);
}

template class UperHead<float>;
template class UperHead<double>;

}  // namespace swinscope

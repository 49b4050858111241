#include "workloads/fusion_layer.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/tap_fusion.h"

namespace swinscope {
namespace {

std::string part_path(const FusionSetup& setup, std::size_t part) {
  return fmt::format("{}.part{}", setup.conv.path, part + 1);
}

template <typename T>
class ConcatFusion : public FusionLayer<T> {
 public:
  ConcatFusion(ParameterStore<T>& store, ParameterBinder<T>& binder, const FusionSetup& setup,
               Communicator& communicator)
      : conv_(store, binder, setup.conv, communicator) {
    const ConvolutionShape& shape = setup.conv.shape;
    for (std::size_t i = 0; i < setup.sides.size(); ++i) {
      const std::int64_t side = setup.sides[i];
      parts_.emplace_back(part_path(setup, i), shape.pixels(), setup.channels,
                          static_cast<std::int64_t>(i) * setup.channels, shape.inputs);
      resizes_.emplace_back(part_path(setup, i) + ".resize",
                            UpsampleShape{shape.batch, side, side, shape.height, shape.width, setup.channels});
    }
    together_.resize(static_cast<std::size_t>(shape.pixels() * shape.inputs));
    resized_.resize(static_cast<std::size_t>(shape.pixels() * setup.channels));
    if (setup.conv.training) gradient_.resize(together_.size());
  }

  void add(std::size_t part, const T* x) override {
    if (part > 0) {
      resizes_[part].forward(x, false, resized_.data());
      x = resized_.data();
    }
    parts_[part].forward(x, together_.data());
  }
  const T* join() override { return conv_.forward(together_.data()); }
  const T* output() const override { return conv_.output(); }

  void begin_backward(T* dy) override { conv_.backward(together_.data(), dy, gradient_.data()); }
  void backward(std::size_t part, const T* /*x*/, T* dx) override {
    if (part == 0) return parts_[part].backward(gradient_.data(), dx);
    parts_[part].backward(gradient_.data(), resized_.data());
    resizes_[part].backward(resized_.data(), false, dx);
  }

 private:
  ConvNormLayer<T> conv_;
  std::vector<ConcatPart<T>> parts_;
  std::vector<ResizeLayer<T>> resizes_;  // the first part needs none
  std::vector<T> together_;
  std::vector<T> resized_;   // one part, or its gradient, at the output's size
  std::vector<T> gradient_;  // of together_; training only
};

// The convolution of a concatenation is the sum of those of its parts, each with its slice of the weight.
template <typename T>
class CutFusion : public FusionLayer<T> {
 public:
  CutFusion(ParameterStore<T>& store, ParameterBinder<T>& binder, const FusionSetup& setup, Communicator& communicator)
      : weight_(binder.bind(setup.conv.parameters + ".0.weight")),
        norm_(store, binder, setup.conv, communicator),
        channels_(setup.channels),
        first_(setup.conv.shape) {
    first_.inputs = channels_;
    first_.weight_inputs = setup.conv.shape.inputs;
    operations_.push_back(map_operation<T>(
        part_path(setup, 0) + ".conv", OperationClass::kConv, convolution_forward_cost(first_, false, sizeof(T)),
        convolution_backward_cost(first_, true, sizeof(T)), {first_.batch, first_.height, first_.width, first_.inputs},
        {first_.batch, first_.height, first_.width, first_.outputs}));
    std::int64_t taps = 0;
    for (std::size_t i = 1; i < setup.sides.size(); ++i) {
      const TapFusionShape shape{.batch = first_.batch,
                                 .height = setup.sides[i],
                                 .width = setup.sides[i],
                                 .out_height = first_.height,
                                 .out_width = first_.width,
                                 .inputs = channels_,
                                 .outputs = first_.outputs,
                                 .weight_inputs = first_.weight_inputs};
      operations_.push_back(map_operation<T>(
          part_path(setup, i) + ".taps", OperationClass::kConv, tap_fusion_forward_cost(shape, sizeof(T)),
          tap_fusion_backward_cost(shape, sizeof(T)), {shape.batch, shape.height, shape.width, shape.inputs},
          {shape.batch, shape.out_height, shape.out_width, shape.outputs}));
      taps = std::max(taps, shape.tap_elements());
      enlarged_.push_back(shape);
    }
    taps_.resize(static_cast<std::size_t>(taps));
  }

  void add(std::size_t part, const T* x) override {
    const OperationRange range(operations_[part].name, operations_[part].forward);
    if (part == 0) return cpu::convolution_forward<T>(first_, x, weight_.value, false, norm_.input());
    cpu::tap_fusion_forward<T>(enlarged_[part - 1], x, weight_.value + slice(part), taps_.data(), norm_.input());
  }
  const T* join() override { return norm_.forward(); }
  const T* output() const override { return norm_.output(); }

  void begin_backward(T* dy) override {
    norm_.backward(dy);
    gradient_ = dy;
  }
  void backward(std::size_t part, const T* x, T* dx) override {
    const OperationRange range(operations_[part].name, operations_[part].backward);
    if (part == 0) {
      cpu::convolution_backward_weight<T>(first_, x, gradient_, weight_.gradient);
      cpu::convolution_backward_input<T>(first_, weight_.value, gradient_, dx);
      return;
    }
    cpu::tap_fusion_backward<T>(enlarged_[part - 1], x, weight_.value + slice(part), gradient_, taps_.data(), dx,
                                weight_.gradient + slice(part));
  }

 private:
  std::ptrdiff_t slice(std::size_t part) const { return static_cast<std::ptrdiff_t>(part) * channels_; }

  BoundParameter<T> weight_;
  NormReluLayer<T> norm_;
  std::int64_t channels_;
  ConvolutionShape first_;
  std::vector<TapFusionShape> enlarged_;  // [i] of part i + 1
  std::vector<Operation> operations_;
  std::vector<T> taps_;
  const T* gradient_ = nullptr;  // of what is normalized
};

}  // namespace

template <typename T>
std::unique_ptr<FusionLayer<T>> make_fusion(ParameterStore<T>& store, ParameterBinder<T>& binder,
                                            const FusionSetup& setup, Communicator& communicator) {
  if (setup.tap_fusion) return std::make_unique<CutFusion<T>>(store, binder, setup, communicator);
  return std::make_unique<ConcatFusion<T>>(store, binder, setup, communicator);
}

template std::unique_ptr<FusionLayer<float>> make_fusion<float>(ParameterStore<float>&, ParameterBinder<float>&,
                                                                const FusionSetup&, Communicator&);
template std::unique_ptr<FusionLayer<double>> make_fusion<double>(ParameterStore<double>&, ParameterBinder<double>&,
                                                                  const FusionSetup&, Communicator&);

}  // namespace swinscope

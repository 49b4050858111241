// UPerNet's head (Xiao et al. 2018, arXiv 1807.10221) with an auxiliary FCN head, as Swin's segmentation models use it.
// With d = head_channels, S stages f_i, each normalized, ConvNorm = convolution without bias, synchronized batch
// normalization, ReLU:
//   pyramid     p_k  = Up(ConvNorm1x1(Pool_k(f_S)))   for grids of side k = 1, 2, 3, 6
//   lateral     l_S  = ConvNorm3x3([f_S, p_1, p_2, p_3, p_6]),  l_i = ConvNorm1x1(f_i) + Up(l_{i+1})
//   outputs     o_S  = l_S,                                     o_i = ConvNorm3x3(l_i)
//   fusion      ConvNorm3x3([o_1, Up(o_2), ..., Up(o_S)]),  then a 1x1 convolution to the classes
//   auxiliary   ConvNorm3x3(f_{S-1}) with d / 2 channels,   then a 1x1 convolution to the classes
// where Up is a bilinear resize to the map that it is joined with (align_corners = False).
#include <stdexcept>

#include <fmt/format.h>

#include "workloads/error.h"
#include "workloads/models/model.h"

namespace swinscope {
namespace {

class UperHead {
 public:
  UperHead(GraphBuilder& g, const SwinConfig& config, const ModelOptions& options)
      : g_(g), options_(options), channels_(config.head_channels), classes_(config.classes) {}

  void add(const std::vector<TensorId>& stages) {
    g_.begin_section();
    std::vector<TensorId> features;
    for (std::size_t i = 0; i < stages.size(); ++i)
      features.push_back(g_.layernorm(fmt::format("head.norm{}", i + 1), fmt::format("norm{}", i), stages[i]));
    const std::size_t last = stages.size() - 1;
    TensorId next = pyramid(features[last]);
    // Parameters stand in timm's order, operations in that of the computation.
    std::vector<ConvNorm> laterals, output_layers;
    for (std::size_t i = 0; i < last; ++i)
      laterals.push_back(conv("lateral", i, "h.lat", g_.at(features[i]).channels(), 1));
    for (std::size_t i = 0; i < last; ++i)
      output_layers.push_back(conv("fpn", i, "h.fpn", channels_, 3));
    std::vector<TensorId> outputs(stages.size(), next);
    for (std::size_t i = last; i-- > 0;)
      outputs[i] = next =
          g_.resize(laterals[i].path + ".resize", next, side(features[i]), g_.apply(laterals[i], features[i]));
    for (std::size_t i = 0; i < last; ++i)
      outputs[i] = g_.apply(output_layers[i], outputs[i]);
    g_.output("logits", g_.linear("head.classifier", "h.cls", fuse(outputs), classes_));
    if (g_.training()) auxiliary(features[last - 1]);
  }

 private:
  std::int64_t side(TensorId map) const { return g_.at(map).shape[1]; }
  ConvNorm conv(const char* path, std::size_t index, const char* name, std::int64_t inputs, std::int64_t kernel) {
    return g_.conv_norm(fmt::format("head.{}{}", path, index + 1), fmt::format("{}.{}", name, index), inputs, channels_,
                        kernel);
  }

  // Parameters stand from the coarsest grid to the finest, operations the other way round: backward, where the map's
  // gradients are added up, it is that of the parameters.
  TensorId pyramid(TensorId deepest) {
    const std::int64_t width = g_.at(deepest).channels();
    const std::size_t count = kPyramidSides.size();
    std::vector<ConvNorm> levels;
    for (std::size_t i = 0; i < count; ++i)
      levels.push_back(g_.conv_norm(fmt::format("head.pyramid{}", kPyramidSides[i]), fmt::format("h.ppm.{}.1", i),
                                    width, channels_, 1));
    std::vector<TensorId> parts(count + 1, deepest);
    for (std::size_t i = count; i-- > 0;) {
      const TensorId pooled = g_.grid_pool(levels[i].path + ".pool", deepest, kPyramidSides[i]);
      parts[i + 1] = g_.resize(levels[i].path + ".resize", g_.apply(levels[i], pooled), side(deepest));
    }
    const TensorId together = g_.concat("head.pyramid.concat", parts);
    return g_.apply(g_.conv_norm("head.bottleneck", "h.bott", g_.at(together).channels(), channels_, 3), together);
  }

  // As it is written or, the convolution of a concatenation being the sum of those of its parts, each part with its
  // slice of the weight and the smaller ones at their own size (kernels/tap_fusion.h).
  TensorId fuse(const std::vector<TensorId>& outputs) {
    const auto count = static_cast<std::int64_t>(outputs.size());
    const ConvNorm layer = g_.conv_norm("head.fusion", "h.fuse", count * channels_, channels_, 3);
    const auto path = [](std::size_t i) { return fmt::format("head.fusion.part{}", i + 1); };
    if (options_.tap_fusion) {
      TensorId sum = g_.convolution(path(0) + ".conv", outputs[0], layer.weight);
      for (std::size_t i = 1; i < outputs.size(); ++i)
        sum = g_.tap_fusion(path(i) + ".taps", sum, outputs[i], layer.weight, static_cast<std::int64_t>(i) * channels_);
      return g_.norm_relu(layer, sum);
    }
    std::vector<TensorId> parts = {outputs[0]};
    for (std::size_t i = 1; i < outputs.size(); ++i)
      parts.push_back(g_.resize(path(i) + ".resize", outputs[i], side(outputs[0])));
    return g_.apply(layer, g_.concat("head.fusion.concat", parts));
  }

  void auxiliary(TensorId feature) {
    const ConvNorm layer = g_.conv_norm("head.aux", "h.aux.0", g_.at(feature).channels(), channels_ / 2, 3);
    g_.output("auxiliary", g_.linear("head.aux.classifier", "h.aux.1", g_.apply(layer, feature), classes_));
  }

  GraphBuilder& g_;
  const ModelOptions& options_;
  const std::int64_t channels_;
  const std::int64_t classes_;
};

}  // namespace

void check_segmentation(const SwinConfig& config) {
  if (config.task != Task::kSegmentation) throw std::invalid_argument("check_segmentation: a model of another task");
  const auto refuse = [&config](const std::string& why) {
    throw WorkloadError(WorkloadErrorKind::kUsage, fmt::format("{} cannot be built for segmentation", config.name), why,
                        {});
  };
  if (config.stages < 2) refuse("the head joins at least two stages");
  if (config.classes < 1 || config.classes > 255) refuse("masks of 8 bits tell 1 to 255 classes apart");
  if (config.head_channels < 2 || config.head_channels % 2 != 0) refuse("the head's channels must be even");
}

void add_segmentation_head(GraphBuilder& g, const SwinConfig& config, const ModelOptions& options,
                           const std::vector<TensorId>& stages) {
  UperHead(g, config, options).add(stages);
}

}  // namespace swinscope

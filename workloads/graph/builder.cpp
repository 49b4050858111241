#include "workloads/graph/builder.h"

#include <utility>

namespace swinscope {
namespace {

std::vector<std::int64_t> with_channels(std::vector<std::int64_t> shape, std::int64_t channels) {
  shape.back() = channels;
  return shape;
}

}  // namespace

GraphBuilder::GraphBuilder(DataType type, bool training, int ranks) : ranks_(ranks) {
  graph_.type = type;
  graph_.training = training;
}

TensorId GraphBuilder::input(const std::string& name, std::vector<std::int64_t> shape) {
  const TensorId id = graph_.add({name, std::move(shape), graph_.type, TensorRole::kInput});
  graph_.named[name] = id;
  return id;
}

TensorId GraphBuilder::parameter(const std::string& name, std::vector<std::int64_t> shape, bool decays) {
  const auto [known, is_new] = stored_.try_emplace(name, kNoTensor);
  if (is_new) known->second = graph_.add({name, std::move(shape), graph_.type, TensorRole::kParameter, decays});
  return known->second;
}

TensorId GraphBuilder::buffer(const std::string& name, std::int64_t count) {
  const auto [known, is_new] = stored_.try_emplace(name, kNoTensor);
  if (is_new) known->second = graph_.add({name, {count}, graph_.type, TensorRole::kBuffer});
  return known->second;
}

void GraphBuilder::output(const std::string& name, TensorId id) {
  graph_.at(id).role = TensorRole::kOutput;
  graph_.named[name] = id;
}

TensorId GraphBuilder::activation(const std::string& path, std::vector<std::int64_t> shape, DataType type) {
  return graph_.add({path, std::move(shape), type, TensorRole::kActivation});
}
TensorId GraphBuilder::activation(const std::string& path, std::vector<std::int64_t> shape) {
  return activation(path, std::move(shape), graph_.type);
}

TensorId GraphBuilder::append(OpKind kind, const std::string& path, const OpShape& shape, std::vector<TensorId> in,
                              std::vector<TensorId> out) {
  const TensorId first = out.front();
  graph_.forward.push_back({kind, false, path, shape, std::move(in), std::move(out), section_});
  return first;
}

TensorId GraphBuilder::patch_embed(const std::string& path, const std::string& name, TensorId images,
                                   std::int64_t outputs, std::int64_t patch) {
  const std::vector<std::int64_t>& image = at(images).shape;
  const PatchEmbedShape shape{image[0], image[1], image[2], image[3], patch, outputs};
  const TensorId weight = parameter(name + ".weight", {outputs, image[1], patch, patch}, true);
  const TensorId bias = parameter(name + ".bias", {outputs}, false);
  return append(OpKind::kPatchEmbed, path, shape, {images, weight, bias},
                {activation(path, {shape.batch, shape.height / patch, shape.width / patch, outputs}),
                 activation(path, {shape.column_elements()})});
}

TensorId GraphBuilder::layernorm(const std::string& path, const std::string& name, TensorId x) {
  const LayerNormShape shape{at(x).rows(), at(x).channels()};
  const TensorId gamma = parameter(name + ".weight", {shape.channels}, false);
  const TensorId beta = parameter(name + ".bias", {shape.channels}, false);
  return append(OpKind::kLayerNorm, path, shape, {x, gamma, beta},
                {like(path, x), activation(path, {shape.rows}), activation(path, {shape.rows})});
}

TensorId GraphBuilder::linear(const std::string& path, const std::string& name, TensorId x, std::int64_t outputs,
                              TensorId bias) {
  const LinearShape shape{at(x).rows(), at(x).channels(), outputs, bias != kNoTensor};
  const TensorId weight = parameter(name + ".weight", {outputs, shape.inputs}, true);
  if (bias == kOwnBias) bias = parameter(name + ".bias", {outputs}, false);
  return append(OpKind::kLinear, path, shape, {x, weight, bias},
                {activation(path, with_channels(at(x).shape, outputs))});
}

TensorId GraphBuilder::gelu(const std::string& path, TensorId x) {
  return append(OpKind::kGelu, path, {}, {x}, {like(path, x)});
}

TensorId GraphBuilder::residual(const std::string& path, TensorId x, TensorId branch, TensorId scale) {
  const std::int64_t batch = at(x).shape.front();
  return append(OpKind::kResidual, path, ResidualShape{batch, at(x).count() / batch}, {x, branch, scale},
                {like(path, x)});
}

TensorId GraphBuilder::window_attention(const std::string& path, const WindowAttentionShape& shape, TensorId qkv,
                                        TensorId table, TensorId qkv_bias, TensorId logit_scale) {
  const TensorId lse = training() ? activation(path, {shape.grid.tokens(), shape.heads}) : kNoTensor;
  return append(OpKind::kWindowAttention, path, shape,
                {qkv, table, shape.grid.padded() ? qkv_bias : kNoTensor, logit_scale},
                {activation(path, with_channels(at(qkv).shape, shape.channels())), lse});
}

TensorId GraphBuilder::position_bias(const std::string& path, const std::string& name,
                                     const ContinuousBiasShape& shape) {
  const TensorId weight1 = parameter(name + ".0.weight", {shape.hidden, 2}, false);
  const TensorId bias1 = parameter(name + ".0.bias", {shape.hidden}, false);
  const TensorId weight2 = parameter(name + ".2.weight", {shape.heads, shape.hidden}, false);
  return append(OpKind::kPositionBias, path, shape, {weight1, bias1, weight2},
                {activation(path, {shape.rows(), shape.heads}), activation(path, {shape.rows(), 2}),
                 activation(path, {shape.rows(), shape.hidden})});
}

TensorId GraphBuilder::joint_bias(const std::string& path, TensorId q, TensorId v) {
  return append(OpKind::kJointBias, path, {}, {q, v}, {activation(path, {3 * at(q).count()})});
}

TensorId GraphBuilder::patch_merge(const std::string& path, TensorId x) {
  const std::vector<std::int64_t>& map = at(x).shape;
  const PatchMergeShape shape{map[0], map[1], map[2], map[3]};
  return append(OpKind::kPatchMerge, path, shape, {x},
                {activation(path, {shape.batch, shape.merged_height(), shape.merged_width(), 4 * shape.channels})});
}

TensorId GraphBuilder::pool(const std::string& path, TensorId x) {
  const std::vector<std::int64_t>& map = at(x).shape;
  return append(OpKind::kPool, path, PoolShape{map[0], map[1] * map[2], map[3]}, {x},
                {activation(path, {map[0], map[3]})});
}

ConvNorm GraphBuilder::conv_norm(const std::string& path, const std::string& name, std::int64_t inputs,
                                 std::int64_t outputs, std::int64_t kernel) {
  return {path,
          parameter(name + ".0.weight", {outputs, kernel, kernel, inputs}, true),
          parameter(name + ".1.weight", {outputs}, false),
          parameter(name + ".1.bias", {outputs}, false),
          buffer(name + ".1.running_mean", outputs),
          buffer(name + ".1.running_var", outputs)};
}

TensorId GraphBuilder::apply(const ConvNorm& layer, TensorId x) {
  return norm_relu(layer, convolution(layer.path + ".conv", x, layer.weight));
}

TensorId GraphBuilder::norm_relu(const ConvNorm& layer, TensorId x) {
  const std::string& path = layer.path;
  const BatchNormShape shape{.rows = at(x).rows(), .channels = at(x).channels()};
  const TensorId mean = activation(path, {shape.channels});
  const TensorId rstd = activation(path, {shape.channels});
  if (training()) {
    const TensorId sums = append(OpKind::kBatchSums, path + ".sums", shape, {x},
                                 {activation(path, {shape.sum_elements()}, DataType::kFp64)});
    if (ranks_ > 1) append(OpKind::kAllReduce, path + ".allreduce", shape, {sums}, {sums});
    append(OpKind::kBatchStatistics, "", shape, {sums, layer.running_mean, layer.running_variance}, {mean, rstd});
  } else {
    append(OpKind::kRunningStatistics, "", shape, {layer.running_mean, layer.running_variance}, {mean, rstd});
  }
  const TensorId y =
      append(OpKind::kBatchNorm, path + ".norm", shape, {x, mean, rstd, layer.gamma, layer.beta}, {like(path, x)});
  return append(OpKind::kRelu, path + ".relu", {}, {y}, {like(path, y)});
}

TensorId GraphBuilder::convolution(const std::string& path, TensorId x, TensorId weight) {
  const std::vector<std::int64_t>& map = at(x).shape;
  const std::vector<std::int64_t>& taps = at(weight).shape;
  ConvolutionShape shape{
      .batch = map[0], .height = map[1], .width = map[2], .inputs = map[3], .outputs = taps[0], .kernel = taps[1]};
  if (taps[3] != map[3]) shape.weight_inputs = taps[3];
  return append(OpKind::kConvolution, path, shape, {x, weight}, {activation(path, with_channels(map, taps[0]))});
}

TensorId GraphBuilder::tap_fusion(const std::string& path, TensorId sum, TensorId x, TensorId weight,
                                  std::int64_t first) {
  const std::vector<std::int64_t>& map = at(x).shape;
  const std::vector<std::int64_t>& to = at(sum).shape;
  const TapFusionShape shape{.batch = map[0],
                             .height = map[1],
                             .width = map[2],
                             .out_height = to[1],
                             .out_width = to[2],
                             .inputs = map[3],
                             .outputs = to[3],
                             .weight_inputs = at(weight).channels()};
  const TensorId y = append(OpKind::kTapFusion, path, shape, {sum, x, weight},
                            {like(path, sum), activation(path, {shape.tap_elements()})});
  graph_.forward.back().weight_offset = first;
  return y;
}

TensorId GraphBuilder::grid_pool(const std::string& path, TensorId x, std::int64_t side) {
  const std::vector<std::int64_t>& map = at(x).shape;
  return append(OpKind::kGridPool, path, AdaptivePoolShape{map[0], map[1], map[2], map[3], side}, {x},
                {activation(path, {map[0], side, side, map[3]})});
}

TensorId GraphBuilder::resize(const std::string& path, TensorId x, std::int64_t side, TensorId addend) {
  const std::vector<std::int64_t>& map = at(x).shape;
  return append(OpKind::kResize, path, UpsampleShape{map[0], map[1], map[2], side, side, map[3]}, {x, addend},
                {activation(path, {map[0], side, side, map[3]})});
}

TensorId GraphBuilder::concat(const std::string& path, const std::vector<TensorId>& parts) {
  std::int64_t channels = 0;
  for (const TensorId part : parts)
    channels += at(part).channels();
  return append(OpKind::kConcat, path, {}, parts, {activation(path, with_channels(at(parts.front()).shape, channels))});
}

}  // namespace swinscope

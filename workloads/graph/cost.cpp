#include "workloads/graph/cost.h"

#include <algorithm>
#include <utility>

#include "kernels/channels.h"
#include "kernels/gelu.h"
#include "kernels/relu.h"

namespace swinscope {
namespace {

bool has(const std::vector<TensorId>& operands, std::size_t index) {
  return index < operands.size() && operands[index] != kNoTensor;
}

OperationCost moved(std::int64_t read, std::int64_t written) { return {0, read, written}; }

OperationCost concat_cost(const Graph& graph, const Op& op, std::int64_t bytes) {
  const std::int64_t whole = graph.at(op.backward ? op.in[0] : op.out[0]).channels();
  OperationCost sum;
  for (const TensorId id : op.backward ? op.out : op.in) {
    const GraphTensor& part = graph.at(id);
    ChannelSlice slice{part.rows(), part.channels(), part.channels(), whole};
    if (op.backward) std::swap(slice.from_stride, slice.to_stride);
    sum += copy_channels_cost(slice, false, bytes);
  }
  return sum;
}

OperationCost forward_cost(const Graph& graph, const Op& op, std::int64_t bytes) {
  const std::int64_t count = graph.at(op.out[0]).count();
  switch (op.kind) {
    case OpKind::kPatchEmbed:
      return patch_embed_forward_cost(op.as<PatchEmbedShape>(), bytes);
    case OpKind::kLayerNorm:
      return layernorm_forward_cost(op.as<LayerNormShape>(), bytes);
    case OpKind::kLinear:
      return linear_forward_cost(op.as<LinearShape>(), bytes);
    case OpKind::kGelu:
      return gelu_forward_cost(count, bytes);
    case OpKind::kRelu:
      return relu_forward_cost(count, bytes);
    case OpKind::kResidual:
      return residual_forward_cost(op.as<ResidualShape>(), has(op.in, 2), bytes);
    case OpKind::kAdd:
      return add_into_cost(count, bytes);
    case OpKind::kZero:
      return moved(0, count * bytes);
    case OpKind::kWindowAttention:
      return window_attention_forward_cost(op.as<WindowAttentionShape>(), bytes);
    case OpKind::kPositionBias:
      return continuous_bias_forward_cost(op.as<ContinuousBiasShape>(), bytes);
    case OpKind::kJointBias:
      return moved(2 * graph.at(op.in[0]).bytes(), 2 * graph.at(op.in[0]).bytes());
    case OpKind::kPatchMerge:
      return patch_merge_forward_cost(op.as<PatchMergeShape>(), bytes);
    case OpKind::kPool:
      return pool_forward_cost(op.as<PoolShape>(), bytes);
    case OpKind::kConvolution:
      return convolution_forward_cost(op.as<ConvolutionShape>(), false, bytes);
    case OpKind::kBatchSums:
      return batchnorm_sums_cost(op.as<BatchNormShape>(), bytes);
    case OpKind::kAllReduce:
      return moved(graph.at(op.out[0]).bytes(), graph.at(op.out[0]).bytes());
    case OpKind::kBatchStatistics:
    case OpKind::kRunningStatistics:
      return moved(2 * graph.at(op.out[0]).bytes(), 2 * graph.at(op.out[0]).bytes());
    case OpKind::kBatchNorm:
      return batchnorm_forward_cost(op.as<BatchNormShape>(), bytes);
    case OpKind::kGridPool:
      return adaptive_pool_forward_cost(op.as<AdaptivePoolShape>(), bytes);
    case OpKind::kResize:
      return upsample_forward_cost(op.as<UpsampleShape>(), has(op.in, 1), bytes);
    case OpKind::kConcat:
      return concat_cost(graph, op, bytes);
    case OpKind::kTapFusion:
      return tap_fusion_forward_cost(op.as<TapFusionShape>(), bytes);
  }
  return {};
}

OperationCost backward_cost(const Graph& graph, const Op& op, std::int64_t bytes) {
  const std::int64_t count = graph.at(op.out[0]).count();
  switch (op.kind) {
    case OpKind::kPatchEmbed:
      return patch_embed_backward_cost(op.as<PatchEmbedShape>(), false, bytes);
    case OpKind::kLayerNorm:
      return layernorm_backward_cost(op.as<LayerNormShape>(), bytes);
    case OpKind::kLinear:
      return linear_backward_cost(op.as<LinearShape>(), true, bytes);
    case OpKind::kGelu:
      return gelu_backward_cost(count, bytes);
    case OpKind::kRelu:
      return relu_backward_cost(count, bytes);
    case OpKind::kResidual:
      return residual_backward_cost(op.as<ResidualShape>(), true, bytes);
    case OpKind::kWindowAttention:
      return window_attention_backward_cost(op.as<WindowAttentionShape>(), bytes);
    case OpKind::kPositionBias:
      return continuous_bias_backward_cost(op.as<ContinuousBiasShape>(), bytes);
    case OpKind::kJointBias:
      return moved(2 * graph.at(op.out[0]).bytes(), 2 * graph.at(op.out[0]).bytes());
    case OpKind::kPatchMerge:
      return patch_merge_backward_cost(op.as<PatchMergeShape>(), bytes);
    case OpKind::kPool:
      return pool_backward_cost(op.as<PoolShape>(), bytes);
    case OpKind::kConvolution:
      return convolution_backward_cost(op.as<ConvolutionShape>(), true, bytes);
    case OpKind::kBatchSums:
      return batchnorm_backward_sums_cost(op.as<BatchNormShape>(), bytes);
    case OpKind::kBatchNorm:
      return batchnorm_backward_cost(op.as<BatchNormShape>(), bytes);
    case OpKind::kGridPool:
      return adaptive_pool_backward_cost(op.as<AdaptivePoolShape>(), false, bytes);
    case OpKind::kResize:
      return upsample_backward_cost(op.as<UpsampleShape>(), false, bytes);
    case OpKind::kConcat:
      return concat_cost(graph, op, bytes);
    case OpKind::kTapFusion:
      return tap_fusion_backward_cost(op.as<TapFusionShape>(), bytes);
    default:
      return forward_cost(graph, op, bytes);
  }
}

OperationClass class_of(OpKind kind) {
  switch (kind) {
    case OpKind::kLinear:
    case OpKind::kPositionBias:
      return OperationClass::kGemm;
    case OpKind::kWindowAttention:
      return OperationClass::kAttention;
    case OpKind::kLayerNorm:
    case OpKind::kBatchSums:
    case OpKind::kBatchStatistics:
    case OpKind::kRunningStatistics:
    case OpKind::kBatchNorm:
      return OperationClass::kNorm;
    case OpKind::kPatchEmbed:
    case OpKind::kConvolution:
    case OpKind::kTapFusion:
      return OperationClass::kConv;
    case OpKind::kPatchMerge:
    case OpKind::kConcat:
    case OpKind::kJointBias:
      return OperationClass::kLayout;
    case OpKind::kAllReduce:
      return OperationClass::kCommunication;
    default:
      return OperationClass::kElementwise;
  }
}

ShapeExtents extents_of(const GraphTensor& tensor) {
  ShapeExtents extents = {};
  std::copy_n(tensor.shape.begin(), std::min(tensor.shape.size(), extents.size()), extents.begin());
  return extents;
}

// Of the forward pass.
std::pair<ShapeExtents, ShapeExtents> named_extents(const Op& op) {
  if (op.kind == OpKind::kLinear) {
    const auto& shape = op.as<LinearShape>();
    return {{shape.rows, shape.inputs}, {shape.rows, shape.outputs}};
  }
  if (op.kind == OpKind::kLayerNorm) {
    const auto& shape = op.as<LayerNormShape>();
    return {{shape.rows, shape.channels}, {shape.rows, shape.channels}};
  }
  const auto& shape = op.as<WindowAttentionShape>();
  const ShapeExtents windows = {shape.grid.window_count(), shape.heads, shape.grid.window_tokens(), shape.head_dim};
  return {windows, windows};
}

}  // namespace

OperationCost cost_of(const Graph& graph, const Op& op) {
  const std::int64_t bytes = data_bytes(graph.type);
  return op.backward ? backward_cost(graph, op, bytes) : forward_cost(graph, op, bytes);
}

OperationPayload payload_of(const Graph& graph, const Op& op, Precision precision) {
  std::pair<ShapeExtents, ShapeExtents> extents;
  if (op.kind == OpKind::kLinear || op.kind == OpKind::kLayerNorm || op.kind == OpKind::kWindowAttention) {
    extents = named_extents(op);
    if (op.backward) std::swap(extents.first, extents.second);
  } else {
    const TensorId from = op.in.empty() ? op.out[0] : op.backward ? op.in.back() : op.in[0];  // backward dy
    extents = {extents_of(graph.at(from)), extents_of(graph.at(op.out[0]))};
  }
  return make_payload(cost_of(graph, op), class_of(op.kind), precision, extents.first, extents.second);
}

}  // namespace swinscope

#include "workloads/graph/cost.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "kernels/bias.h"
#include "kernels/channels.h"
#include "kernels/gelu.h"
#include "kernels/narrow_block.h"
#include "kernels/normalized_rows.h"
#include "kernels/qkv_attention.h"
#include "kernels/relu.h"

namespace swinscope {
namespace {

bool has(const Op& op, std::size_t index) { return op.input(index) != kNoTensor; }

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

// Without a backward pass there are no LSE.
OperationCost attention_cost(const Op& op, std::int64_t bytes) {
  const auto& shape = op.as<WindowAttentionShape>();
  OperationCost cost = window_attention_forward_cost(shape, bytes);
  if (op.out[1] == kNoTensor) cost.bytes_written -= shape.grid.tokens() * shape.heads * bytes;
  return cost;
}

// Of operands and results of different types.
OperationCost quantized_linear_cost(const Graph& graph, const Op& op) {
  const auto& shape = op.as<LinearShape>();
  OperationCost cost{2 * shape.rows * shape.inputs * shape.outputs, 0, graph.at(op.out[0]).bytes()};
  for (const TensorId id : op.in)
    if (id != kNoTensor) cost.bytes_read += graph.at(id).bytes();
  if (op.beside) cost.bytes_written += graph.at(op.out[1]).bytes();
  return cost;
}

OperationCost byte_weight_gradient_cost(const Graph& graph, const Op& op) {
  const auto& shape = op.as<LinearShape>();
  return {2 * shape.rows * shape.inputs * shape.outputs, graph.at(op.in[0]).bytes() + graph.at(op.in[1]).bytes(),
          graph.at(op.out[0]).bytes()};
}

// What operand and result are smaller, or more, for being in 8 bits.
OperationCost bytes_for_bits(const Graph& graph, const Op& op, std::int64_t bytes) {
  const GraphTensor& in = graph.at(op.in[0]);
  const std::int64_t count = graph.at(op.out[0]).count();
  const std::int64_t read = data_bytes(in.type) == 1 ? in.count() * (1 - bytes) : 0;
  if (!op.to_bytes) return moved(read, 0);
  return moved(read, has(op, 3) && op.kind == OpKind::kLayerNorm ? count : count * (1 - bytes));
}

// Read once for each form that they take.
OperationCost byte_weights_cost(const Graph& graph, const Op& op) {
  OperationCost cost;
  for (std::size_t i = 0; i < op.out.size(); ++i) {
    if (op.out[i] == kNoTensor) continue;
    cost.bytes_written += graph.at(op.out[i]).bytes();
    if (i % 2 == 0) cost.bytes_read += graph.at(op.in[1 + i / kByteWeightTensors]).bytes();
  }
  return cost;
}

OperationCost device_cost(const Graph& graph, const Op& op, std::int64_t bytes) {
  const std::int64_t in = graph.at(op.in[0]).bytes();
  const std::int64_t out = graph.at(op.out[0]).bytes();
  const std::int64_t rows = graph.at(op.out[0]).rows();
  const ElementType type = element_type_of(graph.type);
  switch (op.kind) {
    case OpKind::kPatchColumns:
      return moved(in, out);
    case OpKind::kBias:
      return bias_forward_cost({rows, graph.at(op.out[0]).channels()}, bytes);
    case OpKind::kWindowRoll:
    case OpKind::kWindowPartition:
    case OpKind::kWindowReverse:
      return moved(in, out);
    case OpKind::kTapPack:
      return moved(out, out);
    case OpKind::kTapProduct:
      return linear_forward_cost(op.as<LinearShape>(), bytes);
    case OpKind::kTapGather:
      return op.backward ? moved(in, out) : moved(graph.at(op.in[1]).bytes() + out, out);
    case OpKind::kResidualNorm:
      return layernorm_forward_cost(op.as<LayerNormShape>(), bytes) + moved(out, out);
    case OpKind::kExpandBias:
      return moved(op.by_steps && !graph.training ? out : in, out);
    case OpKind::kQkvAttention:
      return cuda::qkv_attention_forward_cost(op.as<WindowAttentionShape>(), bytes);
    case OpKind::kNormalizedRows:
      return cuda::normalized_rows_cost(
          {rows, graph.at(op.in[0]).channels(), graph.at(op.out[0]).channels(), op.gelu, type});
    case OpKind::kNormalizedPatchEmbed:
      return cuda::normalized_patch_embed_cost(op.as<PatchEmbedShape>(), bytes);
    case OpKind::kNarrowQkv:
      return cuda::narrow_qkv_cost({rows, type});
    case OpKind::kNarrowMlp:
      return cuda::narrow_mlp_cost({rows, type});
    case OpKind::kNarrowBlockEnd:
      return cuda::narrow_block_end_cost({rows, type});
    case OpKind::kQuantize:
    case OpKind::kCountMagnitudes:
      return moved(in, out);
    case OpKind::kQuantizeWeight:
      return moved(in, out + graph.at(op.out[1]).bytes());
    case OpKind::kByteWeights:
      return byte_weights_cost(graph, op);
    case OpKind::kQuantizedLinear:
      return quantized_linear_cost(graph, op);
    case OpKind::kByteWeightGradient:
      return byte_weight_gradient_cost(graph, op);
    default:
      throw std::logic_error("cost_of: an op that nobody knows: " + op.path);
  }
}

OperationCost forward_cost(const Graph& graph, const Op& op, std::int64_t bytes) {
  const std::int64_t count = graph.at(op.out[0]).count();
  switch (op.kind) {
    case OpKind::kPatchEmbed:
      return patch_embed_forward_cost(op.as<PatchEmbedShape>(), bytes);
    case OpKind::kLayerNorm:
      return layernorm_forward_cost(op.as<LayerNormShape>(), bytes) + moved(has(op, 3) ? count * bytes : 0, 0) +
             bytes_for_bits(graph, op, bytes);
    case OpKind::kLinear:
      return linear_forward_cost(op.as<LinearShape>(), bytes) +
             moved(has(op, 3) ? count * bytes : 0, op.beside ? count : 0);
    case OpKind::kGelu:
      return gelu_forward_cost(count, bytes);
    case OpKind::kRelu:
      return relu_forward_cost(count, bytes);
    case OpKind::kResidual:
      return residual_forward_cost(op.as<ResidualShape>(), has(op, 2), bytes);
    case OpKind::kAdd:
      return add_into_cost(count, bytes);
    case OpKind::kZero:
      return moved(0, count * bytes);
    case OpKind::kWindowAttention:
      return attention_cost(op, bytes) + bytes_for_bits(graph, op, bytes);
    case OpKind::kPositionBias:
      return continuous_bias_forward_cost(op.as<ContinuousBiasShape>(), data_bytes(graph.at(op.out[0]).type));
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
      if (op.out.size() == 1) return moved(graph.at(op.in[0]).bytes(), graph.at(op.out[0]).bytes());
      return moved(2 * graph.at(op.out[0]).bytes(), 2 * graph.at(op.out[0]).bytes());
    case OpKind::kRunningStatistics:
      return moved(2 * graph.at(op.in[0]).bytes(),
                   static_cast<std::int64_t>(op.out.size()) * graph.at(op.out[0]).bytes());
    case OpKind::kBatchNorm:
      return batchnorm_forward_cost(op.as<BatchNormShape>(), bytes);
    case OpKind::kGridPool:
      return adaptive_pool_forward_cost(op.as<AdaptivePoolShape>(), bytes);
    case OpKind::kResize:
      return upsample_forward_cost(op.as<UpsampleShape>(), has(op, 1), bytes);
    case OpKind::kConcat:
      return concat_cost(graph, op, bytes);
    case OpKind::kTapFusion:
      return tap_fusion_forward_cost(op.as<TapFusionShape>(), bytes);
    default:
      return device_cost(graph, op, bytes);
  }
}

// Of the result and of the weight, or of one of the two.
OperationCost convolution_gradient_cost(const Op& op, std::int64_t bytes) {
  const auto& shape = op.as<ConvolutionShape>();
  const OperationCost both = convolution_backward_cost(shape, true, bytes);
  const OperationCost weight = convolution_backward_cost(shape, false, bytes);
  if (op.out.size() > 1 && op.out[0] == kNoTensor) return weight;
  if (op.out.size() > 1) return both;
  return {both.flops - weight.flops, both.bytes_read - weight.bytes_read, both.bytes_written - weight.bytes_written};
}

OperationCost linear_gradient_cost(const Graph& graph, const Op& op, std::int64_t bytes) {
  const auto& shape = op.as<LinearShape>();
  const TensorId dx = op.out[0];
  const TensorId dweight = op.out.size() > 1 ? op.out[1] : kNoTensor;
  if (dx != kNoTensor && dweight != kNoTensor) return linear_backward_cost(shape, true, bytes);
  const std::int64_t weights = shape.inputs * shape.outputs;
  const std::int64_t read = shape.rows * (dx == kNoTensor ? shape.inputs : 0) + shape.rows * shape.outputs +
                            (dx == kNoTensor ? 0 : weights + (has(op, 3) ? shape.rows * shape.inputs : 0));
  return {2 * shape.rows * weights, read * bytes, graph.at(dx == kNoTensor ? dweight : dx).bytes()};
}

OperationCost bias_gradient_cost(const Graph& graph, const Op& op, std::int64_t bytes) {
  const GraphTensor& dy = graph.at(op.in[1]);
  return bias_backward_cost({dy.rows(), dy.channels()}, bytes) +
         moved(0, op.out[0] == kNoTensor ? 0 : dy.count() * bytes);
}

OperationCost backward_cost(const Graph& graph, const Op& op, std::int64_t bytes) {
  const std::int64_t count = op.out[0] == kNoTensor ? 0 : graph.at(op.out[0]).count();
  switch (op.kind) {
    case OpKind::kPatchEmbed:
      return patch_embed_backward_cost(op.as<PatchEmbedShape>(), false, bytes);
    case OpKind::kLayerNorm:
      return layernorm_backward_cost(op.as<LayerNormShape>(), bytes) + moved(has(op, 5) ? count * bytes : 0, 0);
    case OpKind::kLinear:
    case OpKind::kTapProduct:
      return linear_gradient_cost(graph, op, bytes);
    case OpKind::kTapPack:
      return moved(graph.at(op.in[0]).bytes(), graph.at(op.in[0]).bytes());
    case OpKind::kBias:
      return bias_gradient_cost(graph, op, bytes);
    case OpKind::kGelu:
      return gelu_backward_cost(count, bytes);
    case OpKind::kRelu:
      return relu_backward_cost(count, bytes);
    case OpKind::kResidual:
      return residual_backward_cost(op.as<ResidualShape>(), true, bytes);
    case OpKind::kWindowAttention:
      return window_attention_backward_cost(op.as<WindowAttentionShape>(), bytes);
    case OpKind::kPositionBias:
      return continuous_bias_backward_cost(op.as<ContinuousBiasShape>(), data_bytes(graph.at(op.in.back()).type));
    case OpKind::kJointBias:
      return moved(2 * graph.at(op.out[0]).bytes(), 2 * graph.at(op.out[0]).bytes());
    case OpKind::kPatchMerge:
      return patch_merge_backward_cost(op.as<PatchMergeShape>(), bytes);
    case OpKind::kPool:
      return pool_backward_cost(op.as<PoolShape>(), bytes);
    case OpKind::kConvolution:
      return convolution_gradient_cost(op, bytes);
    case OpKind::kBatchSums:
      return batchnorm_backward_sums_cost(op.as<BatchNormShape>(), bytes);
    case OpKind::kBatchNorm:
      return batchnorm_backward_cost(op.as<BatchNormShape>(), bytes);
    case OpKind::kGridPool:
      return adaptive_pool_backward_cost(op.as<AdaptivePoolShape>(), has(op, 1), bytes);
    case OpKind::kResize:
      return upsample_backward_cost(op.as<UpsampleShape>(), has(op, 1), bytes);
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
    case OpKind::kTapProduct:
    case OpKind::kPositionBias:
    case OpKind::kNormalizedRows:
    case OpKind::kNormalizedPatchEmbed:
    case OpKind::kNarrowQkv:
    case OpKind::kNarrowMlp:
    case OpKind::kNarrowBlockEnd:
    case OpKind::kQuantizedLinear:
    case OpKind::kByteWeightGradient:
      return OperationClass::kGemm;
    case OpKind::kQkvAttention:
    case OpKind::kWindowAttention:
      return OperationClass::kAttention;
    case OpKind::kLayerNorm:
    case OpKind::kResidualNorm:
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
    case OpKind::kPatchColumns:
    case OpKind::kWindowRoll:
    case OpKind::kWindowPartition:
    case OpKind::kWindowReverse:
    case OpKind::kExpandBias:
    case OpKind::kTapPack:
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

ShapeExtents rows_of(const GraphTensor& tensor) { return {tensor.rows(), tensor.channels()}; }

// A map's samples, each with as many elements.
ShapeExtents samples_of(const GraphTensor& tensor) { return {tensor.shape[0], tensor.count() / tensor.shape[0]}; }

using Extents = std::pair<ShapeExtents, ShapeExtents>;

Extents attention_extents(const Op& op) {
  const auto& shape = op.as<WindowAttentionShape>();
  const ShapeExtents all = {shape.grid.window_count(), shape.heads, shape.grid.window_tokens(), shape.head_dim};
  return {all, all};
}

// Tokens as rows, maps and windows as they are.
Extents forward_extents(const Graph& graph, const Op& op) {
  const GraphTensor& in = graph.at(op.in[0]);
  const GraphTensor& out = graph.at(op.out[0]);
  switch (op.kind) {
    case OpKind::kWindowAttention:
    case OpKind::kQkvAttention:
      return attention_extents(op);
    case OpKind::kLayerNorm:
    case OpKind::kResidualNorm:
      return {rows_of(out), rows_of(out)};
    case OpKind::kNormalizedPatchEmbed:
    case OpKind::kPatchMerge:
      return {extents_of(in), rows_of(out)};
    case OpKind::kPool:
      return {{in.shape[0], in.rows() / in.shape[0], in.channels()}, rows_of(out)};
    case OpKind::kBatchSums:
      return {rows_of(in), {in.channels()}};
    case OpKind::kRunningStatistics:
      return {{op.as<BatchNormShape>().rows, in.count()}, {in.count()}};
    case OpKind::kTapPack:
      return {extents_of(out), extents_of(out)};
    case OpKind::kTapGather:
      return {extents_of(graph.at(op.in[1])), extents_of(out)};
    case OpKind::kJointBias:
      return {{2, in.count()}, extents_of(out)};
    case OpKind::kPositionBias:
      return {{out.rows(), 2}, extents_of(out)};
    case OpKind::kResidual:
    case OpKind::kAdd:
      if (graph.training) return {samples_of(out), samples_of(out)};
      return {rows_of(in), rows_of(out)};
    case OpKind::kLinear:
    case OpKind::kGelu:
    case OpKind::kBias:
    case OpKind::kNormalizedRows:
    case OpKind::kNarrowQkv:
    case OpKind::kNarrowMlp:
    case OpKind::kNarrowBlockEnd:
    case OpKind::kQuantize:
    case OpKind::kQuantizedLinear:
      return {rows_of(in), rows_of(out)};
    case OpKind::kByteWeightGradient:
      return {rows_of(graph.at(op.in[1])), extents_of(out)};
    default:
      return {extents_of(in), extents_of(out)};
  }
}

// From the gradient of the result.
Extents backward_extents(const Graph& graph, const Op& op) {
  const GraphTensor& dy = graph.at(op.in[gradient_index(op)]);
  const GraphTensor& out = graph.at(op.out[0] == kNoTensor ? op.out[1] : op.out[0]);
  switch (op.kind) {
    case OpKind::kWindowAttention:
      return attention_extents(op);
    case OpKind::kLayerNorm:
      return {rows_of(dy), rows_of(dy)};
    case OpKind::kResidual:
      return {samples_of(out), samples_of(out)};
    case OpKind::kBias:
      return {rows_of(dy), op.out[0] == kNoTensor ? extents_of(out) : rows_of(out)};
    case OpKind::kBatchSums:
      return {extents_of(dy), {dy.channels()}};
    case OpKind::kTapPack:
      return {extents_of(dy), extents_of(dy)};
    case OpKind::kPatchMerge:
      return {rows_of(dy), extents_of(out)};
    case OpKind::kPool:
      return {rows_of(dy), {out.shape[0], out.rows() / out.shape[0], out.channels()}};
    case OpKind::kJointBias:
      return {extents_of(dy), {2, out.count()}};
    case OpKind::kPositionBias:
      return {extents_of(dy), {dy.rows(), 2}};
    case OpKind::kLinear:
      if (op.out[0] != kNoTensor) return {rows_of(dy), rows_of(out)};
      return {rows_of(dy), {dy.channels(), out.count() / dy.channels()}};
    case OpKind::kGelu:
      return {rows_of(dy), rows_of(out)};
    default:
      return {extents_of(dy), extents_of(out)};
  }
}

}  // namespace

OperationCost cost_of(const Graph& graph, const Op& op) {
  const std::int64_t bytes = data_bytes(graph.type);
  if (op.kind == OpKind::kAdvanceScales) return moved(graph.at(op.out[0]).bytes(), graph.at(op.out[0]).bytes());
  OperationCost cost = op.backward ? backward_cost(graph, op, bytes) : forward_cost(graph, op, bytes);
  const bool copies = graph.training && op.beside;
  if (copies) cost.bytes_written += graph.at(op.out[bytes_index(op)]).bytes();
  if (graph.only_in_bytes(op)) cost.bytes_written -= graph.at(op.out[rounded_index(op)]).count() * (bytes - 1);
  return cost;
}

OperationPayload payload_of(const Graph& graph, const Op& op, Precision precision) {
  Extents extents;
  if (!op.in.empty()) extents = op.backward ? backward_extents(graph, op) : forward_extents(graph, op);
  return make_payload(cost_of(graph, op), class_of(op.kind), precision, extents.first, extents.second);
}

}  // namespace swinscope

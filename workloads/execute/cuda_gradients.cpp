// The part of CudaBackend that goes backward: all but attention and the maps of a segmentation head.
#include <algorithm>
#include <utility>

#include "kernels/batchnorm.h"
#include "kernels/bias.h"
#include "kernels/byte_weight_gradient.h"
#include "kernels/gelu.h"
#include "kernels/patch_merge.h"
#include "kernels/pool.h"
#include "kernels/residual.h"
#include "workloads/execute/cuda_backend.h"
#include "workloads/graph/cost.h"

namespace swinscope {
namespace {

cuda::ByteWeightGradientShape byte_gradient_shape(const LinearShape& linear) {
  return {linear.rows, linear.outputs, linear.inputs};
}

std::int64_t op_workspace_bytes(const Graph& graph, const Op& op) {
  if (op.kind == OpKind::kBatchSums) return cuda::batchnorm_workspace_bytes(op.as<BatchNormShape>());
  if (op.kind == OpKind::kByteWeightGradient)
    return cuda::byte_weight_gradient_workspace_bytes(byte_gradient_shape(op.as<LinearShape>()));
  if (!op.backward) return 0;
  const ElementType type = element_type_of(graph.type);
  const auto order = op.windows ? cuda::TokenOrder::kWindow : cuda::TokenOrder::kImage;
  const GraphTensor& dy = graph.at(op.in[gradient_index(op)]);
  const BiasShape rows{dy.rows(), dy.channels()};
  switch (op.kind) {
    case OpKind::kLayerNorm:
      return cuda::layernorm_backward_workspace_bytes(op.as<LayerNormShape>());
    case OpKind::kBias:
      return op.input(2) == kNoTensor ? cuda::bias_backward_workspace_bytes(rows) : 0;
    case OpKind::kGelu:
      return cuda::gelu_backward_workspace_bytes(rows);
    case OpKind::kWindowAttention:
      return op.by_steps ? attention_steps_workspace_bytes(op.as<WindowAttentionShape>(), order)
                         : cuda::attention_backward_workspace_bytes(op.as<WindowAttentionShape>(), type, order);
    default:
      return 0;
  }
}

}  // namespace

std::int64_t workspace_bytes(const Graph& graph) {
  std::int64_t bytes = 0;
  for (const std::vector<Op>* const ops : {&graph.forward, &graph.backward})
    for (const Op& op : *ops)
      bytes = std::max(bytes, op_workspace_bytes(graph, op));
  return bytes;
}

void CudaBackend::emit_backward(const Op& op) {
  const ElementType type = type_;
  const void* const dy = in(op, 0);
  void* const dx = out(op);
  switch (op.kind) {
    case OpKind::kLinear:
      return linear_backward(op);
    case OpKind::kBias:
      return bias_backward(op);
    case OpKind::kLayerNorm:
      return layernorm_backward(op);
    case OpKind::kGelu:
      return gelu_backward(op);
    case OpKind::kWindowAttention:
      return attention_backward(op);
    case OpKind::kJointBias:
      return joint_bias_backward(op);
    case OpKind::kPositionBias:
      return position_bias_backward(op);
    case OpKind::kWindowRoll:
    case OpKind::kWindowPartition:
    case OpKind::kWindowReverse:
      return copy_windows(op);
    case OpKind::kZero:
      return zero(op);
    case OpKind::kAdd: {
      const GraphTensor& sum = graph_.at(op.out[0]);
      const ResidualShape shape{sum.shape[0], sum.count() / sum.shape[0]};
      return step(op, [=, more = in(op, 1)](cuda::Stream stream) {
        cuda::residual_forward(shape, type, dy, more, dx, stream);
      });
    }
    case OpKind::kResidual:
      return step(op, [=, shape = op.as<ResidualShape>(), scale = in_floats(op, 0), of = in(op, 1)](
                          cuda::Stream stream) { cuda::residual_backward(shape, type, scale, of, dx, stream); });
    case OpKind::kPatchMerge:
      return step(op, [=, shape = op.as<PatchMergeShape>()](cuda::Stream stream) {
        cuda::patch_merge_backward(shape, type, dy, dx, stream);
      });
    case OpKind::kPool:
      return step(op, [=, shape = op.as<PoolShape>()](cuda::Stream stream) {
        cuda::pool_backward(shape, type, dy, dx, stream);
      });
    default:
      return emit_map(op);
  }
}

// Sums that are no parameter's own begin with zeros where those of parameters go on.
void CudaBackend::zero(const Op& op) {
  if (!accumulate_) return;
  const std::int64_t bytes = graph_.at(op.out[0]).bytes();
  step(op.path, make_payload({0, 0, bytes}, OperationClass::kOther, options_.precision, {}, {bytes}),
       [=, sums = out(op)](cuda::Stream stream) { cuda::clear(sums, bytes, stream); });
}

// dx = dy W, or added to what is there, or dW = dy^T x.
void CudaBackend::linear_backward(const Op& op) {
  const auto& linear = op.as<LinearShape>();
  cuda::MatmulShape shape;
  shape.transpose_b = false;
  shape.operand_type = type_;
  shape.spare_multiprocessors = options_.spare_multiprocessors;
  if (options_.precision == Precision::kTf32) shape.arithmetic = cuda::MatmulArithmetic::kTf32;
  cuda::MatmulOperands operands{in(op, 2), in(op, 1), nullptr, out(op)};
  OperationPayload payload = payload_of(graph_, op, options_.precision);
  if (op.out[0] == kNoTensor) {
    shape.transpose_a = true;
    shape.result_type = ElementType::kFp32;
    shape.m = linear.outputs;
    shape.n = linear.inputs;
    shape.k = linear.rows;
    shape.accumulate = accumulate_;
    operands.b = in(op, 0);
    operands.y = out(op, 1);
    if (accumulate_) payload.bytes_read += static_cast<std::uint64_t>(graph_.at(op.out[1]).bytes());
  } else {
    shape.result_type = type_;
    shape.m = linear.rows;
    shape.n = linear.inputs;
    shape.k = linear.outputs;
    shape.accumulate = in_place(op, 3);
  }
  const cuda::Matmul& matmul = library_.prepare(shape, stream_);
  step(op.path, payload, [=, &matmul](cuda::Stream stream) { matmul.run(operands, stream); });
}

void CudaBackend::byte_weight_gradient(const Op& op) {
  cuda::ByteWeightGradientShape shape = byte_gradient_shape(op.as<LinearShape>());
  shape.accumulate = accumulate_;
  shape.spare_multiprocessors = options_.spare_multiprocessors;
  const cuda::ByteWeightGradientTensors tensors{in(op, 1),
                                                in(op, 0),
                                                scale_at(graph_.at(op.in[1]).scale_slot),
                                                scale_at(graph_.at(op.in[0]).scale_slot),
                                                out_floats(op, 0),
                                                memory_.workspace};
  OperationPayload payload = payload_of(graph_, op, product_precision_);
  if (accumulate_) payload.bytes_read += static_cast<std::uint64_t>(graph_.at(op.out[0]).bytes());
  step(op.path, payload,
       [product = cuda::ByteWeightGradient(shape, tensors)](cuda::Stream stream) { product.run(stream); });
}

void CudaBackend::bias_backward(const Op& op) {
  const GraphTensor& dy = graph_.at(op.in[1]);
  const BiasShape shape{dy.rows(), dy.channels()};
  if (op.input(2) != kNoTensor) {
    cuda::MatmulShape product;
    product.m = 1;
    product.n = shape.columns;
    product.k = shape.rows;
    product.transpose_b = false;
    product.operand_type = type_;
    product.result_type = ElementType::kFp32;
    product.accumulate = accumulate_;
    product.spare_multiprocessors = options_.spare_multiprocessors;
    const cuda::Matmul& matmul = library_.prepare(product, stream_);
    const cuda::MatmulOperands operands{in(op, 2), in(op, 1), nullptr, out(op, 1)};
    return step(op, [=, &matmul](cuda::Stream stream) { matmul.run(operands, stream); });
  }
  cuda::BiasGradientTensors tensors;
  tensors.sample_scale = in_floats(op, 0);
  tensors.rows_per_sample = shape.rows / dy.shape[0];
  tensors.dy = in(op, 1);
  tensors.dx = wide(op);
  tensors.dbias = out_floats(op, 1);
  tensors.accumulate = accumulate_;
  tensors.workspace = memory_.workspace;
  tensors.copy = copy_of(op);
  step(op, [=, type = type_](cuda::Stream stream) { cuda::bias_backward(shape, type, tensors, stream); });
}

void CudaBackend::layernorm_backward(const Op& op) {
  const auto shape = op.as<LayerNormShape>();
  cuda::LayerNormGradientTensors tensors;
  tensors.x = in(op, 0);
  tensors.gamma = in(op, 1);
  tensors.dy = in(op, 4);
  tensors.residual = in(op, 5);
  tensors.sample_scale = in_floats(op, 6);
  tensors.rows_per_sample = shape.rows / graph_.at(op.out[0]).shape[0];
  tensors.dx = wide(op);
  tensors.dgamma = out_floats(op, 1);
  tensors.dbeta = out_floats(op, 2);
  tensors.dx_sums = out_floats(op, 3);
  tensors.copy = copy_of(op);
  tensors.accumulate = accumulate_;
  tensors.workspace = memory_.workspace;
  if (op.gather) {
    return step(op, [=, type = type_, gather = *op.gather](cuda::Stream stream) {
      cuda::layernorm_backward(shape, type, tensors, stream, &gather);
    });
  }
  tensors.backwards = turn(true);
  step(
      op, [=, type = type_](cuda::Stream stream) { cuda::layernorm_backward(shape, type, tensors, stream); },
      tensors.backwards);
}

void CudaBackend::gelu_backward(const Op& op) {
  const GraphTensor& dy = graph_.at(op.in[1]);
  cuda::GeluGradientTensors tensors;
  tensors.x = in(op, 0);
  tensors.dy = in(op, 1);
  tensors.dx = wide(op);
  tensors.dbias = out_floats(op, 1);
  tensors.copy = copy_of(op);
  tensors.accumulate = accumulate_;
  tensors.workspace = memory_.workspace;
  tensors.backwards = turn(true);
  step(
      op,
      [=, shape = BiasShape{dy.rows(), dy.channels()}, type = type_](cuda::Stream stream) {
        cuda::gelu_backward(shape, type, tensors, stream);
      },
      tensors.backwards);
}

}  // namespace swinscope

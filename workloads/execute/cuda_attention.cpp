// The part of CudaBackend that is attention: its bias, windows as copies, and the kernels.
#include "kernels/continuous_bias.h"
#include "kernels/convert.h"
#include "kernels/qkv_attention.h"
#include "kernels/residual.h"
#include "kernels/window.h"
#include "kernels/window_attention_steps.h"
#include "workloads/execute/cuda_backend.h"

namespace swinscope {
namespace {

cuda::TokenOrder order_of(const Op& op) { return op.windows ? cuda::TokenOrder::kWindow : cuda::TokenOrder::kImage; }

}  // namespace

// q's and v's stand around zeros, which stay.
void CudaBackend::joint_bias(const Op& op) {
  const std::int64_t width = graph_.at(op.in[0]).count();
  const std::int64_t bytes = width * element_bytes(type_);
  void* const q = out(op);
  void* const v = static_cast<char*>(q) + 2 * bytes;
  cuda::clear(static_cast<char*>(q) + bytes, bytes, stream_);
  step(op, [=, type = type_, copies = graph_.training, q_bias = in(op, 0), v_bias = in(op, 1)](cuda::Stream stream) {
    if (copies) {
      cuda::copy_on_device(q, q_bias, bytes, stream);
      cuda::copy_on_device(v, v_bias, bytes, stream);
    } else {
      cuda::convert(width, type, q_bias, type, q, stream);
      cuda::convert(width, type, v_bias, type, v, stream);
    }
  });
}

void CudaBackend::position_bias(const Op& op) {
  step(op, [=, shape = op.as<ContinuousBiasShape>(), weight1 = floats(op.in[0]), bias1 = floats(op.in[1]),
            weight2 = floats(op.in[2]), table = floats(op.out[0])](cuda::Stream stream) {
    cuda::continuous_bias_forward(shape, weight1, bias1, weight2, table, stream);
  });
}

void CudaBackend::expand_bias(const Op& op) {
  const auto shape = op.as<WindowAttentionShape>();
  const float* const table = floats(op.in[0]);
  void* const bias = out(op);
  if (op.by_steps) {
    return step(op, [=](cuda::Stream stream) {
      cuda::steps::gather_position_bias(shape, table, static_cast<float*>(bias), stream);
    });
  }
  step(op, [=, type = type_](cuda::Stream stream) { cuda::expand_attention_bias(shape, type, table, bias, stream); });
}

// The gradient of a copy is the copy that undoes it.
void CudaBackend::copy_windows(const Op& op) {
  const auto& shape = op.as<WindowAttentionShape>();
  const bool partitions = (op.kind == OpKind::kWindowPartition) != op.backward;
  step(op, [=, rolls = op.kind == OpKind::kWindowRoll, grid = shape.grid, width = shape.channels(),
            forward = op.undo == op.backward, type = type_, x = in(op, 0), y = out(op)](cuda::Stream stream) {
    if (rolls) {
      cuda::window_roll(grid, width, type, forward, x, y, stream);
    } else if (partitions) {
      cuda::window_partition(grid, width, type, x, y, stream);
    } else {
      cuda::window_reverse(grid, width, type, x, y, stream);
    }
  });
}

void CudaBackend::attention(const Op& op) {
  const auto shape = op.as<WindowAttentionShape>();
  cuda::WindowAttentionTensors tensors;
  tensors.qkv = in(op, 0);
  tensors.bias = in(op, 1);
  tensors.pad_qkv = in(op, 2);
  tensors.logit_scale = floats(op.in[3]);
  tensors.out = wide(op);
  tensors.lse = out_floats(op, 1);
  const GraphTensor& qkv = graph_.at(op.in[0]);
  const ByteFormat of_qkv = byte_format_of(qkv.type);
  if (op.to_bytes) tensors.out_scale = graph_.at(op.out[0]).scale;
  if (of_qkv != ByteFormat::kNone) tensors.qkv_scale = qkv.scale;
  tensors.byte_format = op.to_bytes ? byte_format_of(graph_.at(op.out[0]).type) : of_qkv;
  tensors.backwards = turn(cuda::attention_on_tensor_cores(shape, type_));
  tensors.out_eviction = op.out_policy;
  tensors.copy = copy_of(op);
  step(
      op,
      [=, type = type_, order = order_of(op)](cuda::Stream stream) {
        cuda::window_attention_forward(shape, type, order, tensors, stream);
      },
      tensors.backwards);
}

void CudaBackend::qkv_attention(const Op& op) {
  const auto shape = op.as<WindowAttentionShape>();
  cuda::QkvAttentionTensors tensors;
  tensors.x = in(op, 0);
  tensors.gamma = in(op, 1);
  tensors.beta = in(op, 2);
  tensors.weight = in(op, 3);
  tensors.qkv_bias = in(op, 4);
  tensors.bias = in(op, 5);
  tensors.logit_scale = floats(op.in[6]);
  tensors.out = out(op);
  tensors.backwards = turn(true);
  step(
      op, [=, type = type_](cuda::Stream stream) { cuda::qkv_attention_forward(shape, type, tensors, stream); },
      tensors.backwards);
}

// An op of several steps, each named by itself.
AttentionSteps CudaBackend::attention_steps(const Op& op, const AttentionStepBuffers& buffers) {
  const std::string path = op.path.substr(0, op.path.rfind('.') + 1);
  const auto emit = [this, path](const std::string& name, OperationClass operation_class, const OperationCost& cost,
                                 const ShapeExtents& input, const ShapeExtents& output, Run run) {
    step(path + name, make_payload(cost, operation_class, options_.precision, input, output), std::move(run));
  };
  const auto prepare = [this](const cuda::MatmulShape& product) -> const cuda::Matmul& {
    return library_.prepare(product, stream_);
  };
  return {op.as<WindowAttentionShape>(), options_.precision, order_of(op), buffers, emit, prepare};
}

void CudaBackend::attention_by_steps(const Op& op) {
  AttentionStepBuffers buffers;
  buffers.heads = out(op, 2);
  buffers.probabilities = out(op, 3);
  buffers.norms = out_floats(op, 4);
  buffers.scores = out_floats(op, 6);
  buffers.cosines = op.out[5] == kNoTensor ? buffers.scores : out_floats(op, 5);
  buffers.attended = out(op, 7);
  cuda::WindowAttentionTensors tensors;
  tensors.qkv = in(op, 0);
  tensors.bias = in(op, 1);
  tensors.pad_qkv = in(op, 2);
  tensors.logit_scale = in_floats(op, 3);
  tensors.out = out(op);
  attention_steps(op, buffers).forward(tensors);
}

void CudaBackend::attention_backward(const Op& op) {
  cuda::WindowAttentionGradientTensors tensors;
  tensors.qkv = in(op, 0);
  tensors.bias = in(op, 1);
  tensors.pad_qkv = in(op, 2);
  tensors.logit_scale = in_floats(op, 3);
  tensors.lse = in_floats(op, 4);
  tensors.dout = at(op.in.back());
  tensors.dqkv = wide(op);
  tensors.dtable = out_floats(op, 1);
  tensors.dqkv_bias = out_floats(op, 2);
  tensors.dlogit_scale = out_floats(op, 3);
  tensors.copy = copy_of(op);
  tensors.accumulate = accumulate_;
  tensors.workspace = memory_.workspace;
  auto shape = op.as<WindowAttentionShape>();
  if (!op.by_steps) {
    shape.spare_multiprocessors = options_.spare_multiprocessors;
    return step(op, [=, type = type_, order = order_of(op)](cuda::Stream stream) {
      cuda::window_attention_backward(shape, type, order, tensors, stream);
    });
  }
  AttentionStepBuffers buffers;
  buffers.heads = in(op, 5);
  buffers.probabilities = in(op, 6);
  buffers.norms = in_floats(op, 7);
  buffers.cosines = in_floats(op, 8);
  buffers.scores = out_floats(op, 5);
  buffers.rounded_scores = out(op, 6);
  buffers.head_gradients = out(op, 7);
  buffers.attended = out(op, 8);
  attention_steps(op, buffers).backward(tensors);
}

// Of q, k and v together; there is none for k.
void CudaBackend::joint_bias_backward(const Op& op) {
  const std::int64_t width = graph_.at(op.out[0]).count();
  step(op, [=, accumulate = accumulate_, joint = in_floats(op, 0), q_bias = out_floats(op, 0),
            v_bias = out_floats(op, 1)](cuda::Stream stream) {
    if (accumulate) {
      cuda::add_into(width, ElementType::kFp32, joint, q_bias, stream);
      cuda::add_into(width, ElementType::kFp32, joint + 2 * width, v_bias, stream);
    } else {
      cuda::copy_on_device(q_bias, joint, width * 4, stream);
      cuda::copy_on_device(v_bias, joint + 2 * width, width * 4, stream);
    }
  });
}

void CudaBackend::position_bias_backward(const Op& op) {
  cuda::ContinuousBiasGradientTensors tensors;
  tensors.weight1 = in_floats(op, 0);
  tensors.bias1 = in_floats(op, 1);
  tensors.weight2 = in_floats(op, 2);
  tensors.table = in_floats(op, 5);
  tensors.dtable = in_floats(op, 6);
  tensors.dweight1 = out_floats(op, 0);
  tensors.dbias1 = out_floats(op, 1);
  tensors.dweight2 = out_floats(op, 2);
  tensors.accumulate = accumulate_;
  step(op, [=, shape = op.as<ContinuousBiasShape>()](cuda::Stream stream) {
    cuda::continuous_bias_backward(shape, tensors, stream);
  });
}

}  // namespace swinscope

// The part of CudaBackend that is attention: its bias, windows as copies, and the kernels.
#include "kernels/continuous_bias.h"
#include "kernels/convert.h"
#include "kernels/qkv_attention.h"
#include "kernels/window.h"
#include "kernels/window_attention_steps.h"
#include "workloads/execute/cuda_backend.h"

namespace swinscope {

// q's and v's stand around zeros, which stay.
void CudaBackend::joint_bias(const Op& op) {
  const std::int64_t width = graph_.at(op.in[0]).count();
  const std::int64_t bytes = width * element_bytes(type_);
  void* const q = out(op);
  void* const v = static_cast<char*>(q) + 2 * bytes;
  cuda::clear(static_cast<char*>(q) + bytes, bytes, stream_);
  step(op, [=, type = type_, q_bias = in(op, 0), v_bias = in(op, 1)](cuda::Stream stream) {
    cuda::convert(width, type, q_bias, type, q, stream);
    cuda::convert(width, type, v_bias, type, v, stream);
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

void CudaBackend::copy_windows(const Op& op) {
  const auto& shape = op.as<WindowAttentionShape>();
  step(op, [=, kind = op.kind, grid = shape.grid, width = shape.channels(), forward = !op.undo, type = type_,
            x = in(op, 0), y = out(op)](cuda::Stream stream) {
    if (kind == OpKind::kWindowRoll) {
      cuda::window_roll(grid, width, type, forward, x, y, stream);
    } else if (kind == OpKind::kWindowPartition) {
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
  tensors.out = out(op);
  tensors.backwards = turn(cuda::attention_on_tensor_cores(shape, type_));
  tensors.out_eviction = op.out_policy;
  const auto order = op.windows ? cuda::TokenOrder::kWindow : cuda::TokenOrder::kImage;
  step(
      op,
      [=, type = type_](cuda::Stream stream) { cuda::window_attention_forward(shape, type, order, tensors, stream); },
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
void CudaBackend::attention_by_steps(const Op& op) {
  const auto shape = op.as<WindowAttentionShape>();
  AttentionStepBuffers buffers;
  buffers.heads = out(op, 2);
  buffers.scores = buffers.cosines = floats(op.out[3]);
  buffers.probabilities = out(op, 4);
  buffers.norms = floats(op.out[5]);
  buffers.attended = static_cast<char*>(buffers.heads) + 3 * AttentionStepSizes(shape).part * element_bytes(type_);
  cuda::WindowAttentionTensors tensors;
  tensors.qkv = in(op, 0);
  tensors.bias = in(op, 1);
  tensors.pad_qkv = in(op, 2);
  tensors.logit_scale = floats(op.in[3]);
  tensors.out = out(op);
  const std::string path = op.path.substr(0, op.path.rfind('.') + 1);
  const auto emit = [&](const std::string& name, OperationClass operation_class, const OperationCost& cost,
                        const ShapeExtents& input, const ShapeExtents& output, Run run) {
    steps_.push_back({RangeName(path + name), make_payload(cost, operation_class, options_.precision, input, output),
                      std::move(run)});
    serpentine_.went(false);
  };
  const auto prepare = [&](const cuda::MatmulShape& product) -> const cuda::Matmul& {
    return library_.prepare(product, stream_);
  };
  const auto order = op.windows ? cuda::TokenOrder::kWindow : cuda::TokenOrder::kImage;
  AttentionSteps(shape, options_.precision, order, buffers, emit, prepare).forward(tensors);
}

}  // namespace swinscope

#include "workloads/verify/step_attention.h"

#include "kernels/window_attention_steps.h"

namespace swinscope {
namespace {

Precision precision_of(ElementType type) {
  if (type == ElementType::kFp16) return Precision::kFp16;
  return type == ElementType::kBf16 ? Precision::kBf16 : Precision::kFp32;
}

float* floats(const DeviceTensor& tensor) { return static_cast<float*>(tensor.buffer.data()); }

}  // namespace

StepAttention::StepAttention(const WindowAttentionShape& shape, ElementType type, cuda::TokenOrder order,
                             const float* table, TensorFactory& make, cuda::MatmulLibrary& library)
    : heads_(make.output(3 * AttentionStepSizes(shape).part, type)),
      norms_(make.output(2 * AttentionStepSizes(shape).norms, ElementType::kFp32)),
      cosines_(make.output(AttentionStepSizes(shape).scores, ElementType::kFp32)),
      probabilities_(make.output(AttentionStepSizes(shape).scores, type)),
      scores_(make.output(AttentionStepSizes(shape).scores, ElementType::kFp32)),
      rounded_scores_(make.output(AttentionStepSizes(shape).scores, type)),
      head_gradients_(make.output(3 * AttentionStepSizes(shape).part, type)),
      attended_(make.output(AttentionStepSizes(shape).part, type)),
      bias_(make.output(shape.heads * shape.grid.window_tokens() * shape.grid.window_tokens(), ElementType::kFp32)),
      workspace_(attention_steps_workspace_bytes(shape, order)),
      steps_(
          shape, precision_of(type), order,
          {heads_.buffer.data(), floats(norms_), floats(cosines_), probabilities_.buffer.data(), floats(scores_),
           attended_.buffer.data(),
           // In fp32 the same memory, as in training.
           type == ElementType::kFp32 ? scores_.buffer.data() : rounded_scores_.buffer.data(),
           head_gradients_.buffer.data()},
          [stream = make.stream()](const std::string&, OperationClass, const OperationCost&, const ShapeExtents&,
                                   const ShapeExtents&, const std::function<void(cuda::Stream)>& run) { run(stream); },
          [&library, stream = make.stream()](const cuda::MatmulShape& product) -> const cuda::Matmul& {
            return library.prepare(product, stream);
          }) {
  cuda::steps::gather_position_bias(shape, table, floats(bias_), make.stream());
}

void StepAttention::forward(cuda::WindowAttentionTensors tensors) const {
  tensors.bias = bias_.data();
  steps_.forward(tensors);
}

void StepAttention::backward(cuda::WindowAttentionGradientTensors tensors) const {
  tensors.workspace = workspace_.data();
  steps_.backward(tensors);
}

}  // namespace swinscope

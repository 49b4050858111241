// Attention by steps for checks: with memory of its own, NaN at first, and each step run as it is made.
#pragma once

#include "kernels/matmul.h"
#include "kernels/window_attention.h"
#include "workloads/cuda/attention_steps.h"
#include "workloads/verify/device_tensor.h"

namespace swinscope {

class StepAttention {
 public:
  // table: [bias_table_rows(window), heads], on the device. The library is to live as long.
  StepAttention(const WindowAttentionShape& shape, ElementType type, cuda::TokenOrder order, const float* table,
                TensorFactory& make, cuda::MatmulLibrary& library);

  // Without bias and workspace: those are here.
  void forward(cuda::WindowAttentionTensors tensors) const;
  // After it.
  void backward(cuda::WindowAttentionGradientTensors tensors) const;

 private:
  DeviceTensor heads_, norms_, cosines_, probabilities_, scores_, rounded_scores_, head_gradients_, attended_, bias_;
  cuda::DeviceBuffer workspace_;
  AttentionSteps steps_;
};

}  // namespace swinscope

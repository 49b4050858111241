// Runs a graph by the device's kernels: makes lists of steps of its ops, each step a kernel or a few. Where tensors lie
// is decided by others (plan/memory_plan.h), before a list is made.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/convolution.h"
#include "kernels/delayed_scale.h"
#include "kernels/layernorm.h"
#include "kernels/matmul.h"
#include "workloads/cuda/attention_steps.h"
#include "workloads/cuda/device_step.h"
#include "workloads/cuda/device_weights.h"
#include "workloads/cuda/features.h"
#include "workloads/cuda/gradient_buckets.h"
#include "workloads/cuda/serpentine.h"
#include "workloads/device_communicator.h"
#include "workloads/graph/graph.h"
#include "workloads/parameters.h"

namespace swinscope {

struct CudaBackendOptions {
  Precision precision = Precision::kFp16;  // kFp32, kTf32, kFp16, kBf16, kFp8 or kInt8
  Features features;
  // That products and attention of the backward pass leave to the all-reduces that run beside them: a kernel whose
  // blocks fill the GPU takes twice as long where some of them have to wait.
  int spare_multiprocessors = 0;
  const DeviceWeights* weights = nullptr;  // inference: whose weights normalizations may bring into the L2 cache
  DeviceCommunicator* ranks = nullptr;     // that batches are normalized over; null: this one alone
};

// Where each tensor lies, by its place in the graph, and what kernels work on: workspace_bytes().
struct DeviceMemory {
  std::vector<void*> tensors;
  void* workspace = nullptr;
};

struct BackwardSteps {
  std::vector<DeviceStep> steps;
  std::vector<GradientMark> marks;  // ascending
};

// What the largest op wants.
std::int64_t workspace_bytes(const Graph& graph);
// How a model of this precision stores its activations.
DataType data_type_of(Precision precision);
cuda::MatmulShape product_of(const Op& linear, Precision precision);

class CudaBackend {
 public:
  // Graph, libraries and stream must outlive the steps that it makes. `convolutions` may be null without any.
  CudaBackend(const Graph& graph, const CudaBackendOptions& options, DeviceMemory memory, cuda::MatmulLibrary& library,
              cuda::ConvolutionLibrary* convolutions, cuda::Stream stream);

  // What follows from parameters alone.
  std::vector<DeviceStep> once() { return steps_of(graph_.once); }
  std::vector<DeviceStep> forward() { return steps_of(graph_.forward); }
  // accumulate: gradients of parameters are added to, else overwritten.
  BackwardSteps backward(bool accumulate, const ParameterLayout& parameters);

 private:
  using Run = std::function<void(cuda::Stream)>;

  std::vector<DeviceStep> steps_of(const std::vector<Op>& ops);
  void emit(const Op& op);
  void emit_map(const Op& op);
  void step(const Op& op, Run run, bool backwards = false);
  void step(const std::string& path, const OperationPayload& payload, Run run, bool backwards = false);
  void* at(TensorId id) const { return id == kNoTensor ? nullptr : memory_.tensors[static_cast<std::size_t>(id)]; }
  void* in(const Op& op, std::size_t index) const { return at(op.input(index)); }
  void* out(const Op& op, std::size_t index = 0) const { return index < op.out.size() ? at(op.out[index]) : nullptr; }
  float* floats(TensorId id) const { return static_cast<float*>(at(id)); }
  float* in_floats(const Op& op, std::size_t index) const { return floats(op.input(index)); }
  float* out_floats(const Op& op, std::size_t index) const { return static_cast<float*>(out(op, index)); }
  bool turn(bool can) { return serpentine_.against_the_last(can); }
  // Whether the result is added to an input, which must lie where the result does.
  bool in_place(const Op& op, std::size_t addend) const;
  DelayedScale* scale_at(int slot) const { return static_cast<DelayedScale*>(at(graph_.find(kByteScales))) + slot; }
  cuda::ByteCopy copy_to(TensorId bytes) const;
  // Of a result in 8 bits, beside it or in its place; and what is not: null then.
  cuda::ByteCopy copy_of(const Op& op) const;
  void* wide(const Op& op) const { return graph_.only_in_bytes(op) ? nullptr : out(op, rounded_index(op)); }
  std::int64_t rows(const Op& op) const { return graph_.at(op.out[0]).rows(); }

  // cuda_backend.cpp
  void linear(const Op& op);
  void quantized_linear(const Op& op);
  void multiply(const Op& op, const cuda::MatmulShape& shape, cuda::MatmulOperands operands);
  void quantize(const Op& op);
  void advance_scales(const Op& op);
  void byte_weights(const Op& op);
  void layernorm(const Op& op);
  void residual_norm(const Op& op);
  void narrow(const Op& op);
  void normalized_rows(const Op& op);
  void patches(const Op& op);
  // cuda_attention.cpp
  void attention(const Op& op);
  void attention_by_steps(const Op& op);
  AttentionSteps attention_steps(const Op& op, const AttentionStepBuffers& buffers);
  void qkv_attention(const Op& op);
  void expand_bias(const Op& op);
  void joint_bias(const Op& op);
  void position_bias(const Op& op);
  void copy_windows(const Op& op);
  void attention_backward(const Op& op);
  void joint_bias_backward(const Op& op);
  void position_bias_backward(const Op& op);
  // cuda_maps.cpp
  std::int64_t stride(TensorId id) const;
  void convolution(const Op& op);
  void batch_sums(const Op& op);
  void all_reduce(const Op& op);
  void batch_statistics(const Op& op);
  void batch_norm(const Op& op);
  void batch_norm_backward(const Op& op);
  void resize(const Op& op);
  void grid_pool(const Op& op);
  void tap_pack(const Op& op);
  void tap_product(const Op& op);
  void tap_gather(const Op& op);
  // cuda_gradients.cpp
  void emit_backward(const Op& op);
  void linear_backward(const Op& op);
  void byte_weight_gradient(const Op& op);
  void bias_backward(const Op& op);
  void layernorm_backward(const Op& op);
  void gelu_backward(const Op& op);
  void zero(const Op& op);

  const Graph& graph_;
  CudaBackendOptions options_;
  Precision product_precision_;  // of products in 8 bits, where there are any
  DeviceMemory memory_;
  cuda::MatmulLibrary& library_;
  cuda::ConvolutionLibrary* convolutions_;
  cuda::Stream stream_;
  ElementType type_;
  Serpentine serpentine_;
  // Of the list that is being made.
  std::vector<DeviceStep> steps_;
  bool accumulate_ = false;
};

}  // namespace swinscope

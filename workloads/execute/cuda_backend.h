// Runs the forward pass of a model's graph by the device's kernels: optimizes the graph by the passes that were asked
// for, gives its tensors places in one piece of device memory, and makes a list of steps, each a kernel or a few.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/layernorm.h"
#include "kernels/matmul.h"
#include "workloads/cuda/attention_steps.h"
#include "workloads/cuda/device_model.h"
#include "workloads/cuda/device_weights.h"
#include "workloads/cuda/serpentine.h"
#include "workloads/graph/graph.h"
#include "workloads/plan/memory_plan.h"

namespace swinscope {

// The model's graph for a device, optimized as the options say. `normalizes_result`: see PassContext.
Graph device_graph(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options,
                   const cuda::DeviceInfo& gpu,
                   const std::function<bool(const Op& linear, bool accumulates)>& normalizes_result);

class CudaBackend {
 public:
  // Weights, library and stream must outlive what it gives out. The memory is taken here, and what follows from the
  // weights alone is made on the stream.
  CudaBackend(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options, DeviceWeights& weights,
              cuda::MatmulLibrary& library, cuda::Stream stream, const cuda::DeviceInfo& gpu);

  const std::vector<DeviceStep>& steps() const { return steps_; }
  void* images() const { return images_.data(); }
  void* logits() const { return at(graph_.find("logits")); }
  // All activations become NaN.
  void poison(cuda::Stream stream) { arena_.poison(stream); }

 private:
  using Run = std::function<void(cuda::Stream)>;

  // What a list is made of: kernels to be run now, or steps of a pass.
  void emit(const Op& op);
  void step(const Op& op, Run run, bool backwards = false);
  void place();
  std::int64_t constant_bytes(TensorId id) const;
  void* at(TensorId id) const;
  void* in(const Op& op, std::size_t index) const { return at(op.input(index)); }
  void* out(const Op& op, std::size_t index = 0) const { return at(op.out[index]); }
  float* floats(TensorId id) const { return static_cast<float*>(at(id)); }
  bool turn(bool can) { return serpentine_.against_the_last(can); }
  std::int64_t rows(const Op& op) const { return graph_.at(op.out[0]).rows(); }

  void linear(const Op& op);
  void layernorm(const Op& op);
  void attention(const Op& op);
  void attention_by_steps(const Op& op);
  void qkv_attention(const Op& op);
  void expand_bias(const Op& op);
  void joint_bias(const Op& op);
  void position_bias(const Op& op);
  void copy_windows(const Op& op);
  void narrow(const Op& op);
  void normalized_rows(const Op& op);
  void patches(const Op& op);

  DeviceModelOptions options_;
  ElementType type_;
  DeviceWeights& weights_;
  cuda::MatmulLibrary& library_;
  cuda::Stream stream_;
  Graph graph_;
  cuda::DeviceBuffer images_, arena_;
  std::vector<void*> memory_;  // by tensor
  std::vector<DeviceStep> steps_;
  Serpentine serpentine_;
  bool once_ = false;  // what is emitted is run now
};

// Bytes of images, activations and logits in fp32, at most.
std::int64_t device_activation_bytes(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options);

}  // namespace swinscope

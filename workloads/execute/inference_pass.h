// A model's forward pass on a device: its graph, optimized by the passes that were asked for, the memory that it needs,
// and the steps that run it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/convolution.h"
#include "kernels/matmul.h"
#include "workloads/cuda/device_model.h"
#include "workloads/cuda/device_weights.h"
#include "workloads/graph/graph.h"

namespace swinscope {

// The model's graph for a device, optimized as the options say. `normalizes_result`: see PassContext.
Graph device_graph(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options,
                   const cuda::DeviceInfo& gpu,
                   const std::function<bool(const Op& linear, bool accumulates)>& normalizes_result);

class InferencePass {
 public:
  // Weights, libraries and stream must outlive it; segmentation has convolutions. The memory is taken here, and what
  // follows from the weights alone is made on the stream.
  InferencePass(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options, DeviceWeights& weights,
                cuda::MatmulLibrary& library, cuda::Stream stream, const cuda::DeviceInfo& gpu,
                cuda::ConvolutionLibrary* convolutions = nullptr);

  const std::vector<DeviceStep>& steps() const { return steps_; }
  void* images() const { return images_.data(); }
  void* logits() const { return named_.at("logits"); }
  // Where the graph's named tensors lie.
  const std::map<std::string, void*>& named() const { return named_; }
  std::int64_t bytes() const { return images_.bytes() + arena_.bytes(); }
  // All activations become NaN.
  void poison(cuda::Stream stream) { arena_.poison(stream); }

 private:
  Graph graph_;
  cuda::DeviceBuffer images_, arena_;
  std::map<std::string, void*> named_;
  std::vector<DeviceStep> steps_;
};

// Bytes of images, activations and logits in fp32, at most.
std::int64_t device_activation_bytes(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options);

}  // namespace swinscope

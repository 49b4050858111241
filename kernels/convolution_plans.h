// A convolution as cuDNN sees it, and the plans that it proposes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/convolution.h"
#include "kernels/cudnn_library.h"

namespace swinscope::cuda {

class ConvolutionGraph {
 public:
  // Throws cuda::Error where cuDNN refuses the problem. handle null: the operation alone, without the graph around it,
  // which needs no GPU.
  ConvolutionGraph(cudnnHandle_t handle, const ConvolutionProblem& problem);

  const CudnnDescriptor& graph() const { return graph_; }

  // Configurations of engines, best first by cuDNN's reckoning, then those of last resort.
  std::vector<CudnnDescriptor> configurations() const;
  // Whether an engine gives the same bits each time, and sums and operands the digits that the problem asks for.
  bool keeps_promises(const CudnnDescriptor& configuration) const;

 private:
  ConvolutionProblem problem_;
  CudnnDescriptor first_, second_, result_, convolution_, operation_, graph_;
};

class ConvolutionPlan : public Convolution {
 public:
  // Null where cuDNN does not support the configuration after all, or it needs more than `workspace_bytes`. handle and
  // workspace must outlive it.
  static std::unique_ptr<ConvolutionPlan> make(cudnnHandle_t handle, const CudnnDescriptor& configuration,
                                               void* workspace, std::int64_t workspace_bytes);

  void run(const void* first, const void* second, void* result, Stream stream) const override;
  cudnnStatus_t try_run(const void* first, const void* second, void* result, Stream stream) const;

 private:
  ConvolutionPlan(cudnnHandle_t handle, CudnnDescriptor plan, void* workspace)
      : handle_(handle), plan_(std::move(plan)), workspace_(workspace) {}

  cudnnHandle_t handle_;
  CudnnDescriptor plan_;
  void* workspace_;
};

}  // namespace swinscope::cuda

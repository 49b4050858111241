// Convolutions that are no products, by cuDNN. Internal to ConvolutionLibrary, and without cuDNN's headers: where a
// build has none, convolution_none.cpp takes the place of convolution_cudnn.cpp.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "kernels/convolution.h"

namespace swinscope::cuda {

class CudnnConvolutions {
 public:
  explicit CudnnConvolutions(const std::filesystem::path& cache_folder);
  ~CudnnConvolutions();
  CudnnConvolutions(const CudnnConvolutions&) = delete;
  CudnnConvolutions& operator=(const CudnnConvolutions&) = delete;
  CudnnConvolutions(CudnnConvolutions&&) = delete;
  CudnnConvolutions& operator=(CudnnConvolutions&&) = delete;

  // As ConvolutionLibrary's. What is returned must not outlive this.
  std::unique_ptr<Convolution> prepare(const ConvolutionProblem& problem, Stream stream);
  ConvolutionStatistics statistics() const;
  std::string choices() const;
  void finish_tuning();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace swinscope::cuda

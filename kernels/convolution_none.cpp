// In place of convolution_cudnn.cpp where cuDNN's headers were not found.
#include "kernels/convolution_cudnn.h"

namespace swinscope::cuda {
namespace {
constexpr const char* kWhy =
    "this build has no convolutions on a GPU: cuDNN's headers were not found; "
    "install cudnn9-cuda-13 or set CUDNN_ROOT, and build again";
}  // namespace

struct CudnnConvolutions::State {};

CudnnConvolutions::CudnnConvolutions(const std::filesystem::path& /*cache_folder*/) { throw Error(kWhy, false); }
CudnnConvolutions::~CudnnConvolutions() = default;

std::unique_ptr<Convolution> CudnnConvolutions::prepare(const ConvolutionProblem& /*problem*/, Stream /*stream*/) {
  throw Error(kWhy, false);
}
ConvolutionStatistics CudnnConvolutions::statistics() const { return {}; }
std::string CudnnConvolutions::choices() const { return {}; }
void CudnnConvolutions::finish_tuning() {}

int cudnn_version(std::string* why) {
  if (why != nullptr) *why = kWhy;
  return 0;
}

}  // namespace swinscope::cuda

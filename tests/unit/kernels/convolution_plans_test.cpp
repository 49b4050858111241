// What of cuDNN's plans can be seen without a GPU: that each operation is one that cuDNN accepts, and what is refused.
#include "kernels/convolution_plans.h"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "kernels/matmul.h"

namespace swinscope::cuda {
namespace {

ConvolutionProblem problem(ConvolutionPass pass, ElementType type, std::int64_t kernel) {
  ConvolutionProblem result;
  result.shape.batch = 8;
  result.shape.height = 128;
  result.shape.width = 96;
  result.shape.inputs = 2048;
  result.shape.outputs = 512;
  result.shape.kernel = kernel;
  result.pass = pass;
  result.operand_type = type;
  result.result_type = pass == ConvolutionPass::kWeightGradient ? ElementType::kFp32 : type;
  return result;
}

class ConvolutionPlans : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (cudnn_version(&why) == 0) GTEST_SKIP() << why;
  }
};

TEST_F(ConvolutionPlans, EveryOperationIsOneThatCudnnKnows) {
  EXPECT_GE(cudnn_version(nullptr), 90000);
  for (const ConvolutionPass pass :
       {ConvolutionPass::kForward, ConvolutionPass::kInputGradient, ConvolutionPass::kWeightGradient}) {
    for (const ElementType type : {ElementType::kFp32, ElementType::kFp16, ElementType::kBf16}) {
      for (const std::int64_t kernel : {3, 5})
        EXPECT_NO_THROW(ConvolutionGraph(nullptr, problem(pass, type, kernel)));
    }
  }
}

// The extents of the tensors are held against each other: exchanged ones would be refused, too.
TEST_F(ConvolutionPlans, ExtentsThatDoNotFitAreRefused) {
  ConvolutionProblem wrong = problem(ConvolutionPass::kForward, ElementType::kFp16, 3);
  wrong.shape.inputs = 0;
  try {
    const ConvolutionGraph graph(nullptr, wrong);
    FAIL() << "a map without channels was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("cudnnBackend"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace swinscope::cuda

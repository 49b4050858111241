// Every kernel against its CPU version in fp64: the checks of `swin verify`, one test a group.
#include <algorithm>
#include <string>

#include "kernels/convolution.h"
#include "kernels/hopper_product.h"
#include "tests/unit/workloads/gpu_test.h"
#include "workloads/verify/verify.h"

namespace swinscope {
namespace {

class DeviceKernels : public test::GpuTest, public testing::WithParamInterface<std::size_t> {};

TEST_P(DeviceKernels, KeepTheirTolerances) {
  if (kernel_checks()[GetParam()].name.ends_with("product tiles") && !cuda::hopper::offered()) {
    GTEST_SKIP() << "the kernel is for compute capability 9.0";
  }
  std::string why;
  if (kernel_checks()[GetParam()].name == "convolution" && cuda::cudnn_version(&why) == 0) GTEST_SKIP() << why;
  int rows = 0;
  const VerifyReport report = [&](const VerifyRow& row) {
    ++rows;
    EXPECT_TRUE(row.passed()) << row.what << " in " << row.precision << ": error " << row.error << ", allowed "
                              << row.tolerance;
  };
  kernel_checks()[GetParam()].run(report, {});
  EXPECT_GT(rows, 5);
}

INSTANTIATE_TEST_SUITE_P(Checks, DeviceKernels, testing::Range(std::size_t{0}, kernel_checks().size()),
                         [](const auto& index) {
                           std::string name = kernel_checks()[index.param].name;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

}  // namespace
}  // namespace swinscope

#include "kernels/relu.h"

#include "tests/unit/kernels/support.h"

namespace swinscope {
namespace {

TEST(Relu, ByHand) {
  std::vector<double> x{-1.0, 0.0, 2.0, std::numeric_limits<double>::quiet_NaN()};
  cpu::relu_forward<double>(4, x.data(), x.data());
  EXPECT_EQ(x[0], 0.0);
  EXPECT_EQ(x[1], 0.0);
  EXPECT_EQ(x[2], 2.0);
  EXPECT_TRUE(std::isnan(x[3])) << "a value that is not a number must not be hidden";
  std::vector<double> dy{5.0, 6.0, 7.0, 8.0};
  cpu::relu_backward<double>(4, x.data(), dy.data(), dy.data());
  EXPECT_EQ(dy, (std::vector<double>{0.0, 0.0, 7.0, 8.0}));
}

}  // namespace
}  // namespace swinscope

#include "kernels/channels.h"

#include <stdexcept>

#include "tests/unit/kernels/support.h"

namespace swinscope {
namespace {

TEST(Channels, ConcatenatesAndTakesApart) {
  const std::vector<double> a{1, 2, 3, 4};  // two rows of two
  const std::vector<double> b{5, 6};        // two rows of one
  auto joined = test::poisoned(6);
  cpu::copy_channels<double>({2, 2, 2, 3}, a.data(), false, joined.data());
  cpu::copy_channels<double>({2, 1, 1, 3}, b.data(), false, joined.data() + 2);
  EXPECT_EQ(joined, (std::vector<double>{1, 2, 5, 3, 4, 6}));
  std::vector<double> part{10, 20, 30, 40};
  cpu::copy_channels<double>({2, 2, 3, 2}, joined.data(), true, part.data());
  EXPECT_EQ(part, (std::vector<double>{11, 22, 33, 44}));
  EXPECT_THROW(cpu::copy_channels<double>({2, 2, 1, 3}, a.data(), false, joined.data()), std::invalid_argument);
}

}  // namespace
}  // namespace swinscope

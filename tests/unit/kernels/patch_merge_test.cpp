#include "kernels/patch_merge.h"

#include "tests/unit/kernels/support.h"

namespace swinscope {
namespace {

using test::poisoned;
using test::Random;

// Tokens coded as 1000 * image + 100 * y + 10 * x + channel + 1, so that zero is padding only.
std::vector<double> coded_map(const PatchMergeShape& s) {
  std::vector<double> x;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t i = 0; i < s.height; ++i) {
      for (std::int64_t j = 0; j < s.width; ++j) {
        for (std::int64_t c = 0; c < s.channels; ++c) {
          x.push_back(static_cast<double>(1000 * b + 100 * i + 10 * j + c + 1));
        }
      }
    }
  }
  return x;
}

TEST(PatchMerge, GroupsStandColumnByColumn) {
  const PatchMergeShape shape{.batch = 1, .height = 2, .width = 4, .channels = 1};
  const auto x = coded_map(shape);
  auto y = poisoned(8);
  cpu::patch_merge_forward(shape, x.data(), y.data());
  EXPECT_EQ(y, (std::vector<double>{1, 101, 11, 111, 21, 121, 31, 131}));
}

TEST(PatchMerge, OddMapsArePaddedBelowAndToTheRight) {
  const PatchMergeShape shape{.batch = 2, .height = 3, .width = 3, .channels = 2};
  const auto x = coded_map(shape);
  auto y = poisoned(shape.merged_tokens() * 8);
  cpu::patch_merge_forward(shape, x.data(), y.data());
  ASSERT_EQ(shape.merged_tokens(), 8);
  const std::vector<double> last_of_first(y.begin() + 24, y.begin() + 32);
  EXPECT_EQ(last_of_first, (std::vector<double>{221, 222, 0, 0, 0, 0, 0, 0}));
  const std::vector<double> right_of_second(y.begin() + 40, y.begin() + 48);
  EXPECT_EQ(right_of_second, (std::vector<double>{1021, 1022, 1121, 1122, 0, 0, 0, 0}));
}

TEST(PatchMerge, BackwardIsTheAdjointAndWritesEveryToken) {
  Random random(1);
  for (const auto& [height, width] : {std::array<std::int64_t, 2>{4, 6}, {5, 3}, {1, 1}, {2, 7}}) {
    const PatchMergeShape shape{.batch = 2, .height = height, .width = width, .channels = 3};
    auto x = random.normal(shape.batch * height * width * 3);
    const auto dy = random.normal(shape.merged_tokens() * 12);
    auto dx = poisoned(shape.batch * height * width * 3);
    cpu::patch_merge_backward(shape, dy.data(), dx.data());
    test::expect_gradient(
        "x", x,
        [&] {
          auto y = poisoned(shape.merged_tokens() * 12);
          cpu::patch_merge_forward(shape, x.data(), y.data());
          return test::dot(y, dy);
        },
        dx);
  }
}

}  // namespace
}  // namespace swinscope

#include "kernels/gemm.h"

#include <stdexcept>

#include "tests/unit/kernels/support.h"

namespace swinscope {
namespace {

using test::poisoned;
using test::Random;
using test::relative_error;
using test::to_size;

// Three loops over the definition.
std::vector<double> direct_product(const GemmShape& s, double alpha, const std::vector<double>& a,
                                   const std::vector<double>& b, double beta, std::vector<double> c) {
  const std::int64_t lda = s.lda != 0 ? s.lda : (s.transpose_a == Transpose::kYes ? s.m : s.k);
  const std::int64_t ldb = s.ldb != 0 ? s.ldb : (s.transpose_b == Transpose::kYes ? s.k : s.n);
  const std::int64_t ldc = s.ldc != 0 ? s.ldc : s.n;
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      double sum = 0.0;
      for (std::int64_t l = 0; l < s.k; ++l) {
        const double left = a[to_size(s.transpose_a == Transpose::kYes ? l * lda + i : i * lda + l)];
        const double right = b[to_size(s.transpose_b == Transpose::kYes ? j * ldb + l : l * ldb + j)];
        sum += left * right;
      }
      double& target = c[to_size(i * ldc + j)];
      target = alpha * sum + (beta == 0.0 ? 0.0 : beta * target);
    }
  }
  return c;
}

// Sizes below, at and above the tile limits, each with every combination of transposes.
TEST(Gemm, EqualsTheDefinitionForAllTransposesAndTiles) {
  Random random(1);
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1},
                                {49, 49, 32},
                                {3, 700, 5},
                                {1100, 2, 9},
                                {130, 1030, 33},
                                {515, 513, 17},
                                {64, 64, 2048}}) {
    for (const Transpose ta : {Transpose::kNo, Transpose::kYes}) {
      for (const Transpose tb : {Transpose::kNo, Transpose::kYes}) {
        const GemmShape shape{.m = m, .n = n, .k = k, .transpose_a = ta, .transpose_b = tb};
        const auto a = random.normal(m * k);
        const auto b = random.normal(k * n);
        auto c = random.normal(m * n);
        const auto expected = direct_product(shape, 0.7, a, b, -1.5, c);
        cpu::gemm(shape, 0.7, a.data(), b.data(), -1.5, c.data());
        EXPECT_LT(relative_error(c, expected), 1e-14) << m << " " << n << " " << k;
      }
    }
  }
}

TEST(Gemm, LeadingDimensionsLeaveTheRestOfTheRowsAlone) {
  Random random(2);
  const GemmShape shape{.m = 70, .n = 90, .k = 40, .transpose_b = Transpose::kYes, .lda = 45, .ldb = 41, .ldc = 100};
  const auto a = random.normal(shape.m * shape.lda);
  const auto b = random.normal(shape.n * shape.ldb);
  const auto before = random.normal(shape.m * shape.ldc);
  auto c = before;
  cpu::gemm(shape, 1.0, a.data(), b.data(), 1.0, c.data());
  EXPECT_LT(relative_error(c, direct_product(shape, 1.0, a, b, 1.0, before)), 1e-14);
  for (std::int64_t i = 0; i < shape.m; ++i) {
    for (std::int64_t j = shape.n; j < shape.ldc; ++j) {
      ASSERT_EQ(c[to_size(i * shape.ldc + j)], before[to_size(i * shape.ldc + j)]);
    }
  }
}

template <typename T>
void expect_beta_zero_ignores_nan() {
  Random random(3);
  for (const std::int64_t extent : {std::int64_t{7}, std::int64_t{49}, std::int64_t{200}}) {
    const GemmShape shape{.m = extent, .n = extent, .k = 32};
    const auto a = random.normal<T>(extent * 32);
    const auto b = random.normal<T>(32 * extent);
    auto c = poisoned<T>(extent * extent);
    cpu::gemm(shape, T{1}, a.data(), b.data(), T{0}, c.data());
    const std::vector<double> zero(c.size(), 0.0);
    const auto expected = direct_product(shape, 1.0, test::converted<double>(a), test::converted<double>(b), 0.0, zero);
    EXPECT_LT(relative_error(c, expected), 10.0 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  }
}

TEST(Gemm, BetaZeroDoesNotReadC) {
  expect_beta_zero_ignores_nan<float>();
  expect_beta_zero_ignores_nan<double>();
}

TEST(Gemm, EmptyInnerExtentScalesC) {
  std::vector<double> c{1.0, 2.0, 3.0, 4.0};
  cpu::gemm<double>({.m = 2, .n = 2, .k = 0}, 1.0, nullptr, nullptr, 0.5, c.data());
  EXPECT_EQ(c, (std::vector<double>{0.5, 1.0, 1.5, 2.0}));
  c[0] = std::numeric_limits<double>::quiet_NaN();
  cpu::gemm<double>({.m = 2, .n = 2, .k = 0}, 1.0, nullptr, nullptr, 0.0, c.data());
  EXPECT_EQ(c, (std::vector<double>{0.0, 0.0, 0.0, 0.0}));
  cpu::gemm<double>({.m = 0, .n = 2, .k = 3}, 1.0, nullptr, nullptr, 0.0, nullptr);
}

TEST(Gemm, RefusesWhatBlasWouldMisread) {
  std::vector<double> x(16, 1.0);
  const auto call = [&](const GemmShape& shape) { cpu::gemm(shape, 1.0, x.data(), x.data(), 0.0, x.data()); };
  EXPECT_THROW(call({.m = -1, .n = 1, .k = 1}), std::invalid_argument);
  EXPECT_THROW(call({.m = 2, .n = 2, .k = 2, .lda = 1}), std::invalid_argument);
  EXPECT_THROW(call({.m = 2, .n = 2, .k = 2, .ldb = 1}), std::invalid_argument);
  EXPECT_THROW(call({.m = 2, .n = 2, .k = 2, .ldc = 1}), std::invalid_argument);
  EXPECT_THROW(call({.m = 1, .n = 1, .k = std::int64_t{1} << 31}), std::invalid_argument);
}

}  // namespace
}  // namespace swinscope

#include "kernels/matmul_tuning.h"

#include <limits>

#include <gtest/gtest.h>

namespace swinscope::cuda {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

TEST(MatmulChoice, TheFasterKernelIsTakenForManyRows) {
  EXPECT_TRUE(takes_own_kernel(25088, 82.0, 97.0));
  EXPECT_FALSE(takes_own_kernel(25088, 97.1, 97.0));
}

// 196 x 2304 x 768 on an H200: 5.01 us against 4.66, and the pass is faster with the former.
TEST(MatmulChoice, WithFewRowsTheOwnKernelMayTakeAMicrosecondMore) {
  EXPECT_TRUE(takes_own_kernel(196, 5.01, 4.66));
  EXPECT_TRUE(takes_own_kernel(256, 5.60, 4.66));
  EXPECT_FALSE(takes_own_kernel(196, 5.70, 4.66));
  EXPECT_FALSE(takes_own_kernel(257, 5.01, 4.66));
}

TEST(MatmulChoice, WhatCannotDoItIsNotTaken) {
  EXPECT_FALSE(takes_own_kernel(196, kNever, 4.66));
  EXPECT_TRUE(takes_own_kernel(196, 5.01, kNever));
  EXPECT_FALSE(takes_own_kernel(196, kNever, kNever));
}

}  // namespace
}  // namespace swinscope::cuda

// For tests that need a GPU: skipped, and said so, where there is none; a failure where SWINSCOPE_REQUIRE_GPU is set.
#pragma once

#include <cstdlib>

#include <gtest/gtest.h>

#include "kernels/device.h"

namespace swinscope::test {

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda::device_count() > 0) return;
    if (std::getenv("SWINSCOPE_REQUIRE_GPU") != nullptr) FAIL() << "SWINSCOPE_REQUIRE_GPU is set and no GPU answers";
    GTEST_SKIP() << "no GPU answers";
  }
};

}  // namespace swinscope::test

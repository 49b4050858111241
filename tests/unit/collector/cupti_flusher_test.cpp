// The thread that flushes CUPTI, and what its caller does meanwhile.
#include "collector/cupti/cupti_flusher.h"

#include <semaphore>
#include <stdexcept>

#include <gtest/gtest.h>

#include "tests/unit/collector/fake_cupti.h"

namespace swinscope {
namespace {

// A flush ends when it is told to.
class HeldCupti : public test::FakeCupti {
 public:
  explicit HeldCupti(test::FakeCuptiState& state) : FakeCupti(state) {}

  cupti::Result flush(std::uint32_t flags) override {
    go.acquire();
    return FakeCupti::flush(flags);
  }

  std::counting_semaphore<8> go{0};
};

class CuptiFlusherTest : public ::testing::Test {
 protected:
  test::FakeCuptiState state;
  HeldCupti cupti{state};
  CuptiFlusher flusher{cupti};
};

TEST_F(CuptiFlusherTest, TheCallerWorksUntilTheFlushIsDone) {
  int calls = 0;
  flusher.flush([&] {
    if (++calls == 3) cupti.go.release();
  });
  EXPECT_GE(calls, 3);
  EXPECT_EQ(state.flushes, 1);
}

TEST_F(CuptiFlusherTest, WhatTheCallerThrowsComesAfterTheFlush) {
  const auto fail = [&] {
    cupti.go.release();
    throw std::runtime_error("the disk is full");
  };
  EXPECT_THROW(flusher.flush(fail), std::runtime_error);
  EXPECT_EQ(state.flushes, 1);
  cupti.go.release();
  flusher.flush([] {});
  EXPECT_EQ(state.flushes, 2);
}

}  // namespace
}  // namespace swinscope

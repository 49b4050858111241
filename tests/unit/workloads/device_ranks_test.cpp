// Ranks in processes of their own, each with a device. Built twice, as device_rank_worker.cpp is.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/device.h"
#include "tests/unit/workloads/gpu_test.h"
#include "tests/unit/workloads/rank_runs.h"

namespace swinscope {
namespace {

using test::Finished;
using test::Subprocess;
using testing::HasSubstr;

class DeviceRanks : public test::GpuTest, protected test::RankRuns {
 protected:
  DeviceRanks() : RankRuns(worker()) {}

  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
#ifndef SWINSCOPE_HOST_DEVICE
    if (cuda::device_count() < 2) GTEST_SKIP() << "2 GPUs are needed and " << cuda::device_count() << " answers";
#endif
  }

  // Beside this program, wherever both are copied.
  static std::filesystem::path worker() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / SWINSCOPE_RANK_WORKER;
  }

  void run(int size, std::int64_t batch, const std::vector<std::string>& extra = {}) const {
    std::vector<Subprocess> ranks;
    ranks.reserve(static_cast<std::size_t>(size));
    for (int rank = 0; rank < size; ++rank)
      ranks.push_back(start(rank, size, batch, extra));
    for (Subprocess& rank : ranks) {
      const Finished finished = rank.wait_at_most(std::chrono::seconds(120));
      ASSERT_EQ(finished.status, 0) << finished.err;
    }
  }

  void expect_same_bits() const {
    for (const char* tensor : {"gradients", "parameters", "second_moments", "loss", "norm", "state", "evaluation"})
      EXPECT_EQ(result("2.0", tensor), result("2.1", tensor)) << tensor;
  }
};

TEST_F(DeviceRanks, TwoEqualOneOnTheJoinedBatch) {
  for (const char* graph : {"0", "1"}) {
    run(1, 4, {"--graph", graph});
    run(2, 2, {"--graph", graph});
    EXPECT_LT(difference("2.0", "1.0", "gradients"), 1e-5);
    EXPECT_LT(difference("2.0", "1.0", "loss"), 1e-5);
    EXPECT_LT(difference("2.0", "1.0", "norm"), 1e-4);
    EXPECT_LT(difference("2.0", "1.0", "evaluation"), 1e-4);
    EXPECT_EQ(result("2.0", "accuracy").front(), result("1.0", "accuracy").front());
    EXPECT_EQ(result("2.0", "state"), result("1.0", "state"));
    expect_same_bits();
  }
}

// Each rank adds up a part; with three the parts are no power of two, and the last bucket goes beyond the gradients.
TEST_F(DeviceRanks, CopiesSumUpAsKernelsDo) {
  for (const char* graph : {"0", "1"}) {
    run(1, 4, {"--graph", graph});
    run(2, 2, {"--graph", graph, "--all-reduce", "copies"});
    EXPECT_LT(difference("2.0", "1.0", "gradients"), 1e-5);
    EXPECT_LT(difference("2.0", "1.0", "norm"), 1e-4);
    EXPECT_LT(difference("2.0", "1.0", "evaluation"), 1e-4);
    EXPECT_EQ(result("2.0", "state"), result("1.0", "state"));
    expect_same_bits();
  }
  for (const auto& [type, tolerance] : {std::pair("fp16", 1e-3), std::pair("bf16", 6e-3)}) {
    run(2, 2, {"--reduce", type, "--graph", "1", "--all-reduce", "copies"});
    EXPECT_LT(difference("2.0", "1.0", "gradients"), tolerance);
    expect_same_bits();
  }
}

TEST_F(DeviceRanks, CopiesOfThreeRanks) {
#ifndef SWINSCOPE_HOST_DEVICE
  if (cuda::device_count() < 3) GTEST_SKIP() << "3 GPUs are needed and " << cuda::device_count() << " answer";
#endif
  run(1, 6);
  run(3, 2, {"--graph", "1", "--all-reduce", "copies"});
  EXPECT_LT(difference("3.0", "1.0", "gradients"), 1e-5);
  EXPECT_LT(difference("3.0", "1.0", "loss"), 1e-5);
  EXPECT_EQ(result("3.0", "parameters"), result("3.2", "parameters"));
}

#ifndef SWINSCOPE_HOST_DEVICE
// Devices in host memory are connected by processes, which choose nothing.
TEST_F(DeviceRanks, AutoIsCopiesUnlessDirectAccessIsDisabled) {
  cuda::use_device(1);
  const std::string second = cuda::device_unique_id();
  cuda::use_device(0);
  const std::vector<std::string> accessible = cuda::accessible_devices();
  if (std::ranges::find(accessible, second) == accessible.end())
    GTEST_SKIP() << "the first two GPUs cannot access each other";
  for (const char* disabled : {"0", "1"}) {
    ASSERT_EQ(::setenv("NCCL_P2P_DISABLE", disabled, 1), 0);
    run(2, 2, {"--all-reduce", "auto"});
    for (const char* rank : {"2.0", "2.1"})
      EXPECT_EQ(result(rank, "by_copies").front(), *disabled == '0' ? 1.0 : 0.0) << "NCCL_P2P_DISABLE=" << disabled;
    expect_same_bits();
  }
  ::unsetenv("NCCL_P2P_DISABLE");
}
#endif

// Normalized over the batch of both, and the mean of the loss is over the pixels of both. Statistics are those after
// four updates, to which AdamW gives small gradients as much weight as large ones: on GPUs, whose convolutions are
// other ones for another batch, they differ by up to 3e-4.
TEST_F(DeviceRanks, TwoSegmentAsOneDoesOnTheJoinedBatch) {
  for (const char* graph : {"0", "1"}) {
    run(1, 4, {"--task", "segmentation", "--graph", graph});
    run(2, 2, {"--task", "segmentation", "--graph", graph});
    EXPECT_LT(difference("2.0", "1.0", "gradients"), 1e-5);
    EXPECT_LT(difference("2.0", "1.0", "loss"), 1e-5);
    EXPECT_LT(difference("2.0", "1.0", "buffers"), 1e-3) << "running statistics, of four steps";
    EXPECT_LT(difference("2.0", "1.0", "evaluation"), 1e-3);
    EXPECT_EQ(result("2.0", "buffers"), result("2.1", "buffers"));
    expect_same_bits();
  }
}

TEST_F(DeviceRanks, OnlyTheLastOfSeveralBatchesIsSummedUp) {
  for (const char* graph : {"0", "1"}) {
    run(1, 12);
    run(2, 2, {"--graph", graph, "--accumulate", "3"});
    EXPECT_LT(difference("2.0", "1.0", "gradients"), 1e-5);
    EXPECT_LT(difference("2.0", "1.0", "loss"), 1e-5);
    expect_same_bits();
  }
}

TEST_F(DeviceRanks, SixteenBitsAreNearTheJoinedBatch) {
  run(1, 4, {"--precision", "fp16", "--graph", "1"});
  run(2, 2, {"--precision", "fp16", "--graph", "1"});
  EXPECT_LT(difference("2.0", "1.0", "gradients"), 2e-3);
  expect_same_bits();
  run(2, 2, {"--precision", "fp16", "--reduce", "fp16", "--graph", "1"});
  EXPECT_LT(difference("2.0", "1.0", "gradients"), 2e-3);
  expect_same_bits();
}

TEST_F(DeviceRanks, RoundedSumsAreThoseOfTheirType) {
  run(1, 4);
  for (const auto& [type, tolerance] : {std::pair("fp16", 1e-3), std::pair("bf16", 6e-3)}) {
    run(2, 2, {"--reduce", type});
    EXPECT_LT(difference("2.0", "1.0", "gradients"), tolerance);
    // Rounded they were.
    EXPECT_GT(difference("2.0", "1.0", "gradients"), 1e-2 * tolerance);
    expect_same_bits();
  }
}

// A rank asks in its third step, when others may have begun the fourth.
TEST_F(DeviceRanks, AllEndAfterTheSameStep) {
  std::vector<Subprocess> ranks;
  ranks.push_back(start(0, 2, 1, {"--steps", "8"}));
  ranks.push_back(start(1, 2, 1, {"--steps", "8", "--stop", "2"}));
  for (Subprocess& rank : ranks) {
    const Finished finished = rank.wait_at_most(std::chrono::seconds(120));
    ASSERT_EQ(finished.status, 0) << finished.err;
  }
  EXPECT_EQ(result("2.0", "loss").size(), 4U);
  expect_same_bits();
}

// What sums up waits for the dead rank in kernels or in the copy engines: both have to end.
class DeviceRanksThatFail : public DeviceRanks, public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(By, DeviceRanksThatFail, ::testing::Values("kernels", "copies"),
                         [](const auto& by) { return std::string(by.param); });

TEST_P(DeviceRanksThatFail, TheOthersEndAndNameARankThatIsKilled) {
  const std::vector<std::string> options = {"--steps", "1000", "--graph", "1", "--all-reduce", GetParam()};
  std::vector<std::string> dying = options;
  dying.insert(dying.end(), {"--die", "5"});
  Subprocess first = start(0, 2, 1, options);
  Subprocess killed = start(1, 2, 1, dying);
  const std::string process = std::to_string(killed.pid());
  const Finished finished = first.wait_at_most(std::chrono::seconds(30));
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, HasSubstr("rank 1 of 2 (host "));
  EXPECT_THAT(finished.err, HasSubstr("process " + process));
  EXPECT_THAT(finished.err, HasSubstr("died"));
  EXPECT_EQ(killed.wait().status, 128 + SIGKILL);
}

// It lives, but never gives its part of a sum.
TEST_P(DeviceRanksThatFail, TheOthersEndAndNameARankThatHangs) {
  const std::vector<std::string> options = {"--steps", "1000", "--hang-after", "2000", "--all-reduce", GetParam()};
  std::vector<std::string> hanging = options;
  hanging.insert(hanging.end(), {"--hang", "5"});
  Subprocess first = start(0, 2, 1, options);
  Subprocess second = start(1, 2, 1, hanging);
  for (Subprocess* rank : {&first, &second}) {
    const Finished finished = rank->wait_at_most(std::chrono::seconds(60));
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("rank 1 of 2 (host "));
    EXPECT_THAT(finished.err, HasSubstr("hangs"));
  }
}

}  // namespace
}  // namespace swinscope

// A group of ranks over a connection between devices, which lie in host memory here and belong to one rank.
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/workloads/host_device_memory.h"
#include "tests/unit/workloads/subprocess.h"
#include "workloads/cuda/device_ranks.h"
#include "workloads/cuda/staged_transport.h"
#include "workloads/device_communicator.h"
#include "workloads/error.h"
#include "workloads/process_group.h"

namespace swinscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// What the device and the test know of each other.
struct Line {
  std::mutex mutex;
  std::string trouble;
  std::string refusal;  // of the next operation
  std::atomic<bool> aborted = false;
};

// As if another rank had the same numbers.
class Doubling : public DeviceTransport {
 public:
  explicit Doubling(Line& line) : line_(line) {}

  void all_reduce_sum(void* values, std::int64_t count, ReduceType type, cuda::Stream stream) override {
    refuse();
    test::launch(stream, [=] {
      for (std::int64_t i = 0; i < count; ++i) {
        if (type == ReduceType::kFp32) static_cast<float*>(values)[i] *= 2.0F;
        if (type == ReduceType::kFp64) static_cast<double*>(values)[i] *= 2.0;
      }
    });
  }
  void broadcast(void* data, std::int64_t bytes, int root, cuda::Stream stream) override {
    refuse();
    test::launch(stream, [=] { static_cast<char*>(data)[bytes - 1] = static_cast<char>('0' + root); });
  }
  std::shared_ptr<void> allocate(std::int64_t bytes) override {
    refuse();
    return std::make_shared<std::vector<char>>(static_cast<std::size_t>(bytes));
  }
  void all_to_all(const void*, void*, std::int64_t, ReduceType, cuda::Stream) override { refuse(); }
  void all_gather(void*, std::int64_t, ReduceType, cuda::Stream) override { refuse(); }
  std::optional<std::string> trouble() noexcept override {
    const std::lock_guard lock(line_.mutex);
    return line_.trouble.empty() ? std::nullopt : std::optional(line_.trouble);
  }
  void abort() noexcept override { line_.aborted = true; }

 private:
  void refuse() const {
    if (!line_.refusal.empty()) throw std::runtime_error(line_.refusal);
  }
  Line& line_;
};

class ConnectedGpus : public testing::Test {
 protected:
  ConnectedGpus() {
    RankInfo info{0, 1, 0, "test"};
    info.gpu = {2, "GPU-2"};
    RendezvousOptions options;
    options.folder = folder_.path() / "ranks";
    group_ = connect_ranks(info, {}, options, [this](const RankMeeting&, const std::function<bool()>&) {
      return std::make_unique<StagedTransport>(std::make_unique<Doubling>(line_));
    });
  }

  std::string failure() {
    while (true) {
      try {
        group_->gpus()->require_all();
      } catch (const WorkloadError& error) {
        return error.what();
      }
      std::this_thread::yield();
    }
  }

  test::TemporaryFolder folder_;
  Line line_;
  std::unique_ptr<ProcessGroup> group_;
};

TEST_F(ConnectedGpus, CarryTheNumbersOfTheHost) {
  std::vector<float> floats = {1.0F, -2.5F};
  group_->all_reduce_sum(std::span<float>(floats));
  EXPECT_THAT(floats, ElementsAre(2.0F, -5.0F));
  std::vector<double> doubles = {0.1, 1e300, 3.0};
  group_->all_reduce_sum(std::span<double>(doubles));
  EXPECT_THAT(doubles, ElementsAre(0.2, 2e300, 6.0));
  std::string text = "abc";
  group_->broadcast(std::as_writable_bytes(std::span(text)), 0);
  EXPECT_EQ(text, "ab0");
  group_->barrier();
}

TEST_F(ConnectedGpus, AnErrorNamesRankGpuAndWhatToDo) {
  line_.refusal = "ncclAllReduce: invalid usage";
  float value = 1.0F;
  try {
    group_->gpus()->all_reduce_sum(&value, 1, ReduceType::kFp32, nullptr);
    FAIL() << "it was done";
  } catch (const WorkloadError& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 0 of 1 (host "));
    EXPECT_THAT(error.what(), HasSubstr("GPU 2): ncclAllReduce: invalid usage"));
    EXPECT_THAT(error.hint(), HasSubstr("NCCL_DEBUG=INFO"));
  }
}

TEST_F(ConnectedGpus, MemoryForCopiesThatCannotBeHadIsAnError) {
  EXPECT_NE(group_->gpus()->allocate(64), nullptr);
  line_.refusal = "--all-reduce copies: this machine's NCCL is older than 2.28";
  try {
    (void)group_->gpus()->allocate(64);
    FAIL() << "it was taken";
  } catch (const WorkloadError& error) {
    EXPECT_THAT(error.what(), HasSubstr("GPU 2): --all-reduce copies: this machine's NCCL is older than 2.28"));
  }
}

TEST_F(ConnectedGpus, TroubleThatNobodyCausedIsThisRanksFailure) {
  group_->gpus()->require_all();
  {
    const std::lock_guard lock(line_.mutex);
    line_.trouble = "NCCL: unhandled system error";
  }
  EXPECT_THAT(failure(), HasSubstr("GPU 2) failed: NCCL: unhandled system error"));
  EXPECT_TRUE(line_.aborted);
  float value = 1.0F;
  EXPECT_THROW(group_->all_reduce_sum(std::span(&value, 1)), WorkloadError) << "no result any more";
}

// The device of the tests is one: whoever is not its first rank sees none but that.
TEST(TakeGpu, AnOnlyGpuIsTheRanks) {
  const RankInfo taken = take_gpu({3, 4, 3, "test"});
  EXPECT_EQ(taken.gpu.index, 0);
  EXPECT_EQ(taken.gpu.id, "host memory");
  EXPECT_EQ(taken.rank, 3);
}

// Two ranks of one machine, started with --all-reduce auto, that can sum up by copies.
class ChooseAllReduce : public testing::Test {
 protected:
  ChooseAllReduce() {
    for (int rank = 0; rank < 2; ++rank) {
      RankInfo info{rank, 2, rank, "test"};
      info.gpu = {rank, rank == 0 ? "GPU-0" : "GPU-1", {rank == 0 ? "GPU-1" : "GPU-0"}, kAllReduceAuto};
      meeting_.cards.push_back(make_card(info, {}));
    }
  }
  std::string choose() const {
    std::string choice = choose_all_reduce(meeting_);
    RankMeeting other = meeting_;
    other.info.rank = 1;
    EXPECT_EQ(choose_all_reduce(other), choice) << "the same on all ranks";
    return choice;
  }

  RankMeeting meeting_;
};

TEST_F(ChooseAllReduce, CopiesWhereAllCan) { EXPECT_EQ(choose(), "copies"); }

TEST_F(ChooseAllReduce, KernelsOnTwoMachines) {
  meeting_.cards[1].machine = "another";
  EXPECT_EQ(choose(), "kernels");
}

TEST_F(ChooseAllReduce, KernelsWhereOneGpuCannotAccessAnother) {
  meeting_.cards[1].gpu.accessible = {"GPU-2"};
  EXPECT_EQ(choose(), "kernels");
}

TEST_F(ChooseAllReduce, KernelsWhereOneRankSaysSo) {
  meeting_.cards[1].gpu.all_reduce = kAllReduceKernels;
  EXPECT_EQ(choose(), "kernels");
}

TEST_F(ChooseAllReduce, KernelsOfOneRank) {
  meeting_.cards.resize(1);
  EXPECT_EQ(choose_all_reduce(meeting_), "kernels");
}

// The others do not see the checkpoint.
TEST_F(ChooseAllReduce, AsTheCheckpointOfRankZeroSays) {
  meeting_.cards[0].gpu.all_reduce = kAllReduceKernels;
  EXPECT_EQ(choose(), "kernels");
  meeting_.cards[0].gpu.all_reduce = kAllReduceCopies;
  meeting_.cards[0].gpu.accessible.clear();
  EXPECT_EQ(choose(), "copies");
}

TEST_F(ChooseAllReduce, WhatDecidesIsOnTheCards) {
  for (RankCard& card : meeting_.cards)
    card = parse_card(to_text(card)).value();
  EXPECT_EQ(choose(), "copies");
}

TEST(OwnAllReduce, IsKernelsWithoutNcclsFunctionsOrAccessOrWithRoomForThem) {
  const auto disabled = [](const char* value) {
    return [value](const char* name) { return std::string(name) == "NCCL_P2P_DISABLE" ? value : nullptr; };
  };
  const auto wanting = [](const char* all_reduce, int most_blocks = 0) {
    return GpuRankOptions{{}, most_blocks, all_reduce};
  };
  EXPECT_EQ(own_all_reduce(wanting("auto"), true, disabled(nullptr)), "auto");
  EXPECT_EQ(own_all_reduce(wanting("auto", 8), true, disabled(nullptr)), "kernels");
  EXPECT_EQ(own_all_reduce(wanting("copies", 8), true, disabled(nullptr)), "copies");
  EXPECT_EQ(own_all_reduce(wanting("auto"), true, disabled("0")), "auto");
  EXPECT_EQ(own_all_reduce(wanting("auto"), true, disabled("1")), "kernels");
  EXPECT_EQ(own_all_reduce(wanting("auto"), false, disabled(nullptr)), "kernels");
  EXPECT_EQ(own_all_reduce(wanting("copies"), false, disabled("1")), "copies")
      << "what is asked for fails with a reason";
  EXPECT_EQ(own_all_reduce(wanting("kernels"), true, disabled(nullptr)), "kernels");
}

}  // namespace
}  // namespace swinscope

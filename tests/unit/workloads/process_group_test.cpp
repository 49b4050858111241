// Ranks in processes of their own, over Gloo.
#include "workloads/process_group.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/workloads/rank_runs.h"

namespace swinscope {
namespace {

using test::Finished;
using test::Subprocess;
using testing::HasSubstr;

class Ranks : public testing::Test, protected test::RankRuns {
 protected:
  Ranks() : RankRuns(SWINSCOPE_RANK_WORKER) {}

  std::vector<Finished> run(int size, std::int64_t batch) const {
    std::vector<Subprocess> ranks;
    ranks.reserve(static_cast<std::size_t>(size));
    for (int rank = 0; rank < size; ++rank)
      ranks.push_back(start(rank, size, batch));
    std::vector<Finished> finished;
    finished.reserve(ranks.size());
    for (Subprocess& rank : ranks)
      finished.push_back(rank.wait());
    return finished;
  }
};

TEST_F(Ranks, TwoEqualOneOnTheJoinedBatch) {
  for (const Finished& rank : run(1, 4))
    ASSERT_EQ(rank.status, 0) << rank.err;
  for (const Finished& rank : run(2, 2))
    ASSERT_EQ(rank.status, 0) << rank.err;
  for (const char* rank : {"2.0", "2.1"}) {
    EXPECT_LT(difference(rank, "1.0", "fp32.gradients"), 1e-5);
    EXPECT_LT(difference(rank, "1.0", "fp32.loss"), 1e-5);
    // AdamW divides by the gradient's own size: where that is no larger than its rounding, fp32 parameters drift apart
    // by whole learning rates. In fp64 there is room between the two.
    EXPECT_LT(difference(rank, "1.0", "fp64.gradients"), 1e-12);
    EXPECT_LT(difference(rank, "1.0", "fp64.loss"), 1e-12);
    EXPECT_LT(difference(rank, "1.0", "fp64.parameters"), 1e-9);
  }
  // The ranks themselves hold the same bits.
  EXPECT_EQ(result("2.0", "fp32.parameters"), result("2.1", "fp32.parameters"));
  EXPECT_EQ(result("2.0", "fp64.gradients"), result("2.1", "fp64.gradients"));
}

TEST_F(Ranks, ThreeMeetAndLeaveNothingBehind) {
  for (const Finished& rank : run(3, 1))
    ASSERT_EQ(rank.status, 0) << rank.err;
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "run"));
}

TEST_F(Ranks, TheOthersEndAndNameARankThatIsKilled) {
  Subprocess first = start(0, 3, 1);
  Subprocess killed = start(1, 3, 1, {"--die", "2"});
  Subprocess last = start(2, 3, 1);
  const std::string process = std::to_string(killed.pid());
  for (Subprocess* rank : {&first, &last}) {
    const Finished finished = rank->wait();
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("rank 1 of 3 (host "));
    EXPECT_THAT(finished.err, HasSubstr("process " + process + ") died"));
  }
  EXPECT_EQ(killed.wait().status, 128 + SIGKILL);
}

// What a rank meets that writes to one that has just died. It lives on, to say which one that was.
TEST_F(Ranks, ABrokenPipeEndsNobody) {
  Subprocess first = start(0, 2, 1, {"--broken-pipe", "1"});
  Subprocess second = start(1, 2, 1);
  for (Subprocess* rank : {&first, &second}) {
    const Finished finished = rank->wait();
    EXPECT_EQ(finished.status, 0) << finished.err;
  }
}

TEST_F(Ranks, TheOthersSayWhyARankFailed) {
  Subprocess failing = start(0, 3, 1, {"--fail", "1"});
  Subprocess second = start(1, 3, 1);
  Subprocess third = start(2, 3, 1);
  EXPECT_EQ(failing.wait().status, 1);
  for (Subprocess* rank : {&second, &third}) {
    const Finished finished = rank->wait();
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("rank 0 of 3"));
    EXPECT_THAT(finished.err, HasSubstr("failed: the disk of this rank is full"));
  }
}

TEST_F(Ranks, DisagreementIsRefusedByAll) {
  Subprocess first = start(0, 2, 1);
  Subprocess second = start(1, 2, 1, {"--model", "large"});
  for (Subprocess* rank : {&first, &second}) {
    const Finished finished = rank->wait();
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.err, HasSubstr("rank 1 has model large instead of small"));
  }
}

}  // namespace
}  // namespace swinscope

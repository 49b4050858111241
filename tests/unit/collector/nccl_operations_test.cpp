// Which kernel carried out what NCCL's plugin told of. Times are worked out in the comments.
#include "collector/launcher/nccl_operations.h"

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/launcher/run_folder.h"
#include "collector/nccl/nccl_event.h"
#include "store/writer.h"
#include "tests/unit/store/support.h"

namespace swinscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t kPid = 77;
constexpr std::uint64_t kDriverThread = 9;

class NcclOperationsTest : public ::testing::Test {
 protected:
  NcclOperationsTest() {
    RunInfo run;
    run.source = "swinscope";
    run.global_pid = make_global_pid(kPid);
    writer_->set_run(run);
    NcclCommunicatorRecord communicator;
    communicator.global_pid = make_global_pid(kPid);
    communicator.communicator = 1;
    communicator.group_name = writer_->intern("0x00000000000000ab");
    communicator.group_size = 2;
    writer_->add(communicator);
  }

  // A kernel of 1000 ns, with the call that launched it.
  void kernel(std::uint32_t correlation, std::int64_t launched_ns, std::int64_t start_ns, std::uint64_t node = 0,
              std::uint64_t tid = 5) {
    ApiRecord call;
    call.start_ns = launched_ns;
    call.end_ns = launched_ns + 5;
    call.global_tid = make_global_tid(kPid, tid);
    call.correlation = correlation;
    call.name = writer_->intern("cuLaunchKernelEx");
    writer_->add(call);
    KernelRecord k;
    k.start_ns = start_ns;
    k.end_ns = start_ns + 1000;
    k.global_pid = make_global_pid(kPid);
    k.correlation = correlation;
    k.graph_node = node;
    k.short_name = k.demangled_name = writer_->intern("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
    writer_->add(k);
  }
  void node(std::uint64_t number, std::int64_t time_ns, std::uint64_t original = 0) {
    GraphNodeRecord record;
    record.global_tid = make_global_tid(kPid, 5);
    record.time_ns = time_ns;
    record.node = number;
    record.original = original;
    writer_->add(record);
  }
  void launch(std::uint64_t call_group, std::int64_t start_ns, std::uint64_t communicator = 1) {
    NcclLaunchRecord record;
    record.global_pid = make_global_pid(kPid);
    record.global_tid = make_global_tid(kPid, 5);
    record.start_ns = start_ns;
    record.end_ns = start_ns + 20;
    record.communicator = communicator;
    record.call_group = call_group;
    writer_->add(record);
  }
  struct Said {
    std::uint64_t call_group = 0;
    bool is_captured = false;
    std::uint64_t tid = 5;
    const char* name = "AllReduce";
    const char* dtype = "ncclFloat32";
    std::uint64_t communicator = 1;
  };
  // Numbered like its plan; lasts 10 ns.
  void operation(std::uint64_t number, std::uint64_t plan, std::int64_t start_ns, std::int64_t seq, const Said& said) {
    NcclOperationRecord record;
    record.global_pid = make_global_pid(kPid);
    record.global_tid = make_global_tid(kPid, said.tid);
    record.operation = number;
    record.plan = plan;
    record.communicator = said.communicator;
    record.call_group = said.call_group;
    record.captured = said.call_group == 0 ? -1 : static_cast<int>(said.is_captured);
    record.start_ns = start_ns;
    record.end_ns = start_ns + 10;
    record.name = writer_->intern(said.name);
    record.dtype = writer_->intern(said.dtype);
    record.count = 100;
    if (seq < 0) record.kind = NcclOperationKind::kPointToPoint;
    record.seq = seq;
    writer_->add(record);
  }
  void channel(std::uint64_t operation, std::int32_t number, std::int64_t from, std::int64_t to) {
    NcclChannelRecord record;
    record.global_pid = make_global_pid(kPid);
    record.operation = operation;
    record.channel = number;
    record.gpu_start_ns = from;
    record.gpu_end_ns = to;
    writer_->add(record);
  }

  std::vector<std::string> values(const std::string& query) {
    if (writer_) {
      writer_->finish();
      writer_.reset();
      join_nccl_operations(path_);
      summary_ = join_nccl_operations(path_);  // the second time changes nothing
    }
    return test::Sqlite(path_).values(query);
  }
  // operation: correlation (node)
  std::vector<std::string> joins() {
    return values(
        "SELECT operationId || ': ' || coalesce(correlationId, '-') || coalesce(' node ' || graphNodeId, '') FROM "
        "SWINSCOPE_NCCL_OPERATION ORDER BY operationId");
  }
  std::vector<std::string> collectives() {
    return values(
        "SELECT correlationId || ': ' || name || ' ' || inElements || ' -> ' || outElements || ' ' || dtype || ' of ' "
        "|| "
        "groupSize || ', ' || groupName || ' ' || coalesce(seq, '-') || coalesce(' node ' || graphNodeId, '') FROM "
        "SWINSCOPE_COLLECTIVE ORDER BY correlationId");
  }

  test::TempFolder folder_;
  test::fs::path path_ = folder_ / "rank0.db";
  std::unique_ptr<TraceWriter> writer_ = std::make_unique<TraceWriter>(path_, WriteMode::kLive);
  NcclOperations summary_;
};

TEST_F(NcclOperationsTest, ALaunchHasTheKernelThatWasLaunchedInItAndItsCallThePlan) {
  launch(50, 100);
  kernel(7, 105, 1000);
  operation(1, 2, 125, 12, {.call_group = 50});
  EXPECT_THAT(joins(), ElementsAre("1: 7"));
  EXPECT_THAT(collectives(), ElementsAre("7: allreduce 400 -> 400 Byte of 2, 0x00000000000000ab 12"));
  EXPECT_EQ(summary_.told, 1);
  EXPECT_EQ(summary_.kernels, 1);
  EXPECT_EQ(summary_.joined, 1);
}

// Another rank may have the number that is missing here, and lack one that is there.
TEST_F(NcclOperationsTest, ACommunicatorHasAllItsNumbersOrNone) {
  launch(50, 100);
  kernel(7, 105, 1000);
  kernel(8, 130, 3000);  // behind the launch
  operation(1, 2, 125, 12, {.call_group = 50});
  launch(60, 200, 3);
  kernel(9, 205, 5000);
  operation(2, 3, 225, 4, {.call_group = 60, .communicator = 3});
  NcclCommunicatorRecord other;
  other.communicator = 3;
  other.group_name = writer_->intern("0x00000000000000cd");
  writer_->add(other);
  CollectiveRecord ranges_say;  // of the kernel that is not joined: it is of the first communicator
  ranges_say.correlation = 8;
  ranges_say.name = writer_->intern("allreduce");
  ranges_say.group_name = writer_->intern("0x00000000000000ab");
  writer_->add(ranges_say);
  EXPECT_THAT(joins(), ElementsAre("1: 7", "2: 9"));
  EXPECT_THAT(values("SELECT correlationId || ' ' || coalesce(seq, '-') FROM SWINSCOPE_COLLECTIVE ORDER BY 1"),
              ElementsAre("7 -", "8 -", "9 4"));
}

// NCCL hands plans over on a thread of the driver's while a graph that has some is under way.
TEST_F(NcclOperationsTest, PlansOfAGroupAreThoseOfItsLaunchesInOrder) {
  launch(50, 100);
  kernel(7, 105, 1000);
  launch(50, 200);
  kernel(8, 205, 3000);
  launch(50, 300, 3);  // of another communicator
  kernel(9, 305, 5000);
  operation(1, 11, 900, 0, {.call_group = 50, .tid = kDriverThread});
  operation(2, 12, 2900, 1, {.call_group = 50, .tid = kDriverThread});
  operation(3, 13, 950, 0, {.call_group = 50, .tid = kDriverThread, .communicator = 3});
  EXPECT_THAT(joins(), ElementsAre("1: 7", "2: 8", "3: 9"));
}

TEST_F(NcclOperationsTest, WhatIsNotCertainIsNotJoined) {
  launch(50, 100);
  kernel(7, 105, 1000);
  kernel(8, 110, 3000);  // two kernels of one launch
  operation(1, 11, 125, 0, {.call_group = 50});
  launch(60, 200);
  kernel(9, 205, 5000);
  operation(2, 12, 225, 1, {.call_group = 60});
  operation(3, 13, 230, 2, {.call_group = 60});  // two plans of one launch
  operation(4, 14, 400, 3, {.call_group = 70});  // no launch
  EXPECT_THAT(joins(), ElementsAre("1: -", "2: -", "3: -", "4: -"));
  EXPECT_THAT(collectives(), IsEmpty());
}

TEST_F(NcclOperationsTest, OperationsOfOneKernelAreDescribedTogether) {
  launch(50, 100);
  kernel(7, 105, 1000);
  operation(1, 11, 125, 5, {.call_group = 50, .name = "AllGather", .dtype = "ncclInt8"});
  operation(2, 11, 126, 6, {.call_group = 50, .name = "AllGather", .dtype = "ncclInt8"});
  launch(60, 200);
  kernel(8, 205, 3000);
  operation(3, 12, 225, -1, {.call_group = 60, .name = "Send"});
  operation(4, 12, 226, -1, {.call_group = 60, .name = "Recv"});
  launch(70, 300);
  kernel(9, 305, 5000);
  operation(5, 13, 325, 7, {.call_group = 70, .dtype = "ncclOfTomorrow"});  // how many bytes is not known
  EXPECT_THAT(joins(), ElementsAre("1: 7", "2: 7", "3: 8", "4: 8", "5: 9"));
  EXPECT_THAT(collectives(), ElementsAre("7: allgather 200 -> 400 Byte of 2, 0x00000000000000ab 5",
                                         "8: group 800 -> 800 Byte of 2, 0x00000000000000ab 0"));
}

// NCCL numbers collectives only. Of two ranks one may give several transfers at once: they are counted one by one.
TEST_F(NcclOperationsTest, TransfersBetweenTwoRanksAreNumberedInOrder) {
  std::uint64_t number = 0;
  const auto transfer = [&](std::int64_t at_ns, const char* name, int operations) {
    const std::uint64_t plan = ++number;
    launch(plan, at_ns);
    kernel(static_cast<std::uint32_t>(plan), at_ns + 5, 100 * at_ns);
    for (int i = 0; i < operations; ++i)
      operation(10 * plan + static_cast<std::uint64_t>(i), plan, at_ns + 25 + i, -1,
                {.call_group = plan, .name = name});
  };
  transfer(100, "Send", 2);
  transfer(200, "Recv", 1);
  transfer(300, "Send", 1);
  EXPECT_THAT(
      values("SELECT correlationId || ' ' || name || ' ' || seq FROM SWINSCOPE_COLLECTIVE ORDER BY correlationId"),
      ElementsAre("1 send 0", "2 recv 2", "3 send 3"));
}

TEST_F(NcclOperationsTest, NobodyCountsTransfersOfWhichSomeWereLost) {
  RunInfo run;
  run.source = "swinscope";
  run.drops.push_back({kNcclEvent, 1, "the buffers were full"});
  writer_->set_run(run);
  launch(50, 100);
  kernel(7, 105, 1000);
  operation(1, 2, 125, -1, {.call_group = 50, .name = "Send"});
  EXPECT_THAT(collectives(), ElementsAre("7: send 400 -> 0 Byte of 2, 0x00000000000000ab -"));
}

// Two launches were captured; each replay hands both plans over, then the kernels run. The second replay's kernels were
// not recorded (the window was closed).
TEST_F(NcclOperationsTest, AReplayHasTheKernelsThatFollowIt) {
  launch(50, 100);
  node(40, 105);
  launch(50, 200);
  node(41, 205);
  node(140, 500);  // instantiated: CUPTI tells of a new node first, then of a copy
  node(140, 500, 40);
  node(141, 501);
  node(141, 501, 41);
  std::uint64_t number = 0;
  for (const std::int64_t replay_ns : {10'000, 20'000, 30'000}) {
    operation(number + 1, number + 1, replay_ns, static_cast<std::int64_t>(number / 2),
              {.call_group = 50, .is_captured = true, .tid = kDriverThread});
    operation(number + 2, number + 2, replay_ns + 20, static_cast<std::int64_t>(number / 2),
              {.call_group = 50, .is_captured = true, .tid = kDriverThread});
    number += 2;
  }
  for (const std::uint32_t replay : {1U, 3U}) {
    kernel(replay, 10'000 * replay - 50, 10'000 * replay + 100, 140);
    kernel(replay, 10'000 * replay - 50, 10'000 * replay + 2000, 141);
  }
  EXPECT_THAT(joins(), ElementsAre("1: 1 node 140", "2: 1 node 141", "3: -", "4: -", "5: 3 node 140", "6: 3 node 141"));
  EXPECT_THAT(values("SELECT correlationId || ' ' || graphNodeId || ' ' || seq FROM SWINSCOPE_COLLECTIVE ORDER BY 1"),
              ElementsAre("1 140 0", "1 141 0", "3 140 2", "3 141 2"));
}

TEST_F(NcclOperationsTest, ReplaysOfAGraphThatWasInstantiatedTwiceAreNotJoined) {
  launch(50, 100);
  node(40, 105);
  for (const std::uint64_t copy : {140U, 240U}) {
    node(copy, 500, 40);
    kernel(static_cast<std::uint32_t>(copy), 9'000, static_cast<std::int64_t>(copy) * 100, copy);
  }
  operation(1, 1, 13'990, 0, {.call_group = 50, .is_captured = true, .tid = kDriverThread});
  operation(2, 2, 23'990, 1, {.call_group = 50, .is_captured = true, .tid = kDriverThread});
  EXPECT_THAT(joins(), ElementsAre("1: -", "2: -"));
}

// Versions before 5 of the interface: no calls, no launches.
TEST_F(NcclOperationsTest, APlanFollowsItsLaunchAtOnceOnItsThread) {
  kernel(7, 100, 1000);
  operation(1, 11, 120, 0, {});
  kernel(8, 200, 3000);
  kernel(9, 210, 5000, 0, 6);  // of another thread
  operation(2, 12, 220, 1, {});
  operation(3, 13, 260, 2, {});  // nothing was launched since
  kernel(10, 300, 7000);
  kernel(11, 310, 9000);
  operation(4, 14, 320, 3, {});  // one of two: nobody knows
  EXPECT_THAT(joins(), ElementsAre("1: 7", "2: 8", "3: -", "4: -"));
}

// The kernel lasts from 1000 to 2000. By the timer its channels take from 5'000'000 to 5'000'900: they began between
// 1000 and 1100. In the middle, 1050, they are off by 50 at most.
TEST_F(NcclOperationsTest, ChannelsLieInTheMiddleOfTheirKernel) {
  launch(50, 100);
  kernel(7, 105, 1000);
  operation(1, 11, 125, 0, {.call_group = 50});
  operation(2, 11, 126, 1, {.call_group = 50});
  channel(1, 0, 5'000'000, 5'000'400);
  channel(1, 1, 5'000'010, 5'000'390);
  channel(2, 0, 5'000'400, 5'000'900);
  channel(2, 1, 0, 5'000'800);  // its begin is not known
  EXPECT_THAT(
      values("SELECT operationId || '.' || channel || ': ' || coalesce(start || ' to ' || end || ' +- ' || errorNs, "
             "'-') FROM SWINSCOPE_NCCL_CHANNEL ORDER BY operationId, channel"),
      ElementsAre("1.0: 1050 to 1450 +- 50", "1.1: 1060 to 1440 +- 50", "2.0: 1450 to 1950 +- 50", "2.1: -"));
}

// Two steps of the timer longer than the kernel at most.
TEST_F(NcclOperationsTest, ChannelsThatDoNotFitIntoTheKernelHaveNoTimes) {
  const auto add = [&](std::uint64_t number, std::int64_t lasts_ns) {
    const auto at_ns = static_cast<std::int64_t>(number) * 10'000;
    launch(number, at_ns);
    kernel(static_cast<std::uint32_t>(number), at_ns + 5, at_ns + 1000);
    operation(number, number, at_ns + 25, 0, {.call_group = number});
    channel(number, 0, 7'000, 7'000 + lasts_ns);
  };
  add(1, 3000);  // 2000 longer: from 1000 before the kernel's begin, off by 1000
  add(2, 3001);
  EXPECT_THAT(
      values("SELECT operationId || ': ' || coalesce(start || ' +- ' || errorNs, '-') FROM SWINSCOPE_NCCL_CHANNEL "
             "ORDER BY operationId"),
      ElementsAre("1: 10000 +- 1000", "2: -"));
}

TEST_F(NcclOperationsTest, FinishingARunJoinsThemAndSaysWhatIsMissing) {
  launch(50, 100);
  kernel(7, 105, 1000);
  kernel(8, 500, 3000);
  operation(1, 2, 125, 12, {.call_group = 50});
  writer_->finish();
  writer_.reset();
  std::vector<std::string> said;
  finish_run_files(folder_.path(), {}, [&](const std::string& line) { said.push_back(line); });
  EXPECT_EQ(test::Sqlite(path_).value("SELECT correlationId FROM SWINSCOPE_NCCL_OPERATION"), "7");
  EXPECT_THAT(said, ElementsAre("rank0.db: of 2 kernels of NCCL, what its plugin says of them is known for 1"));
}

}  // namespace
}  // namespace swinscope

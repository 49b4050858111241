#include "collector/launcher/nccl_collectives.h"

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/launcher/run_folder.h"
#include "store/writer.h"
#include "tests/unit/store/support.h"

namespace swinscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t kPid = 77;
// With the highest bit set: no number of SQLite's.
constexpr const char* kCommunicator = "17293822569102704642";  // 0xf000000000000002

class NcclCollectives : public ::testing::Test {
 protected:
  NcclCollectives() {
    NvtxRecord domain;
    domain.type = NvtxType::kDomain;
    domain.domain = 3;
    domain.text = writer_->intern("NCCL");
    domain.global_tid = make_global_pid(kPid);
    writer_->add(domain);
    RunInfo run;
    run.source = "swinscope";
    run.global_pid = make_global_pid(kPid);
    writer_->set_run(run);
  }

  void range(const char* name, std::int64_t start_ns, std::int64_t end_ns, const std::string& json = "",
             std::uint64_t tid = 5, std::uint32_t domain = 3) {
    NvtxRecord r;
    r.start_ns = start_ns;
    r.end_ns = end_ns;
    r.global_tid = make_global_tid(kPid, tid);
    r.domain = domain;
    r.text = writer_->intern(name);
    r.json = writer_->intern(json);
    writer_->add(r);
  }
  static std::string message(std::int64_t bytes, const char* communicator = kCommunicator) {
    return fmt::format(R"({{"$schema":"NcclNvtxParams","NCCL communicator ID":{},"Message size [bytes]":{}}})",
                       communicator, bytes);
  }
  void kernel(std::uint32_t correlation, const char* name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
              std::uint64_t node = 0) {
    KernelRecord k;
    k.start_ns = 10'000 + correlation;
    k.end_ns = k.start_ns + 10;
    k.global_pid = make_global_pid(kPid);
    k.correlation = correlation;
    k.graph_node = node;
    k.short_name = k.demangled_name = writer_->intern(name);
    writer_->add(k);
  }
  void launch(std::uint32_t correlation, std::int64_t start_ns, std::uint64_t tid = 5) {
    ApiRecord call;
    call.start_ns = start_ns;
    call.end_ns = start_ns + 1;
    call.global_tid = make_global_tid(kPid, tid);
    call.correlation = correlation;
    call.name = writer_->intern("cuLaunchKernelEx");
    writer_->add(call);
  }
  void communicator_of(int ranks) {
    range("ncclCommInitRankConfig", 1, 5,
          fmt::format(R"({{"NCCL communicator ID":{},"No. of ranks":{},"Rank":0,"CUDA device":0}})", kCommunicator,
                      ranks),
          9);
  }

  // correlation: name in -> out of n, communicator
  std::vector<std::string> collectives() {
    writer_->finish();
    const NcclSummary summary = add_nccl_collectives(path_);
    kernels_ = fmt::format("{} of {}", summary.joined, summary.kernels);
    return test::Sqlite(path_).values(
        "SELECT correlationId || ': ' || name || ' ' || inElements || ' -> ' || outElements || ' ' || dtype || ' of ' "
        "|| "
        "groupSize || ', ' || groupName || coalesce(' node ' || graphNodeId, '') FROM SWINSCOPE_COLLECTIVE ORDER BY "
        "correlationId, graphNodeId");
  }

  test::TempFolder folder_;
  test::fs::path path_ = folder_ / "rank0.db";
  std::unique_ptr<TraceWriter> writer_ = std::make_unique<TraceWriter>(path_, WriteMode::kLive);
  std::string kernels_;
};

TEST_F(NcclCollectives, AKernelHasTheMessageOfTheCallThatLaunchedIt) {
  communicator_of(2);
  range("ncclAllReduce", 100, 200, message(4096));
  range("ncclAllGather", 300, 400, message(512));
  range("ncclReduceScatter", 500, 600, message(512));
  range("ncclAllReduce", 100, 200, message(1), 6);  // of another thread at the same time
  const std::int64_t launches[] = {150, 350, 600};
  for (std::uint32_t i = 0; i < 3; ++i) {
    launch(i + 1, launches[i]);
    kernel(i + 1);
  }
  EXPECT_THAT(collectives(), ElementsAre("1: allreduce 4096 -> 4096 Byte of 2, 0xf000000000000002",
                                         "2: allgather 512 -> 1024 Byte of 2, 0xf000000000000002",
                                         "3: reducescatter 1024 -> 512 Byte of 2, 0xf000000000000002"));
  EXPECT_EQ(kernels_, "3 of 3");
}

TEST_F(NcclCollectives, OnlyKernelsOfNcclAndOnlyWithinItsCalls) {
  range("ncclAllReduce", 100, 200, message(4096));
  launch(1, 150);
  kernel(1, "gemm");
  launch(2, 250);  // between calls
  kernel(2);
  kernel(3);  // its launch was not recorded
  EXPECT_THAT(collectives(), IsEmpty());
  EXPECT_EQ(kernels_, "0 of 2");
}

TEST_F(NcclCollectives, AGroupHasAKernelForEachCallOrOneForAll) {
  const auto group = [&](std::int64_t at, std::int64_t second) {
    range("ncclGroupStart", at, at + 1);
    range("ncclAllReduce", at + 10, at + 11, message(100));
    range("ncclAllReduce", at + 20, at + 21, message(second));
    range("ncclGroupEnd", at + 30, at + 50);
  };
  group(1000, 200);
  launch(1, 1035);
  launch(2, 1036);
  group(2000, 300);
  launch(3, 2035);
  group(3000, 400);  // three kernels of two calls: nobody knows
  for (std::uint32_t i = 4; i <= 6; ++i)
    launch(i, 3030 + i);
  for (std::uint32_t i = 1; i <= 6; ++i)
    kernel(i);
  EXPECT_THAT(collectives(), ElementsAre("1: allreduce 100 -> 100 Byte of 0, 0xf000000000000002",
                                         "2: allreduce 200 -> 200 Byte of 0, 0xf000000000000002",
                                         "3: allreduce 400 -> 400 Byte of 0, 0xf000000000000002"));
  EXPECT_EQ(kernels_, "3 of 6");
}

TEST_F(NcclCollectives, CallsOfOneFusedKernelMayDiffer) {
  range("ncclGroupStart", 100, 101);
  range("ncclSend", 110, 111, message(100));
  range("ncclGroupStart", 112, 113);  // nested
  range("ncclRecv", 115, 116, message(50, "5"));
  range("ncclGroupEnd", 117, 118);
  range("ncclGroupEnd", 120, 130);
  launch(1, 125);
  kernel(1, "ncclDevKernel_SendRecv");
  EXPECT_THAT(collectives(), ElementsAre("1: group 150 -> 150 Byte of 0, "));
}

TEST_F(NcclCollectives, AReplayedKernelHasTheMessageOfItsCapture) {
  range("ncclAllReduce", 100, 200, message(4096));
  GraphNodeRecord node;
  node.global_tid = make_global_tid(kPid, 5);
  node.time_ns = 150;
  node.node = 40;
  writer_->add(node);
  node.time_ns = 890;  // instantiated later: CUPTI tells of a new node first, then of a copy
  node.node = 41;
  writer_->add(node);
  node.time_ns = 900;
  node.original = 40;
  writer_->add(node);
  for (std::uint32_t replay = 7; replay <= 8; ++replay) {
    launch(replay, 1000 + replay);
    kernel(replay, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 41);
  }
  EXPECT_THAT(collectives(), ElementsAre("7: allreduce 4096 -> 4096 Byte of 0, 0xf000000000000002 node 41",
                                         "8: allreduce 4096 -> 4096 Byte of 0, 0xf000000000000002 node 41"));
}

TEST_F(NcclCollectives, RangesOfOthersAreNotNccls) {
  range("ncclAllReduce", 100, 200, message(4096), 5, 0);
  launch(1, 150);
  kernel(1);
  EXPECT_THAT(collectives(), IsEmpty());
}

TEST_F(NcclCollectives, FinishingARunJoinsThemAndSaysWhatIsMissing) {
  range("ncclAllReduce", 100, 200, message(4096));
  launch(1, 150);
  kernel(1);
  kernel(2);
  writer_->finish();
  std::vector<std::string> said;
  finish_run_files(folder_.path(), {}, [&](const std::string& line) { said.push_back(line); });
  EXPECT_EQ(test::Sqlite(path_).value("SELECT count(*) FROM SWINSCOPE_COLLECTIVE"), "1");
  EXPECT_THAT(said, ElementsAre("rank0.db: of 2 kernels of NCCL, communicator and bytes are known for 1"));
}

}  // namespace
}  // namespace swinscope

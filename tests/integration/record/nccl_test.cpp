// The injected library as NCCL's profiler plugin: what a program that plays NCCL's part (nccl_program.cpp) told it is
// in the file.
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/integration/record/support.h"

namespace swinscope {
namespace {

using test::expect_finished;
using test::Process;
using test::program;
using test::Sqlite;
using test::under_record;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Versions of the plugin's interface.
class NcclPlugin : public ::testing::TestWithParam<const char*> {
 protected:
  std::string record(const char* scenario, const char* trace = "nvtx,nccl") {
    Process run(under_record(folder_, {program("nccl_program"), GetParam(), scenario}),
                {{"RECORD_TOOL_TRACE", trace}, {"SWINSCOPE_COLLECTOR", SWINSCOPE_COLLECTOR_LIBRARY}});
    EXPECT_EQ(run.wait(), 0);
    expect_finished(folder_);
    return run.output();
  }
  bool knows_calls() const { return std::string(GetParam()) != "4"; }
  bool knows_copy_engines() const { return std::string(GetParam()) == "6"; }

  test::TempFolder temp_;
  const test::fs::path folder_ = temp_ / "run";
};
INSTANTIATE_TEST_SUITE_P(Versions, NcclPlugin, ::testing::Values("4", "5", "6"));

TEST_P(NcclPlugin, WhatNcclTellsIsInTheFile) {
  // Bits of plan, collective, point to point and channel; with version 5 those of calls and launches; with 6 copy
  // engines.
  const std::map<std::string, std::string> wanted = {{"4", "71"}, {"5", "3911"}, {"6", "8007"}};
  EXPECT_EQ(record("script"), "wanted " + wanted.at(GetParam()) + "\n");
  Sqlite db(folder_ / "rank0.db");
  EXPECT_THAT(
      db.values("SELECT groupName || ' ' || quote(name) || ' ' || rank || ' of ' || groupSize || ' on ' || nodes "
                "|| (end >= start) FROM SWINSCOPE_NCCL_COMMUNICATOR ORDER BY start"),
      ElementsAre("0xf000000000000002 'dp' 1 of 2 on 11", "0x0000000000000005 '' 0 of 4 on 11"));
  const std::string captured = knows_calls() ? "1" : "-";
  const std::string eager = knows_calls() ? "0" : "-";
  std::vector<std::string> expected = {"0 AllReduce 7 1024 ncclFloat32 0 RING LL 2 " + eager + " ended 1 plan 1",
                                       "0 AllReduce 8 1024 ncclFloat32 0 RING LL 2 " + captured + " ended 1 plan 1",
                                       "0 AllReduce 9 1024 ncclFloat32 0 RING LL 2 " + captured + " ended 1 plan 1",
                                       "1 Send - 64 ncclInt8 3   1 " + eager + " ended 1 plan 1"};
  if (knows_copy_engines()) expected.emplace_back("2 AllGather 3 32 ncclInt8 0   - 0 ended 1 plan 0");
  expected.push_back("0 Broadcast 99 1024 ncclFloat32 0 RING LL 2 " + eager + " ended 0 plan 0");
  EXPECT_EQ(
      db.values("SELECT kind || ' ' || name || ' ' || coalesce(seq, '-') || ' ' || count || ' ' || dtype || ' ' || "
                "peer || ' ' || algorithm || ' ' || protocol || ' ' || coalesce(channels, '-') || ' ' || "
                "coalesce(isCaptured, '-') || ' ended ' || coalesce(end >= start, 0) || ' plan ' || (planId IS NOT "
                "NULL) FROM SWINSCOPE_NCCL_OPERATION ORDER BY start"),
      expected);
  EXPECT_THAT(
      db.values("SELECT channel || ': ' || gpuStart || ' to ' || gpuEnd || ' ' || seq FROM SWINSCOPE_NCCL_CHANNEL "
                "JOIN SWINSCOPE_NCCL_OPERATION USING (operationId) ORDER BY channel"),
      ElementsAre("0: 1000 to 1900 7", "1: 1010 to 1950 7"));
  EXPECT_EQ(db.value("SELECT count(*) FROM SWINSCOPE_DROPS"), "0");
}

TEST_P(NcclPlugin, OperationsKnowTheirCallAndItsLaunch) {
  record("script");
  Sqlite db(folder_ / "rank0.db");
  // Both replays are of the call that was captured.
  const std::vector<std::string> launches = db.values(
      "SELECT count(operationId) FROM SWINSCOPE_NCCL_LAUNCH l LEFT JOIN SWINSCOPE_NCCL_OPERATION o ON "
      "o.callGroupId = l.callGroupId AND o.communicatorId = l.communicatorId AND o.planId IS NOT NULL WHERE "
      "l.end >= l.start GROUP BY l.rowid ORDER BY l.start");
  if (knows_calls()) {
    EXPECT_THAT(launches, ElementsAre("1", "2", "1"));
  } else {
    EXPECT_THAT(launches, IsEmpty());
  }
  EXPECT_EQ(db.value("SELECT count(DISTINCT planId) FROM SWINSCOPE_NCCL_OPERATION"), "4");
}

TEST_P(NcclPlugin, SixteenThreadsAtOnceLoseNothing) {
  record("threads");
  Sqlite db(folder_ / "rank0.db");
  EXPECT_EQ(db.value("SELECT count(*) FROM SWINSCOPE_DROPS"), "0");
  EXPECT_EQ(db.value("SELECT count(*) || ' ' || count(end) FROM SWINSCOPE_NCCL_COMMUNICATOR"), "16 16");
  EXPECT_EQ(
      db.value("SELECT count(*) || ' ' || count(end) || ' ' || count(DISTINCT operationId) || ' ' || count(DISTINCT "
               "planId) FROM SWINSCOPE_NCCL_OPERATION"),
      "4000 4000 4000 4000");
  EXPECT_EQ(
      db.value("SELECT count(*) FROM SWINSCOPE_NCCL_CHANNEL c JOIN SWINSCOPE_NCCL_OPERATION o USING (operationId) "
               "WHERE gpuStart = 1000 * seq + 1 AND gpuEnd = gpuStart + 499"),
      "8000");
  // Each thread's operations are in order, of its own communicator.
  EXPECT_EQ(
      db.value("SELECT count(*) FROM (SELECT seq, row_number() OVER (PARTITION BY communicatorId ORDER BY start) - 1 "
               "AS place FROM SWINSCOPE_NCCL_OPERATION) WHERE seq = place"),
      "4000");
}

TEST_P(NcclPlugin, AChildHasAFileOfItsOwn) {
  record("fork");
  std::vector<std::string> sequences;
  for (const auto& file : test::rank_files(folder_)) {
    const Sqlite db(file);
    for (const std::string& seq : Sqlite(file).values("SELECT seq FROM SWINSCOPE_NCCL_OPERATION WHERE end >= start"))
      sequences.push_back(seq);
  }
  EXPECT_THAT(sequences, ::testing::UnorderedElementsAre("1", "2"));
}

TEST_P(NcclPlugin, AnyHandleInAnyOrderIsHarmless) {
  record("random");
  Sqlite db(folder_ / "rank0.db");
  EXPECT_NE(db.value("SELECT count(*) FROM SWINSCOPE_NCCL_OPERATION"), "0");
}

// Not asked for: the variable is not set, and a program that sets it gets no events.
TEST_P(NcclPlugin, WhereNobodyAskedNothingIsWanted) {
  const std::vector<std::pair<std::string, std::string>> by_hand = {
      {"NCCL_PROFILER_PLUGIN", SWINSCOPE_COLLECTOR_LIBRARY}, {"RECORD_TOOL_TRACE", "nvtx"}};
  Process alone({program("nccl_program"), GetParam(), "unrecorded"}, by_hand);
  EXPECT_EQ(alone.wait(), 0);
  EXPECT_EQ(alone.output(), "wanted 0 context 0\n");
  Process recorded(under_record(folder_, {program("nccl_program"), GetParam(), "unrecorded"}), by_hand);
  EXPECT_EQ(recorded.wait(), 0);
  EXPECT_EQ(recorded.output(), "wanted 0 context 0\n");
  Process script({program("nccl_program"), GetParam(), "random"}, by_hand);
  EXPECT_EQ(script.wait(), 2);  // the events that NCCL would not send have no handles
}

}  // namespace
}  // namespace swinscope

// How many GPUs a trace's job had, and whether its ranks had cores enough.
#include "analyzer/facts/job_size.h"

#include <gtest/gtest.h>

namespace swinscope {
namespace {

Rank rank_of(std::int32_t rank, std::int32_t world, const std::vector<int>& devices = {}) {
  Rank one;
  one.run.source = "swinscope";
  one.run.host = "node";
  one.run.rank = rank;
  one.run.world_size = world;
  for (const int device : devices)
    one.gpu_lanes.push_back({device, 1, 7, {0, 1}});
  return one;
}

Trace trace_of(std::vector<Rank> ranks) {
  Trace trace;
  trace.ranks = std::move(ranks);
  return trace;
}

TEST(JobSize, CountsRanksWhereThereAreNoGpus) {
  const JobSize job = job_size(trace_of({rank_of(0, 2), rank_of(1, 2), rank_of(1, 2)}));
  EXPECT_TRUE(job.may_have(2));
  EXPECT_FALSE(job.may_have(1));
  EXPECT_FALSE(job.may_have(3)) << "a rank's second process is no rank";
  EXPECT_EQ(describe(job), "2 ranks");
}

TEST(JobSize, CountsTheDevicesOfOneProcess) {
  const JobSize job = job_size(trace_of({rank_of(0, 1, {0, 1})}));
  EXPECT_TRUE(job.may_have(2));
  EXPECT_FALSE(job.may_have(1));
  EXPECT_EQ(describe(job), "1 rank on 2 GPUs");
}

// Each rank saw one device and called it 0: one GPU each, unless UUIDs tell that it is the same.
TEST(JobSize, OneVisibleDeviceEach) {
  Trace trace = trace_of({rank_of(0, 2, {0}), rank_of(1, 2, {0})});
  EXPECT_TRUE(job_size(trace).may_have(2));
  EXPECT_FALSE(job_size(trace).may_have(1));
  for (Rank& rank : trace.ranks)
    rank.run.gpus = {{0, "GPU", "GPU-1", 0, 0, 0, 0, "", "", 0, 0, 0}};
  EXPECT_TRUE(job_size(trace).may_have(1)) << "two ranks share it";
  EXPECT_TRUE(job_size(trace).may_have(2)) << "or are counted themselves";
}

TEST(JobSize, TheWorldSizeTellsOfMissingRanks) {
  const JobSize job = job_size(trace_of({rank_of(0, 8, {0}), rank_of(1, 8, {1})}));
  EXPECT_TRUE(job.may_have(8));
  EXPECT_FALSE(job.may_have(2));
}

TEST(JobSize, AForeignTraceOfOneRankMayBeOneOfMany) {
  Trace trace = trace_of({rank_of(0, 0, {0})});
  trace.ranks[0].run.source = "kineto";
  EXPECT_TRUE(job_size(trace).may_have(8));
  EXPECT_TRUE(job_size(trace).may_have(1));
  EXPECT_FALSE(job_size(trace_of({rank_of(0, 0, {0})})).may_have(2)) << "our own recording has them all";
}

TEST(Crowding, IsOfRanksAndThreads) {
  Trace trace = trace_of({rank_of(0, 2), rank_of(1, 2)});
  EXPECT_FALSE(crowding(trace)) << "nobody says how many cores there are";
  for (Rank& rank : trace.ranks)
    rank.run.environment = {{"cpu.cores_allowed", "2"}};
  EXPECT_FALSE(crowding(trace));
  trace.ranks[1].run.environment.push_back({"env.OMP_NUM_THREADS", "2,1"});
  ASSERT_TRUE(crowding(trace));
  EXPECT_EQ(crowding(trace)->threads, 2);
  EXPECT_EQ(crowding(trace)->ranks, 2);
  trace.ranks[0].gpu_lanes.push_back({0, 1, 7, {0, 1}});
  EXPECT_FALSE(crowding(trace)) << "threads of a GPU's rank mostly wait";
}

TEST(Crowding, ALauncherSeesCoresThatABoundRankDoesNot) {
  Trace trace = trace_of({rank_of(0, 2), rank_of(1, 2)});
  for (Rank& rank : trace.ranks)
    rank.run.environment = {{"cpu.cores_allowed", "1"}};
  EXPECT_TRUE(crowding(trace));
  trace.launchers.emplace_back();
  trace.launchers[0].run.host = "node";
  trace.launchers[0].run.environment = {{"cpu.cores_allowed", "2"}};
  EXPECT_FALSE(crowding(trace));
}

}  // namespace
}  // namespace swinscope

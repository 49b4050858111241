// The summary of a rank: what stands in its file is what its events say, as long as they are the same.
#include "analyzer/analyses/rank_summary.h"

#include <filesystem>
#include <fstream>

#include "analyzer/importers/open.h"
#include "store/database.h"
#include "tests/unit/analyzer/support.h"

namespace swinscope::test {
namespace {

namespace fs = std::filesystem;

class RankSummaryTest : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path recorded = SWINSCOPE_SOURCE_DIR "/data/swinscope_swin_large_weak_2gpu/gpus2/tracing";
    for (const char* name : {"rank0.db", "rank1.db"})
      fs::copy_file(recorded / name, run() / name);
    database().exec("DROP TABLE IF EXISTS SWINSCOPE_SUMMARY");
  }

  fs::path run() const { return folder_.path(); }
  fs::path file() const { return run() / "rank0.db"; }
  Database database() const { return Database::open_writable(file()); }
  // Of the events.
  RankSummary of_events() const {
    const Trace trace = open_trace(file());
    return rank_summaries(RunFacts(trace, {})).at(0);
  }

  TempFolder folder_;
};

// Every number that the tables of a run show.
std::vector<std::vector<Cell>> cells(const RankSummary& rank) {
  std::vector<std::vector<Cell>> rows;
  for (const Table& table : {utilization_table(rank.devices), breakdown_table(rank.devices), idle_table(rank.devices),
                             rank_summary_table(std::span(&rank, 1))})
    rows.insert(rows.end(), table.rows.begin(), table.rows.end());
  return rows;
}

TEST_F(RankSummaryTest, WhatIsStoredIsWhatTheEventsSay) {
  EXPECT_FALSE(stored_summary(file()));
  store_summary(file());
  const auto stored = stored_summary(file());
  ASSERT_TRUE(stored);
  const RankSummary computed = of_events();
  EXPECT_EQ(stored->steps, 14);
  EXPECT_EQ(stored->world_size, 2);
  EXPECT_EQ(stored->steps, computed.steps);
  EXPECT_EQ(stored->step_ns, computed.step_ns);
  EXPECT_EQ(stored->host, computed.host);
  ASSERT_EQ(stored->devices.size(), 1U);
  EXPECT_GT(stored->devices[0].compute_ns, 100'000'000);
  EXPECT_EQ(stored->devices[0].steps, computed.devices[0].steps);
  EXPECT_EQ(stored->devices[0].kernel_sum_ns, computed.devices[0].kernel_sum_ns);
  EXPECT_EQ(stored->devices[0].non_communication_ns, computed.devices[0].non_communication_ns);
  EXPECT_EQ(cells(*stored), cells(computed));
}

TEST_F(RankSummaryTest, OfOtherEventsItIsIgnored) {
  store_summary(file());
  database().exec(
      "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid = (SELECT max(rowid) FROM CUPTI_ACTIVITY_KIND_KERNEL)");
  EXPECT_FALSE(stored_summary(file()));
  store_summary(file());
  EXPECT_TRUE(stored_summary(file()));
}

TEST_F(RankSummaryTest, OfAnotherVersionItIsIgnored) {
  store_summary(file());
  database().exec("UPDATE SWINSCOPE_SUMMARY SET version = version + 1");
  EXPECT_FALSE(stored_summary(file()));
}

// The experiment that a run belongs to says how many steps were its warm-up.
TEST_F(RankSummaryTest, OfAnotherWarmUpItIsIgnored) {
  store_summary(file());
  database().exec("UPDATE SWINSCOPE_SUMMARY SET warmupSteps = 1");
  EXPECT_FALSE(stored_summary(file()));
}

// With the events gone there is nothing that could be read but the summaries.
TEST_F(RankSummaryTest, ManyRanksAreComparedWithoutTheirEvents) {
  const std::vector<RankSummary> before = summarize_files(run());
  ASSERT_EQ(before.size(), 2U);
  for (const char* name : {"rank0.db", "rank1.db"}) {
    store_summary(run() / name);
    Database db = Database::open_writable(run() / name);
    db.exec("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start");
  }
  const std::vector<RankSummary> after = summarize_files(run());
  ASSERT_EQ(after.size(), 2U);
  EXPECT_EQ(after[1].rank, 1);
  EXPECT_EQ(rank_summary_table(before).rows, rank_summary_table(after).rows);
}

TEST(RankSummaryTableTest, ComputesAreComparedWithTheMedian) {
  std::vector<RankSummary> ranks(3);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    ranks[r].rank = static_cast<std::int32_t>(r);
    ranks[r].steps = 2;
    DeviceBreakdown& device = ranks[r].devices.emplace_back();
    device.steps = 2;
    device.window_ns = 400;
    device.busy_ns = 300;
    device.compute_ns = r == 1 ? 300 : 200;
  }
  ranks.emplace_back();  // a loader's worker: no steps, no GPU
  const Table table = rank_summary_table(ranks);
  ASSERT_EQ(table.rows.size(), 3U);
  const std::size_t compute = find_column(table, "compute_ns");
  EXPECT_EQ(table.rows[1][compute], Cell(std::int64_t{150}));
  EXPECT_EQ(table.rows[1][compute + 1], Cell(1.5));
  EXPECT_EQ(table.rows[2][compute + 1], Cell(1.0));
  EXPECT_EQ(table.rows[0][find_column(table, "idle_ns")], Cell(std::int64_t{50}));
}

}  // namespace
}  // namespace swinscope::test

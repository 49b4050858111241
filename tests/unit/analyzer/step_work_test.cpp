// The parts of a step are its whole: what events own sums to what the time breakdown has of their class, and all that a
// step is taken apart into sums to the devices' windows, on recordings of real programs.
#include "analyzer/analyses/step_work.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "analyzer/analyses/exclusive_time.h"
#include "analyzer/experiment/work_difference.h"
#include "analyzer/importers/open.h"

namespace swinscope {
namespace {

constexpr std::array kRecordings = {"swinscope_swin_large_weak_2gpu/gpus2/tracing", "swinscope_swin_tiny_ddp_2gpu",
                                    "pytorch_swin_tiny_ddp_2gpu", "swinscope_swin_tiny_graph_1gpu.db",
                                    "pytorch_swinv2b_upernet_amp_1gpu.kineto.json.gz"};

Trace recording(const std::string& name) { return open_trace(std::string(SWINSCOPE_SOURCE_DIR) + "/data/" + name); }

class StepWorkOfRecording : public testing::TestWithParam<const char*> {};

TEST_P(StepWorkOfRecording, WhatEventsOwnIsWhatTheBreakdownHas) {
  const Trace trace = recording(GetParam());
  const RunFacts run(trace, {});
  std::map<std::pair<std::size_t, std::int32_t>, std::map<GpuClass, std::int64_t>> owned;
  for (const DeviceScope& device : run.scope.devices()) {
    const Rank& rank = trace.ranks[device.rank_index];
    const std::vector<std::int64_t> exclusive = exclusive_ns(rank, device);
    ASSERT_EQ(exclusive.size(), device.events.size());
    for (std::size_t i = 0; i < exclusive.size(); ++i)
      owned[{device.rank_index, device.device}][rank.gpu.gpu_class[device.events[i]]] += exclusive[i];
  }
  ASSERT_FALSE(run.devices().empty());
  for (const DeviceBreakdown& row : run.devices()) {
    std::map<GpuClass, std::int64_t>& of = owned[{row.rank_index, row.device}];
    EXPECT_EQ(of[GpuClass::kCompute], row.compute_ns);
    EXPECT_EQ(of[GpuClass::kUnknown], row.unknown_ns);
    EXPECT_EQ(of[GpuClass::kCommunication], row.exposed_communication_ns);
    EXPECT_EQ(of[GpuClass::kMemory], row.exposed_memory_ns);
  }
}

TEST_P(StepWorkOfRecording, RowsAndTheRestSumToTheWindow) {
  const Trace trace = recording(GetParam());
  const StepWork work = step_work(RunFacts(trace, {}));
  std::int64_t sum = std::accumulate(work.no_work_ns.begin(), work.no_work_ns.end(), std::int64_t{0});
  for (const WorkRow& row : work.rows) {
    sum += row.all.exclusive_ns;
    EXPECT_LE(row.beside.calls, row.all.calls);
    EXPECT_LE(row.beside.exclusive_ns, row.all.exclusive_ns);
  }
  EXPECT_EQ(sum, work.window_ns);
  EXPECT_GE(work.single_ns.size(), 2U);
}

TEST_P(StepWorkOfRecording, ARunDiffersFromItselfInNothing) {
  const Trace trace = recording(GetParam());
  const StepWork work = step_work(RunFacts(trace, {}));
  const WorkDifference difference = work_difference(work, work);
  EXPECT_EQ(difference.verdict, ChangeVerdict::kSame);
  for (const std::int64_t part : difference.part_ns)
    EXPECT_EQ(part, 0);
  for (const WorkChange& change : difference.changes)
    EXPECT_EQ(change.verdict, ChangeVerdict::kSame) << change.key.name;
}

INSTANTIATE_TEST_SUITE_P(All, StepWorkOfRecording, testing::ValuesIn(kRecordings), [](const auto& recorded) {
  std::string name = recorded.param;
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

TEST(WorkDifference, PartsSumToTheDifferenceWhateverIsCompared) {
  const StepWork one = step_work(RunFacts(recording("swinscope_swin_large_weak_2gpu/gpus1/tracing"), {}));
  const StepWork two = step_work(RunFacts(recording("swinscope_swin_large_weak_2gpu/gpus2/tracing"), {}));
  const StepWork other = step_work(RunFacts(recording("pytorch_swin_tiny_ddp_2gpu"), {}));
  for (const auto& [base, with] : {std::pair(&one, &two), {&two, &one}, {&one, &other}, {&other, &two}}) {
    for (const double times : {1.0, 0.5, 0.25}) {
      const WorkDifference difference = work_difference(*base, *with, times);
      ASSERT_TRUE(difference.is_split);
      EXPECT_EQ(std::accumulate(difference.part_ns.begin(), difference.part_ns.end(), std::int64_t{0}),
                difference.change_ns());
      double changes = 0;
      for (const WorkChange& change : difference.changes) {
        EXPECT_NEAR(change.beside_ns + change.slowed_ns + change.work_ns + change.copies_ns, change.change_ns(), 1e-3);
        changes += change.change_ns();
      }
      double groups = 0;
      for (const WorkChange& group : grouped(difference.changes, ChangeGrouping::kKernel))
        groups += group.change_ns();
      EXPECT_NEAR(groups, changes, 1);
    }
  }
}

TEST(WorkDifference, WithoutGpuActivityNothingIsSplit) {
  StepWork base;
  base.step_ns = 1000;
  StepWork other;
  other.step_ns = 1500;
  const WorkDifference difference = work_difference(base, other);
  EXPECT_FALSE(difference.is_split);
  EXPECT_EQ(difference.change_ns(), 500);
  EXPECT_EQ(difference.verdict, ChangeVerdict::kUnknown);
}

}  // namespace
}  // namespace swinscope

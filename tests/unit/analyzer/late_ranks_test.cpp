// Who makes the others wait, and why: causes are the ones that were planted, and what is charged is what the breakdown
// says was waited for. Times of made-up traces are microseconds.
#include "analyzer/analyses/late_ranks.h"

#include <numeric>

#include <gmock/gmock.h>

#include "analyzer/analyses/collectives_table.h"
#include "analyzer/analyses/late_ranks_table.h"
#include "analyzer/importers/open.h"
#include "tests/unit/analyzer/hand_trace.h"

namespace swinscope::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Stream kCommunication{20};
constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_f32";

std::int64_t cause(const LateRank& rank, LateCause cause) { return rank.cause_ns[static_cast<std::size_t>(cause)]; }

std::int64_t sum_of_causes(const LateRank& rank) {
  return std::accumulate(rank.cause_ns.begin(), rank.cause_ns.end(), std::int64_t{0});
}

// Two ranks; the first product of rank 1 takes twice as long. Two all-reduces on a stream of their own: the first
// beside the second product, the second after it.
Trace overlapped() {
  HandTrace hand;
  for (const std::int64_t longer : {0, 1000}) {
    HandRank& rank = hand.add_rank();
    rank.step(0, 5000);
    rank.launch("first_gemm", 0, 10, longer + 1010);
    rank.launch(kAllReduce, 2, longer + 1010, 2110, kCommunication);
    rank.launch("second_gemm", 4, longer + 1010, longer + 2010);
    rank.launch(kAllReduce, 6, longer == 0 ? 2110 : 3010, 3110, kCommunication);
  }
  return hand.build();
}

TEST(LateRanks, ACollectiveThatComputationHidesIsNoPlaceToGoOnFrom) {
  const Trace trace = overlapped();
  const RunFacts run(trace, {});
  ASSERT_EQ(run.late_ranks().ranks.size(), 2U);
  EXPECT_EQ(run.late_ranks().ranks[0].last, 0);
  const LateRank& late = run.late_ranks().ranks[1];
  EXPECT_EQ(late.last, 2);
  EXPECT_EQ(late.wait_ns, 1'900'000) << "1000 at the first, 900 at the second";
  EXPECT_EQ(late.delay_ns, 900'000) << "rank 0 computes while it waits at the first";
  EXPECT_EQ(cause(late, LateCause::kKernels), 900'000);
  EXPECT_EQ(trace.text(late.kernel), "first_gemm") << "not the one that it still ran when rank 0 was through";
  EXPECT_EQ(late.kernel_ns, 900'000);
  EXPECT_THAT(late.delay_of_step, ElementsAre(900'000));
}

// Three collectives in a row; rank 1 is late at the first, rank 0 at the second, rank 1 at the third, each by its host.
TEST(LateRanks, NobodyIsChargedForWhatAnotherOneDelayed) {
  HandTrace hand;
  const std::array<std::array<std::int64_t, 3>, 2> starts = {{{100, 700, 1000}, {400, 600, 1500}}};
  const std::array<std::int64_t, 3> ends = {500, 800, 1600};
  for (const auto& of : starts) {
    HandRank& rank = hand.add_rank();
    rank.step(0, 2000);
    for (std::size_t c = 0; c < of.size(); ++c)
      rank.launch(kAllReduce, of[c] - 5, of[c], ends[c], kCommunication);
  }
  const Trace trace = hand.build();
  const RunFacts run(trace, {});
  const LateRank& first = run.late_ranks().ranks[0];
  const LateRank& second = run.late_ranks().ranks[1];
  EXPECT_EQ(first.delay_ns, 100'000);
  EXPECT_EQ(cause(first, LateCause::kHost), 100'000);
  EXPECT_EQ(second.delay_ns, 300'000 + 500'000);
  EXPECT_EQ(cause(second, LateCause::kHost), 800'000);
  EXPECT_THAT(late_rank_verdict(run), HasSubstr("rank 1 arrives last at 67 % of 3 collectives and makes the other wait "
                                                "800.0 us per step (40.0 %): its host launches late (800.0 us)"));
}

// Samples of a GPU's clock, as the recorder on the host leaves them.
void add_clock(Trace& trace, std::size_t rank, std::int64_t mhz) {
  GpuInfo gpu;
  gpu.uuid = "GPU-" + std::to_string(rank);
  trace.ranks[rank].run.gpus = {gpu};
  if (trace.launchers.empty()) {
    Launcher& launcher = trace.launchers.emplace_back();
    launcher.run.host = "host";
    launcher.run.utc_epoch_ns = trace.ranks[rank].run.utc_epoch_ns;
  }
  gpu.device = static_cast<std::int32_t>(rank);
  trace.launchers[0].run.gpus.push_back(gpu);
  MetricSeries series;
  series.gpu = static_cast<std::uint8_t>(rank);
  series.name = "SM clock [MHz]";
  series.time_ns = {100'000, 200'000, 900'000'000};
  series.value = {mhz, mhz, 1};  // the last one after the run
  trace.launchers[0].metrics.push_back(series);
}

// Everything takes 1.25 times as long on rank 1: 1000 and 1250 in all.
Trace slower_throughout() {
  HandTrace hand;
  for (const std::int64_t percent : {100, 125}) {
    HandRank& rank = hand.add_rank();
    rank.step(0, 2000);
    rank.launch("gemm", 0, 10, 10 + 6 * percent);
    rank.launch("norm", 2, 10 + 6 * percent, 10 + 10 * percent);
    rank.launch(kAllReduce, 4, 10 + 10 * percent, 1360, kCommunication);
  }
  return hand.build();
}

TEST(LateRanks, AClockThatIsLowerIsACauseWhereItWasSampled) {
  Trace trace = slower_throughout();
  EXPECT_EQ(cause(RunFacts(trace, {}).late_ranks().ranks[1], LateCause::kKernels), 250'000);
  add_clock(trace, 0, 1500);
  add_clock(trace, 1, 1200);
  const RunFacts run(trace, {});
  const LateRank& late = run.late_ranks().ranks[1];
  EXPECT_EQ(late.delay_ns, 250'000);
  EXPECT_EQ(cause(late, LateCause::kClock), 250'000) << "1250 x (1 - 1200 / 1500)";
  EXPECT_EQ(cause(late, LateCause::kKernels), 0);
  EXPECT_THAT(late_rank_verdict(run), HasSubstr("its GPU's clock is lower, 1200 MHz on average (250.0 us)"));
}

TEST(LateRanks, AClockThatIsTheSameIsNone) {
  Trace trace = slower_throughout();
  add_clock(trace, 0, 1500);
  add_clock(trace, 1, 1490);
  EXPECT_EQ(cause(RunFacts(trace, {}).late_ranks().ranks[1], LateCause::kKernels), 250'000);
}

TEST(LateRanks, OfOneRankThereIsNothingToCompare) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.step(0, 100);
  rank.launch(kAllReduce, 0, 10, 20);
  const Trace trace = hand.build();
  const RunFacts run(trace, {});
  EXPECT_EQ(late_rank_verdict(run), "one rank: nothing to compare");
  EXPECT_TRUE(late_ranks_table(run).rows.empty());
  EXPECT_EQ(collective_rows(run).unmatched.size(), 1U);
}

TEST(LateRanks, OfAChosenRankThereIsNothingToCompare) {
  const Trace trace = overlapped();
  Selection selection;
  selection.rank = 1;
  EXPECT_EQ(late_rank_verdict(RunFacts(trace, selection)), "one rank is chosen: nothing to compare");
}

TEST(LateRanks, WhereAllComeTogetherNobodyIsBlamed) {
  HandTrace hand;
  for (const std::int64_t late : {0, 2}) {
    HandRank& rank = hand.add_rank();
    rank.step(0, 1000);
    rank.launch(kAllReduce, 0, 10 + late, 100, kCommunication);
  }
  const Trace trace = hand.build();
  EXPECT_EQ(late_rank_verdict(RunFacts(trace, {})),
            "no rank makes the others wait at collectives: rank 1 most, 2.000 us per step (0.2 %)");
}

TEST(LateRanks, WithoutCommunicationNobodyWaits) {
  HandTrace hand;
  for (int r = 0; r < 2; ++r) {
    HandRank& rank = hand.add_rank();
    rank.step(0, 100);
    rank.launch("gemm", 0, 10, 20);
  }
  const Trace trace = hand.build();
  EXPECT_EQ(late_rank_verdict(RunFacts(trace, {})),
            "the ranks do not wait for each other: no communication was recorded");
}

bool has_copies_between_gpus(const RunFacts& run) {
  return std::ranges::any_of(run.scope.devices(), [&](const DeviceScope& device) {
    const GpuEvents& gpu = run.trace.ranks[device.rank_index].gpu;
    return std::ranges::any_of(device.events, [&](EventIndex e) {
      return gpu.kind[e] == GpuKind::kMemcpy && gpu.gpu_class[e] == GpuClass::kCommunication;
    });
  });
}

// What stands in the breakdown, in the table of collectives and in that of late ranks is the same time.
class RecordedTest : public testing::TestWithParam<const char*> {};

TEST_P(RecordedTest, WhatIsChargedIsTheExposedWaitOfTheBreakdown) {
  const Trace trace = open_trace(std::string(SWINSCOPE_SOURCE_DIR "/data/") + GetParam());
  const RunFacts run(trace, {});
  std::int64_t wait = 0;
  std::int64_t transfer = 0;
  for (const DeviceBreakdown& device : run.devices()) {
    wait += device.exposed_wait_ns;
    transfer += device.exposed_wire_ns;
  }
  EXPECT_GT(wait, 0);
  std::int64_t wait_of_rows = 0;
  std::int64_t transfer_of_rows = 0;
  for (const CollectivesRow& row : collective_rows(run).rows) {
    wait_of_rows += row.exposed_wait_ns;
    transfer_of_rows += row.exposed_transfer_ns;
  }
  EXPECT_EQ(wait_of_rows, wait);
  // Copies between GPUs transfer, too, and are of no collective.
  if (has_copies_between_gpus(run)) {
    EXPECT_LT(transfer_of_rows, transfer);
  } else {
    EXPECT_EQ(transfer_of_rows, transfer);
  }
  std::int64_t charged = run.late_ranks().undecided_ns;
  for (const LateRank& rank : run.late_ranks().ranks) {
    charged += rank.delay_ns;
    EXPECT_EQ(sum_of_causes(rank), rank.delay_ns);
    EXPECT_EQ(std::accumulate(rank.delay_of_step.begin(), rank.delay_of_step.end(), std::int64_t{0}), rank.delay_ns);
    EXPECT_GE(std::ranges::min(rank.cause_ns), 0);
    EXPECT_GE(rank.wait_ns, rank.delay_ns);
    EXPECT_LE(rank.kernel_ns, cause(rank, LateCause::kKernels) + 1) << "rounded";
    const auto per_step = run.late_ranks().causes_per_step(rank);
    EXPECT_EQ(std::accumulate(per_step.begin(), per_step.end(), std::int64_t{0}),
              run.late_ranks().delay_per_step(rank));
  }
  EXPECT_EQ(charged, wait);
  EXPECT_TRUE(collective_rows(run).unmatched.empty()) << "all are matched, those of a CUDA graph too";
}

INSTANTIATE_TEST_SUITE_P(Recordings, RecordedTest,
                         testing::Values("swinscope_swin_tiny_ddp_2gpu", "pytorch_swin_tiny_ddp_2gpu",
                                         "swinscope_swin_large_weak_2gpu/gpus2/tracing"));

// A graph is launched in each step: its all-reduce is the same node, and has the sequence number of the capture.
TEST(CollectiveMatching, WhatAGraphReplaysIsMatchedByItsLaunch) {
  constexpr std::uint64_t kNode = 42;
  HandTrace hand;
  for (int r = 0; r < 2; ++r) {
    HandRank& rank = hand.add_rank();
    for (std::int64_t step = 0; step < 3; ++step) {
      rank.step(1000 * step, 1000 * step + 1000);
      const std::uint32_t launch = rank.call("cudaGraphLaunch", 1000 * step, 1000 * step + 5);
      rank.kernel(kAllReduce, launch, 1000 * step + 100 + std::int64_t{50} * r, 1000 * step + 300, kCommunication,
                  kNode);
    }
  }
  const Trace trace = hand.build();
  const RunFacts run(trace, {});
  ASSERT_EQ(run.collectives().size(), 3U);
  for (const Collective& collective : run.collectives())
    EXPECT_EQ(step_of(trace.ranks[0], run.scope.steps()[0], collective.members[0].event),
              step_of(trace.ranks[1], run.scope.steps()[1], collective.members[1].event));
}

// One call that NCCL carries out by two kernels.
TEST(CollectiveMatching, KernelsOfOneCallCountEach) {
  HandTrace hand;
  for (int r = 0; r < 2; ++r) {
    HandRank& rank = hand.add_rank();
    rank.step(0, 1000);
    for (std::int64_t i = 0; i < 2; ++i) {
      const std::uint32_t launch = rank.call("cudaLaunchKernel", 10 * i, 10 * i + 5);
      rank.kernel(kAllReduce, launch, 100 + 200 * i, 200 + 200 * i, kCommunication);
      rank.collective("allreduce", launch, "[0, 1]", 2, 7);
    }
  }
  const Trace trace = hand.build();
  const RunFacts run(trace, {});
  ASSERT_EQ(run.collectives().size(), 2U);
  EXPECT_EQ(collective_rows(run).rows.at(0).later_parts, 1);
  EXPECT_THAT(collective_notes(run),
              testing::Contains(HasSubstr("1 of them are further kernels of a call that has several")));
}

// One rank was recorded without numbers: those of the other find nothing there.
TEST(CollectiveMatching, NumbersThatOneRankLacksDoNotCount) {
  HandTrace hand;
  for (int r = 0; r < 2; ++r) {
    HandRank& rank = hand.add_rank();
    rank.step(0, 1000);
    const std::uint32_t launch = rank.call("cudaLaunchKernel", 0, 5);
    rank.kernel(kAllReduce, launch, 100 + 10 * r, 200, kCommunication);
    rank.collective("allreduce", launch, "[0, 1]", 2, r == 0 ? 7 : -1);
  }
  const Trace trace = hand.build();
  const RunFacts run(trace, {});
  ASSERT_EQ(run.collectives().size(), 1U);
  EXPECT_EQ(run.collectives()[0].method, CollectiveMatch::kOrder);
}

// Without a sequence number, the process group keeps those of two groups apart.
TEST(CollectiveMatching, GroupsAreKeptApartWithoutSequenceNumbers) {
  HandTrace hand;
  for (int r = 0; r < 4; ++r) {
    HandRank& rank = hand.add_rank();
    rank.step(0, 1000);
    const std::uint32_t launch = rank.call("cudaLaunchKernel", 0, 5);
    rank.kernel(kAllReduce, launch, 100 + 10 * r, 200, kCommunication);
    rank.collective("allreduce", launch, r < 2 ? "[0, 1]" : "[2, 3]", 2, -1);
  }
  const Trace trace = hand.build();
  const RunFacts run(trace, {});
  ASSERT_EQ(run.collectives().size(), 2U);
  EXPECT_EQ(run.waits().arrivals()[0].spread_ns, 10'000);
  EXPECT_EQ(run.late_ranks().ranks[1].last, 1);
  EXPECT_EQ(run.late_ranks().ranks[3].last, 1);
}

}  // namespace
}  // namespace swinscope::test

// Gaps as objects are the idle time that the table of causes has, and what the host did fills each of them.
#include "analyzer/analyses/idle_gaps.h"

#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "analyzer/analyses/run_facts.h"
#include "analyzer/importers/open.h"
#include "tests/unit/analyzer/hand_trace.h"
#include "tests/unit/analyzer/random_trace.h"
#include "tests/unit/store/support.h"

namespace swinscope::test {
namespace {

std::vector<Trace> traces() {
  std::vector<Trace> all;
  for (const char* name : {"pytorch_swin_tiny_ddp_2gpu", "swinscope_swin_tiny_infer_1gpu.db"})
    all.push_back(open_trace(std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "data" / name));
  for (unsigned seed = 1; seed < 6; ++seed)
    all.push_back(random_trace(seed, 300));
  return all;
}

TEST(IdleGaps, SumToTheIdleTimeOfEachCause) {
  std::size_t gaps = 0;
  for (const Trace& trace : traces()) {
    const RunFacts run(trace, {});
    std::map<std::pair<std::size_t, std::int32_t>, IdleCauses> sums;
    for (const IdleGap& gap : run.idle_gaps())
      sums[{gap.rank_index, gap.device}].*gap.cause += gap.time.length();
    gaps += run.idle_gaps().size();
    for (const DeviceBreakdown& device : run.devices()) {
      const IdleCauses& sum = sums[{device.rank_index, device.device}];
      for (const IdleCause cause : {&IdleCauses::input_ns, &IdleCauses::synchronization_ns, &IdleCauses::host_ns,
                                    &IdleCauses::communication_ns, &IdleCauses::dependency_ns, &IdleCauses::other_ns})
        EXPECT_EQ(sum.*cause, device.idle.*cause) << trace.path << ", " << idle_cause_name(cause);
    }
  }
  EXPECT_GT(gaps, 1000U);
}

TEST(IdleGaps, AreFilledByWhatTheHostDid) {
  for (const Trace& trace : traces()) {
    const RunFacts run(trace, {});
    const std::vector<IdleGap>& gaps = run.idle_gaps();
    const std::vector<HostWork> work = host_work(trace, gaps);
    ASSERT_EQ(work.size(), gaps.size());
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      EXPECT_LE(gaps[i].time.length(), gaps[i == 0 ? 0 : i - 1].time.length());
      std::int64_t sum_ns = work[i].unrecorded_ns;
      for (const auto& [name, length_ns] : work[i].parts)
        sum_ns += length_ns;
      EXPECT_EQ(sum_ns, gaps[i].thread == 0 ? 0 : gaps[i].time.length()) << trace.path << ", gap " << i;
    }
  }
}

TEST(HostWaits, AreWhatTheHostDidInEachOfItsGaps) {
  for (const Trace& trace : traces()) {
    const RunFacts run(trace, {});
    std::vector<IdleGap> gaps;
    for (const IdleGap& gap : run.idle_gaps()) {
      if (gap.cause == &IdleCauses::host_ns || gap.cause == &IdleCauses::synchronization_ns) gaps.push_back(gap);
    }
    std::map<std::string, std::int64_t> by_name;
    std::int64_t unrecorded_ns = 0;
    for (const HostWork& work : host_work(trace, gaps)) {
      unrecorded_ns += work.unrecorded_ns;
      for (const auto& [name, ns] : work.parts)
        by_name[std::string(trace.text(name))] += ns;
    }
    const HostActivity& all = run.host_waits();
    EXPECT_EQ(all.unrecorded_ns, unrecorded_ns) << trace.path;
    std::int64_t sum_ns = all.unrecorded_ns;
    for (const auto& [name, ns] : all.parts) {
      if (name.back() != '*') {
        EXPECT_EQ(ns, by_name[name]) << trace.path << ": " << name;
      }
      sum_ns += ns;
    }
    EXPECT_EQ(sum_ns, all.total_ns);
    std::int64_t idle_ns = 0;
    for (const DeviceBreakdown& device : run.devices())
      idle_ns += device.idle.host_ns + device.idle.synchronization_ns;
    EXPECT_EQ(all.total_ns, idle_ns) << "the table of causes has the same time";
  }
}

TEST(HostWaits, TheVerdictSaysWhatKeptTheHost) {
  HandTrace hand(1'000'000);
  HandRank& rank = hand.add_rank();
  for (std::int64_t step = 0; step < 4; ++step) {
    const std::int64_t at = 100 * step;
    rank.torch_operator(fmt::format("batch {}", step), at, at + 100);
    rank.torch_operator("augment", at + 20, at + 60);
    rank.torch_operator(fmt::format("<built-in method astype of object at 0x7c{}>", step), at + 60, at + 80);
    rank.kernel("k", rank.call("cudaLaunchKernel", at + 90, at + 92), at + 92, at + 100);
  }
  const Trace trace = hand.build();
  const RunFacts run(trace, {});
  // From the first kernel's end on there are three gaps of 92: 40 in augment, 20 in a built-in method, 2 in the call,
  // 30 in the batch itself.
  EXPECT_EQ(run.host_waits().parts,
            (std::vector<std::pair<std::string, std::int64_t>>{{"augment", 120'000'000},
                                                               {"batch *", 90'000'000},
                                                               {"<built-in method astype of object at 0x*", 60'000'000},
                                                               {"cudaLaunchKernel", 6'000'000}}));
  EXPECT_THAT(
      run.verdict().sentence,
      testing::HasSubstr(
          "Meanwhile the host was in: augment 43 %, batch * 33 %, <built-in method astype of object at 0x* 22 %."));
}

}  // namespace
}  // namespace swinscope::test

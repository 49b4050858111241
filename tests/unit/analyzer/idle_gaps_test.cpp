// Gaps as objects are the idle time that the table of causes has, and what the host did fills each of them.
#include "analyzer/analyses/idle_gaps.h"

#include <map>

#include <gtest/gtest.h>

#include "analyzer/analyses/run_facts.h"
#include "analyzer/importers/open.h"
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

}  // namespace
}  // namespace swinscope::test

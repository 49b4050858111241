// One clock for all ranks: what two clocks are apart is found from the ends of collectives, whatever it is, and no wait
// depends on it.
#include "analyzer/facts/clock_alignment.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "analyzer/analyses/clocks.h"
#include "analyzer/analyses/collective_waits.h"
#include "analyzer/export/source.h"
#include "analyzer/timeline/timeline.h"
#include "analyzer/trace/trace_builder.h"
#include "tests/unit/analyzer/random_trace.h"

namespace swinscope::test {
namespace {

using Clock = std::function<std::int64_t(std::int64_t)>;  // what it shows at a time

std::int64_t right(std::int64_t time_ns) { return time_ns; }

Clock wrong_by(std::int64_t offset_ns, double drift_ppm) {
  return [=](std::int64_t time_ns) {
    return time_ns + offset_ns + std::llround(1e-6 * drift_ppm * static_cast<double>(time_ns));
  };
}

struct Host {
  std::string name;
  Clock clock = &right;
};

struct Job {
  std::vector<Host> hosts;  // by rank
  int collectives = 60;
  int outliers = 0;  // of them those that end 1 to 5 ms late on one rank
  std::int64_t jitter_ns = 300;
  std::string source = "swinscope";
};

constexpr std::int64_t kEveryNs = 10'000'000;

// One step: every 10 ms ranks come to a collective at random within 2 ms; it ends everywhere 0.5 ms later.
Trace trace_of(const Job& job, unsigned seed) {
  Dice dice(seed);
  const auto ranks = static_cast<std::int64_t>(job.hosts.size());
  std::vector<std::vector<Interval>> events(job.hosts.size());
  for (int c = 0; c < job.collectives; ++c) {
    const std::int64_t begin_ns = 1'000'000 + c * kEveryNs;
    const std::int64_t late = c < job.outliers ? dice.between(0, ranks - 1) : -1;
    for (std::int64_t r = 0; r < ranks; ++r) {
      const std::int64_t end_ns = begin_ns + 2'500'000 + dice.between(-job.jitter_ns, job.jitter_ns) +
                                  (r == late ? dice.between(1'000'000, 5'000'000) : 0);
      events[static_cast<std::size_t>(r)].push_back({begin_ns + dice.between(0, 2'000'000), end_ns});
    }
  }
  TraceBuilder builder;
  for (std::size_t r = 0; r < job.hosts.size(); ++r) {
    RecordSink& sink = builder.add_process();
    RunInfo run;
    run.source = job.source;
    run.rank = static_cast<std::int32_t>(r);
    run.world_size = static_cast<std::int32_t>(ranks);
    run.host = job.hosts[r].name;
    run.global_pid = make_global_pid(100 + r);
    run.utc_epoch_ns = 1'760'000'000'000'000'000;
    sink.set_run(run);
    NvtxRecord step;
    step.start_ns = job.hosts[r].clock(0);
    step.end_ns = job.hosts[r].clock(job.collectives * kEveryNs);
    step.global_tid = make_global_tid(100 + r, 1);
    step.text = sink.intern("step");
    sink.add(step);
    for (const Interval& event : events[r]) {
      KernelRecord kernel;
      kernel.start_ns = job.hosts[r].clock(event.begin_ns);
      kernel.end_ns = job.hosts[r].clock(event.end_ns);
      kernel.global_pid = run.global_pid;
      kernel.stream = 7;
      kernel.demangled_name = sink.intern("ncclDevKernel_AllReduce_Sum_f32(Args)");
      sink.add(kernel);
    }
  }
  Trace trace;
  builder.move_into(trace);
  return trace;
}

// Of all events of the ranks, in the order of time; -1 for one that is not divided.
std::vector<std::int64_t> waits_of(const Trace& trace) {
  const std::vector<Collective> collectives = match_collectives(trace, RunScope(trace, {}));
  const CollectiveWaits waits(trace, collectives, ClockAlignment(trace, collectives));
  std::vector<std::int64_t> all;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    for (EventIndex e = 0; e < trace.ranks[r].gpu.size(); ++e)
      all.push_back(waits.wait_ns(r, e).value_or(-1));
  }
  return all;
}

ClockAlignment alignment_of(const Job& job, unsigned seed = 1) { return ClockAlignment(trace_of(job, seed)); }

std::vector<std::string> methods_of(const ClockAlignment& clocks) {
  std::vector<std::string> methods;
  for (const RankClock& rank : clocks.ranks())
    methods.emplace_back(clock_method_name(rank.method));
  return methods;
}

TEST(ClockAlignment, NoOffsetAndDriftOfARankChangesAWait) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Job job{{{"alpha"}, {"alpha"}, {"beta"}, {"gamma"}}};
    job.outliers = static_cast<int>(seed % 8);
    const std::vector<std::int64_t> expected = waits_of(trace_of(job, seed));
    Dice dice(seed + 1'000);
    const Clock wrong = wrong_by(dice.between(-3'600'000'000'000, 3'600'000'000'000),
                                 0.1 * static_cast<double>(dice.between(-2'000, 2'000)));
    if (seed % 2 == 0) {
      job.hosts[2].clock = wrong;
    } else {  // the host whose clock is the reference
      job.hosts[0].clock = job.hosts[1].clock = wrong;
    }
    const std::vector<std::int64_t> found = waits_of(trace_of(job, seed));
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(static_cast<double>(found[i]), static_cast<double>(expected[i]), 1'000) << "event " << i;
  }
}

TEST(ClockAlignment, FindsOffsetAndDriftAmongOutliers) {
  const Job job{{{"alpha"}, {"beta", wrong_by(-3'000'000, -40)}}, 60, 12};
  const RankClock clock = alignment_of(job).ranks()[1];
  EXPECT_EQ(clock.method, ClockMethod::kCollectives);
  EXPECT_EQ(clock.collectives, 60);
  EXPECT_NEAR(1e6 * clock.drift, 40, 1);
  const std::int64_t middle_ns = clock.reference_ns - 1'760'000'000'000'000'000;
  EXPECT_NEAR(static_cast<double>(clock.offset_ns), 3e6 + 40e-6 * static_cast<double>(middle_ns + 3'000'000), 300);
  const RankClock clean = alignment_of({{{"alpha"}, {"beta", wrong_by(-3'000'000, -40)}}}).ranks()[1];
  EXPECT_LE(*clean.residual_p95_ns, 700);  // two ends of 300 ns
  EXPECT_GT(*clean.residual_p95_ns, 100);
}

TEST(ClockAlignment, OutliersAreNoWaitsOfOthers) {
  Job job{{{"alpha"}, {"beta", wrong_by(123'456'789, 40)}}, 60, 12};
  const std::vector<std::int64_t> with = waits_of(trace_of(job, 5));
  job.hosts[1].clock = &right;
  for (Host& host : job.hosts)
    host.name = "alpha";
  const std::vector<std::int64_t> expected = waits_of(trace_of(job, 5));
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(static_cast<double>(with[i]), static_cast<double>(expected[i]), 1'000) << "event " << i;
}

TEST(ClockAlignment, RanksOfAHostShareOneLine) {
  const Clock wrong = wrong_by(7'000'000, 12);
  const ClockAlignment clocks = alignment_of({{{"alpha"}, {"beta", wrong}, {"alpha"}, {"beta", wrong}}});
  EXPECT_EQ(methods_of(clocks), (std::vector<std::string>{"reference", "collectives", "same host", "collectives"}));
  EXPECT_EQ(clocks.ranks()[1].clock, clocks.ranks()[3].clock);
  EXPECT_NE(clocks.ranks()[1].clock, clocks.ranks()[0].clock);
  EXPECT_EQ(clocks.ranks()[1].offset_ns, clocks.ranks()[3].offset_ns);
  EXPECT_EQ(clocks.ranks()[2].offset_ns, 0);
  EXPECT_EQ(clocks.tolerance_ns(1, 3), 0);
  EXPECT_EQ(clocks.tolerance_ns(0, 1), clocks.ranks()[1].residual_p95_ns);
}

TEST(ClockAlignment, TwentyCollectivesAreEnough) {
  Job job{{{"alpha"}, {"beta"}}, 20};
  EXPECT_EQ(alignment_of(job).ranks()[1].method, ClockMethod::kCollectives);
  job.collectives = 19;
  const ClockAlignment clocks = alignment_of(job);
  EXPECT_EQ(methods_of(clocks), (std::vector<std::string>{"reference", "not aligned"}));
  EXPECT_EQ(clocks.ranks()[1].collectives, 19);
  EXPECT_EQ(clocks.tolerance_ns(0, 1), std::nullopt);
}

TEST(ClockAlignment, EndsThatNoLineFitsAlignNothing) {
  Job job{{{"alpha"}, {"beta"}}};
  job.jitter_ns = 400'000;
  const RankClock clock = alignment_of(job).ranks()[1];
  EXPECT_EQ(clock.method, ClockMethod::kNone);
  EXPECT_GT(clock.residual_p95_ns.value_or(0), 50'000);
}

TEST(ClockAlignment, UnknownHostsThatAgreeNeedNoLine) {
  Job job{{{""}, {""}}, 3};
  job.source = "kineto";
  EXPECT_EQ(methods_of(alignment_of(job)), (std::vector<std::string>{"reference", "clocks agree"}));
  job.hosts[1].clock = wrong_by(10'000'000, 0);
  EXPECT_EQ(methods_of(alignment_of(job)), (std::vector<std::string>{"reference", "not aligned"}));
  job.collectives = 60;
  EXPECT_EQ(methods_of(alignment_of(job)), (std::vector<std::string>{"reference", "collectives"}));
}

TEST(ClockAlignment, ANameThatTwoHostsHaveIsNoProofInForeignTraces) {
  Job job{{{"node"}, {"node", wrong_by(10'000'000, 0)}}};
  EXPECT_EQ(methods_of(alignment_of(job)), (std::vector<std::string>{"reference", "same host"}));
  job.source = "nsys";
  EXPECT_EQ(methods_of(alignment_of(job)), (std::vector<std::string>{"reference", "collectives"}));
  job.hosts[1].clock = &right;
  EXPECT_EQ(methods_of(alignment_of(job)), (std::vector<std::string>{"reference", "same host"}));
}

TEST(ClockAlignment, FaultsAreCountedAndLeftUndivided) {
  const Trace trace = trace_of({{{"node"}, {"node", wrong_by(10'000'000, 0)}}}, 1);
  const std::vector<Collective> collectives = match_collectives(trace, RunScope(trace, {}));
  const CollectiveWaits waits(trace, collectives, ClockAlignment(trace, collectives));
  EXPECT_EQ(waits.matched(), 60);
  EXPECT_EQ(waits.misaligned(), 60);
  EXPECT_FALSE(waits.wait_ns(0, 0));
  EXPECT_EQ(waits.doubts().size(), 1U);
}

TEST(ClockAlignment, TimelineAndExportsAreMovedByTheSameOffset) {
  const Trace trace = trace_of({{{"alpha"}, {"beta", wrong_by(-3'000'000, -40)}}}, 1);
  const ClockAlignment clocks(trace);
  const Timeline timeline = build_timeline(trace);
  EXPECT_EQ(timeline.processes[1].offset_ns - timeline.processes[0].offset_ns, clocks.ranks()[1].offset_ns);
  EXPECT_NEAR(static_cast<double>(timeline.processes[1].offset_ns), 3e6, 1e5);
  const JobClock exported = ExportSource(trace, {}, {}).clock();
  const std::int64_t moved_ns = exported.rank_offset_ns[1] - exported.rank_offset_ns[0];
  EXPECT_NEAR(static_cast<double>(moved_ns), static_cast<double>(clocks.ranks()[1].offset_ns), 1'000);
  EXPECT_NEAR(static_cast<double>(exported.rank_utc_ns[1] - exported.rank_offset_ns[1]),
              static_cast<double>(exported.base_utc_ns), 1'000);
}

TEST(ClockAlignment, OneRankHasNoTable) {
  const Trace one = random_trace(1, 100);
  EXPECT_TRUE(clocks_table(one, ClockAlignment(one)).rows.empty());
  EXPECT_TRUE(ClockAlignment(Trace()).ranks().empty());
}

}  // namespace
}  // namespace swinscope::test

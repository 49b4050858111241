// What the golden tests of `ranges` cannot ask: many ranges against a count by hand of each, and domains that nest
// badly.
#include "analyzer/analyses/ranges.h"

#include <algorithm>
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/trace/launched_work.h"
#include "analyzer/trace/thread_ranges.h"
#include "analyzer/trace/trace_builder.h"

namespace swinscope {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kPid = 100;

class Program {
 public:
  Program() : sink_(builder_.add_process()) {
    RunInfo run;
    run.source = "swinscope";
    run.global_pid = make_global_pid(kPid);
    sink_.set_run(run);
  }

  void range(std::int64_t start_ns, std::int64_t end_ns, std::string_view name, std::uint64_t thread = 1,
             std::uint32_t domain = 0, NvtxType type = NvtxType::kPushPop) {
    NvtxRecord range;
    range.start_ns = start_ns;
    range.end_ns = end_ns;
    range.global_tid = make_global_tid(kPid, thread);
    range.domain = domain;
    range.type = type;
    range.text = sink_.intern(name);
    sink_.add(range);
  }
  void kernel(std::int64_t launched_ns, std::int64_t start_ns, std::int64_t end_ns, std::uint64_t thread = 1) {
    ApiRecord call;
    call.start_ns = launched_ns;
    call.end_ns = launched_ns + 1;
    call.global_tid = make_global_tid(kPid, thread);
    call.correlation = ++correlation_;
    call.name = sink_.intern("cudaLaunchKernel");
    sink_.add(call);
    KernelRecord kernel;
    kernel.start_ns = start_ns;
    kernel.end_ns = end_ns;
    kernel.global_pid = make_global_pid(kPid);
    kernel.correlation = correlation_;
    kernel.demangled_name = sink_.intern("kernel" + std::to_string(correlation_));
    sink_.add(kernel);
  }
  Trace finish() {
    Trace trace;
    builder_.move_into(trace);
    return trace;
  }

 private:
  TraceBuilder builder_;
  RecordSink& sink_;
  std::uint32_t correlation_ = 0;
};

RangeTable table_of(const Trace& trace, const RangeOptions& options = {}) {
  Selection whole;
  whole.scope = Scope::kTrace;
  return range_table(trace, RunScope(trace, whole), options);
}

std::vector<std::string> paths(const RangeTable& table) {
  std::vector<std::string> paths;
  for (const RangeRow& row : table.rows)
    paths.push_back(row.path);
  return paths;
}

// Two domains of a thread: `b` is pushed within `a`, which is popped first.
TEST(RangeTable, WhatIsPoppedLaterThanTheRangeAroundItKeepsItsLaunches) {
  Program program;
  program.range(0, 10, "a", 1, 1);
  program.range(5, 20, "b", 1, 2);
  program.range(12, 14, "c", 1, 1);
  program.kernel(6, 100, 101);
  program.kernel(13, 110, 112);
  program.kernel(16, 120, 124);
  const RangeTable table = table_of(program.finish());
  ASSERT_THAT(paths(table), ElementsAre("a", "a/b", "a/b/c"));
  EXPECT_EQ(table.rows[0].gpu_sum_ns, 1);  // `a` had ended
  EXPECT_EQ(table.rows[1].gpu_sum_ns, 7);
  EXPECT_EQ(table.rows[2].gpu_sum_ns, 2);
  EXPECT_EQ(table.rows[0].self_ns, 5);
  EXPECT_EQ(table.rows[1].self_ns, 13);
  EXPECT_EQ(table.in_ranges_ns, 7);
}

TEST(RangeTable, ALaunchAtTheStartBelongsToTheRangeAndOneAtTheEndDoesNot) {
  Program program;
  program.range(10, 20, "a");
  program.kernel(10, 100, 101);
  program.kernel(20, 110, 112);
  const RangeTable table = table_of(program.finish());
  EXPECT_EQ(table.rows.at(0).gpu_sum_ns, 1);
  EXPECT_EQ(table.gpu_ns, 3);
}

// Each range against all launches.
TEST(RangeTable, IsWhatEachRangeAddsUpTo) {
  std::mt19937 random(7);
  const auto below = [&](std::int64_t limit) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
  };
  struct Launch {
    std::int64_t at_ns, start_ns, end_ns;
    std::uint64_t thread;
  };
  struct Range {
    std::int64_t start_ns, end_ns;
    std::uint64_t thread;
  };
  Program program;
  std::vector<Launch> launches;
  for (int i = 0; i < 1500; ++i) {
    const std::int64_t at = below(10'000);
    const std::int64_t start = at + below(500);
    launches.push_back({at, start, start + below(50), 1 + static_cast<std::uint64_t>(below(2))});
    program.kernel(launches.back().at_ns, launches.back().start_ns, launches.back().end_ns, launches.back().thread);
  }
  std::map<std::string, std::vector<Range>> ranges;  // start/end ranges, which may overlap in any way
  for (int i = 0; i < 300; ++i) {
    const std::int64_t start = below(10'000);
    const Range range{start, start + below(i % 3 == 0 ? 10'000 : 60), 1 + static_cast<std::uint64_t>(below(2))};
    const std::string name = "r" + std::to_string(below(20));
    ranges[name].push_back(range);
    program.range(range.start_ns, range.end_ns, name, range.thread, 0, NvtxType::kStartEnd);
  }
  const RangeTable table = table_of(program.finish());
  ASSERT_EQ(table.rows.size(), ranges.size());
  for (const RangeRow& row : table.rows) {
    SCOPED_TRACE(row.path);
    std::int64_t spans = 0;
    std::int64_t sum = 0;
    std::int64_t events = 0;
    std::int64_t host = 0;
    for (const Range& range : ranges.at(row.path)) {
      GpuWork work;
      for (const Launch& launch : launches) {
        if (launch.thread == range.thread && range.start_ns <= launch.at_ns && launch.at_ns < range.end_ns)
          work.add(launch.start_ns, launch.end_ns);
      }
      spans += work.span_ns();
      sum += work.total_ns;
      events += work.events;
      host += range.end_ns - range.start_ns;
    }
    EXPECT_EQ(row.gpu_span_ns, spans);
    EXPECT_EQ(row.gpu_sum_ns, sum);
    EXPECT_EQ(row.gpu_events, events);
    EXPECT_EQ(row.host_ns, host);
    EXPECT_EQ(row.style, RangeStyle::kStartEnd);
  }
}

TEST(ThreadRanges, TheInnermostIsFoundBehindRangesThatHaveEnded) {
  Program program;
  program.range(0, 100, "outer");
  for (std::int64_t i = 0; i < 10; ++i)
    program.range(5 * i, 5 * i + 2, "inner");
  const Trace trace = program.finish();
  const auto threads = thread_ranges(trace.ranks.at(0), [](std::uint32_t) { return true; });
  ASSERT_EQ(threads.size(), 1U);
  const Ranges& ranges = trace.ranks[0].ranges;
  EXPECT_EQ(threads[0].innermost(ranges, 1), 1U);
  EXPECT_EQ(threads[0].innermost(ranges, 2), 0U);
  EXPECT_EQ(threads[0].innermost(ranges, 99), 0U);
  EXPECT_EQ(threads[0].innermost(ranges, 100), ThreadRanges::kNone);
  EXPECT_EQ(threads[0].innermost(ranges, -1), ThreadRanges::kNone);
}

TEST(RangeTable, TooManyNamesThatDifferInANumberShareARow) {
  Program program;
  for (std::int64_t i = 0; i <= kManyNumbers; ++i)
    program.range(10 * i, 10 * i + 4, "request " + std::to_string(i));
  program.range(20'000, 20'005, "layer 1");
  program.range(20'010, 20'016, "layer 2");
  const Trace trace = program.finish();
  const RangeTable table = table_of(trace);
  EXPECT_THAT(paths(table), ElementsAre("request *", "layer 1", "layer 2"));
  EXPECT_EQ(table.rows[0].calls, kManyNumbers + 1);
  EXPECT_EQ(table.rows[0].host_ns, 4 * (kManyNumbers + 1));
  EXPECT_EQ(table.joined_names, kManyNumbers + 1);
  RangeOptions apart;
  apart.numbers_apart = true;
  EXPECT_EQ(table_of(trace, apart).rows.size(), static_cast<std::size_t>(kManyNumbers) + 3);
}

TEST(RangeTable, CountsWhatTheEndOfTheRecordingEnded) {
  Program program;
  program.range(0, kOpenEnd, "open");
  program.range(10, 50, "closed");
  const RangeTable table = table_of(program.finish());
  EXPECT_EQ(table.open_ranges, 1);
  EXPECT_EQ(table.rows.at(0).host_ns, 50);
}

}  // namespace
}  // namespace swinscope

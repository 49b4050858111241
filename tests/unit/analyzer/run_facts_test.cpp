// The facts of a run: computed when asked for, once. Calls of three costly ones are counted as the linker passes
// them on (--wrap, see CMakeLists.txt), so that no caller can go around the facts.
#include "analyzer/analyses/run_facts.h"

#include <atomic>
#include <thread>

#include "analyzer/base/lazy.h"
#include "analyzer/report/documents.h"
#include "analyzer/report/report.h"
#include "tests/unit/analyzer/random_trace.h"
#include "tests/unit/analyzer/support.h"

namespace swinscope {
namespace {

std::atomic<int> g_matches = 0;
std::atomic<int> g_breakdowns = 0;
std::atomic<int> g_kernel_tables = 0;

using Breakdowns = std::vector<DeviceBreakdown>;

}  // namespace

std::vector<Collective> real_match(const Trace& trace,
                                   const RunScope& scope) asm("__real_" SWINSCOPE_MATCH_COLLECTIVES);
std::vector<Collective> counted_match(const Trace& trace,
                                      const RunScope& scope) asm("__wrap_" SWINSCOPE_MATCH_COLLECTIVES);
Breakdowns real_breakdown(const Trace& trace, const RunScope& scope,
                          const CollectiveWaits& waits) asm("__real_" SWINSCOPE_TIME_BREAKDOWN);
Breakdowns counted_breakdown(const Trace& trace, const RunScope& scope,
                             const CollectiveWaits& waits) asm("__wrap_" SWINSCOPE_TIME_BREAKDOWN);
std::vector<KernelRow> real_kernels(const Trace& trace, const RunScope& scope, const Breakdowns& devices,
                                    const KernelTableOptions& options) asm("__real_" SWINSCOPE_KERNEL_TABLE);
std::vector<KernelRow> counted_kernels(const Trace& trace, const RunScope& scope, const Breakdowns& devices,
                                       const KernelTableOptions& options) asm("__wrap_" SWINSCOPE_KERNEL_TABLE);

std::vector<Collective> counted_match(const Trace& trace, const RunScope& scope) {
  ++g_matches;
  return real_match(trace, scope);
}

Breakdowns counted_breakdown(const Trace& trace, const RunScope& scope, const CollectiveWaits& waits) {
  ++g_breakdowns;
  return real_breakdown(trace, scope, waits);
}

std::vector<KernelRow> counted_kernels(const Trace& trace, const RunScope& scope, const Breakdowns& devices,
                                       const KernelTableOptions& options) {
  ++g_kernel_tables;
  return real_kernels(trace, scope, devices, options);
}

namespace test {
namespace {

class RunFactsTest : public testing::Test {
 protected:
  RunFactsTest() : trace_(random_trace(7, 400)) { g_matches = g_breakdowns = g_kernel_tables = 0; }

  Trace trace_;
};

TEST_F(RunFactsTest, ADocumentComputesEachOnce) {
  analyze_document(RunFacts(trace_, {}), {.top = 10, .thesis = true, .verdict_facts = true});
  EXPECT_EQ(g_matches, 1);
  EXPECT_EQ(g_breakdowns, 1);
  EXPECT_EQ(g_kernel_tables, 1);
}

TEST_F(RunFactsTest, AReportComputesEachOnce) {
  report_part(trace_, "run", {});
  EXPECT_EQ(g_matches, 1);
  EXPECT_EQ(g_breakdowns, 1);
  EXPECT_EQ(g_kernel_tables, 1);
}

TEST_F(RunFactsTest, WhatIsNotAskedForIsNotComputed) {
  const RunFacts run(trace_, {});
  EXPECT_EQ(g_matches, 0);
  EXPECT_EQ(g_breakdowns, 0);
  run.collectives();
  EXPECT_EQ(g_breakdowns, 0);
  run.devices();
  EXPECT_EQ(g_matches, 1);
  EXPECT_EQ(g_kernel_tables, 0);
}

TEST_F(RunFactsTest, ClocksAreAlignedByTheCollectivesOfTheRunUnlessAPartIsSelected) {
  TraceBuilder builder;
  add_random_process(builder, 1, 200, 0);
  add_random_process(builder, 2, 200, 1);
  Trace trace;
  builder.move_into(trace);
  trace.ranks[1].run.host = "another";
  const RunFacts run(trace, {});
  run.clocks();
  run.devices();
  EXPECT_EQ(g_matches, 1);
  Selection whole;
  whole.scope = Scope::kTrace;
  const RunFacts part(trace, whole);
  part.clocks();
  part.devices();
  EXPECT_EQ(g_matches, 3);
}

TEST_F(RunFactsTest, ManyThreadsShareOneComputation) {
  const RunFacts run(trace_, {});
  std::vector<const Verdict*> seen(8);
  std::vector<std::thread> threads;
  for (const Verdict*& verdict : seen)
    threads.emplace_back([&] { verdict = &run.verdict(); });
  for (std::thread& thread : threads)
    thread.join();
  for (const Verdict* verdict : seen)
    EXPECT_EQ(verdict, seen.front());
  EXPECT_EQ(g_breakdowns, 1);
}

TEST(LazyTest, AFailureIsNotKept) {
  const Lazy<int> lazy;
  EXPECT_THROW(lazy.get([]() -> int { throw std::runtime_error("not now"); }), std::runtime_error);
  EXPECT_EQ(lazy.get([] { return 3; }), 3);
  EXPECT_EQ(lazy.get([] { return 4; }), 3);
}

}  // namespace
}  // namespace test
}  // namespace swinscope

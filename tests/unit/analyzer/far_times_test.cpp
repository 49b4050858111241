// Times that cannot be: a damaged one is left out and counted, and where all of them are such the trace is refused, so
// that nothing that is added up of them overflows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analyzer/importers/open.h"
#include "analyzer/report/registry.h"
#include "store/writer.h"
#include "tests/unit/analyzer/support.h"
#include "tests/unit/store/records.h"

namespace swinscope::test {
namespace {

constexpr std::int64_t kEnd = std::int64_t{1} << 61U;  // of what a reader takes

struct Event {
  std::int64_t start_ns;
  std::int64_t end_ns;
};

class FarTimes : public testing::Test {
 protected:
  // Each event a kernel, the call that launched it and a range.
  fs::path trace_of(const std::vector<Event>& events) {
    fs::path path = folder_ / "rank0.db";
    fs::remove(path);
    TraceWriter writer(path, WriteMode::kImport);
    std::uint32_t correlation = 0;
    for (const Event& event : events) {
      KernelRecord kernel;
      kernel.start_ns = event.start_ns;
      kernel.end_ns = event.end_ns;
      kernel.stream = 7;
      kernel.correlation = ++correlation;
      kernel.demangled_name = writer.intern("gemm");
      writer.add(kernel);
      ApiRecord call;
      call.start_ns = event.start_ns;
      call.end_ns = event.end_ns;
      call.correlation = correlation;
      call.name = writer.intern("cudaLaunchKernel");
      writer.add(call);
      NvtxRecord range;
      range.type = NvtxType::kPushPop;
      range.start_ns = event.start_ns;
      range.end_ns = event.end_ns;
      range.text = writer.intern("step");
      writer.add(range);
    }
    writer.set_run({});
    writer.finish();
    return path;
  }

  TempFolder folder_;
};

TEST_F(FarTimes, AreLeftOutAndCounted) {
  std::vector<Event> events;
  for (std::int64_t i = 0; i < 10; ++i)
    events.push_back({1000 * i, 1000 * i + 500});
  events.push_back({-kEnd, kEnd});
  events.push_back({kEnd - 10, kEnd});
  events.push_back({-kEnd, -kEnd + 10});
  const Trace trace = open_trace(trace_of(events));
  ASSERT_EQ(trace.ranks.size(), 1U);
  EXPECT_EQ(trace.ranks[0].gpu.size(), 10U);
  EXPECT_EQ(trace.ranks[0].api.size(), 10U);
  EXPECT_EQ(trace.ranks[0].ranges.size(), 10U);
  const auto& drops = trace.ranks[0].run.drops;
  ASSERT_EQ(drops.size(), 1U);
  EXPECT_EQ(drops[0].count, 9);
  // Under UndefinedBehaviorSanitizer an overflow ends the test.
  for (const Scope scope : {Scope::kSteps, Scope::kTrace}) {
    Selection selection;
    selection.scope = scope;
    const RunFacts run(trace, selection);
    for (const Analysis& analysis : analyses())
      EXPECT_FALSE(table_of(analysis, run, {}).columns.empty()) << analysis.key;
  }
}

// Within 52 days of each other, and more than can be added up.
TEST_F(FarTimes, OfAllEventsAreRefused) {
  const std::int64_t far = std::int64_t{1} << 51U;
  const std::vector<Event> events(600, {-far, far});
  const auto error = error_of([&] { open_trace(trace_of(events)); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
  EXPECT_NE(std::string(error->what()).find("its times cannot be"), std::string::npos) << error->what();
}

}  // namespace
}  // namespace swinscope::test

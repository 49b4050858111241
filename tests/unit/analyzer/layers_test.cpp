// What the golden tests of `layers` cannot ask: parts of a trace, and the single calls.
#include "analyzer/analyses/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/analyses/run_facts.h"
#include "analyzer/trace/trace_builder.h"

namespace swinscope {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kPid = 100;
constexpr std::uint64_t kThread = 1;

// Of a process: operations of 1000 FLOPs and what they put onto the GPU.
class Program {
 public:
  explicit Program(TraceSink& trace, std::int32_t rank = 0) : sink_(trace.add_process()) {
    RunInfo run;
    run.source = "swinscope";
    run.rank = rank;
    run.global_pid = make_global_pid(kPid);
    sink_.set_run(run);
    NvtxRecord domain;
    domain.type = NvtxType::kDomain;
    domain.domain = 1;
    domain.text = sink_.intern("swinscope");
    sink_.add(domain);
  }

  void range(std::int64_t start_ns, std::int64_t end_ns, std::string_view name, bool is_operation = true) {
    NvtxRecord range;
    range.start_ns = start_ns;
    range.end_ns = end_ns;
    range.global_tid = make_global_tid(kPid, kThread);
    range.domain = 1;
    range.text = sink_.intern(name);
    if (is_operation)
      range.json =
          sink_.intern(R"({"$schema":"swinscope.operation/1","class":"gemm","precision":"fp16","flops":1000})");
    sink_.add(range);
  }
  // A launch at `when`, and the kernels that it started one after the other from `start_ns` on.
  void launch(std::int64_t when, std::int64_t start_ns, const std::vector<std::int64_t>& durations_ns,
              std::uint32_t stream = 7, const std::vector<std::uint64_t>& nodes = {}) {
    ApiRecord call;
    call.start_ns = when;
    call.end_ns = when + 1;
    call.global_tid = make_global_tid(kPid, kThread);
    call.correlation = ++correlation_;
    call.name = sink_.intern("cudaLaunchKernel");
    sink_.add(call);
    for (std::size_t i = 0; i < durations_ns.size(); ++i) {
      KernelRecord kernel;
      kernel.start_ns = start_ns;
      kernel.end_ns = start_ns += durations_ns[i];
      kernel.global_pid = make_global_pid(kPid);
      kernel.correlation = correlation_;
      kernel.stream = stream;
      kernel.graph_node = nodes.empty() ? 0 : nodes[i];
      kernel.demangled_name = sink_.intern("gemm");
      sink_.add(kernel);
    }
  }
  void node(std::int64_t when, std::uint64_t node) {
    GraphNodeRecord record;
    record.time_ns = when;
    record.global_tid = make_global_tid(kPid, kThread);
    record.node = node;
    sink_.add(record);
  }

 private:
  RecordSink& sink_;
  std::uint32_t correlation_ = 0;
};

Trace finish(TraceBuilder& builder) {
  Trace trace;
  builder.move_into(trace);
  return trace;
}

std::vector<std::int64_t> works(const std::vector<LayerCall>& calls) {
  std::vector<std::int64_t> works;
  works.reserve(calls.size());
  for (const LayerCall& call : calls)
    works.push_back(call.work_ns);
  return works;
}

TEST(LayerCalls, AreThoseOfALayerAndOfAllBelowIt) {
  TraceBuilder builder;
  Program program(builder);
  program.range(0, 100, "forward", false);
  program.range(10, 20, "stage1.block0.mlp.fc1");
  program.launch(12, 1'000, {30, 5});
  program.range(30, 40, "stage1.block0.mlp.fc2");
  program.launch(32, 1'040, {20});
  program.range(50, 57, "stage10");  // no part of stage1, and nothing on the GPU
  program.range(200, 300, "backward", false);
  program.range(210, 220, "stage1.block0.mlp.fc1");
  program.launch(212, 1'100, {60});
  const Trace trace = finish(builder);
  EXPECT_THAT(works(layer_calls(RunFacts(trace, {}), "stage1", "")), ElementsAre(35, 20, 60));
  EXPECT_THAT(works(layer_calls(RunFacts(trace, {}), "stage1", "backward")), ElementsAre(60));
  EXPECT_THAT(works(layer_calls(RunFacts(trace, {}), "stage1.block0.mlp.fc1", "forward")), ElementsAre(35));
  const std::vector<LayerCall> host = layer_calls(RunFacts(trace, {}), "stage10", "");
  ASSERT_THAT(works(host), ElementsAre(7));
  EXPECT_EQ(host[0].gpu_event, kNoEvent);
  EXPECT_EQ(host[0].start_ns, 50);
  const std::vector<LayerCall> first = layer_calls(RunFacts(trace, {}), "stage1.block0.mlp.fc1", "");
  EXPECT_EQ(first[0].start_ns, 1'000);
  EXPECT_EQ(trace.ranks[0].gpu.start_ns[first[0].gpu_event], 1'000);
}

TEST(LayerCalls, OfACapturedOperationAreItsReplays) {
  TraceBuilder builder;
  Program program(builder);
  program.range(10, 20, "qkv");
  program.node(15, 1);
  program.node(16, 2);
  program.launch(100, 1'000, {40, 3}, 7, {1, 2});
  program.launch(200, 2'000, {44, 4}, 7, {1, 2});
  program.range(90, 190, "step", false);
  program.range(190, 290, "step", false);
  const Trace trace = finish(builder);
  Selection everything;
  everything.scope = Scope::kTrace;
  const RunFacts all(trace, everything);
  EXPECT_THAT(works(layer_calls(all, "qkv", "")), ElementsAre(43, 48));
  EXPECT_EQ(layer_table(all).at(0).flops, 2'000);
  EXPECT_EQ(layer_table(all).at(0).calls, 2);
  // Without the capture's own range, which lies before the step, a replay still counts.
  Selection second;
  second.steps = StepRange{2, 2};
  const RunFacts late(trace, second);
  EXPECT_THAT(works(layer_calls(late, "qkv", "")), ElementsAre(48));
  const std::vector<LayerRow> rows = layer_table(late);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].flops, 1'000);
  EXPECT_EQ(rows[0].calls, 1);
  EXPECT_EQ(rows[0].host.count, 0);
  EXPECT_EQ(rows[0].gpu_ns, 48);
  EXPECT_EQ(rows[0].steps, 1);
}

TEST(LayerTable, CountsWhatIsSelectedAndLeavesOutTheRest) {
  TraceBuilder builder;
  Program program(builder);
  for (std::int64_t step = 0; step < 3; ++step) {
    program.range(step * 100, step * 100 + 100, "step", false);
    program.range(step * 100 + 10, step * 100 + 20, "fc1");
    program.launch(step * 100 + 12, 1'000 * (step + 1), {30}, step == 2 ? 8 : 7);
  }
  program.range(310, 320, "fc2");
  const Trace trace = finish(builder);
  Selection selection;
  selection.steps = StepRange{1, 2};
  selection.stream = 7;
  const std::vector<LayerRow> rows = layer_table(RunFacts(trace, selection));
  ASSERT_EQ(rows.size(), 1U) << "nothing of fc2 counts";
  EXPECT_EQ(rows[0].path, "fc1");
  EXPECT_EQ(rows[0].calls, 2);
  EXPECT_EQ(rows[0].gpu_events, 2);
  EXPECT_EQ(rows[0].flops, 2'000);
  EXPECT_EQ(rows[0].steps, 2);
}

TEST(LayerCalls, GoByRank) {
  TraceBuilder builder;
  for (const std::int32_t rank : {0, 1}) {
    Program program(builder, rank);
    program.range(10, 20 + rank, "fc1");
  }
  const Trace trace = finish(builder);
  EXPECT_THAT(works(layer_calls(RunFacts(trace, {}), "fc1", "")), ElementsAre(10, 11));
  Selection second;
  second.rank = 1;
  EXPECT_THAT(works(layer_calls(RunFacts(trace, second), "fc1", "")), ElementsAre(11));
  EXPECT_EQ(layer_calls(RunFacts(trace, second), "fc1", "")[0].rank, 1U);
}

}  // namespace
}  // namespace swinscope

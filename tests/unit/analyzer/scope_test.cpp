// What must hold of every run's figures, whatever it did: parts sum to their whole, and neither the length of a
// nanosecond nor how often a step was recorded changes a share.
#include "analyzer/facts/scope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/analyses/run_facts.h"
#include "analyzer/trace/trace_builder.h"
#include "store/error.h"
#include "tests/unit/analyzer/random_trace.h"

namespace swinscope {
namespace {

using test::Dice;

constexpr std::uint64_t kPid = 100;

// What one GPU event of a random step is: when it is launched and runs, in ns since the step began.
struct Planned {
  std::int64_t launch_ns;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint32_t stream;
  const char* name;  // null: a copy from the host
};

// A step of random work that the device has finished when the step ends.
std::vector<Planned> random_step(Dice& dice, std::int64_t step_ns) {
  constexpr std::array<const char*, 6> kNames = {
      "sm90_xmma_gemm", "gelu_kernel", "ncclDevKernel_AllReduce_Sum_f32(Args)", "render", nullptr, "flash_fwd_kernel"};
  std::vector<Planned> work;
  const std::int64_t count = dice.between(1, 30);
  for (std::int64_t i = 0; i < count; ++i) {
    Planned event{};
    event.launch_ns = dice.between(0, step_ns - 10);
    event.start_ns = dice.between(event.launch_ns, step_ns - 5);
    event.end_ns = dice.between(event.start_ns, step_ns);
    event.stream = static_cast<std::uint32_t>(7 + i);  // a stream runs one after the other
    event.name = kNames.at(static_cast<std::size_t>(dice.between(0, 5)));
    work.push_back(event);
  }
  return work;
}

void add_work(RecordSink& sink, const Planned& planned, std::int64_t begin_ns, std::int64_t scale,
              std::uint32_t correlation, std::int32_t device) {
  ApiRecord call;
  call.start_ns = (begin_ns + planned.launch_ns) * scale;
  call.end_ns = call.start_ns + scale;
  call.global_tid = make_global_tid(kPid + static_cast<std::uint64_t>(device), 1);
  call.correlation = correlation;
  call.name = sink.intern("cudaLaunchKernel");
  sink.add(call);
  const auto place = [&](GpuRecord& record) {
    record.start_ns = (begin_ns + planned.start_ns) * scale;
    record.end_ns = (begin_ns + planned.end_ns) * scale;
    record.global_pid = make_global_pid(kPid + static_cast<std::uint64_t>(device));
    record.device = device;
    record.stream = planned.stream;
    record.correlation = correlation;
  };
  if (planned.name == nullptr) {
    MemcpyRecord copy;
    place(copy);
    copy.kind = CopyKind::kHostToDevice;
    sink.add(copy);
    return;
  }
  KernelRecord kernel;
  place(kernel);
  kernel.demangled_name = sink.intern(planned.name);
  sink.add(kernel);
}

// `steps` times the same step on each of `ranks` ranks, one after the other, with work before and after them.
Trace repeated(unsigned seed, std::int64_t steps, std::int64_t scale = 1, std::int32_t ranks = 1) {
  constexpr std::int64_t kFirstNs = 50'000;
  TraceBuilder builder;
  for (std::int32_t r = 0; r < ranks; ++r) {
    Dice dice(seed + 1000 * static_cast<unsigned>(r));
    const std::int64_t step_ns = Dice(seed).between(100, 20'000);
    const std::vector<Planned> work = random_step(dice, step_ns);
    RecordSink& sink = builder.add_process();
    RunInfo run;
    run.source = "swinscope";
    run.rank = r;
    run.world_size = ranks;
    run.host = "node";
    run.global_pid = make_global_pid(kPid + static_cast<std::uint64_t>(r));
    sink.set_run(run);
    std::uint32_t correlation = 1;
    add_work(sink, {0, 10, 9'000, 7, "sm90_init_gemm"}, 0, scale, correlation++, r);
    for (std::int64_t i = 0; i < steps; ++i) {
      const std::int64_t begin_ns = kFirstNs + i * step_ns;
      NvtxRecord range;
      range.start_ns = begin_ns * scale;
      range.end_ns = (begin_ns + step_ns) * scale;
      range.global_tid = make_global_tid(kPid + static_cast<std::uint64_t>(r), 1);
      range.text = sink.intern("step");
      sink.add(range);
      for (const Planned& planned : work)
        add_work(sink, planned, begin_ns, scale, correlation++, r);
    }
    add_work(sink, {10, 20, 70'000, 7, "sm90_save_gemm"}, kFirstNs + steps * step_ns, scale, correlation++, r);
  }
  Trace trace;
  builder.move_into(trace);
  return trace;
}

std::int64_t sum(const std::array<std::int64_t, kBounds>& parts) {
  std::int64_t total = 0;
  for (const std::int64_t part : parts)
    total += part;
  return total;
}

void expect_parts_to_sum(const RunFacts& run) {
  std::int64_t windows = 0;
  for (const DeviceBreakdown& d : run.devices()) {
    EXPECT_EQ(d.compute_ns + d.unknown_ns + d.exposed_communication_ns + d.exposed_memory_ns, d.busy_ns);
    EXPECT_EQ(d.busy_ns + d.idle.total_ns(), d.window_ns);
    EXPECT_LE(d.exposed_wait_ns + d.exposed_wire_ns, d.exposed_communication_ns);
    EXPECT_LE(d.exposed_host_copy_ns, d.exposed_memory_ns);
    EXPECT_LE(d.math_ns, d.compute_ns);
    windows += d.window_ns;
  }
  EXPECT_EQ(sum(run.verdict().total_ns), windows);
  EXPECT_EQ(run.verdict().whole_ns, windows);
  EXPECT_EQ(sum(run.verdict().part_ns), run.verdict().whole_part_ns);
  for (const std::int64_t part : run.verdict().total_ns)
    EXPECT_GE(part, 0);
}

TEST(RunScope, PartsOfVerdictIdleAndBreakdownSumToTheWindow) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Trace steps = repeated(seed, 3, 1, 1 + static_cast<std::int32_t>(seed % 3));
    expect_parts_to_sum(RunFacts(steps, {}));
    Selection whole;
    whole.scope = Scope::kTrace;
    expect_parts_to_sum(RunFacts(steps, whole));
    const Trace anything = test::random_trace(seed, 200);
    expect_parts_to_sum(RunFacts(anything, {}));
  }
}

TEST(RunScope, TimesTenTimesAsLongChangeNoShare) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const Trace once = repeated(seed, 3);
    const Trace slow = repeated(seed, 3, 10);
    const RunFacts a(once, {});
    const RunFacts b(slow, {});
    ASSERT_EQ(a.devices().size(), b.devices().size());
    for (std::size_t i = 0; i < kBounds; ++i)
      EXPECT_EQ(b.verdict().total_ns.at(i), 10 * a.verdict().total_ns.at(i));
    EXPECT_EQ(b.verdict().bound, a.verdict().bound);
    for (std::size_t i = 0; i < a.devices().size(); ++i)
      EXPECT_DOUBLE_EQ(b.devices()[i].gpu_busy(), a.devices()[i].gpu_busy());
    EXPECT_EQ(b.scope.step_ns(), 10 * a.scope.step_ns());
  }
}

TEST(RunScope, TheSameStepRecordedMoreOftenChangesNoFigureOfAStep) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const Trace once = repeated(seed, 1, 1, 2);
    const RunFacts a(once, {});
    for (const std::int64_t times : {2, 4, 10}) {
      const Trace more = repeated(seed, times, 1, 2);
      const RunFacts b(more, {});
      EXPECT_EQ(b.verdict().part_ns, a.verdict().part_ns);
      EXPECT_EQ(b.verdict().bound, a.verdict().bound);
      EXPECT_EQ(b.scope.step_ns(), a.scope.step_ns());
      ASSERT_EQ(b.kernels().size(), a.kernels().size());
      for (std::size_t i = 0; i < a.kernels().size(); ++i) {
        EXPECT_EQ(b.kernels()[i].name, a.kernels()[i].name);
        EXPECT_EQ(b.kernels()[i].per_step_ns(), a.kernels()[i].per_step_ns());
        EXPECT_DOUBLE_EQ(b.kernels()[i].busy_share, a.kernels()[i].busy_share);
      }
    }
  }
}

// One kernel of 1000 in a step of 10000, late and early: the waits before and after it count (METRICS "One scope").
TEST(RunScope, WaitsBeforeTheFirstKernelAndAfterTheLastOneCount) {
  for (const std::int64_t start : {8'900, 20}) {
    TraceBuilder builder;
    RecordSink& sink = builder.add_process();
    RunInfo run;
    run.global_pid = make_global_pid(kPid);
    sink.set_run(run);
    NvtxRecord step;
    step.end_ns = 10'000;
    step.global_tid = make_global_tid(kPid, 1);
    step.text = sink.intern("ProfilerStep#5");
    sink.add(step);
    add_work(sink, {start - 10, start, start + 1'000, 7, "sm90_xmma_gemm"}, 0, 1, 1, 0);
    Trace trace;
    builder.move_into(trace);
    const RunFacts judged(trace, {});
    EXPECT_EQ(judged.verdict().bound, Bound::kHost);
    EXPECT_EQ(judged.verdict().part_ns[static_cast<std::size_t>(Bound::kHost)], 9'000);
    EXPECT_EQ(judged.verdict().part_ns[static_cast<std::size_t>(Bound::kCompute)], 1'000);
  }
}

TEST(RunScope, WarmUpStepsAreLeftOutAndOneStepStays) {
  const Trace trace = repeated(1, 5);
  Selection selection;
  selection.warmup_steps = 2;
  EXPECT_EQ(RunScope(trace, selection).step_count(), 3);
  EXPECT_EQ(RunScope(trace, selection).title(), "3 steps after 2 of warm-up");
  selection.warmup_steps = 99;
  EXPECT_EQ(RunScope(trace, selection).step_count(), 1);
  selection.steps = StepRange{2, 3};
  EXPECT_EQ(RunScope(trace, selection).title(), "steps 2 to 3 of 5");
  selection.steps = StepRange{6, 9};
  EXPECT_THROW(RunScope(trace, selection), Error);
  Selection no_rank;
  no_rank.rank = 7;
  EXPECT_THROW(RunScope(trace, no_rank), Error);
}

TEST(RunScope, PerStepFiguresFollowTheFilterThatTheRowsFollow) {
  const Trace trace = repeated(3, 6, 1, 2);
  const RunFacts all(trace, {});
  Selection one;
  one.rank = 1;
  one.steps = StepRange{3, 4};
  const RunFacts part(trace, one);
  const std::string name = part.kernels().front().name;
  std::int64_t of_rank_ns = 0;
  for (EventIndex i = 0; i < trace.ranks[1].gpu.size(); ++i) {
    if (trace.text(trace.ranks[1].gpu.name[i]) == name && all.scope.has_gpu_event(1, i))
      of_rank_ns += trace.ranks[1].gpu.end_ns[i] - trace.ranks[1].gpu.start_ns[i];
  }
  EXPECT_EQ(part.kernels().front().per_step_ns(), of_rank_ns / 6);
}

TEST(DivideExactly, PartsSumToTheRoundedWhole) {
  Dice dice(5);
  for (int i = 0; i < 1'000; ++i) {
    std::array<std::int64_t, 4> values{};
    std::int64_t total = 0;
    for (std::int64_t& value : values)
      total += value = dice.between(0, 1'000'000);
    const std::int64_t divisor = dice.between(1, 50);
    std::int64_t given = 0;
    const auto parts = divide_exactly(values, divisor);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      EXPECT_LE(std::abs(parts.at(k) - values.at(k) / divisor), 1);
      given += parts.at(k);
    }
    EXPECT_EQ(given, (total + divisor / 2) / divisor);
  }
}

}  // namespace
}  // namespace swinscope

// Traces of random events, as the tests of the timeline need them: overlapping, nested, touching, without duration,
// very long.
#pragma once

#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analyzer/timeline/timeline.h"
#include "analyzer/trace/trace_builder.h"

namespace swinscope::test {

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }
  // Mostly short, sometimes nothing, rarely more than 4.29 s.
  std::int64_t duration_ns() {
    if (one_in(10)) return 0;
    if (one_in(200)) return between(4'000'000'000, 9'000'000'000);
    return between(0, std::int64_t{1} << between(1, 16));
  }

 private:
  std::mt19937 engine_;
};

constexpr std::uint64_t kTestPid = 77;

inline void add_gpu_work(RecordSink& sink, Dice& dice, std::uint32_t correlation, std::int64_t start_ns) {
  const auto place = [&](GpuRecord& record) {
    record.start_ns = start_ns + dice.between(0, 3'000);
    record.end_ns = record.start_ns + dice.duration_ns();
    record.global_pid = make_global_pid(kTestPid);
    record.device = static_cast<std::int32_t>(dice.between(0, 1));
    record.stream = static_cast<std::uint32_t>(dice.between(7, 8));
    record.correlation = dice.one_in(8) ? 0 : correlation;
  };
  if (dice.one_in(6)) {
    MemcpyRecord copy;
    place(copy);
    copy.kind = CopyKind::kHostToDevice;
    sink.add(copy);
    return;
  }
  KernelRecord kernel;
  place(kernel);
  kernel.demangled_name = sink.intern(dice.one_in(5) ? "ncclDevKernel_AllReduce_Sum_f32_RING_LL(Args)"
                                                     : fmt::format("gemm<{}>(int)", dice.between(0, 9)));
  sink.add(kernel);
}

inline void add_host_work(RecordSink& sink, Dice& dice, std::uint32_t correlation, std::int64_t start_ns) {
  ApiRecord call;
  call.start_ns = start_ns;
  call.end_ns = start_ns + dice.between(0, 2'000);
  call.global_tid = make_global_tid(kTestPid, static_cast<std::uint64_t>(dice.between(1, 2)));
  call.correlation = correlation;
  call.name = sink.intern("cudaLaunchKernel");
  sink.add(call);
  NvtxRecord range;
  range.start_ns = start_ns - dice.between(0, 500);
  range.end_ns = range.start_ns + dice.duration_ns();
  range.global_tid = call.global_tid;
  range.domain = static_cast<std::uint32_t>(dice.between(0, 1));
  range.text = sink.intern(fmt::format("Layer {}", dice.between(0, 20)));
  sink.add(range);
}

// One process, 3 records for each of `launches`, in a span that leaves gaps.
inline void add_random_process(TraceSink& trace, unsigned seed, int launches, std::int32_t rank = 0,
                               std::int64_t utc_epoch_ns = 1'000'000'000) {
  Dice dice(seed);
  RecordSink& sink = trace.add_process();
  RunInfo run;
  run.source = "swinscope";
  run.rank = rank;
  run.world_size = 2;
  run.global_pid = make_global_pid(kTestPid);
  run.host = "host";
  run.utc_epoch_ns = utc_epoch_ns;
  run.threads = {{make_global_tid(kTestPid, 1), "main"}};
  sink.set_run(run);
  std::int64_t now_ns = -5'000;
  for (int i = 1; i <= launches; ++i) {
    now_ns += dice.one_in(50) ? dice.between(0, 3'000'000) : dice.between(0, 4'000);
    add_host_work(sink, dice, static_cast<std::uint32_t>(i), now_ns);
    add_gpu_work(sink, dice, static_cast<std::uint32_t>(i), now_ns);
  }
}

inline Trace random_trace(unsigned seed, int launches) {
  TraceBuilder builder;
  add_random_process(builder, seed, launches);
  Trace trace;
  builder.move_into(trace);
  return trace;
}

// Random events that do not overlap.
inline TimelineLane random_lane(unsigned seed, int events, NameId names, LaneKind kind = LaneKind::kKernels) {
  Dice dice(seed);
  TimelineLane lane;
  lane.key.kind = kind;
  lane.label = "lane";
  std::int64_t now_ns = dice.between(-1'000, 1'000);
  for (int i = 0; i < events; ++i) {
    if (!dice.one_in(3)) now_ns += dice.one_in(40) ? dice.between(0, 1'000'000) : dice.between(0, 100);
    LaneEvent event;
    event.start_ns = now_ns;
    event.duration_ns = dice.duration_ns();
    event.name = static_cast<NameId>(dice.between(0, names - 1));
    event.ref = static_cast<EventIndex>(std::int64_t{2} * i + dice.between(0, 1));
    if (is_gpu(kind) && !dice.one_in(5))
      event.launch = static_cast<EventIndex>(dice.between(0, std::int64_t{3} * events));
    lane.append(event);
    now_ns = event.end_ns();
  }
  lane.seal();
  return lane;
}

// Every event with its lane, as text, so that two timelines can be compared.
inline std::vector<std::string> describe(const Timeline& timeline) {
  std::vector<std::string> lines;
  for (const TimelineProcess& process : timeline.processes) {
    lines.push_back(fmt::format("rank {} of {} pid {:#x} epoch {} host {} source {} offset {} steps {} {}",
                                process.rank, process.world_size, process.global_pid, process.utc_epoch_ns,
                                process.host, process.source, process.offset_ns, process.steps.size(),
                                process.steps_how));
  }
  for (const TimelineLane& lane : timeline.lanes) {
    const LaneKey& key = lane.key;
    lines.push_back(
        fmt::format("lane '{}' process {} kind {} device {} context {} stream {} thread {:#x} domain {} "
                    "depth {} sublane {}",
                    lane.label, key.process, static_cast<int>(key.kind), key.device, key.context, key.stream,
                    key.global_tid, key.domain, key.depth, key.sublane));
    for (LanePosition i = 0; i < lane.size(); ++i) {
      const LaneEvent event = lane.event(i);
      lines.push_back(fmt::format("{} +{} '{}' ref {} launch {}", event.start_ns, event.duration_ns,
                                  timeline.names.text(event.name), event.ref, event.launch));
    }
  }
  return lines;
}

}  // namespace swinscope::test

// Traces made by hand: calls, what they launch, waits and steps, at the times that a test gives. A unit of them is a
// microsecond, unless the test makes it longer.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>

#include "analyzer/trace/classify.h"
#include "analyzer/trace/trace_builder.h"

namespace swinscope::test {

// Where GPU work stands.
struct Stream {
  std::uint32_t stream = 7;
  std::int32_t device = 0;
  std::uint32_t context = 1;
};

// An event as CUDA knows it, and the number that joins a record of it to its waits; 0: the recorder has no such.
struct CudaEvent {
  std::uint32_t event = 1;
  std::uint64_t number = 0;
};

class HandRank {
 public:
  HandRank(RecordSink& sink, std::int32_t rank, std::int64_t unit_ns) : sink_(sink), unit_ns_(unit_ns) {
    run.source = "swinscope";
    run.rank = rank;
    run.global_pid = make_global_pid(100 + static_cast<std::uint64_t>(rank));
    run.host = "host";
    run.utc_epoch_ns = 1'760'000'000'000'000'000;
  }

  // Returns its correlation.
  std::uint32_t call(std::string_view name, std::int64_t begin, std::int64_t end, std::uint64_t thread = 1) {
    ApiRecord r;
    r.start_ns = begin * unit_ns_;
    r.end_ns = end * unit_ns_;
    r.global_tid = run.global_pid + thread;
    r.correlation = ++correlation_;
    r.name = sink_.intern(name);
    sink_.add(r);
    return r.correlation;
  }
  void kernel(std::string_view name, std::uint32_t correlation, std::int64_t start, std::int64_t end,
              const Stream& on = {}, std::uint64_t graph_node = 0, std::int32_t threads = 0) {
    KernelRecord r;
    place(r, correlation, start, end, on);
    r.graph_node = graph_node;
    if (threads > 0) r.grid = {threads, 1, 1}, r.block = {1, 1, 1};
    r.demangled_name = sink_.intern(name);
    sink_.add(r);
  }
  void copy(std::uint32_t correlation, std::int64_t start, std::int64_t end, MemoryKind host, const Stream& on = {},
            std::int64_t bytes = 0) {
    MemcpyRecord r;
    place(r, correlation, start, end, on);
    r.bytes = bytes;
    r.kind = CopyKind::kHostToDevice;
    r.src_kind = host;
    r.dst_kind = MemoryKind::kDevice;
    sink_.add(r);
  }
  void set(std::uint32_t correlation, std::int64_t start, std::int64_t end, const Stream& on = {}) {
    MemsetRecord r;
    place(r, correlation, start, end, on);
    sink_.add(r);
  }
  void whole_graph(std::uint32_t correlation, std::int64_t start, std::int64_t end) {
    GraphTraceRecord r;
    place(r, correlation, start, end, {});
    r.graph = 1;
    sink_.add(r);
  }
  // A launch of two units and its kernel.
  void launch(std::string_view name, std::int64_t begin, std::int64_t start, std::int64_t end, const Stream& on = {},
              std::uint64_t thread = 1) {
    kernel(name, call("cudaLaunchKernel", begin, begin + 2, thread), start, end, on);
  }

  // What the source says of the communication kernel with this correlation: its process group, as "[0, 1]".
  void collective(std::string_view name, std::uint32_t correlation, std::string_view ranks, std::int32_t size,
                  std::int64_t seq) {
    CollectiveRecord r;
    r.global_pid = run.global_pid;
    r.correlation = correlation;
    r.name = sink_.intern(name);
    r.ranks = sink_.intern(ranks);
    r.group_size = size;
    r.seq = seq;
    sink_.add(r);
  }

  // A call of one unit that puts the event onto the stream.
  void record(const CudaEvent& event, std::int64_t begin, const Stream& on = {}, std::uint64_t thread = 1) {
    CudaEventRecord r;
    r.global_pid = run.global_pid;
    r.correlation = call("cudaEventRecord", begin, begin + 1, thread);
    r.event_sync = event.number;
    r.event = event.event;
    r.device = on.device;
    r.context = on.context;
    r.stream = on.stream;
    sink_.add(r);
  }
  // A call that waits, and its record.
  void sync(SyncType type, std::int64_t begin, std::int64_t end, const Stream& on = {}, const CudaEvent& event = {}) {
    constexpr std::string_view kCalls[] = {"", "cudaEventSynchronize", "cudaStreamWaitEvent", "cudaStreamSynchronize",
                                           "cudaDeviceSynchronize"};
    SyncRecord r;
    place(r, call(kCalls[static_cast<std::size_t>(type)], begin, end), begin, end, on);
    r.type = type;
    r.event = event.event;
    r.event_sync = event.number;
    sink_.add(r);
  }
  void step(std::int64_t begin, std::int64_t end, std::uint64_t thread = 1) {
    NvtxRecord r;
    r.start_ns = begin * unit_ns_;
    r.end_ns = end * unit_ns_;
    r.global_tid = run.global_pid + thread;
    r.text = sink_.intern("step");
    sink_.add(r);
  }
  // A range of our own domain: an operation, where it has a payload of one, or a phase.
  void own_range(std::string_view name, std::int64_t begin, std::int64_t end, std::string_view json = {}) {
    range_of("swinscope", 1, has_own_domain_, name, begin, end, json);
  }
  // Of a PyTorch profiler; `json`: its inputs, as the importer keeps them.
  void torch_operator(std::string_view name, std::int64_t begin, std::int64_t end, std::string_view json = {}) {
    range_of(kDomainTorchOp, 2, has_torch_domain_, name, begin, end, json);
  }
  void finish() { sink_.set_run(run); }

  RunInfo run;

 private:
  void range_of(std::string_view domain, std::uint32_t number, bool& is_named, std::string_view name,
                std::int64_t begin, std::int64_t end, std::string_view json) {
    NvtxRecord r;
    r.domain = number;
    if (!is_named) {
      r.type = NvtxType::kDomain;
      r.text = sink_.intern(domain);
      sink_.add(r);
      is_named = true;
    }
    r.type = NvtxType::kPushPop;
    r.start_ns = begin * unit_ns_;
    r.end_ns = end * unit_ns_;
    r.global_tid = run.global_pid + 1;
    r.text = sink_.intern(name);
    if (!json.empty()) r.json = sink_.intern(json);
    sink_.add(r);
  }

  void place(GpuRecord& r, std::uint32_t correlation, std::int64_t start, std::int64_t end, const Stream& on) {
    r.start_ns = start * unit_ns_;
    r.end_ns = end * unit_ns_;
    r.global_pid = run.global_pid;
    r.device = on.device;
    r.context = on.context;
    r.stream = on.stream;
    r.correlation = correlation;
  }

  RecordSink& sink_;
  std::int64_t unit_ns_;
  std::uint32_t correlation_ = 0;
  bool has_own_domain_ = false;
  bool has_torch_domain_ = false;
};

class HandTrace {
 public:
  explicit HandTrace(std::int64_t unit_ns = 1'000) : unit_ns_(unit_ns) {}

  HandRank& add_rank() {
    const auto rank = static_cast<std::int32_t>(ranks_.size());
    return ranks_.emplace_back(builder_.add_process(), rank, unit_ns_);
  }
  Trace build() {
    for (HandRank& rank : ranks_) {
      rank.run.world_size = static_cast<std::int32_t>(ranks_.size());
      rank.finish();
    }
    Trace trace;
    builder_.move_into(trace);
    classify(trace, {});
    return trace;
  }

 private:
  TraceBuilder builder_;
  std::deque<HandRank> ranks_;
  std::int64_t unit_ns_;
};

// The GPU event of that name; kNoEvent: none.
inline EventIndex event_named(const Trace& trace, const Rank& rank, std::string_view name) {
  for (EventIndex e = 0; e < rank.gpu.size(); ++e)
    if (trace.text(rank.gpu.name[e]) == name) return e;
  return kNoEvent;
}

}  // namespace swinscope::test

// Feeds a sink with one record of each type: with every field set, or with none but those that a record must have.
#pragma once

#include "store/sink.h"

namespace swinscope::test {

constexpr std::uint64_t kPid = make_global_pid(4711);
constexpr std::uint64_t kTid = make_global_tid(4711, 815);

// The largest values where a narrowing on the way would show.
template <typename Record>
Record full_gpu_record(std::int64_t start_ns) {
  Record r;
  r.start_ns = start_ns;
  r.end_ns = start_ns + 10;
  r.global_pid = kPid;
  r.graph_node = 0xFFFFFFFFFFFFFFFEU;
  r.correlation = 0xFFFFFFFDU;
  r.device = 7;
  r.context = 0xFFFFFFFCU;
  r.green_context = 3;
  r.stream = 0xFFFFFFFBU;
  return r;
}

inline void add_full_kernel(RecordSink& sink) {
  auto r = full_gpu_record<KernelRecord>(-5);
  r.demangled_name = sink.intern("void ns::gemm<float>(int)");
  r.short_name = sink.intern("gemm");
  r.mangled_name = sink.intern("_ZN2ns4gemm");
  r.grid = {2147483647, 65535, 65534};
  r.block = {1024, 2, 3};
  r.cluster = {4, 5, 6};
  r.launch_type = 2;
  r.cache_config = 1;
  r.registers_per_thread = 255;
  r.static_shared_bytes = 1024;
  r.dynamic_shared_bytes = 232448;
  r.local_bytes_per_thread = 16;
  r.local_bytes_total = std::int64_t{1} << 40;
  r.grid_id = INT64_MAX;
  r.shared_bytes_executed = 233472;
  r.shared_limit_config = 9;
  r.graph = 0xFFFFFFFAU;
  sink.add(r);
}

inline void add_full_memory_records(RecordSink& sink) {
  auto copy = full_gpu_record<MemcpyRecord>(100);
  copy.bytes = std::int64_t{1} << 41;
  copy.kind = CopyKind::kPeerToPeer;
  copy.src_kind = MemoryKind::kPageable;
  copy.dst_kind = MemoryKind::kManaged;
  copy.src_device = 0;
  copy.dst_device = 5;
  sink.add(copy);

  auto set = full_gpu_record<MemsetRecord>(200);
  set.bytes = std::int64_t{1} << 42;
  set.value = 0xAB;
  set.kind = MemoryKind::kPinned;
  sink.add(set);
}

inline void add_full_control_records(RecordSink& sink) {
  auto sync = full_gpu_record<SyncRecord>(300);
  sync.graph_node = 0;  // a synchronization is no graph node
  sync.type = SyncType::kContext;
  sync.event = 0xFFFFFFF9U;
  sync.event_sync = 0xFFFFFFFFFFFFFFF8U;
  sink.add(sync);

  auto graph = full_gpu_record<GraphTraceRecord>(400);
  graph.graph_node = 0;
  graph.graph = 0xFFFFFFF7U;
  graph.graph_exec = 0xFFFFFFF6U;
  sink.add(graph);
}

inline void add_full_host_records(RecordSink& sink) {
  ApiRecord api;
  api.start_ns = 500;
  api.end_ns = 510;
  api.global_tid = kTid;
  api.correlation = 0xFFFFFFF5U;
  api.name = sink.intern("cuLaunchKernelEx");
  api.api_class = ApiClass::kDriver;
  api.return_value = -700;
  sink.add(api);

  OverheadRecord overhead;
  overhead.start_ns = 600;
  overhead.end_ns = 610;
  overhead.global_tid = kTid;
  overhead.correlation = 0xFFFFFFF4U;
  overhead.name = sink.intern("Lazy Function Loading");
  overhead.type = 7;
  sink.add(overhead);
}

inline void add_full_ranges(RecordSink& sink) {
  NvtxRecord domain;
  domain.type = NvtxType::kDomain;
  domain.domain = 0xFFFFFFF3U;
  domain.text = sink.intern("swinscope");
  sink.add(domain);

  NvtxRecord range;
  range.start_ns = 700;
  range.end_ns = 710;
  range.global_tid = kTid;
  range.end_global_tid = kTid + 1;
  range.range = 0xFFFFFFFFFFFFFFF2U;
  range.text = sink.intern("stage3.block5.attn.qkv \xE2\x82\xAC");
  range.json = sink.intern(R"({"flops": 1})");
  range.domain = 0xFFFFFFF3U;
  range.category = 0xFFFFFFF1U;
  range.color = 0xFFFFFFF0U;
  range.type = NvtxType::kStartEnd;
  const auto add_value = [&](NvtxValueType type, std::int64_t integer, double real) {
    range.value_type = type;
    range.int64_value = integer;
    range.double_value = real;
    sink.add(range);
  };
  add_value(NvtxValueType::kUint64, -2, 0);  // in two's complement: the largest but one
  add_value(NvtxValueType::kInt64, INT64_MIN, 0);
  add_value(NvtxValueType::kDouble, 0, 0.1);
  add_value(NvtxValueType::kUint32, 0xFFFFFFFF, 0);
  add_value(NvtxValueType::kInt32, INT32_MIN, 0);
  range.is_plain = true;
  add_value(NvtxValueType::kFloat, 0, 0.5);
}

inline void add_full_collective(RecordSink& sink) {
  CollectiveRecord r;
  r.global_pid = kPid;
  r.graph_node = 0xFFFFFFFFFFFFFFEFU;
  r.correlation = 0xFFFFFFEEU;
  r.name = sink.intern("allreduce");
  r.dtype = sink.intern("Half");
  r.group_name = sink.intern("default_pg");
  r.ranks = sink.intern("[0, 1]");
  r.in_elements = std::int64_t{1} << 43;
  r.out_elements = std::int64_t{1} << 44;
  r.seq = 0;
  r.group_size = 1024;
  sink.add(r);
}

inline void add_full_cpu_records(RecordSink& sink) {
  sink.add(ThreadCpuRecord{800, kTid, std::int64_t{1} << 45});
  ProcessRecord process;
  process.global_pid = kPid;
  process.start_ns = 810;
  process.end_ns = 820;
  process.parent_global_pid = make_global_pid(1);
  process.rank = 3;
  process.name = sink.intern("python3");
  process.command = sink.intern("python3 loader.py");
  process.cpu_ns = std::int64_t{1} << 46;
  process.unseen_cpu_ns = std::int64_t{1} << 47;
  process.max_rss_bytes = std::int64_t{1} << 48;
  sink.add(process);
  sink.add(ProcessCpuRecord{830, kPid, std::int64_t{1} << 49, std::int64_t{1} << 50});
}

// CUDA events, memory and its pools, of this and of another process.
inline void add_full_memory_operations(RecordSink& sink) {
  sink.add(CudaEventRecord{710, kPid, 0xFFFFFFFFFFFFFFEDU, 0xFFFFFFECU, 6, 0xFFFFFFEBU, 0xFFFFFFEAU, 0xFFFFFFE9U});
  const MemoryPool own{MemoryPool::Owner::kThisProcess, 0xFFFF'0000'0000'0000U, 1 << 20, std::int64_t{1} << 51, 0, 0};
  const MemoryPool imported{MemoryPool::Owner::kOther, 0xFFFF'1000'0000'0000U, 0, 0, 0, 4712};
  MemoryRecord memory{720,
                      kPid,
                      0xFFFF'0000'0000'0100U,
                      0xFFFF'8000'0000'0000U,
                      std::int64_t{1} << 52,
                      0xFFFFFFE8U,
                      5,
                      0xFFFFFFE7U,
                      0xFFFFFFE6U,
                      MemoryKind::kDevice,
                      MemoryOperation::kRelease,
                      {},
                      own};
  sink.add(memory);
  memory.pool = imported;
  sink.add(memory);
  memory.pool = {};
  memory.kind = MemoryKind::kDeviceStatic;
  memory.name = "weights";
  sink.add(memory);
  MemoryPoolRecord pool{730, kPid, 0xFFFFFFE5U, 4, PoolOperation::kTrimmed, std::int64_t{1} << 53, own};
  sink.add(pool);
  pool.pool = imported;
  pool.pool.owner_pid = 0;  // the file says it of memory only
  sink.add(pool);
}

inline void add_full_payload(RecordSink& sink) {
  NvtxPayloadRecord range;
  range.start_ns = 740;
  range.end_ns = 750;
  range.global_tid = kTid;
  range.text = sink.intern("step");
  range.payload = std::string_view("\0payload\xFF", 9);
  sink.add(range);
  sink.add(PayloadSchemaRecord{0xFFFFFFE4U, 1, 0xFFFFFFFFFFFFFFE3U, 1, 2, 24, 8, "schema"});
  sink.add(PayloadEntryRecord{0xFFFFFFE4U, 0, 0xFFFFFFFFFFFFFFE3U, 0xFFFFFFFFFFFFFFE2U, 3, 4, 16, "entry"});
}

inline void add_full_metrics(RecordSink& sink) {
  sink.add(MetricNameRecord{MetricSource::kGpm, 255, 7, "SM active [0.01 %]"});
  sink.add(MetricRecord{760, MetricSource::kGpm, 255, 7, std::int64_t{1} << 54});
}

inline RunInfo full_run() {
  RunInfo run;
  run.source = "kineto";
  run.source_file = "trace.json.gz";
  run.rank = 3;
  run.world_size = 8;
  run.global_pid = kPid;
  run.host = "node17";
  run.command = "python train.py --name 'a b'";
  run.complete = false;
  run.graph_level_only = true;
  run.utc_epoch_ns = 1'760'000'000'123'456'789;
  run.gpus = {{0, "NVIDIA H200", "GPU-0123", 150109880320, 132, 9, 0, "GH100", "0000:3b:00.0", 62914560,
               4'814'540'000'000, 1'980'000'000},
              {1, "NVIDIA A40", "GPU-4567", 85899345920, 84, 8, 6, "", "", 0, 0, 0}};
  run.processes = {{kPid, "python3"}, {make_global_pid(12), "loader"}};
  run.threads = {{kTid, "main"}, {make_global_tid(12, 13), "worker"}};
  run.windows = {{1'000, 2'000}, {3'000, 9'000}};
  run.environment = {{"cpu.model", "EPYC"}, {"env.NCCL_ALGO", ""}};
  run.drops = {{"kernel", 12, "buffer overrun"}, {"range", 1, "no end"}};
  return run;
}

inline void add_full_process(RecordSink& sink) {
  add_full_kernel(sink);
  add_full_memory_records(sink);
  add_full_control_records(sink);
  add_full_host_records(sink);
  add_full_ranges(sink);
  add_full_collective(sink);
  add_full_cpu_records(sink);
  add_full_memory_operations(sink);
  add_full_payload(sink);
  add_full_metrics(sink);
  sink.set_run(full_run());
}

template <typename Record>
void add_bare(RecordSink& sink, std::int64_t start_ns) {
  Record r;
  r.start_ns = start_ns;
  r.end_ns = start_ns;
  sink.add(r);
}

inline void add_bare_process(RecordSink& sink) {
  add_bare<KernelRecord>(sink, 0);
  add_bare<MemcpyRecord>(sink, 1);
  add_bare<MemsetRecord>(sink, 2);
  add_bare<SyncRecord>(sink, 3);
  add_bare<GraphTraceRecord>(sink, 4);
  add_bare<ApiRecord>(sink, 5);
  add_bare<OverheadRecord>(sink, 6);
  NvtxRecord open;
  open.start_ns = 7;
  sink.add(open);
  sink.add(CollectiveRecord{});
  sink.add(ThreadCpuRecord{});
  sink.add(ProcessRecord{});
  sink.add(ProcessCpuRecord{});
  RunInfo run;
  run.graph_level_only = true;  // follows from the graph execution
  run.rank = kNoRank;
  sink.set_run(run);
}

}  // namespace swinscope::test

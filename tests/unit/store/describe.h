// Records as readable text with every field, strings resolved: what two sinks got can be compared although their string
// ids differ, and a difference names its field.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/unit/store/kept_trace.h"

namespace swinscope::test {

// Who adds a field to a record is to add it to describe() and to the full records of round_trip_test.cpp.
static_assert(sizeof(GpuRecord) == 56 && sizeof(KernelRecord) == 160 && sizeof(MemcpyRecord) == 88);
static_assert(sizeof(MemsetRecord) == 80 && sizeof(SyncRecord) == 72 && sizeof(GraphTraceRecord) == 64);
static_assert(sizeof(ApiRecord) == 40 && sizeof(OverheadRecord) == 40 && sizeof(NvtxRecord) == 88);
static_assert(sizeof(CollectiveRecord) == 72 && sizeof(ThreadCpuRecord) == 24 && sizeof(ProcessRecord) == 72);
static_assert(sizeof(ProcessCpuRecord) == 32 && sizeof(GpuInfo) == 184);

template <typename Enum>
auto number(Enum value) {
  return static_cast<std::underlying_type_t<Enum>>(value);
}

inline std::string describe(const Dim3& d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); }

inline std::string describe_gpu(const GpuRecord& r) {
  return fmt::format("{}..{} pid {:#x} node {} correlation {} device {} context {} green {} stream {}", r.start_ns,
                     r.end_ns, r.global_pid, r.graph_node, r.correlation, r.device, r.context, r.green_context,
                     r.stream);
}

inline std::string describe(const KeptProcess& p, const KernelRecord& r) {
  return describe_gpu(r) +
         fmt::format(
             " demangled '{}' short '{}' mangled '{}' grid {} block {} cluster {} launch type {} cache {} registers {} "
             "static {} dynamic {} local {} of {} grid id {} executed {} limit {} graph {}",
             p.text(r.demangled_name), p.text(r.short_name), p.text(r.mangled_name), describe(r.grid),
             describe(r.block), describe(r.cluster), r.launch_type, r.cache_config, r.registers_per_thread,
             r.static_shared_bytes, r.dynamic_shared_bytes, r.local_bytes_per_thread, r.local_bytes_total, r.grid_id,
             r.shared_bytes_executed, r.shared_limit_config, r.graph);
}

inline std::string describe(const KeptProcess&, const MemcpyRecord& r) {
  return describe_gpu(r) + fmt::format(" bytes {} kind {} from {} to {} devices {} {}", r.bytes, number(r.kind),
                                       number(r.src_kind), number(r.dst_kind), r.src_device, r.dst_device);
}

inline std::string describe(const KeptProcess&, const MemsetRecord& r) {
  return describe_gpu(r) + fmt::format(" bytes {} value {} kind {}", r.bytes, r.value, number(r.kind));
}

inline std::string describe(const KeptProcess&, const SyncRecord& r) {
  return describe_gpu(r) + fmt::format(" type {} event {} event sync {}", number(r.type), r.event, r.event_sync);
}

inline std::string describe(const KeptProcess&, const GraphTraceRecord& r) {
  return describe_gpu(r) + fmt::format(" graph {} exec {}", r.graph, r.graph_exec);
}

inline std::string describe(const KeptProcess& p, const ApiRecord& r) {
  return fmt::format("{}..{} tid {:#x} correlation {} name '{}' class {} returned {}", r.start_ns, r.end_ns,
                     r.global_tid, r.correlation, p.text(r.name), number(r.api_class), r.return_value);
}

inline std::string describe(const KeptProcess& p, const OverheadRecord& r) {
  return fmt::format("{}..{} tid {:#x} correlation {} name '{}' type {}", r.start_ns, r.end_ns, r.global_tid,
                     r.correlation, p.text(r.name), r.type);
}

inline std::string describe(const KeptProcess& p, const NvtxRecord& r) {
  return fmt::format(
      "{}..{} tid {:#x} end tid {:#x} range {} value type {}: {} {} text '{}' json '{}' domain {} category {} color {} "
      "type {} plain {}",
      r.start_ns, r.end_ns, r.global_tid, r.end_global_tid, r.range, number(r.value_type), r.int64_value,
      r.double_value, p.text(r.text), p.text(r.json), r.domain, r.category, r.color, number(r.type), r.is_plain);
}

inline std::string describe(const KeptProcess& p, const CollectiveRecord& r) {
  return fmt::format(
      "pid {:#x} node {} correlation {} name '{}' dtype '{}' group '{}' ranks '{}' in {} out {} seq {} size {}",
      r.global_pid, r.graph_node, r.correlation, p.text(r.name), p.text(r.dtype), p.text(r.group_name), p.text(r.ranks),
      r.in_elements, r.out_elements, r.seq, r.group_size);
}

inline std::string describe(const KeptProcess&, const ThreadCpuRecord& r) {
  return fmt::format("at {} tid {:#x} cpu {}", r.timestamp_ns, r.global_tid, r.cpu_ns);
}

inline std::string describe(const KeptProcess& p, const ProcessRecord& r) {
  return fmt::format("{}..{} pid {:#x} parent {:#x} rank {} name '{}' command '{}' cpu {} unseen {} rss {}", r.start_ns,
                     r.end_ns, r.global_pid, r.parent_global_pid, r.rank, p.text(r.name), p.text(r.command), r.cpu_ns,
                     r.unseen_cpu_ns, r.max_rss_bytes);
}

inline std::string describe(const KeptProcess&, const ProcessCpuRecord& r) {
  return fmt::format("at {} pid {:#x} cpu {} rss {}", r.timestamp_ns, r.global_pid, r.cpu_ns, r.rss_bytes);
}

inline std::vector<std::string> describe(const RunInfo& run) {
  std::vector<std::string> lines = {fmt::format(
      "source '{}' file '{}' rank {} of {} pid {:#x} host '{}' command '{}' complete {} graph level {} epoch {}",
      run.source, run.source_file, run.rank, run.world_size, run.global_pid, run.host, run.command, run.complete,
      run.graph_level_only, run.utc_epoch_ns)};
  for (const GpuInfo& g : run.gpus) {
    lines.push_back(
        fmt::format("gpu {} '{}' uuid '{}' memory {} SMs {} capability {}.{} chip '{}' at '{}' L2 {} {} B/s {} Hz",
                    g.device, g.name, g.uuid, g.memory_bytes, g.sm_count, g.compute_major, g.compute_minor, g.chip,
                    g.bus_location, g.l2_bytes, g.memory_bytes_per_second, g.clock_hz));
  }
  for (const ProcessInfo& p : run.processes)
    lines.push_back(fmt::format("process {:#x} '{}'", p.global_pid, p.name));
  for (const ThreadInfo& t : run.threads)
    lines.push_back(fmt::format("thread {:#x} '{}'", t.global_tid, t.name));
  for (const WindowInfo& w : run.windows)
    lines.push_back(fmt::format("window {} {}", w.start_ns, w.end_ns));
  for (const NamedValue& v : run.environment)
    lines.push_back(fmt::format("environment '{}' = '{}'", v.name, v.value));
  for (const DropInfo& d : run.drops)
    lines.push_back(fmt::format("drop '{}' {} '{}'", d.what, d.count, d.reason));
  return lines;
}

// Everything that a process was given, in the order of its kind.
inline std::vector<std::string> describe(const KeptProcess& p) {
  std::vector<std::string> lines = describe(p.run);
  const auto append = [&](const char* kind, const auto& records) {
    for (const auto& r : records)
      lines.push_back(fmt::format("{} {}", kind, describe(p, r)));
  };
  append("kernel", p.kernels);
  append("memcpy", p.copies);
  append("memset", p.sets);
  append("sync", p.syncs);
  append("graph", p.graphs);
  append("call", p.apis);
  append("overhead", p.overheads);
  append("range", p.ranges);
  append("collective", p.collectives);
  append("thread cpu", p.thread_cpu);
  append("process", p.processes);
  append("process cpu", p.process_cpu);
  return lines;
}

}  // namespace swinscope::test

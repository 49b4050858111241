#include "analyzer/export/kineto.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analyzer/export/event_writer.h"
#include "analyzer/export/kineto_events.h"
#include "analyzer/importers/kineto_own.h"
#include "analyzer/trace/kernel_names.h"

namespace swinscope {
namespace {

using nlohmann::ordered_json;

std::string dump(const ordered_json& json) { return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace); }

ordered_json device_properties(const RunInfo& run) {
  ordered_json devices = ordered_json::array();
  for (const GpuInfo& gpu : run.gpus) {
    devices.push_back({{"id", gpu.device},
                       {"name", gpu.name},
                       {"totalGlobalMem", gpu.memory_bytes},
                       {"computeMajor", gpu.compute_major},
                       {"computeMinor", gpu.compute_minor},
                       {"numSms", gpu.sm_count}});
  }
  return devices;
}

// Without what the rank's own facts say again under other names.
ordered_json distributed_info(const RunInfo& run) {
  ordered_json info = {{"rank", run.rank}, {"world_size", run.world_size}};
  for (const NamedValue& fact : run.environment) {
    if (fact.name == "distributed.backend") info["backend"] = fact.value;
    if (fact.name == "distributed.nccl_version") info["nccl_version"] = fact.value;
  }
  return info;
}

// HTA finds the rank by the text `"rank": N`, which therefore stands in front of everything else.
std::string head_of(const RunInfo& run, std::int64_t base_utc_ns) {
  const ordered_json info = distributed_info(run);
  std::string head = fmt::format("{{\n\"schemaVersion\": 1,\n\"distributedInfo\": {{\"rank\": {}, \"world_size\": {}",
                                 run.rank, run.world_size);
  for (const char* key : {"backend", "nccl_version"}) {
    if (info.contains(key)) head += fmt::format(", \"{}\": {}", key, dump(info[key]));
  }
  return head + fmt::format(
                    "}},\n\"deviceProperties\": {},\n\"{}\": {},\n\"displayTimeUnit\": \"ms\",\n"
                    "\"baseTimeNanoseconds\": {},\n\"traceEvents\": [\n",
                    dump(device_properties(run)), kOwnFacts, dump(own_facts(run)), base_utc_ns);
}

// The metadata events in front of the others.
class Preamble {
 public:
  Preamble(const ExportSource& source, std::size_t rank_index, EventWriter& writer)
      : source_(source), trace_(source.trace()), rank_(trace_.ranks[rank_index]), index_(rank_index), writer_(writer) {}

  void write() {
    begin(kOwnExport);
    writer_.argument("offset_ns", source_.clock().rank_offset_ns[index_]);
    writer_.argument("global_pid", rank_.run.global_pid);
    writer_.argument_text("source", rank_.run.source);
    writer_.end();
    write_names();
    write_domains();
    write_kernels();
    write_rows("graph_node", own_graph_nodes(rank_));
    write_rows("cuda_event", own_cuda_events(rank_));
    write_rows("collective", own_collectives(trace_, rank_));
    write_rows("thread_cpu", own_thread_cpu(rank_));
    if (index_ == 0 && source_.has_launchers()) write_launchers();
  }

 private:
  static constexpr std::size_t kRowsAtOnce = 1000;

  void begin(std::string_view name) { writer_.begin('M', {pid_of(rank_.run.global_pid), 0}, json_quoted(name)); }

  // As PyTorch names processes and threads; for people.
  void write_names() {
    const std::int64_t pid = pid_of(rank_.run.global_pid);
    std::string name = "python";
    for (const ProcessInfo& process : rank_.run.processes) {
      if (process.global_pid == rank_.run.global_pid && !process.name.empty()) name = process.name;
    }
    writer_.name("process_name", {pid, 0}, name);
    writer_.name("process_labels", {pid, 0}, "CPU");
    writer_.sort_index("process_sort_index", {pid, 0}, pid);
    for (const ThreadInfo& thread : rank_.run.threads) {
      const EventPlace place{pid_of(thread.global_tid), tid_of(thread.global_tid)};
      writer_.name("thread_name", place, fmt::format("thread {} ({})", place.tid, thread.name));
    }
    std::set<std::int32_t> devices;
    for (const GpuLane& lane : rank_.gpu_lanes) {
      if (devices.insert(lane.device).second) {
        writer_.name("process_name", {lane.device, 0}, name);
        writer_.name("process_labels", {lane.device, 0}, fmt::format("GPU {}", lane.device));
        writer_.sort_index("process_sort_index", {lane.device, 0}, 5'000'000 + lane.device);
      }
      writer_.name("thread_name", {lane.device, lane.stream}, fmt::format("stream {}", lane.stream));
    }
  }

  void write_domains() {
    for (const auto& [id, name] : rank_.domains) {
      begin(kOwnDomain);
      writer_.argument("id", id);
      writer_.argument_text("name", trace_.text(name));
      writer_.end();
    }
  }

  void write_kernels() {
    std::set<StringId> seen;
    for (EventIndex i = 0; i < rank_.gpu.size(); ++i) {
      const StringId full = rank_.gpu.name[i];
      if (rank_.gpu.kind[i] != GpuKind::kKernel || !seen.insert(full).second) continue;
      const std::string_view short_name = trace_.text(rank_.gpu.short_name[i]);
      const StringId symbol = rank_.mangled_name(full);
      const bool follows = short_name == short_kernel_name(trace_.text(full));
      if (follows && symbol == full) continue;
      begin(kOwnKernel);
      writer_.argument_text("name", trace_.text(full));
      if (!follows) writer_.argument_text("short_name", short_name);
      if (symbol != full) writer_.argument_text("symbol", trace_.text(symbol));
      writer_.end();
    }
  }

  void write_launchers() {
    for (std::size_t i = 0; i < trace_.launchers.size(); ++i) {
      const Launcher& launcher = trace_.launchers[i];
      begin(kOwnRecords);
      writer_.argument_text("kind", "launcher");
      writer_.argument("launcher", i);
      writer_.argument_json("facts", dump(own_facts(launcher.run)));
      writer_.end();
      write_rows("process", own_processes(trace_, launcher), i);
      write_rows("process_cpu", own_process_cpu(launcher), i);
    }
  }

  void write_rows(std::string_view kind, const std::vector<ordered_json>& rows, std::size_t launcher = 0) {
    for (std::size_t begin_row = 0; begin_row < rows.size(); begin_row += kRowsAtOnce) {
      begin(kOwnRecords);
      writer_.argument_text("kind", kind);
      writer_.argument("launcher", launcher);
      std::string text = "[";
      for (std::size_t i = begin_row; i < std::min(rows.size(), begin_row + kRowsAtOnce); ++i)
        text += (i == begin_row ? "" : ", ") + dump(rows[i]);
      writer_.argument_json("rows", text + "]");
      writer_.end();
    }
  }

  const ExportSource& source_;
  const Trace& trace_;
  const Rank& rank_;
  std::size_t index_;
  EventWriter& writer_;
};

}  // namespace

std::int64_t export_kineto(const ExportSource& source, std::size_t rank_index, ExportOutput& output) {
  const Rank& rank = source.trace().ranks[rank_index];
  EventWriter writer(output);
  writer.raw(head_of(rank.run, source.clock().base_utc_ns));
  Preamble(source, rank_index, writer).write();
  write_kineto_events(source, rank_index, writer);
  writer.raw("\n],\n\"traceName\": \"swinscope export\"\n}\n");
  writer.flush();
  return writer.events();
}

std::string kineto_file_name(const Trace& trace, std::size_t rank_index) {
  const auto number = [&](std::size_t i) { return trace.ranks[i].run.rank; };
  const RunInfo& run = trace.ranks[rank_index].run;
  int before = 0;
  for (std::size_t i = 0; i < rank_index; ++i)
    before += number(i) == run.rank ? 1 : 0;
  if (before == 0) return fmt::format("rank{}.kineto.json.gz", run.rank);
  std::string host = run.host.empty() ? "host" : run.host;
  std::ranges::replace(host, '/', '_');  // hosts are words of a foreign file
  return fmt::format("rank{}.{}.{}.{}.kineto.json.gz", run.rank, host, pid_of(run.global_pid), before);
}

}  // namespace swinscope

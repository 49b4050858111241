#include "analyzer/export/perfetto_rank.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analyzer/export/links.h"
#include "analyzer/export/thread_events.h"
#include "analyzer/trace/kernel_names.h"

namespace swinscope::perfetto {
namespace {

// Whether a thread's name tells its id, or the id is a stand-in for one that the name tells (kineto_records.cpp).
bool is_numbered(std::string_view name, std::uint32_t tid) {
  return tid >= 0xF0'0000 || name.find(fmt::format("{}", tid)) != std::string_view::npos;
}

std::string process_title(const RunInfo& run) {
  std::string title = fmt::format("rank {}", run.rank);
  if (run.world_size > 0) title += fmt::format(" of {}", run.world_size);
  if (!run.host.empty()) title += fmt::format(", {}", run.host);
  return title;
}

class RankExport {
 public:
  RankExport(Job& job, std::size_t index)
      : job_(job),
        index_(index),
        rank_(job.source.trace().ranks[index]),
        offset_ns_(job.source.clock().rank_offset_ns[index]),
        links_(job.source.trace(), job.source.scope(), index),
        pid_(job.ids.next()),
        tid_of_call_(rank_.api.size()) {}

  std::int64_t pid() const { return pid_; }

  void write() {
    const RunInfo& run = rank_.run;
    job_.writer.name("process_name", {pid_, 0}, process_title(run));
    std::string labels = fmt::format("pid {}", pid_of(run.global_pid));
    for (const GpuInfo& gpu : run.gpus)
      labels += fmt::format(", GPU {}: {}", gpu.device, gpu.name);
    job_.writer.name("process_labels", {pid_, 0}, labels);
    job_.writer.sort_index("process_sort_index", {pid_, 0}, static_cast<std::int64_t>(index_));
    write_steps();
    write_threads();
    write_marks();
    write_streams();
  }

 private:
  EventWriter& writer() { return job_.writer; }

  void begin_event(EventPlace place, std::string_view quoted_name, std::string_view category, std::int64_t start_ns,
                   std::int64_t end_ns) {
    writer().begin('X', place, quoted_name, category);
    writer().time(start_ns + offset_ns_);
    writer().duration(end_ns - start_ns);
  }

  void write_steps() {
    const RankSteps& steps = job_.source.scope().steps()[index_];
    TrackGroup group(job_, pid_, steps.is_repetition() ? "repetitions" : "steps", kStepsFirst, true);
    for (std::size_t i = 0; i < steps.steps.size(); ++i) {
      const Interval& step = steps.steps[i];
      if (!job_.source.has_host_time(index_, step.begin_ns)) continue;
      const std::string name = fmt::format("\"{} {}\"", steps.is_repetition() ? "repetition" : "step", i + 1);
      begin_event(group.place(step.begin_ns, step.end_ns), name, "step", step.begin_ns, step.end_ns);
      writer().argument_text("found_by", steps.how);
      writer().end();
    }
  }

  std::string thread_title(std::uint64_t global_tid) const {
    const auto named = std::ranges::find(rank_.run.threads, global_tid, &ThreadInfo::global_tid);
    std::string name = named == rank_.run.threads.end() || named->name.empty() ? "thread" : named->name;
    const bool is_other = pid_of(global_tid) != pid_of(rank_.run.global_pid);
    if (name != "thread" && is_numbered(name, tid_of(global_tid))) return name;
    return fmt::format("{} {}{}", name, tid_of(global_tid),
                       is_other ? fmt::format(" of process {}", pid_of(global_tid)) : std::string());
  }

  void write_threads() {
    std::int64_t sort_index = kThreads;
    for (const auto& [global_tid, lanes] : host_threads(rank_)) {
      ThreadEvents events(rank_);
      bool is_gpu = false;  // an annotation of a stream, whose number stands for the thread
      for (const RangeLane* lane : lanes.ranges) {
        const bool of_stream = rank_.domain_name(lane->domain, job_.source.trace().strings) == kDomainTorchGpuUser;
        is_gpu = is_gpu || of_stream;
        if (!of_stream) events.add(*lane);
      }
      for (const ThreadLane* lane : lanes.calls)
        events.add(*lane);
      TrackGroup group(job_, pid_, thread_title(global_tid), sort_index, true);
      for (ThreadEvent event; events.next(event);) {
        event.is_call ? write_call(group, event) : write_range(group, event.index);
        job_.source.check_cancelled();
      }
      if (is_gpu) write_stream_annotations(lanes, tid_of(global_tid));
      sort_index += 100;
    }
  }

  void write_stream_annotations(const HostThread& lanes, std::uint32_t stream) {
    TrackGroup group(job_, pid_, fmt::format("stream {}, annotations", stream), kGpuRanges + stream, true);
    for (const RangeLane* lane : lanes.ranges) {
      if (rank_.domain_name(lane->domain, job_.source.trace().strings) != kDomainTorchGpuUser) continue;
      for (EventIndex i = lane->events.begin; i < lane->events.end; ++i)
        write_range(group, i);
    }
  }

  void write_call(TrackGroup& group, const ThreadEvent& event) {
    if (!job_.source.has_call(index_, event.index)) return;
    const EventPlace place = group.place(event.start_ns, event.end_ns);
    begin_event(place, job_.texts(rank_.api.name[event.index]), "cuda_call", event.start_ns, event.end_ns);
    if (rank_.api.correlation[event.index] != 0) writer().argument("correlation", rank_.api.correlation[event.index]);
    writer().end();
    tid_of_call_[event.index] = static_cast<std::int32_t>(place.tid);
  }

  void write_range(TrackGroup& group, EventIndex i) {
    const Ranges& ranges = rank_.ranges;
    if (!job_.source.has_host_time(index_, ranges.start_ns[i])) return;
    const std::string& domain = domain_of(ranges.lane[i]);
    begin_event(group.place(ranges.start_ns[i], ranges.end_ns[i]), job_.texts(ranges.name[i]), "range",
                ranges.start_ns[i], ranges.end_ns[i]);
    if (!domain.empty()) writer().argument_text("domain", domain);
    write_payload(ranges.json[i]);
    writer().end();
  }

  // As JSON where it is such, else as text.
  void write_payload(StringId id) {
    if (id == kNoString) return;
    const std::string text(job_.source.trace().text(id));
    const auto [entry, is_new] = is_json_.try_emplace(id);
    if (is_new) entry->second = nlohmann::json::accept(text);
    entry->second ? writer().argument_json("payload", text) : writer().argument_text("payload", text);
  }

  const std::string& domain_of(std::uint32_t lane) {
    const std::uint32_t domain = rank_.range_lanes[lane].domain;
    const auto [entry, is_new] = domains_.try_emplace(domain);
    if (is_new) entry->second = rank_.domain_name(domain, job_.source.trace().strings);
    return entry->second;
  }

  void write_marks() {
    std::map<std::uint64_t, std::int64_t> tids;
    for (const NvtxRecord& mark : rank_.marks) {
      if (!job_.source.has_host_time(index_, mark.start_ns)) continue;
      const auto [tid, is_new] = tids.try_emplace(mark.global_tid);
      if (is_new) {
        tid->second = job_.ids.next();
        const EventPlace place{pid_, tid->second};
        writer().name("thread_name", place,
                      tid_of(mark.global_tid) == 0 ? std::string("marks")
                                                   : fmt::format("{}, marks", thread_title(mark.global_tid)));
        writer().sort_index("thread_sort_index", place, kThreads - 1);
      }
      writer().begin('i', {pid_, tid->second}, job_.texts(mark.text), "mark");
      writer().time(mark.start_ns + offset_ns_);
      writer().field("s", "\"t\"");
      write_payload(mark.json);
      writer().end();
    }
  }

  void write_streams() {
    std::int64_t sort_index = kStreams;
    for (const GpuLane& lane : rank_.gpu_lanes) {
      TrackGroup group(job_, pid_, fmt::format("GPU {} stream {}{}", lane.device, lane.stream, context_title(lane)),
                       sort_index, false);
      for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
        if (job_.source.has_gpu_event(index_, i)) write_gpu_event(group, i);
        job_.source.check_cancelled();
      }
      sort_index += 100;
    }
  }

  // Only where two contexts of a device have a stream of the same number.
  std::string context_title(const GpuLane& lane) const {
    const auto same = std::ranges::count_if(rank_.gpu_lanes, [&](const GpuLane& other) {
      return other.device == lane.device && other.stream == lane.stream;
    });
    return same > 1 ? fmt::format(", context {}", lane.context) : std::string();
  }

  void write_gpu_event(TrackGroup& group, EventIndex i) {
    const GpuEvents& gpu = rank_.gpu;
    const EventPlace place = group.place(gpu.start_ns[i], gpu.end_ns[i]);
    begin_event(place, job_.texts(gpu.name[i]), operation_name(gpu.operation[i]), gpu.start_ns[i], gpu.end_ns[i]);
    writer().argument_text("class", class_name(gpu.gpu_class[i]));
    if (gpu.kind[i] == GpuKind::kKernel) write_configuration(rank_.configs[gpu.config[i]]);
    if (gpu.kind[i] == GpuKind::kMemcpy || gpu.kind[i] == GpuKind::kMemset) write_bytes(i);
    if (gpu.correlation[i] != 0) writer().argument("correlation", gpu.correlation[i]);
    if (gpu.graph_node[i] != 0) writer().argument("graph_node", gpu.graph_node[i]);
    write_links(i);
    writer().end();
    write_flow(i, place);
  }

  void write_configuration(const LaunchConfig& config) {
    writer().argument_dim("grid", config.grid);
    writer().argument_dim("block", config.block);
    if (config.cluster != Dim3{}) writer().argument_dim("cluster", config.cluster);
    writer().argument("registers_per_thread", config.registers_per_thread);
    writer().argument("static_shared_bytes", config.static_shared_bytes);
    writer().argument("dynamic_shared_bytes", config.dynamic_shared_bytes);
  }

  void write_bytes(EventIndex i) {
    const GpuEvents& gpu = rank_.gpu;
    const std::int64_t duration_ns = gpu.end_ns[i] - gpu.start_ns[i];
    writer().argument("bytes", gpu.bytes[i]);
    // Bytes in a nanosecond are gigabytes in a second.
    if (duration_ns > 0 && gpu.bytes[i] > 0) {
      writer().argument("bandwidth_gb_per_s", static_cast<double>(gpu.bytes[i]) / static_cast<double>(duration_ns));
    }
  }

  void write_links(EventIndex i) {
    if (const std::int64_t step = links_.step(i); step > 0) writer().argument("step", step);
    if (const std::string_view path = links_.layer_path(i); !path.empty()) writer().argument_text("layer", path);
    if (const EventIndex phase = links_.phase(i); phase != kNoEvent) {
      writer().argument_json("phase", job_.texts(rank_.ranges.name[phase]));
    }
    if (const EventIndex op = links_.torch_operator(i); op != kNoEvent) {
      writer().argument_json("operator", job_.texts(rank_.ranges.name[op]));
    }
    if (const OperationPayload* note = links_.note(i)) {
      writer().argument("layer_flops", note->flops);
      writer().argument("layer_bytes_read", note->bytes_read);
      writer().argument("layer_bytes_written", note->bytes_written);
      if (!note->precision.empty()) writer().argument_text("layer_precision", note->precision);
    }
    if (const CollectiveRecord* collective = links_.collective(i)) {
      writer().argument_json("collective", job_.texts(collective->name));
      writer().argument("in_elements", collective->in_elements);
      writer().argument("out_elements", collective->out_elements);
      writer().argument_json("dtype", job_.texts(collective->dtype));
      writer().argument("group_size", collective->group_size);
    }
  }

  // Viewers tie the ends to the events that are open at these times, and an event without duration never is.
  void write_flow(EventIndex i, EventPlace place) {
    const GpuEvents& gpu = rank_.gpu;
    const EventIndex launch = gpu.launch[i];
    if (launch == kNoEvent || tid_of_call_[launch] == 0) return;
    const std::int64_t start_ns = rank_.api.start_ns[launch];
    if (rank_.api.end_ns[launch] == start_ns || gpu.end_ns[i] == gpu.start_ns[i] || gpu.start_ns[i] < start_ns) return;
    const std::string id = fmt::format("{}", ++job_.flows);
    writer().begin('s', {pid_, tid_of_call_[launch]}, "\"launch\"", "launch");
    writer().time(start_ns + offset_ns_);
    writer().field("id", id);
    writer().end();
    writer().begin('f', place, "\"launch\"", "launch");
    writer().time(gpu.start_ns[i] + offset_ns_);
    writer().field("id", id);
    writer().field("bp", "\"e\"");
    writer().end();
  }

  Job& job_;
  std::size_t index_;
  const Rank& rank_;
  std::int64_t offset_ns_;
  GpuLinks links_;
  std::int64_t pid_;
  std::vector<std::int32_t> tid_of_call_;  // 0: not exported
  std::map<std::uint32_t, std::string> domains_;
  std::unordered_map<StringId, bool> is_json_;
};

}  // namespace

std::int64_t write_rank_process(Job& job, std::size_t rank_index) {
  RankExport rank(job, rank_index);
  rank.write();
  return rank.pid();
}

}  // namespace swinscope::perfetto

#include "analyzer/export/kineto_events.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analyzer/base/intervals.h"
#include "analyzer/export/links.h"

namespace swinscope {
namespace {

// CUDA's driver functions are cuLaunchKernel and the like, those of the runtime cudaLaunchKernel.
std::string_view category_of_call(std::string_view name) {
  const bool is_driver =
      name.size() > 2 && name.starts_with("cu") && std::isupper(static_cast<unsigned char>(name[2])) != 0;
  return is_driver ? "cuda_driver" : "cuda_runtime";
}

std::string_view category_of_domain(std::string_view domain) {
  if (domain == kDomainTorchOp) return "cpu_op";
  if (domain == kDomainTorchPython) return "python_function";
  if (domain == kDomainTorchGpuUser) return "gpu_user_annotation";
  return "user_annotation";
}

bool is_torch(std::string_view domain) {
  return domain == kDomainTorchOp || domain == kDomainTorchPython || domain == kDomainTorchGpuUser ||
         domain == kDomainTorchUser;
}

std::string_view name_of_sync(SyncType type) {
  switch (type) {
    case SyncType::kEvent:
      return "Event Sync";
    case SyncType::kStreamWaitEvent:
      return "Stream Wait Event";
    case SyncType::kStream:
      return "Stream Sync";
    case SyncType::kContext:
      return "Context Sync";
    case SyncType::kUnknown:
      break;
  }
  return "Unknown Sync";
}

class RankEvents {
 public:
  RankEvents(const ExportSource& source, std::size_t index, EventWriter& writer)
      : source_(source),
        index_(index),
        trace_(source.trace()),
        rank_(trace_.ranks[index]),
        offset_ns_(source.clock().rank_offset_ns[index]),
        writer_(writer),
        texts_(trace_),
        links_(trace_, source.scope(), index) {}

  void write() {
    write_calls();
    write_ranges();
    write_gpu_events();
    write_marks();
    write_syncs();
    write_overheads();
    write_steps();
  }

 private:
  void begin(EventPlace place, std::string_view quoted_name, std::string_view category, std::int64_t start_ns,
             std::int64_t end_ns) {
    writer_.begin('X', place, quoted_name, category);
    writer_.time(start_ns + offset_ns_);
    writer_.duration(end_ns - start_ns);
  }

  static EventPlace place_of(std::uint64_t global_tid) { return {pid_of(global_tid), tid_of(global_tid)}; }
  // Ids of other tools hold more than a process and a thread.
  void write_thread(std::uint64_t global_tid) {
    if (make_global_tid(pid_of(global_tid), tid_of(global_tid)) != global_tid)
      writer_.argument("global_tid", global_tid);
  }
  void write_process(std::uint64_t global_pid) {
    if (global_pid != rank_.run.global_pid) writer_.argument("global_pid", global_pid);
  }

  void write_calls() {
    const ApiCalls& api = rank_.api;
    for (EventIndex i = 0; i < api.size(); ++i) {
      if (!source_.has_call(index_, i)) continue;
      const std::uint64_t thread = rank_.api_lanes[api.lane[i]].global_tid;
      begin(place_of(thread), texts_(api.name[i]), category_of_call(trace_.text(api.name[i])), api.start_ns[i],
            api.end_ns[i]);
      writer_.argument("correlation", api.correlation[i]);
      write_thread(thread);
      writer_.end();
      source_.check_cancelled();
    }
  }

  void write_ranges() {
    for (const RangeLane& lane : rank_.range_lanes) {
      const std::string domain = rank_.domain_name(lane.domain, trace_.strings);
      for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
        if (source_.has_host_time(index_, rank_.ranges.start_ns[i])) write_range(lane, domain, i);
        source_.check_cancelled();
      }
    }
  }

  void write_range(const RangeLane& lane, std::string_view domain, EventIndex i) {
    const Ranges& ranges = rank_.ranges;
    // With its device and stream in its place alone, as PyTorch has it: tools take what has an argument "stream" for
    // work.
    const bool of_stream = domain == kDomainTorchGpuUser;
    const std::int64_t stream = tid_of(lane.global_tid);
    const EventPlace place = of_stream ? EventPlace{device_of(stream), stream} : place_of(lane.global_tid);
    begin(place, texts_(ranges.name[i]), category_of_domain(domain), ranges.start_ns[i], ranges.end_ns[i]);
    // An index is an id as good as any; kernels name that of their operator.
    if (domain == kDomainTorchOp || domain == kDomainTorchUser) writer_.argument("External id", i + 1);
    if (of_stream) {
      write_process(global_pid_of(lane.global_tid));
    } else {
      write_thread(lane.global_tid);
    }
    if (!is_torch(domain)) writer_.argument("domain_id", lane.domain);
    if (!domain.empty() && !is_torch(domain)) writer_.argument_text("domain", domain);
    write_payload(ranges.json[i], is_torch(domain));
    writer_.end();
  }

  // The first device on which the rank has a stream of that number.
  std::int64_t device_of(std::int64_t stream) const {
    const auto lane = std::ranges::find_if(rank_.gpu_lanes, [&](const GpuLane& l) { return l.stream == stream; });
    return lane != rank_.gpu_lanes.end() ? lane->device : rank_.gpu_lanes.empty() ? 0 : rank_.gpu_lanes.front().device;
  }

  void write_payload(StringId id, bool of_torch) {
    if (id == kNoString) return;
    const auto [entry, is_new] = payloads_.try_emplace(id);
    if (is_new) entry->second = parse_payload(trace_.text(id), of_torch);
    const Payload& payload = entry->second;
    if (!payload.dims.empty()) {
      writer_.argument_json("Input Dims", payload.dims);
      writer_.argument_json("Input type", payload.types);
      if (!payload.concrete.empty()) writer_.argument_json("Concrete Inputs", payload.concrete);
    } else {
      writer_.argument_json("payload", payload.json);
    }
  }

  // What the importer made of "Input Dims", "Input type" and "Concrete Inputs" is taken apart again.
  struct Payload {
    std::string dims;
    std::string types;
    std::string concrete;  // empty: none
    std::string json;      // as it is written: an object or array, else a string
  };
  static Payload parse_payload(std::string_view text, bool of_torch) {
    using nlohmann::json;
    constexpr std::string_view kDims = "{\"input_dims\":";
    constexpr std::string_view kTypes = ",\"input_types\":";
    constexpr std::string_view kConcrete = ",\"concrete_inputs\":";
    const bool is_json = json::accept(text);
    if (of_torch && is_json && text.starts_with(kDims)) {
      Payload payload;
      std::string_view rest = text.substr(kDims.size(), text.size() - kDims.size() - 1);
      const auto take_last = [&](std::string_view key) {
        const std::size_t at = rest.rfind(key);
        if (at == std::string_view::npos) return std::string();
        std::string value(rest.substr(at + key.size()));
        rest = rest.substr(0, at);
        return value;
      };
      payload.concrete = take_last(kConcrete);
      payload.types = take_last(kTypes);
      payload.dims = rest;
      const auto is_array = [](const std::string& part) { return part.starts_with('[') && json::accept(part); };
      if (is_array(payload.dims) && is_array(payload.types) && (payload.concrete.empty() || is_array(payload.concrete)))
        return payload;
    }
    const bool is_object = is_json && (text.starts_with('{') || text.starts_with('[')) && text.find('\n') == text.npos;
    return {{}, {}, {}, is_object ? std::string(text) : json_quoted(text)};
  }

  void write_gpu_events() {
    for (const GpuLane& lane : rank_.gpu_lanes) {
      for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
        if (source_.has_gpu_event(index_, i)) write_gpu_event(lane, i);
        source_.check_cancelled();
      }
    }
  }

  static std::string_view category_of(GpuKind kind) {
    return kind == GpuKind::kMemcpy ? "gpu_memcpy" : kind == GpuKind::kMemset ? "gpu_memset" : "kernel";
  }

  void write_gpu_event(const GpuLane& lane, EventIndex i) {
    const GpuEvents& gpu = rank_.gpu;
    const EventPlace place{lane.device, lane.stream};
    begin(place, texts_(gpu.name[i]), category_of(gpu.kind[i]), gpu.start_ns[i], gpu.end_ns[i]);
    if (const EventIndex op = links_.torch_operator(i); op != kNoEvent) writer_.argument("External id", op + 1);
    writer_.argument("device", lane.device);
    writer_.argument("context", lane.context);
    writer_.argument("stream", lane.stream);
    writer_.argument("correlation", gpu.correlation[i]);
    if (gpu.launch[i] != kNoEvent)
      write_process(global_pid_of(rank_.api_lanes[rank_.api.lane[gpu.launch[i]]].global_tid));
    if (gpu.graph_node[i] != 0) writer_.argument("graph node id", gpu.graph_node[i]);
    if (gpu.kind[i] == GpuKind::kKernel) write_kernel(i);
    if (gpu.kind[i] == GpuKind::kMemcpy || gpu.kind[i] == GpuKind::kMemset) write_bytes(i);
    // "CUDA graph N": a whole graph, whose kernels were not recorded.
    if (gpu.kind[i] == GpuKind::kGraph) writer_.argument_json("whole graph", trace_.text(gpu.name[i]).substr(11));
    writer_.end();
    write_flow(i, place);
  }

  void write_kernel(EventIndex i) {
    const LaunchConfig& config = rank_.configs[rank_.gpu.config[i]];
    writer_.argument_dim("grid", config.grid);
    writer_.argument_dim("block", config.block);
    if (config.cluster != Dim3{}) writer_.argument_dim("cluster", config.cluster);
    writer_.argument("registers per thread", config.registers_per_thread);
    writer_.argument("shared memory", std::int64_t{config.static_shared_bytes} + config.dynamic_shared_bytes);
    if (config.static_shared_bytes != 0) writer_.argument("static shared memory", config.static_shared_bytes);
    if (const std::string_view path = links_.layer_path(i); !path.empty()) writer_.argument_text("layer", path);
    const CollectiveRecord* collective = links_.collective(i);
    if (collective == nullptr) return;
    writer_.argument_json("Collective name", texts_(collective->name));
    writer_.argument("In msg nelems", collective->in_elements);
    writer_.argument("Out msg nelems", collective->out_elements);
    writer_.argument_json("dtype", texts_(collective->dtype));
    writer_.argument("Group size", collective->group_size);
    writer_.argument_json("Process Group Name", texts_(collective->group_name));
    writer_.argument_json("Process Group Ranks", texts_(collective->ranks));
    if (collective->seq >= 0) writer_.argument("Seq", collective->seq);
  }

  void write_bytes(EventIndex i) {
    const std::int64_t duration_ns = rank_.gpu.end_ns[i] - rank_.gpu.start_ns[i];
    writer_.argument("bytes", rank_.gpu.bytes[i]);
    if (duration_ns <= 0 || rank_.gpu.bytes[i] <= 0) return;
    writer_.argument("memory bandwidth (GB/s)",
                     static_cast<double>(rank_.gpu.bytes[i]) / static_cast<double>(duration_ns));
  }

  // Kineto's arrows from a call to what it launched; importers join by the correlation instead.
  void write_flow(EventIndex i, EventPlace place) {
    const EventIndex launch = rank_.gpu.launch[i];
    if (launch == kNoEvent || !source_.has_call(index_, launch)) return;
    const std::string id = fmt::format("{}", rank_.gpu.correlation[i]);
    const auto arrow = [&](char phase, EventPlace at, std::int64_t time_ns) {
      writer_.begin(phase, at, "\"ac2g\"", "ac2g");
      writer_.time(time_ns + offset_ns_);
      writer_.field("id", id);
      if (phase == 'f') writer_.field("bp", "\"e\"");
      writer_.end();
    };
    arrow('s', place_of(rank_.api_lanes[rank_.api.lane[launch]].global_tid), rank_.api.start_ns[launch]);
    arrow('f', place, rank_.gpu.start_ns[i]);
  }

  void write_marks() {
    for (const NvtxRecord& mark : rank_.marks) {
      if (!source_.has_host_time(index_, mark.start_ns)) continue;
      writer_.begin('i', place_of(mark.global_tid), texts_(mark.text));
      writer_.time(mark.start_ns + offset_ns_);
      writer_.field("s", "\"t\"");
      write_thread(mark.global_tid);
      writer_.argument("domain_id", mark.domain);
      if (mark.json != kNoString) writer_.argument_text("payload", trace_.text(mark.json));
      const auto write = [&](std::string_view key, auto value) {
        if (value != decltype(value){}) writer_.argument(key, value);
      };
      write("range", mark.range);
      write("category", mark.category);
      write("color", mark.color);
      write("value_type", static_cast<int>(mark.value_type));
      write("int64_value", mark.int64_value);
      // As bits: not every number can be written in JSON.
      write("double_bits", std::bit_cast<std::uint64_t>(mark.double_value));
      writer_.end();
    }
  }

  void write_syncs() {
    std::unordered_map<std::uint64_t, const CudaEventRecord*> recorded;
    for (const CudaEventRecord& event : rank_.cuda_events)
      recorded.emplace(event.event_sync, &event);
    for (const SyncRecord& sync : rank_.syncs) {
      if (!source_.has_host_time(index_, sync.start_ns)) continue;
      // A context has no stream; HTA takes a number for one of a stream.
      const bool has_stream = sync.stream != 0 && sync.stream != std::numeric_limits<std::uint32_t>::max();
      const std::int64_t stream = has_stream ? std::int64_t{sync.stream} : -1;
      begin({sync.device, stream}, json_quoted(name_of_sync(sync.type)), "cuda_sync", sync.start_ns, sync.end_ns);
      writer_.argument("device", sync.device);
      writer_.argument("context", sync.context);
      writer_.argument("stream", stream);
      writer_.argument("stream_id", sync.stream);
      writer_.argument("correlation", sync.correlation);
      writer_.argument("event_id", sync.event);
      if (const auto event = recorded.find(sync.event_sync); sync.event_sync != 0 && event != recorded.end()) {
        writer_.argument("wait_on_stream", event->second->stream);
        writer_.argument("wait_on_cuda_event_record_corr_id", event->second->correlation);
        writer_.argument("wait_on_cuda_event_id", sync.event);
      }
      writer_.argument("event_sync", sync.event_sync);
      writer_.argument("type", static_cast<int>(sync.type));
      writer_.argument("graph node id", sync.graph_node);
      writer_.argument("green_context", sync.green_context);
      write_process(sync.global_pid);
      writer_.end();
    }
  }

  void write_overheads() {
    for (const OverheadRecord& overhead : rank_.overheads) {
      if (!source_.has_host_time(index_, overhead.start_ns)) continue;
      begin(place_of(overhead.global_tid), texts_(overhead.name), "overhead", overhead.start_ns, overhead.end_ns);
      writer_.argument("correlation", overhead.correlation);
      writer_.argument("type", overhead.type);
      write_thread(overhead.global_tid);
      writer_.end();
    }
  }

  bool has_domain(std::string_view name) const {
    return std::ranges::any_of(rank_.domains, [&](const auto& domain) { return trace_.text(domain.second) == name; });
  }

  void write_steps() {
    const RankSteps& steps = source_.scope().steps()[index_];
    if (steps.method == StepMethod::kProfilerStep || steps.is_repetition() || steps.steps.empty()) return;
    const std::uint64_t thread = steps.threads.empty() ? rank_.run.global_pid : steps.threads.front();
    std::int64_t number = 0;
    for (const Interval& step : steps.steps) {
      ++number;
      if (source_.has_host_time(index_, step.begin_ns)) write_step(thread, number, step);
    }
    // HTA takes the last step for an incomplete one and leaves out what begins with it or later: an empty one is behind
    // all events.
    const std::int64_t end_ns = last_end() + 1'000;
    write_step(thread, number + 1, {end_ns, end_ns});
    for (const GpuLane& lane : rank_.gpu_lanes)
      write_steps_of(lane);
  }

  void write_step(std::uint64_t thread, std::int64_t number, const Interval& step) {
    begin(place_of(thread), fmt::format("\"ProfilerStep#{}\"", number), "user_annotation", step.begin_ns, step.end_ns);
    writer_.argument("derived", 1);
    writer_.end();
  }

  std::int64_t last_end() const {
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (const std::vector<std::int64_t>* ends : {&rank_.gpu.end_ns, &rank_.api.end_ns, &rank_.ranges.end_ns}) {
      for (const std::int64_t end : *ends)
        last = std::max(last, end);
    }
    return last;
  }

  // On a stream a step lasts from the start of its first event to the end of its last.
  void write_steps_of(const GpuLane& lane) {
    std::map<std::int64_t, Interval> spans;
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
      const std::int64_t step = source_.has_gpu_event(index_, i) ? links_.step(i) : 0;
      if (step == 0) continue;
      const Interval event{rank_.gpu.start_ns[i], rank_.gpu.end_ns[i]};
      const auto [span, is_new] = spans.try_emplace(step, event);
      if (!is_new)
        span->second = {std::min(span->second.begin_ns, event.begin_ns), std::max(span->second.end_ns, event.end_ns)};
    }
    for (const auto& [step, span] : spans) {
      const std::string name = fmt::format("\"ProfilerStep#{}\"", step);
      begin({lane.device, lane.stream}, name, "gpu_user_annotation", span.begin_ns, span.end_ns);
      writer_.argument("derived", 1);
      writer_.end();
    }
  }

  const ExportSource& source_;
  std::size_t index_;
  const Trace& trace_;
  const Rank& rank_;
  std::int64_t offset_ns_;
  EventWriter& writer_;
  QuotedTexts texts_;
  GpuLinks links_;
  std::unordered_map<StringId, Payload> payloads_;
};

}  // namespace

void write_kineto_events(const ExportSource& source, std::size_t rank_index, EventWriter& writer) {
  RankEvents(source, rank_index, writer).write();
}

}  // namespace swinscope

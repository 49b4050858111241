#include "analyzer/kineto.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analyzer/kernel_names.h"
#include "analyzer/kineto_event.h"
#include "analyzer/kineto_stream.h"
#include "analyzer/trace.h"
#include "store/error.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

// Times beyond this cannot be real, and a stored trace with them would not be read back.
constexpr std::int64_t kMaxTimeNs = std::int64_t{1} << 61;

enum DomainId : std::uint32_t { kOpDomain = 1, kUserDomain, kPythonDomain, kGpuUserDomain };

template <typename T>
T narrow(std::int64_t value) {
  if (value < 0) return 0;
  const auto magnitude = static_cast<std::uint64_t>(value);
  return static_cast<T>(std::min<std::uint64_t>(magnitude, std::numeric_limits<T>::max()));
}

std::int32_t overhead_type(std::string_view name) {
  // CUpti_ActivityOverheadKind as Nsight Systems numbers it.
  static const std::map<std::string_view, std::int32_t> kTypes = {{"Driver Compiler", 2},
                                                                  {"Buffer Flush", 3},
                                                                  {"Instrumentation", 4},
                                                                  {"Resource", 5},
                                                                  {"Runtime Triggered Module Loading", 6},
                                                                  {"Lazy Function Loading", 7},
                                                                  {"Command Buffer Full", 8},
                                                                  {"Activity Buffer Request", 9}};
  const auto found = kTypes.find(name);
  return found == kTypes.end() ? 1 : found->second;
}

SyncType sync_type(std::string_view name) {
  if (name == "Event Sync" || name == "Event Synchronize") return SyncType::kEvent;
  if (name == "Stream Wait Event") return SyncType::kStreamWaitEvent;
  if (name == "Stream Sync" || name == "Stream Synchronize") return SyncType::kStream;
  if (name == "Context Sync" || name == "Context Synchronize") return SyncType::kContext;
  return SyncType::kUnknown;
}

// Turns events into records.
class Interpreter {
 public:
  explicit Interpreter(RecordSink& sink) : sink_(sink) {
    add_domain(kOpDomain, kDomainTorchOp);
    add_domain(kUserDomain, kDomainTorchUser);
    add_domain(kPythonDomain, kDomainTorchPython);
    add_domain(kGpuUserDomain, kDomainTorchGpuUser);
  }

  void take(const KinetoEvent& event) {
    ++events_;
    if (event.phase == "X") {
      complete_event(event);
    } else if (event.phase == "M") {
      metadata(event);
    } else if (event.phase == "i" || event.phase == "I") {
      mark(event);
    } else if (event.phase == "s" || event.phase == "f" || event.phase == "t") {
      return;  // flow arrows repeat what correlation and sequence number say
    } else {
      drop(fmt::format("event of phase '{}'", printable(event.phase)), "this kind of event is not read");
    }
  }

  void drop(const std::string& what, const std::string& reason, std::int64_t count = 1) {
    // A damaged file can invent any number of reasons.
    constexpr std::size_t kMaxReasons = 64;
    if (drops_.size() >= kMaxReasons && drops_.count({what, reason}) == 0) {
      drops_[{"event", "further reasons"}] += count;
    } else {
      drops_[{what, reason}] += count;
    }
  }

  std::int64_t events() const { return events_; }
  std::int64_t records() const { return records_; }

  void finish(RunInfo run) {
    run.source = "kineto";
    run.global_pid = process();
    for (const auto& [pid, name] : process_names_) {
      if (host_pids_.count(pid) != 0) run.processes.push_back({make_global_pid(pid), name});
    }
    for (const auto& [pid_and_tid, name] : thread_names_) {
      const auto [pid, tid] = pid_and_tid;
      if (host_pids_.count(pid) != 0) run.threads.push_back({global_tid(pid, tid), name});
    }
    for (const auto& [what, count] : drops_)
      run.drops.push_back({what.first, count, what.second});
    sink_.set_run(run);
  }

 private:
  // At most 20 bytes, none of them of a character that does not fit.
  static std::string printable(std::string_view text) {
    std::size_t size = std::min<std::size_t>(text.size(), 20);
    while (size > 0 && size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U)
      --size;
    return std::string(text.substr(0, size));
  }

  void add_domain(std::uint32_t id, std::string_view name) {
    NvtxRecord r;
    r.type = NvtxType::kDomain;
    r.domain = id;
    r.text = sink_.intern(name);
    sink_.add(r);
  }

  // GPU events do not say which process made them: the first process of the trace that called CUDA or ran an operator.
  // 0 until one has been seen, which readers take as the process of the rank.
  std::uint64_t process() const { return host_pids_.empty() ? 0 : make_global_pid(first_pid_); }

  std::uint64_t global_tid(std::uint64_t pid, std::int64_t tid) {
    if (tid >= 0 && tid <= 0xEFFFFF) return make_global_tid(pid, static_cast<std::uint64_t>(tid));
    // pthread handles and the like do not fit the 24 bits of a serialized id: number them from the top.
    const auto [entry, is_new] = big_tids_.try_emplace(tid, 0xF00000 + big_tids_.size());
    if (is_new) thread_names_.try_emplace({pid, tid}, fmt::format("thread {}", tid));
    return make_global_tid(pid, entry->second);
  }

  std::uint64_t host_thread(const KinetoEvent& event) {
    const auto pid = static_cast<std::uint64_t>(event.pid.value_or(0));
    if (host_pids_.empty()) first_pid_ = pid;
    host_pids_.emplace(pid, true);
    return global_tid(pid, event.tid.value_or(0));
  }

  bool usable(const KinetoEvent& event) {
    const std::string what = event.category.empty() ? "event" : printable(event.category);
    if (event.bad_time) {
      drop(what, "the time or duration is not a number");
    } else if (!event.ts_ns) {
      drop(what, "there is no start time");
    } else if (event.dur_ns.value_or(0) < 0) {
      drop(what, "the duration is negative");
    } else if (*event.ts_ns > kMaxTimeNs - event.dur_ns.value_or(0)) {
      drop(what, "the time is out of range");
    } else {
      return true;
    }
    return false;
  }

  template <typename Record>
  Record gpu_record(const KinetoEvent& event) {
    Record r;
    r.start_ns = *event.ts_ns;
    r.end_ns = *event.ts_ns + event.dur_ns.value_or(0);
    r.device = narrow<std::int32_t>(event.device.value_or(event.pid.value_or(0)));
    r.context = narrow<std::uint32_t>(event.context);
    r.stream = narrow<std::uint32_t>(event.stream.value_or(event.tid.value_or(0)));
    r.correlation = narrow<std::uint32_t>(event.correlation.value_or(0));
    r.global_pid = process();
    return r;
  }

  void complete_event(const KinetoEvent& event) {
    const std::string_view category = event.category;
    if (category == "Trace" || category == "ac2g" || category == "fwdbwd") return;
    if (!usable(event)) return;
    ++records_;
    if (category == "kernel" || category == "Kernel") {
      kernel(event);
    } else if (category == "gpu_memcpy" || category == "Memcpy") {
      copy(event);
    } else if (category == "gpu_memset" || category == "Memset") {
      set(event);
    } else if (category == "cuda_runtime" || category == "Runtime") {
      api(event, ApiClass::kRuntime);
    } else if (category == "cuda_driver") {
      api(event, ApiClass::kDriver);
    } else if (category == "cpu_op" || category == "Operator") {
      range(event, kOpDomain);
    } else if (category == "user_annotation") {
      range(event, kUserDomain);
    } else if (category == "python_function") {
      range(event, kPythonDomain);
    } else if (category == "gpu_user_annotation") {
      range(event, kGpuUserDomain);
    } else if (category == "cuda_sync") {
      sync(event);
    } else if (category == "overhead") {
      overhead(event);
    } else {
      --records_;
      drop(fmt::format("event of category '{}'", printable(category)), "this kind of event is not read");
    }
  }

  void kernel(const KinetoEvent& event) {
    auto r = gpu_record<KernelRecord>(event);
    r.demangled_name = sink_.intern(event.name);
    const auto [short_name, is_new] = short_names_.try_emplace(r.demangled_name, kNoString);
    if (is_new) short_name->second = sink_.intern(short_kernel_name(event.name));
    r.short_name = short_name->second;
    r.grid = event.grid;
    r.block = event.block;
    r.registers_per_thread = narrow<std::int32_t>(event.registers);
    // Kineto gives the sum of static and dynamic shared memory.
    r.dynamic_shared_bytes = narrow<std::int32_t>(event.shared_memory);
    r.graph_node = narrow<std::uint64_t>(event.graph_node);
    r.graph = narrow<std::uint32_t>(event.graph);
    sink_.add(r);
    if (!event.collective.empty()) collective(event, r);
  }

  void collective(const KinetoEvent& event, const KernelRecord& kernel) {
    CollectiveRecord r;
    r.global_pid = kernel.global_pid;
    r.correlation = kernel.correlation;
    r.graph_node = kernel.graph_node;
    r.name = sink_.intern(event.collective);
    r.dtype = sink_.intern(event.dtype);
    r.group_name = sink_.intern(event.group_name);
    r.ranks = sink_.intern(event.group_ranks);
    r.in_elements = event.in_elements;
    r.out_elements = event.out_elements;
    r.group_size = narrow<std::int32_t>(event.group_size);
    r.seq = event.seq.value_or(-1);
    sink_.add(r);
  }

  void copy(const KinetoEvent& event) {
    auto r = gpu_record<MemcpyRecord>(event);
    const CopyNameParts parts = parse_copy_name(event.name);
    r.kind = parts.kind;
    r.src_kind = parts.src;
    r.dst_kind = parts.dst;
    r.bytes = event.bytes;
    r.graph_node = narrow<std::uint64_t>(event.graph_node);
    sink_.add(r);
  }

  void set(const KinetoEvent& event) {
    auto r = gpu_record<MemsetRecord>(event);
    r.kind = parse_set_name(event.name);
    r.bytes = event.bytes;
    r.graph_node = narrow<std::uint64_t>(event.graph_node);
    sink_.add(r);
  }

  void sync(const KinetoEvent& event) {
    auto r = gpu_record<SyncRecord>(event);
    r.type = sync_type(event.name);
    r.event = narrow<std::uint32_t>(event.event_id);
    sink_.add(r);
  }

  void api(const KinetoEvent& event, ApiClass api_class) {
    ApiRecord r;
    r.start_ns = *event.ts_ns;
    r.end_ns = *event.ts_ns + event.dur_ns.value_or(0);
    r.global_tid = host_thread(event);
    r.correlation = narrow<std::uint32_t>(event.correlation.value_or(0));
    r.name = sink_.intern(event.name);
    r.api_class = api_class;
    sink_.add(r);
  }

  void overhead(const KinetoEvent& event) {
    OverheadRecord r;
    r.start_ns = *event.ts_ns;
    r.end_ns = *event.ts_ns + event.dur_ns.value_or(0);
    r.global_tid = process();
    r.name = sink_.intern(event.name);
    r.type = overhead_type(event.name);
    sink_.add(r);
  }

  void range(const KinetoEvent& event, DomainId domain) {
    NvtxRecord r;
    r.start_ns = *event.ts_ns;
    r.end_ns = *event.ts_ns + event.dur_ns.value_or(0);
    // A GPU-side annotation stands on a device and stream, not on a thread; its stream serves as the thread number.
    r.global_tid =
        domain == kGpuUserDomain
            ? make_global_tid(pid_of(process()), narrow<std::uint32_t>(event.stream.value_or(event.tid.value_or(0))))
            : host_thread(event);
    r.text = sink_.intern(event.name);
    r.domain = domain;
    r.range = narrow<std::uint64_t>(event.external_id);
    r.value_type = event.sequence ? NvtxValueType::kInt64 : NvtxValueType::kNone;
    r.int64_value = event.sequence.value_or(0);
    if (!event.input_dims.empty()) {
      r.json = sink_.intern(fmt::format(R"({{"input_dims":{},"input_types":{}}})", event.input_dims,
                                        event.input_types.empty() ? "[]" : event.input_types));
    }
    sink_.add(r);
  }

  void mark(const KinetoEvent& event) {
    if (!usable(event)) return;
    ++records_;
    NvtxRecord r;
    r.type = NvtxType::kMark;
    r.start_ns = *event.ts_ns;
    r.global_tid = process();
    r.text = sink_.intern(event.name);
    r.domain = kUserDomain;
    sink_.add(r);
  }

  void metadata(const KinetoEvent& event) {
    if (!event.pid || event.label.empty()) return;
    const auto pid = static_cast<std::uint64_t>(*event.pid);
    if (event.name == "process_name") process_names_[pid] = event.label;
    if (event.name == "thread_name") thread_names_[{pid, event.tid.value_or(0)}] = event.label;
  }

  RecordSink& sink_;
  std::int64_t events_ = 0;
  std::int64_t records_ = 0;
  std::uint64_t first_pid_ = 0;
  std::map<std::uint64_t, bool> host_pids_;
  std::map<std::uint64_t, std::string> process_names_;
  std::map<std::pair<std::uint64_t, std::int64_t>, std::string> thread_names_;
  std::map<std::int64_t, std::uint64_t> big_tids_;
  std::unordered_map<StringId, StringId> short_names_;
  std::map<std::pair<std::string, std::string>, std::int64_t> drops_;
};

// The document without its events; discarded when it cannot be parsed.
nlohmann::json parse_skeleton(const KinetoDocument& document) {
  std::string text = replace_invalid_utf8(document.skeleton);
  auto skeleton = nlohmann::json::parse(text, nullptr, false);
  // Mostly a file is cut off among its events, and the facts stand before them.
  if (skeleton.is_discarded() && !document.complete) skeleton = nlohmann::json::parse(text + "]}", nullptr, false);
  return skeleton;
}

// The facts beside the events. Devices that are not kept are counted with the interpreter.
RunInfo run_info(const nlohmann::json& document, Interpreter& interpreter) {
  RunInfo run;
  const auto integer = [](const nlohmann::json& from, const char* key) -> std::int64_t {
    const auto found = from.find(key);
    return found != from.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
  };
  run.utc_epoch_ns = integer(document, "baseTimeNanoseconds");
  if (const auto info = document.find("distributedInfo"); info != document.end() && info->is_object()) {
    run.rank = narrow<std::int32_t>(integer(*info, "rank"));
    run.world_size = narrow<std::int32_t>(integer(*info, "world_size"));
    if (info->contains("rank")) run.collector.push_back({std::string(kRankStatedBy), "distributedInfo"});
    for (const char* key : {"backend", "nccl_version"}) {
      const auto value = info->find(key);
      if (value != info->end() && value->is_string()) {
        run.environment.push_back({fmt::format("distributed.{}", key), value->get<std::string>()});
      }
    }
  }
  for (const char* key : {"cuda_driver_version", "cuda_runtime_version", "cupti_version", "schemaVersion"}) {
    if (document.contains(key)) run.environment.push_back({key, document[key].dump()});
  }
  const auto devices = document.find("deviceProperties");
  if (devices == document.end() || !devices->is_array()) return run;
  std::set<std::int32_t> known;
  for (const nlohmann::json& device : *devices) {
    if (!device.is_object()) continue;
    GpuInfo gpu;
    gpu.device = narrow<std::int32_t>(integer(device, "id"));
    if (!known.insert(gpu.device).second) {
      interpreter.drop("GPU of deviceProperties", "an earlier one has the same id");
      continue;
    }
    if (const auto name = device.find("name"); name != device.end() && name->is_string()) gpu.name = *name;
    gpu.memory_bytes = integer(device, "totalGlobalMem");
    gpu.sm_count = narrow<std::int32_t>(integer(device, "numSms"));
    gpu.compute_major = narrow<std::int32_t>(integer(device, "computeMajor"));
    gpu.compute_minor = narrow<std::int32_t>(integer(device, "computeMinor"));
    run.gpus.push_back(gpu);
  }
  return run;
}

}  // namespace

ImportReport import_kineto(const std::filesystem::path& path, TraceSink& sink, const std::atomic<bool>* cancel) {
  ImportReport report;
  KinetoEventParser parser;
  Interpreter interpreter(sink.add_process());
  const KinetoDocument document =
      stream_kineto_events(path, KinetoEventParser::padding(), cancel, [&](std::string_view text) {
        if (const KinetoEvent* event = parser.parse(text)) {
          interpreter.take(*event);
        } else {
          interpreter.drop("event", fmt::format("no valid JSON: {}", parser.error()));
        }
      });
  if (!document.found_events && !(document.complete && nlohmann::json::accept(document.skeleton))) {
    throw Error(ErrorKind::kInput, fmt::format("{}: no event can be read", path.string()),
                *document.damage != '\0' ? document.damage
                : document.complete      ? "it is no valid JSON"
                                         : "the file is cut off before its \"traceEvents\"",
                "copy or export the trace again");
  }
  if (!document.found_events) {
    throw Error(ErrorKind::kInput, fmt::format("{}: JSON, but not a PyTorch trace", path.string()),
                "there is no \"traceEvents\" array", "export the trace with torch.profiler's export_chrome_trace");
  }
  const nlohmann::json skeleton = parse_skeleton(document);
  RunInfo run = skeleton.is_object() ? run_info(skeleton, interpreter) : RunInfo{};
  run.source_file = replace_invalid_utf8(path.filename().string());
  run.complete = document.complete;
  if (!document.complete) {
    report.corrupt = true;
    report.warnings.push_back(fmt::format("{}: {} after {} bytes; the {} events before it were read", path.string(),
                                          *document.damage != '\0' ? document.damage : "the file is cut off",
                                          document.bytes, interpreter.events()));
  }
  if (document.complete && skeleton.is_discarded()) {
    report.warnings.push_back(fmt::format(
        "{}: what stands beside the events is no valid JSON; rank, GPUs and start time stay unknown", path.string()));
  }
  if (parser.repaired() > 0) {
    report.warnings.push_back(
        fmt::format("{}: {} events held text that is not UTF-8; its bytes were replaced by U+FFFD", path.string(),
                    parser.repaired()));
  }
  if (document.odd_elements > 0) {
    interpreter.drop("element of traceEvents", "it is no object", document.odd_elements);
  }
  report.description = fmt::format("PyTorch trace (Kineto), {} events", interpreter.events());
  interpreter.finish(std::move(run));
  return report;
}

}  // namespace swinscope

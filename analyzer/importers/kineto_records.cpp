#include "analyzer/importers/kineto_records.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "analyzer/trace/kernel_names.h"
#include "analyzer/trace/trace.h"

namespace swinscope {
namespace {

enum DomainId : std::uint32_t { kOpDomain = 1, kUserDomain, kPythonDomain, kGpuUserDomain };

// Thread ids that a serialized id cannot hold are numbered from here.
constexpr std::int64_t kMaxPlainTid = 0xEFFFFF;

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

// The value that a program attached to a mark. A trace file has no place for what is no number.
void set_value(NvtxRecord& record, const OwnArguments& own) {
  if (own.value_type <= 0 || own.value_type > static_cast<int>(NvtxValueType::kFloat)) return;
  const auto type = static_cast<NvtxValueType>(own.value_type);
  const auto real = std::bit_cast<double>(own.double_bits);
  const bool is_real = type == NvtxValueType::kDouble || type == NvtxValueType::kFloat;
  if (is_real && std::isnan(real)) return;
  record.value_type = type;
  if (is_real) {
    record.double_value = real + 0.0;  // nor for the sign of a zero
  } else {
    record.int64_value = own.int64_value;
  }
}

}  // namespace

template <typename T>
T narrow(std::int64_t value) {
  if (value < 0) return 0;
  const auto magnitude = static_cast<std::uint64_t>(value);
  return static_cast<T>(std::min<std::uint64_t>(magnitude, std::numeric_limits<T>::max()));
}
template std::int32_t narrow<std::int32_t>(std::int64_t);
template std::uint32_t narrow<std::uint32_t>(std::int64_t);
template std::uint64_t narrow<std::uint64_t>(std::int64_t);

std::uint32_t SmallIds::small(std::int64_t id) {
  if (id >= 0 && id < std::int64_t{kFirst}) return static_cast<std::uint32_t>(id);
  if (id == -1) return 0;  // none
  const auto next = kFirst + static_cast<std::uint32_t>(large_.size() & (~kFirst));
  return large_.try_emplace(id, next).first->second;
}

KinetoRecords::KinetoRecords(RecordSink& sink, std::uint64_t pid) : sink_(sink), pid_(pid) {}

void KinetoRecords::set_exact(const OwnExport& exported) {
  exact_ = exported;
  has_domains_ = true;  // its own
}

void KinetoRecords::define(const OwnEvent& event) {
  if (event.name == kOwnDomain) {
    exact_domains_.try_emplace(event.text, event.number);
    add_domain(event.number, event.text);
  } else if (event.name == kOwnKernel) {
    exact_kernels_[event.text] = {event.short_name, event.symbol};
  }
}

void KinetoRecords::add_domains() {
  if (has_domains_) return;
  has_domains_ = true;
  add_domain(kOpDomain, kDomainTorchOp);
  add_domain(kUserDomain, kDomainTorchUser);
  add_domain(kPythonDomain, kDomainTorchPython);
  add_domain(kGpuUserDomain, kDomainTorchGpuUser);
}

std::uint32_t KinetoRecords::domain_of(KinetoKind kind) const {
  using Entry = std::tuple<KinetoKind, std::uint32_t, std::string_view>;
  constexpr std::array<Entry, 4> kDomains = {{{KinetoKind::kOperator, kOpDomain, kDomainTorchOp},
                                              {KinetoKind::kAnnotation, kUserDomain, kDomainTorchUser},
                                              {KinetoKind::kPython, kPythonDomain, kDomainTorchPython},
                                              {KinetoKind::kGpuAnnotation, kGpuUserDomain, kDomainTorchGpuUser}}};
  const auto* const entry = std::ranges::find(kDomains, kind, [](const Entry& domain) { return std::get<0>(domain); });
  if (entry == kDomains.end()) return kUserDomain;
  const auto exact = exact_domains_.find(std::get<2>(*entry));
  return exact == exact_domains_.end() ? std::get<1>(*entry) : exact->second;
}

void KinetoRecords::add(const KinetoEvent& event, KinetoKind kind, std::int64_t start_ns, std::int64_t end_ns,
                        std::uint64_t host_pid) {
  const Times times{start_ns, end_ns};
  ++records_;
  switch (kind) {
    case KinetoKind::kKernel:
      return kernel(event, times);
    case KinetoKind::kCopy:
      return copy(event, times);
    case KinetoKind::kSet:
      return set(event, times);
    case KinetoKind::kSync:
      return sync(event, times);
    case KinetoKind::kCudaEvent:
      return cuda_event(event, times);
    case KinetoKind::kGpuAnnotation: {
      // It stands on a device and stream, not on a thread; its stream serves as the thread number.
      const auto global_pid =
          static_cast<std::uint64_t>(event.own.global_pid.value_or(static_cast<std::int64_t>(process())));
      return range(
          event, times, kind,
          exact_ ? global_pid_of(global_pid) | stream_of(event) : make_global_tid(pid_of(process()), stream_of(event)));
    }
    case KinetoKind::kRuntime:
      return api(event, times, ApiClass::kRuntime, host_pid);
    case KinetoKind::kDriver:
      return api(event, times, ApiClass::kDriver, host_pid);
    case KinetoKind::kOperator:
    case KinetoKind::kAnnotation:
    case KinetoKind::kPython:
      return range(event, times, kind, host_thread(event, host_pid));
    case KinetoKind::kOverhead:
      return overhead(event, times);
    case KinetoKind::kIgnored:
    case KinetoKind::kOther:
      break;
  }
  --records_;
}

void KinetoRecords::add_mark(const KinetoEvent& event, std::int64_t time_ns) {
  ++records_;
  if (memory_.add(event, time_ns, sink_)) return;
  add_domains();
  NvtxRecord r;
  r.type = NvtxType::kMark;
  r.start_ns = time_ns;
  r.global_tid = exact_ ? host_thread(event, narrow<std::uint64_t>(event.pid.value_or(0))) : process();
  r.text = sink_.intern(event.name);
  r.domain = event.own.domain ? narrow<std::uint32_t>(*event.own.domain) : kUserDomain;
  r.json = sink_.intern(event.own.payload);
  r.range = static_cast<std::uint64_t>(event.own.range);
  r.category = narrow<std::uint32_t>(event.own.category);
  r.color = narrow<std::uint32_t>(event.own.color);
  set_value(r, event.own);
  sink_.add(r);
}

void KinetoRecords::name_process(std::uint64_t pid, std::string_view name) { process_names_[pid] = name; }

void KinetoRecords::name_thread(std::uint64_t pid, const KinetoEvent& event) {
  thread_names_[{pid, thread_key(event)}] = event.label;
}

void KinetoRecords::finish(RunInfo run) {
  add_domains();
  run.graph_level_only = run.graph_level_only || has_whole_graphs_;
  if (exact_) return sink_.set_run(run);
  for (const auto& [correlation, recorded] : cuda_events_)
    sink_.add(recorded);
  run.source = "kineto";
  run.global_pid = process();
  for (const auto& [pid, name] : process_names_) {
    if (host_pids_.count(pid) != 0) run.processes.push_back({make_global_pid(pid), name});
  }
  for (const auto& [pid_and_tid, name] : thread_names_) {
    const auto [pid, tid] = pid_and_tid;
    if (host_pids_.count(pid) != 0) run.threads.push_back({global_tid(pid, tid), name});
  }
  sink_.set_run(run);
}

std::uint32_t KinetoRecords::stream_of(const KinetoEvent& event) {
  if (exact_) return narrow<std::uint32_t>(event.own.stream.value_or(event.stream.value_or(event.tid.value_or(0))));
  return streams_.small(event.stream.value_or(event.tid.value_or(0)));
}

void KinetoRecords::add_domain(std::uint32_t id, std::string_view name) {
  NvtxRecord r;
  r.type = NvtxType::kDomain;
  r.domain = id;
  r.text = sink_.intern(name);
  sink_.add(r);
}

std::int64_t KinetoRecords::thread_key(const KinetoEvent& event) {
  if (event.tid_text.empty()) return event.tid.value_or(0);
  const auto known = named_tids_.find(event.tid_text);
  if (known != named_tids_.end()) return known->second;
  const std::int64_t key = std::numeric_limits<std::int64_t>::min() + std::ssize(named_tids_);
  return named_tids_.emplace(event.tid_text, key).first->second;
}

std::uint64_t KinetoRecords::global_tid(std::uint64_t pid, std::int64_t tid) {
  if (tid >= 0 && tid <= kMaxPlainTid) return make_global_tid(pid, static_cast<std::uint64_t>(tid));
  // pthread handles and the like do not fit the 24 bits of a serialized id: number them from the top.
  const auto [entry, is_new] = big_tids_.try_emplace(tid, kMaxPlainTid + 1 + big_tids_.size());
  if (is_new) {
    const auto named =
        std::find_if(named_tids_.begin(), named_tids_.end(), [&](const auto& t) { return t.second == tid; });
    thread_names_.try_emplace({pid, tid}, named != named_tids_.end() ? named->first : fmt::format("thread {}", tid));
  }
  return make_global_tid(pid, entry->second);
}

std::uint64_t KinetoRecords::host_thread(const KinetoEvent& event, std::uint64_t pid) {
  if (exact_) {
    return event.own.global_tid ? static_cast<std::uint64_t>(*event.own.global_tid)
                                : make_global_tid(pid, narrow<std::uint64_t>(event.tid.value_or(0)));
  }
  if (host_pids_.empty()) first_host_pid_ = pid;
  host_pids_.emplace(pid, true);
  return global_tid(pid, thread_key(event));
}

template <typename Record>
Record KinetoRecords::gpu_record(const KinetoEvent& event, Times times) {
  Record r;
  r.start_ns = times.start_ns;
  r.end_ns = times.end_ns;
  r.device = narrow<std::int32_t>(event.device.value_or(event.pid.value_or(0)));
  r.context = exact_ ? narrow<std::uint32_t>(event.context) : contexts_.small(event.context);
  r.stream = stream_of(event);
  r.correlation = correlation_of(event);
  r.global_pid = pid_ == 0 ? 0 : make_global_pid(pid_);
  if (exact_) {
    r.global_pid = event.own.global_pid ? static_cast<std::uint64_t>(*event.own.global_pid) : exact_->global_pid;
    r.green_context = narrow<std::uint32_t>(event.own.green_context);
  }
  if (std::find(devices_.begin(), devices_.end(), r.device) == devices_.end()) devices_.push_back(r.device);
  return r;
}

std::uint32_t KinetoRecords::correlation_of(const KinetoEvent& event) {
  const std::int64_t id = event.correlation.value_or(0);
  return exact_ ? narrow<std::uint32_t>(id) : correlations_.small(id);
}

std::uint64_t KinetoRecords::graph_node_of(const KinetoEvent& event) const {
  return exact_ ? static_cast<std::uint64_t>(event.graph_node) : narrow<std::uint64_t>(event.graph_node);
}

// One record of a CUDA graph that was traced as a whole.
void KinetoRecords::whole_graph(const KinetoEvent& event, Times times) {
  auto r = gpu_record<GraphTraceRecord>(event, times);
  r.graph = narrow<std::uint32_t>(*event.own.whole_graph);
  has_whole_graphs_ = true;
  sink_.add(r);
}

void KinetoRecords::kernel(const KinetoEvent& event, Times times) {
  if (event.own.whole_graph) return whole_graph(event, times);
  auto r = gpu_record<KernelRecord>(event, times);
  r.demangled_name = sink_.intern(event.name);
  const auto [short_name, is_new] = short_names_.try_emplace(r.demangled_name, kNoString);
  const auto exact = exact_kernels_.find(event.name);
  if (is_new) {
    const bool is_named = exact != exact_kernels_.end() && !exact->second.short_name.empty();
    short_name->second = sink_.intern(is_named ? exact->second.short_name : short_kernel_name(event.name));
  }
  r.short_name = short_name->second;
  if (exact != exact_kernels_.end()) r.mangled_name = sink_.intern(exact->second.symbol);
  r.grid = event.grid;
  r.block = event.block;
  r.registers_per_thread = narrow<std::int32_t>(event.registers);
  // Kineto gives the sum of static and dynamic shared memory.
  r.static_shared_bytes = narrow<std::int32_t>(event.own.static_shared_memory);
  r.dynamic_shared_bytes = std::max(0, narrow<std::int32_t>(event.shared_memory) - r.static_shared_bytes);
  r.cluster = event.own.cluster;
  r.graph_node = graph_node_of(event);
  r.graph = narrow<std::uint32_t>(event.graph);
  sink_.add(r);
  // An export of ours has them in rows, too.
  if (!event.collective.empty() && !exact_) collective(event, r);
}

void KinetoRecords::collective(const KinetoEvent& event, const KernelRecord& kernel) {
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

void KinetoRecords::copy(const KinetoEvent& event, Times times) {
  auto r = gpu_record<MemcpyRecord>(event, times);
  const CopyNameParts parts = parse_copy_name(event.name);
  r.kind = parts.kind;
  r.src_kind = parts.src;
  r.dst_kind = parts.dst;
  r.bytes = event.bytes;
  r.graph_node = graph_node_of(event);
  sink_.add(r);
}

void KinetoRecords::set(const KinetoEvent& event, Times times) {
  auto r = gpu_record<MemsetRecord>(event, times);
  r.kind = parse_set_name(event.name);
  r.bytes = event.bytes;
  r.graph_node = graph_node_of(event);
  sink_.add(r);
}

void KinetoRecords::sync(const KinetoEvent& event, Times times) {
  auto r = gpu_record<SyncRecord>(event, times);
  r.type = exact_ ? static_cast<SyncType>(event.own.type) : sync_type(event.name);
  r.event = narrow<std::uint32_t>(event.event_id);
  r.event_sync = static_cast<std::uint64_t>(event.own.event_sync);
  if (exact_) r.graph_node = graph_node_of(event);
  if (!exact_) wait_for(event, r);
  sink_.add(r);
}

// PyTorch says with the wait where the event was recorded; as events of their own newer versions have them, too.
void KinetoRecords::wait_for(const KinetoEvent& event, SyncRecord& sync) {
  if (event.wait_record.value_or(-1) <= 0) return;
  CudaEventRecord recorded;
  recorded.correlation = correlations_.small(*event.wait_record);
  recorded.event_sync = sync.event_sync = recorded.correlation;
  if (event.wait_stream.value_or(-1) < 0) return;
  recorded.global_pid = sync.global_pid;
  recorded.device = sync.device;
  recorded.context = sync.context;
  recorded.stream = streams_.small(*event.wait_stream);
  recorded.event = sync.event;
  cuda_events_.try_emplace(recorded.correlation, recorded);
}

void KinetoRecords::cuda_event(const KinetoEvent& event, Times times) {
  const auto at = gpu_record<GpuRecord>(event, times);
  CudaEventRecord r;
  r.time_ns = at.start_ns;
  r.global_pid = at.global_pid;
  r.event_sync = r.correlation = at.correlation;
  r.device = at.device;
  r.context = at.context;
  r.stream = at.stream;
  r.event = narrow<std::uint32_t>(event.event_id);
  cuda_events_.insert_or_assign(r.correlation, r);
}

void KinetoRecords::api(const KinetoEvent& event, Times times, ApiClass api_class, std::uint64_t pid) {
  ApiRecord r;
  r.start_ns = times.start_ns;
  r.end_ns = times.end_ns;
  r.global_tid = host_thread(event, pid);
  r.correlation = correlation_of(event);
  if (pid_ == 0 && r.correlation != 0 && is_launch_call(event.name)) pid_ = pid;
  r.name = sink_.intern(event.name);
  r.api_class = api_class;
  sink_.add(r);
}

void KinetoRecords::overhead(const KinetoEvent& event, Times times) {
  OverheadRecord r;
  r.start_ns = times.start_ns;
  r.end_ns = times.end_ns;
  r.global_tid = process();
  r.name = sink_.intern(event.name);
  r.type = overhead_type(event.name);
  if (exact_) {
    r.global_tid = host_thread(event, narrow<std::uint64_t>(event.pid.value_or(0)));
    r.type = static_cast<std::int32_t>(event.own.type);
    r.correlation = correlation_of(event);
  }
  sink_.add(r);
}

void KinetoRecords::range(const KinetoEvent& event, Times times, KinetoKind kind, std::uint64_t global_tid) {
  add_domains();
  NvtxRecord r;
  r.start_ns = times.start_ns;
  r.end_ns = times.end_ns;
  r.global_tid = global_tid;
  r.text = sink_.intern(event.name);
  r.domain = event.own.domain ? narrow<std::uint32_t>(*event.own.domain) : domain_of(kind);
  r.range = narrow<std::uint64_t>(event.external_id);
  r.value_type = event.sequence ? NvtxValueType::kInt64 : NvtxValueType::kNone;
  r.int64_value = event.sequence.value_or(0);
  if (!event.input_dims.empty()) {
    // Other operators' differ in every step (seeds, learning rates), and nothing reads them.
    const bool has_strides =
        event.concrete_inputs.starts_with('[') && event.name.find("convolution") != std::string_view::npos;
    r.json = sink_.intern(fmt::format(R"({{"input_dims":{},"input_types":{}{}{}}})", event.input_dims,
                                      event.input_types.empty() ? "[]" : event.input_types,
                                      has_strides ? R"(,"concrete_inputs":)" : "",
                                      has_strides ? event.concrete_inputs : ""));
  } else if (!event.own.payload.empty()) {
    r.json = sink_.intern(event.own.payload);
  }
  sink_.add(r);
}

}  // namespace swinscope

#include "collector/cupti/cupti_decoder.h"

#include <cstdlib>
#include <string_view>

#include <cxxabi.h>
#include <fmt/format.h>

#include "store/kernel_name.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

using cupti::Kind;

constexpr std::uint32_t kNoId = 0xFFFFFFFF;  // of contexts and streams that a record is not about

std::string demangle(const char* mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : mangled;
  std::free(text);
  return replace_invalid_utf8(result);
}

// CUPTI counts from "unknown", Nsight Systems from "pageable" and puts "unknown" last.
MemoryKind memory_kind(std::uint32_t kind) {
  constexpr std::uint32_t kLast = 7;
  return kind == 0 || kind > kLast ? MemoryKind::kUnknown : static_cast<MemoryKind>(kind - 1);
}

// CUPTI numbers its own overheads in the upper half.
std::int32_t overhead_type(std::uint32_t kind) {
  constexpr std::uint32_t kCompiler = 1;
  constexpr std::uint32_t kCompilerType = 2;
  const std::uint32_t own = kind >> 16U;
  return static_cast<std::int32_t>(kind == kCompiler ? kCompilerType : own + kCompilerType);
}

const char* overhead_name(std::int32_t type) {
  constexpr std::array<const char*, 11> kNames = {"Unknown",
                                                  "Unknown",
                                                  "JIT compiler",
                                                  "CUPTI buffer flush",
                                                  "CUPTI instrumentation",
                                                  "CUPTI resources",
                                                  "Module loading",
                                                  "Lazy function loading",
                                                  "Command buffer full",
                                                  "CUPTI buffer request",
                                                  "Unified memory activity"};
  const auto index = static_cast<std::size_t>(type);
  return index < kNames.size() ? kNames[index] : kNames[0];
}

Dim3 dim3(const std::int32_t* values) { return {values[0], values[1], values[2]}; }

std::uint32_t known(std::uint32_t id) { return id == kNoId ? 0 : id; }

bool tells_event_sync(CuptiApi& api) { return api.version() >= cupti::kFirstWithEventSync; }

MemoryPool pool_of(const cupti::PoolState& state) {
  MemoryPool pool;
  pool.address = state.address;
  if (state.type == cupti::kImportedPool) {
    pool.owner = MemoryPool::Owner::kOther;
    pool.owner_pid = state.size_or_process;
  } else if (state.type == cupti::kOwnPool) {
    pool.owner = MemoryPool::Owner::kThisProcess;
    pool.release_threshold = static_cast<std::int64_t>(state.release_threshold);
    pool.size = static_cast<std::int64_t>(state.size_or_process);
    pool.used_bytes = static_cast<std::int64_t>(state.used_bytes);
  }
  return pool;
}

template <typename T>
const T& as(const cupti::Record& record) {
  return reinterpret_cast<const T&>(record);
}

}  // namespace

CuptiDecoder::What CuptiDecoder::what_of(Kind kind) {
  switch (kind) {
    case Kind::kConcurrentKernel:
      return What::kKernel;
    case Kind::kMemcpy:
    case Kind::kPeerCopy:
      return What::kCopy;
    case Kind::kMemset:
      return What::kSet;
    case Kind::kDriver:
    case Kind::kRuntime:
      return What::kCall;
    case Kind::kSynchronization:
      return What::kSync;
    case Kind::kCudaEvent:
      return What::kEvent;
    case Kind::kMemory:
    case Kind::kMemoryPool:
      return What::kMemory;
    case Kind::kOverhead:
      return What::kOverhead;
    case Kind::kGraphTrace:
      return What::kGraph;
    default:
      return What::kOther;
  }
}

const char* CuptiDecoder::text_of(What what) {
  constexpr std::array<const char*, kWhats> kTexts = {
      "kernel",     "memory copy",       "memory set", "CUDA call",  "synchronization",
      "CUDA event", "memory allocation", "overhead",   "CUDA graph", "CUDA record"};
  return kTexts[static_cast<std::size_t>(what)];
}

void CuptiDecoder::add_buffer(CudaSink& to, CuptiApi& api, std::uint8_t* buffer, std::size_t valid_bytes) {
  const cupti::Record* record = nullptr;
  try {
    while ((record = api.next_record(buffer, valid_bytes, record)) != nullptr) {
      ++unflushed_[static_cast<std::size_t>(what_of(record->kind))];
      add(to, api, *record);
      ++records_;
    }
  } catch (...) {
    while ((record = api.next_record(buffer, valid_bytes, record)) != nullptr)
      ++unflushed_[static_cast<std::size_t>(what_of(record->kind))];
    throw;
  }
}

void CuptiDecoder::discard_buffer(CuptiApi& api, std::uint8_t* buffer, std::size_t valid_bytes,
                                  const std::string& reason) {
  const cupti::Record* record = nullptr;
  while ((record = api.next_record(buffer, valid_bytes, record)) != nullptr)
    ++unflushed_[static_cast<std::size_t>(what_of(record->kind))];
  lost(reason);
}

void CuptiDecoder::flushed() { unflushed_.fill(0); }

void CuptiDecoder::lost(const std::string& reason) {
  constexpr auto kOther = static_cast<std::size_t>(What::kOther);  // facts, not events
  for (std::size_t i = 0; i < kOther; ++i)
    drops_.add(text_of(static_cast<What>(i)), unflushed_[i], reason);
  unflushed_.fill(0);
}

void CuptiDecoder::add(CudaSink& to, CuptiApi& api, const cupti::Record& record) {
  switch (record.kind) {
    case Kind::kConcurrentKernel:
      return add_kernel(to, as<cupti::Kernel>(record));
    case Kind::kMemcpy:
      return add_copy(to, as<cupti::Memcpy>(record));
    case Kind::kPeerCopy:
      return add_peer_copy(to, as<cupti::PeerCopy>(record));
    case Kind::kMemset:
      return add_set(to, as<cupti::Memset>(record));
    case Kind::kDriver:
    case Kind::kRuntime:
      return add_call(to, api, as<cupti::Api>(record));
    case Kind::kSynchronization:
      return add_sync(to, api, as<cupti::Synchronization>(record));
    case Kind::kCudaEvent:
      return add_event(to, api, as<cupti::CudaEvent>(record));
    case Kind::kMemory:
      return add_memory(to, as<cupti::Memory>(record));
    case Kind::kMemoryPool:
      return add_pool(to, as<cupti::MemoryPool>(record));
    case Kind::kOverhead:
      return add_overhead(to, as<cupti::Overhead>(record));
    case Kind::kGraphTrace:
      return add_graph(to, as<cupti::GraphTrace>(record));
    case Kind::kDevice:
      return facts_.add(as<cupti::Device>(record));
    case Kind::kContext:
      return facts_.add(as<cupti::Context>(record));
    case Kind::kStream:
      return facts_.add(as<cupti::Stream>(record));
    default:
      return;
  }
}

template <typename Raw>
bool CuptiDecoder::set_times(GpuRecord& record, const Raw& raw, What what) {
  if (raw.start == 0 || raw.end < raw.start) {
    --unflushed_[static_cast<std::size_t>(what)];
    drops_.add(text_of(what), 1, "CUPTI gave no times for it");
    return false;
  }
  // Of a node that runs while CUDA's recording ends CUPTI gives the end of a later replay (measured with CUDA 13.0).
  if constexpr (requires { raw.graph_node; }) {
    if (raw.graph_node != 0 &&
        windows_.closed_between(static_cast<std::int64_t>(raw.start), static_cast<std::int64_t>(raw.end))) {
      --unflushed_[static_cast<std::size_t>(what)];
      drops_.add(text_of(what), 1, "its CUDA graph was still running when the recording of CUDA ended");
      return false;
    }
  }
  record.start_ns = static_cast<std::int64_t>(raw.start) - start_ns_;
  record.end_ns = static_cast<std::int64_t>(raw.end) - start_ns_;
  record.global_pid = global_pid_;
  record.correlation = raw.correlation;
  record.context = raw.context;
  record.stream = raw.stream;
  return true;
}

void CuptiDecoder::add_kernel(CudaSink& to, const cupti::Kernel& k) {
  KernelRecord r;
  if (!set_times(r, k, What::kKernel)) return;
  const Names& names = names_of(to, k.name == nullptr ? "" : k.name);
  r.device = static_cast<std::int32_t>(k.device);
  r.graph_node = k.graph_node;
  r.demangled_name = names.demangled_id;
  r.short_name = names.short_id;
  r.mangled_name = names.mangled_id;
  const cupti::Kernel copy = k;  // aligned: the record's arrays may not be
  r.grid = dim3(copy.grid);
  r.block = dim3(copy.block);
  r.cluster = {static_cast<std::int32_t>(k.cluster[0]), static_cast<std::int32_t>(k.cluster[1]),
               static_cast<std::int32_t>(k.cluster[2])};
  r.launch_type = k.launch_type + 1;
  r.cache_config = k.cache_config >> 4U;
  r.registers_per_thread = k.registers_per_thread;
  r.static_shared_bytes = k.static_shared;
  r.dynamic_shared_bytes = k.dynamic_shared;
  r.local_bytes_per_thread = static_cast<std::int32_t>(k.local_per_thread);
  r.local_bytes_total = static_cast<std::int64_t>(k.local_total_64 != 0 ? k.local_total_64 : k.local_total);
  r.grid_id = k.grid_id;
  r.shared_bytes_executed = static_cast<std::int32_t>(k.shared_executed);
  r.shared_limit_config = static_cast<std::int32_t>(k.shared_limit_config);
  r.graph = k.graph;
  to.add(r);
}

template <typename Raw>
bool CuptiDecoder::set_copy(MemcpyRecord& record, const Raw& raw) {
  if (!set_times(record, raw, What::kCopy)) return false;
  record.device = static_cast<std::int32_t>(raw.device);
  record.graph_node = raw.graph_node;
  record.bytes = static_cast<std::int64_t>(raw.bytes);
  record.kind = static_cast<CopyKind>(raw.copy_kind);
  record.src_kind = memory_kind(raw.src_kind);
  record.dst_kind = memory_kind(raw.dst_kind);
  return true;
}

void CuptiDecoder::add_copy(CudaSink& to, const cupti::Memcpy& m) {
  MemcpyRecord r;
  if (set_copy(r, m)) to.add(r);
}

void CuptiDecoder::add_peer_copy(CudaSink& to, const cupti::PeerCopy& m) {
  MemcpyRecord r;
  if (!set_copy(r, m)) return;
  r.src_device = static_cast<std::int32_t>(m.src_device);
  r.dst_device = static_cast<std::int32_t>(m.dst_device);
  to.add(r);
}

void CuptiDecoder::add_set(CudaSink& to, const cupti::Memset& m) {
  MemsetRecord r;
  if (!set_times(r, m, What::kSet)) return;
  r.device = static_cast<std::int32_t>(m.device);
  r.graph_node = m.graph_node;
  r.bytes = static_cast<std::int64_t>(m.bytes);
  r.value = m.value;
  r.kind = memory_kind(m.memory_kind);
  to.add(r);
}

void CuptiDecoder::add_call(CudaSink& to, CuptiApi& api, const cupti::Api& a) {
  const bool is_driver = a.kind == Kind::kDriver;
  ApiRecord r;
  r.start_ns = static_cast<std::int64_t>(a.start) - start_ns_;
  r.end_ns = static_cast<std::int64_t>(a.end) - start_ns_;
  r.global_tid = make_global_tid(pid_of(global_pid_), a.thread);
  r.correlation = a.correlation;
  r.name = call_name(to, api, is_driver ? cupti::kDriverDomain : cupti::kRuntimeDomain, a.callback);
  r.api_class = is_driver ? ApiClass::kDriver : ApiClass::kRuntime;
  r.return_value = static_cast<std::int32_t>(a.return_value);
  to.add(r);
}

void CuptiDecoder::add_sync(CudaSink& to, CuptiApi& api, const cupti::Synchronization& s) {
  SyncRecord r;
  if (!set_times(r, s, What::kSync)) return;
  r.device = facts_.device_of(s.context);
  r.context = known(s.context);
  r.stream = known(s.stream);
  r.type = static_cast<SyncType>(s.type);
  r.event = known(s.event);
  if (r.event != 0 && tells_event_sync(api) && s.event_sync != kNoId) r.event_sync = s.event_sync;
  to.add(r);
}

void CuptiDecoder::add_event(CudaSink& to, CuptiApi& api, const cupti::CudaEvent& e) {
  CudaEventRecord r;
  r.global_pid = global_pid_;
  r.correlation = e.correlation;
  r.context = known(e.context);
  r.stream = known(e.stream);
  r.event = e.event;
  r.device = facts_.device_of(e.context);
  if (tells_event_sync(api)) {
    r.device = static_cast<std::int32_t>(e.device);
    r.event_sync = e.event_sync;
    if (e.device_time != 0) r.time_ns = static_cast<std::int64_t>(e.device_time) - start_ns_;
  }
  to.add(r);
}

void CuptiDecoder::add_memory(CudaSink& to, const cupti::Memory& m) {
  constexpr std::uint32_t kRelease = 2;
  MemoryRecord r;
  r.time_ns = static_cast<std::int64_t>(m.time) - start_ns_;
  r.global_pid = global_pid_;
  r.address = m.address;
  r.pc = m.pc;
  r.bytes = static_cast<std::int64_t>(m.bytes);
  r.correlation = m.correlation;
  r.device = static_cast<std::int32_t>(m.device);
  r.context = known(m.context);
  if (m.is_async != 0) r.stream = m.stream;
  r.kind = memory_kind(m.memory_kind);
  r.operation = m.operation == kRelease ? MemoryOperation::kRelease : MemoryOperation::kAllocate;
  if (m.name != nullptr) r.name = replace_invalid_utf8(m.name);
  r.pool = pool_of(m.pool);
  to.add(r);
}

void CuptiDecoder::add_pool(CudaSink& to, const cupti::MemoryPool& p) {
  constexpr std::uint32_t kLast = 3;
  if (p.operation == 0 || p.operation > kLast) return;
  MemoryPoolRecord r;
  r.time_ns = static_cast<std::int64_t>(p.time) - start_ns_;
  r.global_pid = global_pid_;
  r.correlation = p.correlation;
  r.device = static_cast<std::int32_t>(p.device);
  r.operation = static_cast<PoolOperation>(p.operation - 1);
  if (r.operation == PoolOperation::kTrimmed) r.min_bytes_to_keep = static_cast<std::int64_t>(p.min_bytes_to_keep);
  r.pool = pool_of({p.type, 0, p.address, p.release_threshold, p.size_or_process, p.used_bytes});
  to.add(r);
}

void CuptiDecoder::add_overhead(CudaSink& to, const cupti::Overhead& o) {
  OverheadRecord r;
  r.start_ns = static_cast<std::int64_t>(o.start) - start_ns_;
  r.end_ns = static_cast<std::int64_t>(o.end) - start_ns_;
  r.global_tid =
      o.object_kind == cupti::kThreadObject ? make_global_tid(pid_of(global_pid_), o.object[1]) : global_pid_;
  r.correlation = o.correlation;
  r.type = overhead_type(o.overhead_kind);
  r.name = to.intern(overhead_name(r.type));
  to.add(r);
}

void CuptiDecoder::add_graph(CudaSink& to, const cupti::GraphTrace& g) {
  GraphTraceRecord r;
  if (!set_times(r, g, What::kGraph)) return;
  r.device = static_cast<std::int32_t>(g.device);
  r.graph = g.graph;
  to.add(r);
}

const CuptiDecoder::Names& CuptiDecoder::names_of(CudaSink& to, const char* mangled) {
  // Programs that compile kernels as they run may have any number of names.
  constexpr std::size_t kMaxNames = 50'000;
  const auto found = names_.find(mangled);
  if (found != names_.end() && found->second.mangled == mangled) return found->second;
  if (names_.size() >= kMaxNames) names_.clear();
  const std::string demangled = demangle(mangled);
  Names names;
  names.mangled = mangled;
  names.demangled_id = to.intern(demangled.empty() ? "(unnamed)" : demangled);
  names.short_id = to.intern(demangled.empty() ? "(unnamed)" : short_kernel_name(demangled));
  names.mangled_id = to.intern(replace_invalid_utf8(mangled));
  return names_.insert_or_assign(mangled, std::move(names)).first->second;
}

StringId CuptiDecoder::call_name(CudaSink& to, CuptiApi& api, std::uint32_t domain, std::uint32_t callback) {
  constexpr std::size_t kMaxCallbacks = 10'000;
  auto& known = call_names_[domain];
  if (callback < known.size() && known[callback] != kNoString) return known[callback];
  const char* name = api.callback_name(domain, callback);
  const StringId id = to.intern(name != nullptr ? name : fmt::format("CUDA call {}", callback));
  if (callback >= kMaxCallbacks) return id;
  if (callback >= known.size()) known.resize(callback + 1, kNoString);
  return known[callback] = id;
}

}  // namespace swinscope

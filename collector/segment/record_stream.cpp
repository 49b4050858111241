#include "collector/segment/record_stream.h"

#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "collector/segment/nvtx_event.h"

namespace swinscope {
namespace {

constexpr std::size_t kMaxText = 32U << 10U;  // of a name: more than any kernel has, and well within a block

// MemoryRecord without its text.
struct MemoryFields {
  std::int64_t time_ns;
  std::uint64_t global_pid;
  std::uint64_t address;
  std::uint64_t pc;
  std::int64_t bytes;
  std::uint32_t correlation;
  std::int32_t device;
  std::uint32_t context;
  std::int64_t stream;
  MemoryKind kind;
  MemoryOperation operation;
  MemoryPool pool;
};

struct GpuFields {
  std::int64_t memory_bytes;
  std::int64_t l2_bytes;
  std::int64_t memory_bytes_per_second;
  std::int64_t clock_hz;
  std::int32_t device;
  std::int32_t sm_count;
  std::int32_t compute_major;
  std::int32_t compute_minor;
};

// Two texts in one: the first ends with a zero.
std::string pair_of(std::string_view a, std::string_view b) { return std::string(a) + '\0' + std::string(b); }
std::pair<std::string, std::string> split_pair(std::string_view text) {
  const std::size_t end = std::min(text.find('\0'), text.size());
  return {std::string(text.substr(0, end)), std::string(text.substr(std::min(end + 1, text.size())))};
}

// The fields in front of `data`, which then holds the rest. False when there are not enough bytes.
template <typename Fields>
bool take(std::string_view& data, Fields& fields) {
  static_assert(std::is_trivially_copyable_v<Fields>);
  if (data.size() < sizeof(fields)) return false;
  std::memcpy(&fields, data.data(), sizeof(fields));
  data.remove_prefix(sizeof(fields));
  return true;
}

bool is_same(const RunInfo& a, const RunInfo& b) {
  return a.gpus == b.gpus && a.contexts == b.contexts && a.streams == b.streams && a.windows == b.windows &&
         a.collector == b.collector && a.drops == b.drops && a.graph_level_only == b.graph_level_only;
}

std::string_view data_of(const std::byte* record, const EventHead& head) {
  return {reinterpret_cast<const char*>(record) + sizeof(head), head.bytes - sizeof(head)};
}

}  // namespace

// The text lies behind the data.
bool RecordStream::write(StreamKind kind, const void* data, std::size_t bytes, std::string_view text) {
  text = text.substr(0, kMaxText);
  EventHead head;
  head.bytes = static_cast<std::uint32_t>(sizeof(head) + bytes + text.size());
  head.kind = EventKind::kRecord;
  head.domain = static_cast<std::uint32_t>(kind);
  std::byte* to = lane_.reserve(head.bytes, 0);
  for (bool is_first = true; to == nullptr; is_first = false) {
    if (!wait_(is_first)) return false;
    to = lane_.reserve(head.bytes, 0);
  }
  std::memcpy(to, &head, sizeof(head));
  if (bytes != 0) std::memcpy(to + sizeof(head), data, bytes);
  if (!text.empty()) std::memcpy(to + sizeof(head) + bytes, text.data(), text.size());
  lane_.commit();
  return true;
}

template <typename Record>
void RecordStream::record(StreamKind kind, const Record& record) {
  static_assert(std::is_trivially_copyable_v<Record>);
  if (!write(kind, &record, sizeof(record))) ++lost_;
}

// The reader numbers the strings as they come.
StringId RecordStream::intern(std::string_view text) {
  if (text.empty()) return kNoString;
  const auto found = strings_.find(std::string(text));
  if (found != strings_.end()) return found->second;
  if (!write(StreamKind::kString, nullptr, 0, text)) return kNoString;
  const auto id = static_cast<StringId>(strings_.size() + 1);
  strings_.emplace(text, id);
  return id;
}

void RecordStream::add(const KernelRecord& r) { record(StreamKind::kKernel, r); }
void RecordStream::add(const MemcpyRecord& r) { record(StreamKind::kMemcpy, r); }
void RecordStream::add(const MemsetRecord& r) { record(StreamKind::kMemset, r); }
void RecordStream::add(const SyncRecord& r) { record(StreamKind::kSync, r); }
void RecordStream::add(const GraphTraceRecord& r) { record(StreamKind::kGraphTrace, r); }
void RecordStream::add(const ApiRecord& r) { record(StreamKind::kApi, r); }
void RecordStream::add(const OverheadRecord& r) { record(StreamKind::kOverhead, r); }
void RecordStream::add(const CudaEventRecord& r) { record(StreamKind::kCudaEvent, r); }
void RecordStream::add(const MemoryPoolRecord& r) { record(StreamKind::kMemoryPool, r); }
void RecordStream::add(const MemoryRecord& r) {
  const MemoryFields fields{r.time_ns, r.global_pid, r.address, r.pc,   r.bytes,     r.correlation,
                            r.device,  r.context,    r.stream,  r.kind, r.operation, r.pool};
  if (!write(StreamKind::kMemory, &fields, sizeof(fields), r.name)) ++lost_;
}

void RecordStream::set_facts(const RunInfo& run) {
  if (is_same(run, said_)) return;
  const std::uint32_t graph_level_only = run.graph_level_only ? 1 : 0;
  if (!write(StreamKind::kFactsBegin, &graph_level_only, sizeof(graph_level_only))) return;
  for (const GpuInfo& gpu : run.gpus) {
    const GpuFields fields{gpu.memory_bytes, gpu.l2_bytes, gpu.memory_bytes_per_second, gpu.clock_hz,
                           gpu.device,       gpu.sm_count, gpu.compute_major,           gpu.compute_minor};
    write(StreamKind::kGpu, &fields, sizeof(fields),
          pair_of(gpu.name, pair_of(gpu.uuid, pair_of(gpu.chip, gpu.bus_location))));
  }
  for (const ContextInfo& context : run.contexts)
    write(StreamKind::kContext, &context, sizeof(context));
  for (const StreamInfo& stream : run.streams)
    write(StreamKind::kStream, &stream, sizeof(stream));
  for (const WindowInfo& window : run.windows)
    write(StreamKind::kWindow, &window, sizeof(window));
  for (const NamedValue& fact : run.collector)
    write(StreamKind::kFact, nullptr, 0, pair_of(fact.name, fact.value));
  for (const DropInfo& drop : run.drops)
    write(StreamKind::kDrop, &drop.count, sizeof(drop.count), pair_of(drop.what, drop.reason));
  if (write(StreamKind::kFactsEnd, nullptr, 0)) said_ = run;
}

StringId RecordStreamReader::id_of(StringId streamed) const {
  return streamed < strings_.size() ? strings_[streamed] : kNoString;
}

void RecordStreamReader::add(TraceWriter& to, const std::byte* record) {
  EventHead head;
  std::memcpy(&head, record, sizeof(head));
  std::string_view data = data_of(record, head);
  const auto kind = static_cast<StreamKind>(head.domain);
  const auto add = [&](auto fields, auto adjust) {
    if (!take(data, fields)) return;
    ++unflushed_;
    has_records_ = true;
    adjust(fields);
    to.add(fields);
  };
  const auto as_it_is = [](auto&) {};
  switch (kind) {
    case StreamKind::kString:
      strings_.push_back(kNoString);
      strings_.back() = to.intern(data);
      return;
    case StreamKind::kKernel:
      return add(KernelRecord(), [&](KernelRecord& r) {
        for (StringId* name : {&r.demangled_name, &r.short_name, &r.mangled_name})
          *name = id_of(*name);
      });
    case StreamKind::kMemcpy:
      return add(MemcpyRecord(), as_it_is);
    case StreamKind::kMemset:
      return add(MemsetRecord(), as_it_is);
    case StreamKind::kSync:
      return add(SyncRecord(), as_it_is);
    case StreamKind::kGraphTrace:
      return add(GraphTraceRecord(), as_it_is);
    case StreamKind::kApi:
      return add(ApiRecord(), [&](ApiRecord& r) { r.name = id_of(r.name); });
    case StreamKind::kOverhead:
      return add(OverheadRecord(), [&](OverheadRecord& r) { r.name = id_of(r.name); });
    case StreamKind::kCudaEvent:
      return add(CudaEventRecord(), as_it_is);
    case StreamKind::kMemoryPool:
      return add(MemoryPoolRecord(), as_it_is);
    case StreamKind::kMemory: {
      MemoryFields f{};
      if (!take(data, f)) return;
      ++unflushed_;
      has_records_ = true;
      to.add(MemoryRecord{f.time_ns, f.global_pid, f.address, f.pc, f.bytes, f.correlation, f.device, f.context,
                          f.stream, f.kind, f.operation, std::string(data), f.pool});
      return;
    }
    default:
      take_fact(kind, data);
  }
}

void RecordStreamReader::take_fact(StreamKind kind, std::string_view data) {
  RunInfo& next = next_facts_;
  const auto keep = [&](auto& list, auto fields) {
    if (take(data, fields)) list.push_back(fields);
  };
  switch (kind) {
    case StreamKind::kFactsBegin: {
      next = {};
      std::uint32_t graph_level_only = 0;
      next.graph_level_only = take(data, graph_level_only) && graph_level_only != 0;
      break;
    }
    case StreamKind::kGpu: {
      GpuFields f{};
      if (!take(data, f)) break;
      const auto [name, rest] = split_pair(data);
      const auto [uuid, place] = split_pair(rest);
      const auto [chip, bus_location] = split_pair(place);
      next.gpus.push_back({f.device, name, uuid, f.memory_bytes, f.sm_count, f.compute_major, f.compute_minor, chip,
                           bus_location, f.l2_bytes, f.memory_bytes_per_second, f.clock_hz});
      break;
    }
    case StreamKind::kContext:
      return keep(next.contexts, ContextInfo());
    case StreamKind::kStream:
      return keep(next.streams, StreamInfo());
    case StreamKind::kWindow:
      return keep(next.windows, WindowInfo());
    case StreamKind::kFact: {
      auto [name, value] = split_pair(data);
      next.collector.push_back({std::move(name), std::move(value)});
      break;
    }
    case StreamKind::kDrop: {
      std::int64_t count = 0;
      if (!take(data, count)) break;
      auto [what, reason] = split_pair(data);
      next.drops.push_back({std::move(what), count, std::move(reason)});
      break;
    }
    case StreamKind::kFactsEnd:
      facts_ = std::exchange(next, {});
      break;
    default:
      break;  // of a newer library
  }
}

void RecordStreamReader::discard(const std::byte* record) {
  EventHead head;
  std::memcpy(&head, record, sizeof(head));
  const auto kind = static_cast<StreamKind>(head.domain);
  if (kind == StreamKind::kString) {
    strings_.push_back(kNoString);  // what refers to it has no name, should there be a file again
  } else if (kind < StreamKind::kFactsBegin) {
    ++discarded_;
  } else {
    take_fact(kind, data_of(record, head));
  }
}

void RecordStreamReader::lost(const std::string& reason) {
  drops_.add("CUDA record", std::exchange(unflushed_, 0), reason);
}

void RecordStreamReader::count_discarded(const std::string& reason) {
  drops_.add("CUDA record", std::exchange(discarded_, 0), reason);
}

void RecordStreamReader::describe(RunInfo& run) const {
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  append(run.gpus, facts_.gpus);
  append(run.contexts, facts_.contexts);
  append(run.streams, facts_.streams);
  append(run.windows, facts_.windows);
  append(run.collector, facts_.collector);
  append(run.drops, facts_.drops);
  append(run.drops, drops_.all());
  run.graph_level_only = run.graph_level_only || facts_.graph_level_only;
}

}  // namespace swinscope

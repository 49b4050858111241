#include "collector/nccl/nccl_assembler.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "store/utf8.h"

namespace swinscope {
namespace {

constexpr std::size_t kMaxEarlyEnds = 65536;

// The value in front of `data`, which then holds the rest. False when there are not enough bytes.
template <typename Value>
bool take(std::string_view& data, Value& value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  if (data.size() < sizeof(value)) return false;
  std::memcpy(&value, data.data(), sizeof(value));
  data.remove_prefix(sizeof(value));
  return true;
}

StringId take_text(TraceWriter& to, std::string_view& data) {
  const std::string_view text = data.substr(0, data.find('\0'));
  data.remove_prefix(std::min(text.size() + 1, data.size()));
  return to.intern(replace_invalid_utf8(text));
}

// The end of a channel is a time of the GPU's, that of anything else one of the trace.
void set_end(NcclChannelRecord& record, std::int64_t value) { record.gpu_end_ns = value; }
template <typename Record>
void set_end(Record& record, std::int64_t value) {
  record.end_ns = value;
}

NcclCommunicatorRecord communicator_of(TraceWriter& to, const NcclCommunicator& said, std::string_view texts) {
  NcclCommunicatorRecord record;
  record.group_name = to.intern(fmt::format("0x{:016x}", said.hash));
  record.name = take_text(to, texts);
  record.rank = said.rank;
  record.group_size = said.ranks;
  record.nodes = said.nodes;
  return record;
}

NcclOperationRecord operation_of(TraceWriter& to, const NcclOperation& said, std::string_view texts) {
  NcclOperationRecord record;
  record.communicator = said.communicator;
  record.plan = said.plan;
  record.call_group = said.call_group;
  record.count = static_cast<std::int64_t>(said.count);
  record.seq = said.sequence;
  record.peer = said.peer;
  record.channels = said.channels;
  record.captured = said.is_captured;
  record.kind = said.kind;
  for (StringId* text : {&record.name, &record.dtype, &record.algorithm, &record.protocol})
    *text = take_text(to, texts);
  return record;
}

}  // namespace

template <typename Record>
void NcclAssembler::add(TraceWriter& to, const Record& record) {
  ++unflushed_;
  to.add(record);
}

template <typename Record>
void NcclAssembler::open(TraceWriter& to, Open<Record>& all, std::uint64_t id, Record record) {
  record.global_pid = global_pid_;
  const auto early = early_ends_.find(id);
  if (early == early_ends_.end()) {
    all.emplace(id, std::move(record));
    return;
  }
  set_end(record, early->second);
  early_ends_.erase(early);
  add(to, record);
}

template <typename Record>
bool NcclAssembler::close(TraceWriter& to, Open<Record>& all, std::uint64_t id, std::int64_t value) {
  const auto begun = all.find(id);
  if (begun == all.end()) return false;
  const Record record = [&] {
    Record whole = std::move(begun->second);
    set_end(whole, value);
    return whole;
  }();
  all.erase(begun);
  add(to, record);
  return true;
}

void NcclAssembler::begin(TraceWriter& to, NcclEventKind kind, const EventHead& head, std::uint64_t global_tid,
                          std::string_view data) {
  const std::int64_t start_ns = head.time_ns - start_ns_;
  if (NcclCommunicator said{}; kind == NcclEventKind::kCommunicator && take(data, said)) {
    NcclCommunicatorRecord record = communicator_of(to, said, data);
    record.communicator = head.id;
    record.start_ns = start_ns;
    open(to, communicators_, head.id, record);
  }
  if (NcclOperation said{}; kind == NcclEventKind::kOperation && take(data, said)) {
    NcclOperationRecord record = operation_of(to, said, data);
    record.operation = head.id;
    record.global_tid = global_tid;
    record.start_ns = start_ns;
    open(to, operations_, head.id, record);
  }
  if (NcclLaunch said{}; kind == NcclEventKind::kLaunch && take(data, said)) {
    NcclLaunchRecord record;
    record.global_tid = global_tid;
    record.start_ns = start_ns;
    record.communicator = said.communicator;
    record.call_group = said.call_group;
    open(to, launches_, head.id, record);
  }
  if (NcclChannel said{}; kind == NcclEventKind::kChannel && take(data, said)) {
    NcclChannelRecord record;
    record.operation = said.operation;
    record.gpu_start_ns = static_cast<std::int64_t>(said.timer);
    record.channel = said.channel;
    open(to, channels_, head.id, record);
  }
}

void NcclAssembler::end(TraceWriter& to, NcclEventKind kind, std::uint64_t id, std::int64_t value) {
  const bool was_open = [&] {
    switch (kind) {
      case NcclEventKind::kCommunicatorEnd:
        return close(to, communicators_, id, value);
      case NcclEventKind::kOperationEnd:
        return close(to, operations_, id, value);
      case NcclEventKind::kLaunchEnd:
        return close(to, launches_, id, value);
      default:
        return close(to, channels_, id, value);
    }
  }();
  if (was_open) return;
  if (early_ends_.size() < kMaxEarlyEnds) {
    early_ends_[id] = value;
  } else {
    drops_.add(kNcclEvent, 1, "an end without a beginning");
  }
}

void NcclAssembler::add(TraceWriter& to, std::uint64_t global_tid, const std::byte* event) {
  EventHead head;
  std::memcpy(&head, event, sizeof(head));
  std::string_view data(reinterpret_cast<const char*>(event) + sizeof(head), head.bytes - sizeof(head));
  const auto kind = static_cast<NcclEventKind>(head.domain);
  switch (kind) {
    case NcclEventKind::kCommunicator:
    case NcclEventKind::kOperation:
    case NcclEventKind::kLaunch:
    case NcclEventKind::kChannel:
      return begin(to, kind, head, global_tid, data);
    case NcclEventKind::kCommunicatorEnd:
    case NcclEventKind::kOperationEnd:
    case NcclEventKind::kLaunchEnd:
      return end(to, kind, head.id, head.time_ns - start_ns_);
    case NcclEventKind::kChannelEnd:
      if (std::uint64_t timer = 0; take(data, timer)) end(to, kind, head.id, static_cast<std::int64_t>(timer));
      return;
  }
}

void NcclAssembler::add_open(TraceWriter& to) {
  const auto add_all = [&](auto& all) {
    for (const auto& [id, record] : all)
      add(to, record);
    all.clear();
  };
  add_all(communicators_);
  add_all(operations_);
  add_all(launches_);
  add_all(channels_);
}

void NcclAssembler::lost(const std::string& reason) { drops_.add(kNcclEvent, std::exchange(unflushed_, 0), reason); }

void NcclAssembler::count_discarded(const std::string& reason) {
  drops_.add(kNcclEvent, std::exchange(discarded_, 0), reason);
}

void NcclAssembler::describe(RunInfo& run) const {
  run.drops.insert(run.drops.end(), drops_.all().begin(), drops_.all().end());
}

}  // namespace swinscope

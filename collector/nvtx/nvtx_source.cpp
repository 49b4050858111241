#include "collector/nvtx/nvtx_source.h"

#include <algorithm>
#include <cstring>

#include "collector/base/proc_files.h"
#include "collector/base/recorded_command.h"
#include "collector/nccl/nccl_event.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

// Of all lanes in one poll: a few milliseconds of writing.
constexpr std::size_t kBytesPerPoll = std::size_t{256} << 10U;
constexpr std::size_t kMinBytesPerLane = std::size_t{2} << 10U;

struct DropText {
  const char* what;
  const char* reason;
};
constexpr const char* kFull = "the process's buffers were full: events came faster than the file could take them";
// In the order of DropKind.
constexpr std::array<DropText, kDropKinds> kDropTexts = {{
    {"NVTX range", kFull},
    {"NVTX range end", kFull},
    {"NVTX mark", kFull},
    {"NVTX payload", "too large, of unknown size, or without room in the process's buffers"},
    {"NVTX name", "longer than 4096 bytes: cut"},
    {"deferred NVTX event", "not supported"},
    {"CUDA graph node", kFull},
    {"NVTX registration", "the program registered more names than there is room for"},
    {kNcclEvent, kFull},
}};

EventHead head_of(const std::byte* record) {
  EventHead head;
  std::memcpy(&head, record, sizeof(head));
  return head;
}

void add_schema(TraceWriter& to, const PayloadType& schema) {
  PayloadSchemaRecord record;
  record.domain = schema.domain;
  record.entries = static_cast<std::uint32_t>(schema.entries.size());
  record.id = schema.id;
  record.type = schema.kind;
  record.flags = schema.flags;
  record.size = schema.size;
  record.align = schema.align;
  record.name = replace_invalid_utf8(schema.name);
  to.add(record);
  std::uint32_t index = 0;
  for (const PayloadEntry& entry : schema.entries) {
    to.add(PayloadEntryRecord{schema.domain, index++, schema.id, entry.flags, entry.type, entry.detail, entry.offset,
                              replace_invalid_utf8(entry.name)});
  }
}

}  // namespace

void NvtxSource::find_lanes() {
  const std::uint32_t used =
      std::min(segment_.header().used_lanes.load(std::memory_order_acquire), segment_.size().lanes);
  while (lanes_.size() < used)
    lanes_.push_back({LaneReader(segment_, static_cast<std::uint32_t>(lanes_.size())), Backlog(), 0, true});
}

// All that there is, so that the program finds room again; a share of it when the backlog is full.
void NvtxSource::read_lanes(std::size_t share) {
  for (Lane& lane : lanes_) {
    const std::size_t all = Backlog::bytes_of_all();
    const std::size_t most = std::max(share, backlog_bytes_ - std::min(all, backlog_bytes_));
    lane.is_empty = lane.reader.read(most, lane.backlog);
  }
}

void NvtxSource::take(TraceWriter& to, Lane& lane, const std::byte* record) {
  const EventHead head = head_of(record);
  if (head.kind == EventKind::kRecord) return stream_.add(to, record);
  if (head.kind == EventKind::kNccl) return nccl_.add(to, lane.global_tid, record);
  if (head.kind == EventKind::kThread) {
    assembler_.end_thread(to, lane.reader.index());
    lane.global_tid = make_global_tid(pid_of(global_pid_), head.id);
    return;
  }
  // The payload's type may have been registered after the names were last looked at.
  if (head.blobs != 0) names_.update();
  assembler_.add(to, lane.reader.index(), lane.global_tid, NvtxEvent(record));
}

bool NvtxSource::poll(TraceWriter& to) {
  names_.update();
  add_names(to);
  find_lanes();
  bool all_empty = true;
  const std::size_t share = std::max(kBytesPerPoll / std::max<std::size_t>(lanes_.size(), 1), kMinBytesPerLane);
  read_lanes(share);
  for (Lane& lane : lanes_) {
    const bool is_stored = lane.backlog.drain(share, [&](const std::byte* record) { take(to, lane, record); });
    all_empty = all_empty && is_stored && lane.is_empty;
  }
  if (all_empty) assembler_.end_pass();
  return all_empty;
}

// Domains and categories are rows too; a forked child repeats those of its parent in its own file.
void NvtxSource::add_names(TraceWriter& to) {
  for (; domains_added_ < names_.domains().size(); ++domains_added_) {
    const NvtxNames::Domain& named = names_.domains()[domains_added_];
    NvtxRecord domain;
    domain.type = NvtxType::kDomain;
    domain.domain = named.number;
    domain.text = to.intern(named.name);
    domain.is_plain = true;
    domain.global_tid = global_pid_;
    to.add(domain);
  }
  for (; categories_added_ < names_.categories().size(); ++categories_added_) {
    const NvtxNames::Category& named = names_.categories()[categories_added_];
    NvtxRecord category;
    category.type = NvtxType::kCategory;
    category.domain = named.domain;
    category.category = named.category;
    category.text = to.intern(named.name);
    category.is_plain = true;
    category.global_tid = global_pid_;
    to.add(category);
  }
  for (; schemas_added_ < names_.schemas().size(); ++schemas_added_)
    add_schema(to, *names_.schemas()[schemas_added_]);
}

void NvtxSource::before_flush(TraceWriter& to) { assembler_.add_open(to); }

void NvtxSource::flushed() {
  assembler_.flushed();
  stream_.flushed();
  nccl_.flushed();
  domains_flushed_ = domains_added_;
  categories_flushed_ = categories_added_;
  schemas_flushed_ = schemas_added_;
}

void NvtxSource::lost(const std::string& reason) {
  drops_.add("NVTX range or mark", assembler_.unflushed(), reason);
  assembler_.lost();
  stream_.lost(reason);
  nccl_.lost(reason);
  domains_added_ = domains_flushed_;
  categories_added_ = categories_flushed_;
  schemas_added_ = schemas_flushed_;
}

void NvtxSource::discard(const std::string& reason) {
  constexpr std::size_t kMost = std::size_t{1} << 20U;  // at a time
  std::int64_t lost = 0;
  find_lanes();
  for (Lane& lane : lanes_) {
    const auto discard_one = [&](const std::byte* record) {
      const EventHead head = head_of(record);
      if (head.kind == EventKind::kRecord) return stream_.discard(record);
      if (head.kind == EventKind::kNccl) return nccl_.discard();
      if (head.kind == EventKind::kThread) {
        lost += assembler_.discard_thread(lane.reader.index());
        lane.global_tid = make_global_tid(pid_of(global_pid_), head.id);
        return;
      }
      lost += assembler_.discard(lane.reader.index(), NvtxEvent(record));
    };
    // A program may go on as fast as it is read.
    constexpr int kMostReads = 256;
    bool is_empty = false;
    for (int i = 0; i < kMostReads && !is_empty; ++i) {
      lane.backlog.drain(~std::size_t{0}, discard_one);
      is_empty = lane.reader.read(kMost, lane.backlog);
    }
    lane.backlog.drain(~std::size_t{0}, discard_one);
  }
  drops_.add("NVTX range or mark", lost, reason);
  stream_.count_discarded(reason);
  nccl_.count_discarded(reason);
}

void NvtxSource::finish(TraceWriter& to) {
  // Threads may run on and emit: what is there now is the end. Each poll takes a bounded amount.
  constexpr int kMaxPolls = 100'000;
  names_.update(true);
  for (int i = 0; i < kMaxPolls && !poll(to); ++i) {
  }
  assembler_.add_open(to);
  nccl_.add_open(to);
}

std::uint64_t NvtxSource::dropped(DropKind kind) const {
  const auto index = static_cast<std::size_t>(kind);
  std::uint64_t sum = segment_.header().drops[index].load(std::memory_order_relaxed);
  for (const Lane& lane : lanes_)
    sum += segment_.lane(lane.reader.index()).drops[index].load(std::memory_order_relaxed);
  return sum;
}

void NvtxSource::describe(RunInfo& run) {
  DropCounts all = drops_;
  for (std::size_t i = 0; i < kDropKinds; ++i)
    all.add(kDropTexts[i].what, static_cast<std::int64_t>(dropped(static_cast<DropKind>(i))), kDropTexts[i].reason);
  const auto damaged = std::count_if(lanes_.begin(), lanes_.end(),
                                     [](const Lane& l) { return l.reader.is_damaged() || l.backlog.is_damaged(); });
  all.add("rest of a thread's events", damaged, "the program has overwritten memory that is not its own");
  run.drops.insert(run.drops.end(), all.all().begin(), all.all().end());
  for (const auto& [tid, name] : names_.thread_names())
    run.threads.push_back({make_global_tid(pid_of(global_pid_), tid), name});
  for (const std::string& variable : names_.variables()) {
    const std::size_t equals = variable.find('=');
    if (equals != std::string::npos)
      run.environment.push_back({"env." + replace_invalid_utf8(variable.substr(0, equals)),
                                 replace_invalid_utf8(std::string_view(variable).substr(equals + 1))});
  }
  if (run.command.empty()) run.command = replace_invalid_utf8(recorded_command(nul_separated(names_.command_line())));
  stream_.describe(run);
  nccl_.describe(run);
}

}  // namespace swinscope

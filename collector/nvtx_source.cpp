#include "collector/nvtx_source.h"

#include <algorithm>

namespace swinscope {
namespace {

// Of all buffers in one poll: a few milliseconds of writing.
constexpr std::size_t kBytesPerPoll = std::size_t{256} << 10U;
constexpr std::size_t kMinBytesPerBuffer = std::size_t{2} << 10U;

struct DropText {
  const char* what;
  const char* reason;
};
constexpr const char* kFull = "the thread's buffer was full: events came faster than the file could take them";
// In the order of DropKind.
constexpr std::array<DropText, kDropKinds> kDropTexts = {{
    {"NVTX range", kFull},
    {"NVTX range end", kFull},
    {"NVTX mark", kFull},
    {"NVTX payload", "too large, of unknown size, or without room in the thread's buffer"},
    {"NVTX name", "longer than 4096 bytes: cut"},
    {"deferred NVTX event", "not supported"},
    {"CUDA graph node", kFull},
}};

}  // namespace

bool NvtxSource::poll(TraceWriter& to) {
  add_names(to);
  bool all_empty = true;
  const std::size_t share = std::max(kBytesPerPoll / std::max(buffers_.count(), 1U), kMinBytesPerBuffer);
  buffers_.for_each([&](ThreadBuffer& buffer, bool ended) {
    const std::uint64_t global_tid = make_global_tid(pid_of(global_pid_), buffer.tid.load(std::memory_order_relaxed));
    const bool empty = buffer.ring.drain(
        share, [&](const std::byte* record) { assembler_.add(to, buffer.number, global_tid, NvtxEvent(record)); });
    all_empty = all_empty && empty;
    if (ended && empty) assembler_.end_thread(to, buffer.number);
    return empty;
  });
  if (all_empty) assembler_.end_pass();
  return all_empty;
}

// Domains and categories are rows too; a forked child repeats those of its parent in its own file.
void NvtxSource::add_names(TraceWriter& to) {
  if (domains_added_ != registry_.domain_count()) {
    for (const std::string& name : registry_.domains_from(domains_added_)) {
      NvtxRecord domain;
      domain.type = NvtxType::kDomain;
      domain.domain = domains_added_++;
      domain.text = to.intern(name);
      domain.global_tid = global_pid_;
      if (domain.domain != 0) to.add(domain);  // the default domain has no name
    }
  }
  for (const NvtxRegistry::Category& named : registry_.categories_from(categories_added_)) {
    NvtxRecord category;
    category.type = NvtxType::kCategory;
    category.domain = named.domain;
    category.category = named.category;
    category.text = to.intern(named.name);
    category.global_tid = global_pid_;
    ++categories_added_;
    to.add(category);
  }
}

void NvtxSource::before_flush(TraceWriter& to) { assembler_.add_open(to); }

void NvtxSource::flushed() {
  assembler_.flushed();
  domains_flushed_ = domains_added_;
  categories_flushed_ = categories_added_;
}

void NvtxSource::lost(const std::string& reason) {
  drops_.add("NVTX range or mark", assembler_.unflushed(), reason);
  assembler_.lost();
  domains_added_ = domains_flushed_;
  categories_added_ = categories_flushed_;
}

void NvtxSource::discard(const std::string& reason) {
  std::int64_t lost = 0;
  buffers_.for_each([&](ThreadBuffer& buffer, bool ended) {
    const bool empty = buffer.ring.drain(buffer.ring.capacity(), [&](const std::byte* record) {
      lost += assembler_.discard(buffer.number, NvtxEvent(record));
    });
    if (ended && empty) lost += assembler_.discard_thread(buffer.number);
    return empty;
  });
  drops_.add("NVTX range or mark", lost, reason);
}

void NvtxSource::finish(TraceWriter& to) {
  // Threads may run on and emit: what is in the buffers now is the end. Each poll takes a bounded amount.
  constexpr int kMaxPolls = 10'000;
  for (int i = 0; i < kMaxPolls && !poll(to); ++i) {
  }
  assembler_.add_open(to);
}

void NvtxSource::describe(RunInfo& run) {
  DropCounts all = drops_;
  for (std::size_t i = 0; i < kDropKinds; ++i) {
    const auto count = static_cast<std::int64_t>(buffers_.dropped(static_cast<DropKind>(i)));
    all.add(kDropTexts[i].what, count, kDropTexts[i].reason);
  }
  all.add("NVTX event", static_cast<std::int64_t>(buffers_.refused()),
          "more threads emit events than there are buffers");
  run.drops.insert(run.drops.end(), all.all().begin(), all.all().end());
  for (const auto& [tid, name] : registry_.thread_names()) {
    run.threads.push_back({make_global_tid(pid_of(global_pid_), tid), name});
  }
}

}  // namespace swinscope

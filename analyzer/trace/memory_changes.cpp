#include "analyzer/trace/memory_changes.h"

#include <algorithm>
#include <map>
#include <utility>

namespace swinscope {
namespace {

bool is_of_device(MemoryKind kind) { return kind != MemoryKind::kPageable && kind != MemoryKind::kPinned; }

}  // namespace

void MemoryChanges::add(const MemoryRecord& record) {
  if (!is_of_device(record.kind)) return;
  entries_.push_back(
      {{record.time_ns, record.bytes, record.device}, record.address, record.operation == MemoryOperation::kRelease});
}

void MemoryChanges::append(const MemoryChanges& later, std::int64_t shift_ns) {
  for (Entry entry : later.entries_) {
    entry.change.time_ns += shift_ns;
    entries_.push_back(entry);
  }
}

std::vector<MemoryChange> MemoryChanges::take() {
  std::ranges::stable_sort(entries_, {}, [](const Entry& entry) { return entry.change.time_ns; });
  std::map<std::pair<std::int32_t, std::uint64_t>, std::int64_t> allocated;
  std::vector<MemoryChange> changes;
  for (Entry& entry : entries_) {
    std::int64_t& bytes = allocated[{entry.change.device, entry.address}];
    if (entry.is_release) {
      entry.change.bytes = -(entry.change.bytes > 0 ? entry.change.bytes : std::exchange(bytes, 0));
    } else {
      bytes = entry.change.bytes;
    }
    changes.push_back(entry.change);
  }
  entries_.clear();
  return changes;
}

}  // namespace swinscope

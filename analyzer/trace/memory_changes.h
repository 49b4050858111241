// What a process asks CUDA for of a device's memory, as changes. Memory of the host that CUDA pins is not the device's;
// where a release does not say how much it gives back, the allocation at its address does.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/trace/trace.h"
#include "store/records.h"

namespace swinscope {

class MemoryChanges {
 public:
  void add(const MemoryRecord& record);
  // Those of a later window of the same process.
  void append(const MemoryChanges& later, std::int64_t shift_ns);
  // By time. Empties it.
  std::vector<MemoryChange> take();

 private:
  struct Entry {
    MemoryChange change;
    std::uint64_t address = 0;
    bool is_release = false;
  };
  std::vector<Entry> entries_;
};

}  // namespace swinscope

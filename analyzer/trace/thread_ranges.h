// The ranges of each thread of a rank as a tree.
//
// Ranges that were pushed and popped nest: around a range is the innermost one of its thread, of any of the wanted
// domains, that is open when it starts. Start/end ranges may overlap, and may end on another thread: they nest in
// nothing, and nothing nests in them; they belong to the thread that started them.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "analyzer/base/intervals.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

struct ThreadRanges {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  std::uint64_t global_tid = 0;
  std::vector<EventIndex> nested;     // into Rank::ranges; by start, the outer one first
  std::vector<std::uint32_t> parent;  // of each of them the place in `nested` of the one around it, else kNone
  std::vector<EventIndex> start_end;  // likewise by start

  // The place in `nested` of the innermost range that is open at a time, else kNone.
  std::uint32_t innermost(const Ranges& ranges, std::int64_t time_ns) const;
  // When at least one range of any kind was open.
  IntervalSet covered(const Ranges& ranges) const;
};

// By thread id. O(n log n) in the number of ranges where domains mix on a thread, else O(n).
std::vector<ThreadRanges> thread_ranges(const Rank& rank, const std::function<bool(std::uint32_t domain)>& is_wanted);

}  // namespace swinscope

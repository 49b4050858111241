// The kernels of replayed CUDA graphs below the ranges around the launch: which captured range each comes from. The
// inside of ranges.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "analyzer/analyses/range_nodes.h"
#include "analyzer/trace/launched_work.h"
#include "analyzer/trace/thread_ranges.h"

namespace swinscope {

// The ranges of a thread and their nodes.
struct NamedRanges {
  ThreadRanges ranges;
  std::vector<std::uint32_t> nested;
  std::vector<std::uint32_t> start_end;
};
using ThreadNodes = std::vector<NamedRanges>;

class RangeReplays {
 public:
  // Both must outlive the object.
  RangeReplays(const Rank& rank, const ThreadNodes& threads);

  // Whether the event is of a graph's node that was captured within a range; then it is kept.
  bool add(EventIndex event);

  // Makes the nodes of the captured ranges below those of the launches, and tells the work of each captured range, once
  // a replay. A range that is still open at the launch stands above already, and is not repeated. `shown`: the node of
  // a range without its parent.
  void hand_over(RangeNodes& nodes, const std::function<RangeNode(EventIndex range)>& shown,
                 const std::function<void(std::uint32_t node, const GpuWork& work)>& tell);

 private:
  struct Captured {  // the innermost range at the capture
    std::uint32_t thread;
    std::uint32_t place;  // ThreadRanges::kNone: none
  };
  struct Replayed {
    EventIndex launch;  // kNoEvent: not recorded
    std::uint32_t correlation;
    EventIndex event;
    Captured captured;
  };
  // The work of one captured range in one replay.
  struct Work {
    std::uint32_t node = 0;
    GpuWork work;
  };
  // Of one launch.
  struct Replay {
    std::uint32_t around = RangeNodes::kRoot;  // the node of the innermost range at the launch
    std::uint64_t global_tid = 0;              // 0 where the launch was not recorded
    std::int64_t time_ns = 0;
    std::unordered_map<std::uint64_t, Work> work;  // by thread and place of the captured range
  };

  std::uint32_t find_thread(std::uint64_t global_tid) const;  // kNone: it has no ranges
  Captured find_captured(std::uint64_t node) const;
  Replay replay_of(EventIndex launch) const;
  bool is_open_at_launch(const Captured& range, const Replay& replay) const;
  void add_work(const Replayed& replayed, Replay& replay, RangeNodes& nodes,
                const std::function<RangeNode(EventIndex range)>& shown) const;

  const Rank& rank_;
  const ThreadNodes& threads_;
  std::unordered_map<std::uint64_t, Captured> captured_;  // by graph node
  std::vector<Replayed> replayed_;
};

}  // namespace swinscope

// Which lanes of a timeline belong together, as a tree: what a process did by device and by thread, and within these
// what takes many lanes to say little:
//   graph streams   lanes of one class on which every event was launched by a CUDA graph, where there are several
//   idle lanes      those without an event in the later half of the steps, where there are several: the earlier ones
//   may
//                   be warm-up. Nothing is idle where no step is known
// A group that is folded is one row.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/timeline/timeline.h"

namespace swinscope::gui {

enum class GroupKind : std::uint8_t { kProcess, kGpu, kThread, kGraphStreams, kIdle, kCounters };

struct GroupKey {
  GroupKind kind = GroupKind::kProcess;
  std::uint32_t process = 0;            // index into Timeline::processes
  std::int32_t device = 0;              // of kGpu and what is in it
  std::uint64_t global_tid = 0;         // of kThread and what is in it
  LaneKind lanes = LaneKind::kKernels;  // of kGraphStreams
  bool operator==(const GroupKey&) const = default;
};

struct LaneGroup {
  GroupKey key;
  std::vector<LaneId> lanes;      // its own, from top to bottom
  std::vector<LaneGroup> groups;  // below them
  bool is_folded_at_first = false;

  // Its own and those of its groups, from top to bottom.
  std::vector<LaneId> all_lanes() const;
};

// More processes than these are folded at first, but for the first one.
inline constexpr std::size_t kUnfoldedProcesses = 8;

// One for each process. O(events) at worst: of lanes with nothing but graphs.
std::vector<LaneGroup> group_lanes(const Timeline& timeline);

// PyTorch's ranges on a stream of a GPU, whose number stands for the thread's.
bool is_gpu_annotation(const TimelineLane& lane);
// The step of median length of the first process that has steps, with a margin of a twentieth on either side: what a
// trace is opened with. The whole span where there is no step.
Interval opening_window(const Timeline& timeline);

}  // namespace swinscope::gui

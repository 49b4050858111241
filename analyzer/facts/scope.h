// METRICS "One scope": which steps, devices, events and ranges the figures of a run are of. Found once; every analysis
// takes it, so that a quantity is the same wherever it stands.
//
// The scope is the measured steps of each rank (steps.h), or what the selection names instead. A device's window
//   begins at the start of the first step, or, where the host runs ahead, when the device ends the last event that was
//          launched before it;
//   ends   at the later of the last step's end and the end of the last GPU event launched in a step.
// So the waits before the first kernel and after the last one count. Where CUDA was recorded in several windows, each
// has one of its own, since what lies between is not known. Of repetitions (steps.h), whose time is the GPU's, the
// window is theirs. Without any step the scope is the whole trace: from a device's first event to its last.
// A GPU event belongs to the scope by its launch, where that was recorded, else by its start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/base/intervals.h"
#include "analyzer/facts/selection.h"
#include "analyzer/facts/steps.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// What of the scope falls to one device in one recorded window.
struct DeviceScope {
  std::size_t rank_index = 0;  // in Trace::ranks: several processes may have one rank
  std::int32_t device = 0;
  Interval window;
  std::int64_t steps = 0;          // 0 where the scope is the whole trace
  Interval host;                   // of its steps: from the begin of the first to the end of the last; else the window
  std::vector<EventIndex> events;  // those that the window holds in part at least, by start
};

class RunScope {
 public:
  // Throws Error(kUsage) for a selection that nothing of the trace can meet, or whose expressions are none.
  explicit RunScope(const Trace& trace, Selection selection = {});

  const Selection& selection() const { return selection_; }
  // Whether it is steps: false where the whole trace was asked for, and where no steps were found.
  bool is_of_steps() const { return of_steps_; }
  bool is_of_repetitions() const;
  // "12 steps after 2 of warm-up"; "the whole trace, since no steps were found".
  std::string title() const;
  // "step", or "repetition".
  std::string_view unit() const { return is_of_repetitions() ? "repetition" : "step"; }

  // The steps of every rank, in the order of Trace::ranks.
  const std::vector<RankSteps>& steps() const { return steps_; }
  // How many measured ones a rank has; 0 where the scope is the whole trace.
  std::int64_t step_count(std::size_t rank_index) const;
  // Over all ranks that are chosen.
  std::int64_t step_count() const;
  // From the start of a rank's first measured step to the end of its last one; empty where it has none. Of the whole
  // trace it is empty, too: a rank's recording has no other ends than its events.
  Interval host_window(std::size_t rank_index) const;

  // By rank, device, time. Devices without an event in the scope have none.
  const std::vector<DeviceScope>& devices() const { return devices_; }

  bool has_rank(std::size_t rank_index) const;
  bool has_gpu_event(std::size_t rank_index, EventIndex event) const;
  // A range, or a call, that begins at that time: whether it does in a measured step, or between two.
  bool has_host_time(std::size_t rank_index, std::int64_t time_ns) const;

  // The time of a step of one rank: window / steps, the longest over its devices, of the host where it has none.
  std::optional<std::int64_t> step_ns_of_rank(std::size_t rank_index) const;
  // That of the slowest rank; 0 without steps.
  std::int64_t step_ns() const;

 private:
  void find_names();
  void find_devices(std::size_t rank_index);
  bool in_scope_of_rank(std::size_t rank_index, EventIndex event) const;

  const Trace& trace_;
  Selection selection_;
  std::unordered_map<StringId, bool> named_;  // whether a GPU event's name is as selected
  std::vector<RankSteps> steps_;
  std::vector<DeviceScope> devices_;
  bool of_steps_ = false;
};

}  // namespace swinscope

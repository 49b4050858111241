// The timeline: what the viewer draws. Lanes of events, in the order in which they are shown, and nothing else, so that
// it fits in memory where the trace view does not, and opens without it.
//
// A lane is a stream of a rank's GPU (communication, and copies with sets, apart from the other kernels), the ranges of
// a thread, NVTX domain and nesting depth, or the CUDA calls of a thread. Events of a lane that overlap go to
// sub-lanes, as few as can be: nothing is dropped. Times of all ranks are on one axis (see TimelineProcess::offset_ns).
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/intervals.h"
#include "analyzer/timeline/timeline_lane.h"
#include "analyzer/trace/counters.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

using LaneId = std::uint32_t;  // index into Timeline::lanes

// An event of the timeline.
struct TimelineEventId {
  LaneId lane = 0;
  LanePosition position = kNoPosition;
  bool operator==(const TimelineEventId&) const = default;
};

// Texts by dense ids, packed: a trace may name millions of ranges differently.
class NameTable {
 public:
  NameId add(std::string_view text);
  NameId size() const { return static_cast<NameId>(end_.size()); }
  std::string_view text(NameId id) const;
  std::size_t memory_bytes() const;

 private:
  std::string bytes_;
  std::vector<std::uint64_t> end_;  // of each text in bytes_
};

// A process of the job: Trace::ranks[i] for Timeline::processes[i].
struct TimelineProcess {
  std::int32_t rank = 0;
  std::int32_t world_size = 0;
  std::uint64_t global_pid = 0;
  std::int64_t utc_epoch_ns = 0;  // 0: unknown
  std::string host;
  std::string source;  // "swinscope", "kineto" or "nsys"
  // Time on the axis = time in the trace + offset: files count from the start of their own session.
  std::int64_t offset_ns = 0;
  std::vector<Interval> steps;  // on the axis; steps.h
  std::string steps_how;        // RankSteps::how
  bool operator==(const TimelineProcess&) const = default;
};

struct Timeline {
  std::string path;         // as the user gave it
  std::string description;  // what kind of file(s)
  std::vector<TimelineProcess> processes;
  std::vector<TimelineLane> lanes;      // none empty
  std::vector<CounterSeries> counters;  // by process
  NameTable names;
  std::vector<std::string> warnings;
  // A coarse stand-in while the rest is loading: an event stands for all of a lane in a 2048th of the time, under the
  // name of the longest one, as long as they all together; its indexes mean nothing. Lanes and names are those of the
  // complete timeline.
  bool preview = false;

  // From the first start to the last end, [0, 1) without events.
  Interval span() const;
  std::uint64_t event_count() const;
  std::string_view name(TimelineEventId id) const { return names.text(lanes[id.lane].names()[id.position]); }
  LaneEvent event(TimelineEventId id) const { return lanes[id.lane].event(id.position); }
  // Where the event of a process's trace columns is shown; `position` is kNoPosition when it is not.
  TimelineEventId find(std::uint32_t process, LaneKind kind, EventIndex ref) const;
  std::size_t memory_bytes() const;
};

// Lays out a trace. Uses up to `threads` threads. Throws Error(kInterrupted) soon after `cancel` becomes true.
Timeline build_timeline(const Trace& trace, int threads = 2, const std::atomic<bool>* cancel = nullptr);

// The coarse stand-in (Timeline::preview).
Timeline make_preview(const Timeline& timeline);

// Sets offset_ns by the start of the sessions, the earliest at 0, and moves the steps along. `corrections_ns`, one for
// each process or none at all, are what ClockAlignment adds to their clocks. Where a start is unknown and nothing
// corrects it, or they lie more than a day apart, every process keeps the time of its file.
//
// Events are moved, not stretched: the drift of a clock is left, so that durations stay those of the file. A timeline
// that is merged of files, each with a timeline of its own (recordings of ours), is aligned by the sessions alone: no
// trace is read for it whose collectives could be matched.
void align_processes(std::vector<TimelineProcess>& processes, std::span<const std::int64_t> corrections_ns = {});

// Prepares a timeline whose lanes will be drawn: each gets its grid, which together take about 10 B an event and 50 MB
// at most. Uses up to `threads` threads.
void index_grids(Timeline& timeline, int threads = 2);

// One timeline of several, each of one file: processes by rank as open_trace() orders them, names shared, times
// aligned. `parts` has at least one.
Timeline merge_timelines(std::vector<Timeline> parts);

}  // namespace swinscope

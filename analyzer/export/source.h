// What every export is made from: a trace, the part of it that is wanted, one clock for all ranks, and what was sampled
// beside the events.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/facts/scope.h"
#include "analyzer/trace/counters.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// Sampled series of one process: of a rank, or of the recorder of a host, which has no rank.
struct SourceCounters {
  bool is_launcher = false;
  std::size_t index = 0;  // in Trace::ranks, or Trace::launchers
  std::vector<CounterSeries> series;
};

// Ranks count from the start of their own sessions, and those of other hosts by other clocks: these are moved by what
// ClockAlignment adds in the middle of their collectives (its drift is left: durations are those recorded). Exported
// times count from the start of the earliest, or, where an event is before that or more than a day after it, from
// shortly before the first event: exported times are positive and small. Ranks whose starts are unknown, or more than a
// day apart, are not moved against each other. Ranks are moved by whole microseconds: clocks of processes agree no
// better.
struct JobClock {
  std::int64_t base_utc_ns = 0;  // exported time 0 since 1970; 0: unknown
  std::vector<std::int64_t> rank_offset_ns;
  std::vector<std::int64_t> rank_utc_ns;  // when the time of a rank's recording is 0, since 1970; 0: unknown
  std::vector<std::int64_t> launcher_offset_ns;
};

class ExportSource {
 public:
  // Throws Error(kUsage) as RunScope does.
  ExportSource(const Trace& trace, const Selection& selection, std::vector<SourceCounters> counters,
               const std::atomic<bool>* cancel = nullptr);

  const Trace& trace() const { return trace_; }
  const RunScope& scope() const { return scope_; }
  const JobClock& clock() const { return clock_; }
  const std::vector<SourceCounters>& counters() const { return counters_; }

  // A selected device, stream or name leaves calls that launched none of the selected events out; other events of the
  // host go by the time at which they begin.
  bool has_gpu_event(std::size_t rank, EventIndex event) const { return scope_.has_gpu_event(rank, event); }
  bool has_call(std::size_t rank, EventIndex call) const;
  bool has_host_time(std::size_t rank, std::int64_t time_ns) const { return scope_.has_host_time(rank, time_ns); }
  // Whether a period, of a sample, touches the exported part of a rank.
  bool has_period(std::size_t rank, std::int64_t begin_ns, std::int64_t end_ns) const;
  bool has_launchers() const { return !scope_.selection().rank; }

  // Throws Error(kInterrupted) once the user has stopped it. Cheap enough for every event.
  void check_cancelled() const;

 private:
  void set_clock();
  void mark_launches();

  const Trace& trace_;
  RunScope scope_;
  std::vector<SourceCounters> counters_;
  const std::atomic<bool>* cancel_;
  JobClock clock_;
  std::vector<std::vector<bool>> launches_;  // by rank, call: it launched a selected event; empty: all calls
};

// The series of the files of a run: of own recordings and Nsight Systems exports; other files have none.
std::vector<SourceCounters> read_source_counters(const Trace& trace, const std::atomic<bool>* cancel = nullptr);

}  // namespace swinscope

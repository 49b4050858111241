// Builds a trace view from records: the sink at the end of every reader and importer.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "analyzer/trace/record_shift.h"
#include "analyzer/trace/trace.h"
#include "store/sink.h"

namespace swinscope {

// Of a longer name or text the beginning is kept; what was cut is counted (RunInfo::drops).
constexpr std::size_t kMostTextBytes = std::size_t{1} << 20U;

// Takes the records of one input file. Not thread-safe: one builder per file, files in parallel.
class TraceBuilder : public TraceSink {
 public:
  // When `cancel` (may be null) becomes true, prepare() throws Error(kInterrupted) soon.
  explicit TraceBuilder(const std::atomic<bool>* cancel = nullptr);
  ~TraceBuilder() override;
  TraceBuilder(const TraceBuilder&) = delete;
  TraceBuilder& operator=(const TraceBuilder&) = delete;
  TraceBuilder(TraceBuilder&&) = delete;
  TraceBuilder& operator=(TraceBuilder&&) = delete;

  RecordSink& add_process() override;
  void remove_last_process() override;

  // Takes over the events of a builder that has read another part of the same processes of the same file. Before
  // prepare() of either.
  void absorb(TraceBuilder& part);
  // Takes over the events of a process of another file, a later profiling window of the process `to` of this one.
  // Before prepare() of either.
  void append(std::size_t to, TraceBuilder& from, std::size_t process, const RecordShift& shift);
  // The process is no rank of its own: move_into() passes it over.
  void leave_out(std::size_t process);
  void set_run(std::size_t process, const RunInfo& run);
  // Turns what was taken into ranks (string ids are those of the builder's own pools) and appends them to `trace`,
  // remapping strings. Called once; not concurrently for one trace.
  void move_into(Trace& trace);
  // The expensive part of move_into (sorting, joining), which needs no shared state: may run on the reading thread.
  void prepare();

 private:
  class Process;
  const std::atomic<bool>* cancel_;
  std::vector<std::unique_ptr<Process>> processes_;
};

}  // namespace swinscope

// Builds a trace view from records: the sink at the end of every reader and importer.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "analyzer/trace.h"
#include "store/sink.h"

namespace swinscope {

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

  // Takes over the calls and ranges of a builder that has read the same processes of the same file, and what was left
  // out of them. Before prepare().
  void absorb(TraceBuilder& host);
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

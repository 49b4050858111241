// Something that has records for the trace file. The recorder's one writer thread asks each source in turn, a few times
// a second; whatever a source does on other threads, its records reach the file here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/records.h"
#include "store/writer.h"

namespace swinscope {

class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  Source(Source&&) = delete;
  Source& operator=(Source&&) = delete;
  virtual ~Source() = default;

  // Adds some of what has come since the last call, in a few milliseconds at most. True when nothing is left for now.
  // Throws what the writer throws; what was being added is then lost and counted.
  virtual bool poll(TraceWriter& to) = 0;
  // Before a commit: adds what is under way, so that a file that is cut off here has it.
  virtual void before_flush(TraceWriter& to) = 0;
  // All that was added is in the file now.
  virtual void flushed() = 0;
  // What was added since the last commit is lost (`reason`: the disk is full…).
  virtual void lost(const std::string& reason) = 0;
  // There is no file to add to: takes what has come and counts it as lost.
  virtual void discard(const std::string& reason) = 0;
  // The recording ends: adds what is left.
  virtual void finish(TraceWriter& to) = 0;

  // Adds to the description of the recording what this source knows; the counts are totals.
  virtual void describe(RunInfo& run) = 0;
};

// Counts of lost records by kind and reason.
class DropCounts {
 public:
  void add(const std::string& what, std::int64_t count, const std::string& reason) {
    if (count == 0) return;
    for (DropInfo& drop : drops_) {
      if (drop.what == what && drop.reason == reason) {
        drop.count += count;
        return;
      }
    }
    drops_.push_back({what, count, reason});
  }
  const std::vector<DropInfo>& all() const { return drops_; }

 private:
  std::vector<DropInfo> drops_;
};

}  // namespace swinscope

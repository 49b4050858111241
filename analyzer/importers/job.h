// Which processes of the trace files of a run are which ranks of one job: one rule for reading files and for converting
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/base/intervals.h"
#include "analyzer/trace/record_shift.h"
#include "store/records.h"

namespace swinscope {

// A process of a file after it was read.
struct FileProcess {
  std::filesystem::path file;
  RunInfo run;
  Interval span;                   // first start and last end of its events, in its own time; {0, 0} without any
  std::uint64_t records = 0;       // events
  std::uint64_t correlations = 0;  // the largest correlation id

  // Those of the same process that another reader has seen.
  void add_events_of(const FileProcess& other);
};

// What becomes of a process.
struct Place {
  std::size_t head = 0;        // the process that it belongs to, itself mostly: a later profiling window of that one
  std::int64_t offset_ns = 0;  // to the times of the head
  bool twice = false;          // the events are those of the head once more: they count once
  std::int32_t rank = 0;
};

struct Job {
  std::vector<Place> places;        // in the order of the processes
  std::vector<std::string> notes;   // what was decided rather than stated, a line each
  std::vector<std::string> doubts;  // contradictions, a line each
};

// Ranks, in this order: as recorded by us; as the data states (kRankStatedBy); the number in the file's name
// (rank_in_name); else the place in the natural order of the files' names, and of a file's processes. A stated rank is
// never changed. Windows of one process (of the same rank, at times apart) become one.
Job settle_job(const std::vector<FileProcess>& processes);

// Adds to a process what there is to know of its next window, which is at `offset_ns` in the time of the process;
// returns how the records of that window have to be moved.
RecordShift join_windows(FileProcess& process, const FileProcess& next, std::int64_t offset_ns);

}  // namespace swinscope

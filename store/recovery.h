// Finishes the trace file of a process that could not do it itself: killed, out of disk, replaced by exec.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "store/records.h"

namespace swinscope {

// What a finished file says about itself.
struct TraceFileSummary {
  std::int32_t rank = 0;
  std::int32_t world_size = 0;
  std::uint64_t global_pid = 0;
  bool complete = false;    // the process finished the file itself
  bool has_events = false;  // anything but samples
  std::vector<DropInfo> drops;
  std::vector<NamedValue> collector;
};

// Brings a file of ours into its final form: the write-ahead log is taken in, span and indexes are added, `drops` too,
// and one plain file is left. A complete file is only read, unless there are drops to add. No process may be writing
// it. Nothing when the process ended before the first commit that says whose file it is: no record is in it then.
// Throws Error: kInput when it is no trace of ours.
std::optional<TraceFileSummary> finish_trace_file(const std::filesystem::path& path,
                                                  const std::vector<DropInfo>& drops = {});

}  // namespace swinscope

// What a step waits for, from its end back to its begin: the chain of calls, host time and GPU work of which each
// decided when the next one began, in the replay. Shortening anything that is not on it changes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "advisor/replay.h"
#include "analyzer/table/table.h"
#include "analyzer/trace/kernel_names.h"

namespace swinscope {

enum class PathCause : std::uint8_t {
  kCompute,
  kMemory,         // kernels and copies that move data
  kUnknownWork,    // kernels of unknown kind
  kCommunication,  // transfer of collectives
  kDelay,          // of the GPU: from a call to its kernel, from one kernel to the next
  kCall,           // CUDA's calls
  kHost,           // the host between calls
};
std::string_view path_cause_name(PathCause cause);

// A piece of the path. Pieces follow each other without gaps: together they are the time of the measured steps.
struct PathPiece {
  std::uint32_t rank = 0;  // in DependencyGraph::ranks
  PathCause cause = PathCause::kHost;
  NodeIndex op = kNoNode;    // of work
  NodeIndex call = kNoNode;  // of calls and of the host: the call, or the one before the host's time
  Interval time;             // replayed, of the rank's clock
};

struct CriticalPath {
  std::vector<PathPiece> pieces;  // in time order
  std::int64_t steps = 0;         // that they are of
  std::int64_t total_ns() const;
};

// Of the rank whose steps take longest, through others where collectives lead there.
CriticalPath find_critical_path(const DependencyGraph& graph, const Replay& replay, const RunFacts& run);

// By cause, and by kernel (named in that style) or call: both sum to the step.
Table path_cause_table(const CriticalPath& path);
Table path_name_table(const CriticalPath& path, const DependencyGraph& graph, const RunFacts& run,
                      NameStyle style = NameStyle::kShort);

}  // namespace swinscope

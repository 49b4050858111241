// The events of a process, as they came, become the columns of the trace view: sorted by lane and, within a lane, by
// start. The raw columns are freed on the way.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/base/parallel.h"
#include "analyzer/trace/raw_events.h"
#include "analyzer/trace/trace.h"
#include "store/string_pool.h"

namespace swinscope {

// Each may run beside the others: they touch different members of `rank`.
void take_calls(RawApiCalls& raw, Rank& rank, const Watch& watch);
void take_ranges(RawRanges& raw, Rank& rank, const Watch& watch);
// All columns but the launches. Gives of each event the number of its process in `raw.processes`, which stay.
// `strings`: those of the names.
std::vector<std::uint32_t> take_gpu_events(RawGpuEvents& raw, Rank& rank, const StringPool& strings,
                                           const Watch& watch);

}  // namespace swinscope

// The events of a process, as they came, become the columns of the trace view: sorted by lane and, within a lane, by
// start. The raw columns are freed on the way. Events beyond `times` are left out.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/base/intervals.h"
#include "analyzer/base/parallel.h"
#include "analyzer/trace/raw_events.h"
#include "analyzer/trace/trace.h"
#include "store/string_pool.h"

namespace swinscope {

// Where the events of a process can be: within 52 days of the middle one of a sample of them; everywhere where there
// are none. Those that are further away are damaged or made up, and what analyses add up of their times would not fit
// in 64 bits.
Interval plausible_times(const RawGpuEvents& gpu, const RawApiCalls& calls, const RawRanges& ranges);

// Each may run beside the others: they touch different members of `rank`.
// Gives the number of calls that are left out since they are recorded twice.
EventIndex take_calls(RawApiCalls& raw, Rank& rank, Interval times, const Watch& watch);
void take_ranges(RawRanges& raw, Rank& rank, Interval times, const Watch& watch);
// All columns but the launches. Gives of each event the number of its process in `raw.processes`, which stay.
// `strings`: those of the names.
std::vector<std::uint32_t> take_gpu_events(RawGpuEvents& raw, Rank& rank, const StringPool& strings, Interval times,
                                           const Watch& watch);

}  // namespace swinscope

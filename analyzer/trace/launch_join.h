// Which call launched each GPU event: of the calls of its process with its correlation id the earliest, outermost one.
// Correlation ids are unique within a process only; a driver call inside a runtime call carries the id of that call,
// which is the launch that the program made.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/base/parallel.h"
#include "analyzer/trace/raw_events.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// Fills `rank.gpu.launch` from the calls of `rank.api`; kNoEvent where no call was recorded. `process_of`: of each GPU
// event, in its order, the number of its process in `processes`, to which those of the calls are added.
void join_launches(Rank& rank, KeyNumbers<std::uint64_t>& processes, const std::vector<std::uint32_t>& process_of,
                   const Watch& watch);

}  // namespace swinscope

// How the clocks of the ranks were put on one: facts/clock_alignment.h as a table.
#pragma once

#include "analyzer/facts/clock_alignment.h"
#include "analyzer/table/table.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// A row for each process of a run of several ranks; none of a single one. The offset is what is added to the rank's
// times in the middle of its collectives, beside the start of its session.
Table clocks_table(const Trace& trace, const ClockAlignment& clocks);

}  // namespace swinscope

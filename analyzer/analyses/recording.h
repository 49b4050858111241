// What was recorded, and what was not: `swinscope info`.
#pragma once

#include "analyzer/base/intervals.h"
#include "analyzer/table/table.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// First start and last end of everything recorded of a rank; empty where nothing was.
Interval span_of(const Rank& rank);

// How much of everything there is, a row for each rank.
Table recorded_ranks_table(const Trace& trace);
// What there is to know before the figures are believed: missing ranks, kernels without a launch and launches without a
// kernel, windows, losses.
Table health_table(const Trace& trace);
// What was lost, or could not be read, and why.
Table drop_table(const Trace& trace);
// What the recorder says of itself.
Table collector_table(const Trace& trace);
// The machine and the settings of the job, of every rank and of the launcher.
Table environment_table(const Trace& trace);

}  // namespace swinscope

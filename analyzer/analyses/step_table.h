// The measured steps of each rank: how many, how long, and how they were found.
#pragma once

#include "analyzer/facts/scope.h"
#include "analyzer/table/table.h"

namespace swinscope {

// A row for each rank of the scope. `step_ns` is the time of a step (scope.h); the rest is of the ranges that mark
// them.
Table step_table(const Trace& trace, const RunScope& scope);

// How these ranges are distributed; a row for each rank that has measured steps.
Table step_times_table(const Trace& trace, const RunScope& scope);

}  // namespace swinscope

// What makes the figures of a trace incomplete or doubtful: ranks that are missing, kernels that were not recorded,
// graphs recorded as a whole, times that cannot be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/facts/scope.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

struct LaunchCoverage {
  std::int64_t launches = 0;       // calls that launch kernels or graphs, in the scope
  std::int64_t without_event = 0;  // of them those that no GPU event of the trace belongs to
};
LaunchCoverage launch_coverage(const Trace& trace, const RunScope& scope);

// Why nothing can be said of the GPU: CUDA was used or may have been, and not recorded. Empty where there is no sign of
// it.
std::string why_no_gpu_activity(const Trace& trace, const RunScope& scope);

// How long those events of the scope last that hold others of their stream from begin to end, outside of CUDA graphs. A
// stream runs one after the other (a dependent launch may begin early, but ends later): such durations are wrong.
std::int64_t impossible_ns(const Trace& trace, const RunScope& scope);

// A line each; those of Trace::doubts first.
std::vector<std::string> doubts_of(const Trace& trace, const RunScope& scope);

}  // namespace swinscope

// What no recording can be, and analyses count on: more GPUs than a machine has, times that do not fit in 64 bits when
// they are added up. Such files are damaged or made up.
#pragma once

#include "analyzer/trace/trace.h"

namespace swinscope {

// Throws Error (kInput) with the rank or the sum of times: more than kMostGpus in a process; 4e18 ns (126 years) or
// more of durations, delays of launches and windows of lanes together.
void refuse_impossible(const Trace& trace);

}  // namespace swinscope

// Which event each nanosecond of a device's busy time belongs to, so that a difference of two runs can be told event by
// event and still sums to the difference of their steps.
//
// Of several events at once it is the one whose class comes first in compute, unknown, communication, memory; within a
// class the one that began first. So the exclusive times of a class sum to what time_breakdown.h has of it: compute,
// unknown, exposed communication, exposed memory.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/facts/scope.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// ns of the window, one for each of `device.events`.
std::vector<std::int64_t> exclusive_ns(const Rank& rank, const DeviceScope& device);

}  // namespace swinscope

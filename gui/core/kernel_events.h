// The calls of one kernel: for the histogram of their durations and for going from one to the next.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyzer/chart.h"
#include "analyzer/kernel_table.h"
#include "gui/core/filter.h"

namespace swinscope::gui {

struct KernelCall {
  std::uint32_t process = 0;  // index into Trace::ranks
  EventIndex event = 0;
  std::int64_t start_ns = 0;  // in the rank's own time
  std::int64_t duration_ns = 0;
};

// Whether an event passes the filter's rank, stream and steps; its name is the business of whoever asks.
std::function<bool(std::size_t, EventIndex)> accept_of(const Filter& filter, const Trace& trace,
                                                       const std::vector<RankSteps>& steps);

// Those of the kernel with this full name that pass, by rank, then start.
std::vector<KernelCall> kernel_calls(const Trace& trace, const std::string& name,
                                     const std::function<bool(std::size_t, EventIndex)>& accept);

// Their durations in equal bins from the shortest to the longest.
Chart duration_histogram(const std::vector<KernelCall>& calls, const std::string& title);

}  // namespace swinscope::gui

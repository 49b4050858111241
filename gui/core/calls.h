// The calls of one kernel or layer: for the distribution of their durations and for going from one to the next.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/analyses/kernel_table.h"
#include "analyzer/analyses/layers.h"
#include "analyzer/base/intervals.h"
#include "analyzer/facts/scope.h"
#include "analyzer/table/chart.h"
#include "analyzer/timeline/timeline.h"

namespace swinscope::gui {

struct Call {
  std::uint32_t process = 0;  // index into Trace::ranks
  // Where it can be seen: a GPU event, or a range (kRanges) where nothing ran on a GPU.
  LaneKind kind = LaneKind::kKernels;
  EventIndex event = 0;
  std::int64_t start_ns = 0;  // in the rank's own time
  std::int64_t duration_ns = 0;
  std::optional<Interval> around = {};  // what is to be seen with it, in the rank's own time; nothing: its surroundings
};

// The GPU events of the scope of that group, by rank, then start: of a kernel by its full name, or by its short name,
// operation or class.
std::vector<Call> kernel_calls(const Trace& trace, const RunScope& scope, const std::string& name,
                               KernelGrouping grouping = KernelGrouping::kName);

// Those of a layer, or of all below it; a call takes as long as its GPU events together, and where it has none as long
// as its range.
std::vector<Call> calls_of(const std::vector<LayerCall>& calls);

// Bins from the shortest to the longest call: equal ones, or where the longest is many times the shortest, equal ones
// of the logarithm.
class DurationBins {
 public:
  explicit DurationBins(const std::vector<Call>& calls);
  const std::vector<std::size_t>& counts() const { return counts_; }  // empty without calls
  std::size_t bin_of(std::int64_t duration_ns) const;
  double edge_ns(std::size_t edge) const;  // one more than bins
  bool is_logarithmic() const { return is_logarithmic_; }

 private:
  std::vector<std::size_t> counts_;
  double low_ns_ = 0;
  double width_ = 1;
  bool is_logarithmic_ = false;
};

// Their durations in these bins.
Chart duration_histogram(const std::vector<Call>& calls, const std::string& title);

// A box for each rank of the trace: its shortest, median and longest call, and the quartiles between.
Chart duration_boxes(const std::vector<Call>& calls, const Trace& trace, const std::string& title);

}  // namespace swinscope::gui

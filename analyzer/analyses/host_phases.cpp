#include "analyzer/analyses/host_phases.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "analyzer/table/cells.h"

namespace swinscope {
namespace {

// The ranges of a rank's step threads that satisfy the predicate of domain and name.
template <typename Predicate>
IntervalSet ranges_where(const Trace& trace, const Rank& rank, const RankSteps& steps, Predicate matches) {
  std::vector<Interval> found;
  for (const RangeLane& lane : rank.range_lanes) {
    if (!std::binary_search(steps.threads.begin(), steps.threads.end(), lane.global_tid)) continue;
    const std::string domain = rank.domain_name(lane.domain, trace.strings);
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
      if (matches(domain, trace.text(rank.ranges.name[i]))) {
        found.push_back({rank.ranges.start_ns[i], rank.ranges.end_ns[i]});
      }
    }
  }
  return unite(std::move(found));
}

}  // namespace

bool is_input_range(std::string_view domain, std::string_view name) {
  return (domain == kDomainOwn && name == "data") || name.substr(0, 21) == "enumerate(DataLoader)" ||
         name.find("DataLoaderIter.__next__") != std::string_view::npos;
}

std::vector<HostPhases> host_phases(const Trace& trace, const RunScope& scope) {
  std::vector<HostPhases> rows;
  for (std::size_t i = 0; i < trace.ranks.size(); ++i) {
    const Rank& rank = trace.ranks[i];
    const RankSteps& steps = scope.steps()[i];
    const std::span<const Interval> measured = steps.measured();
    if (!scope.has_rank(i) || measured.empty()) continue;
    const IntervalSet input = ranges_where(trace, rank, steps, is_input_range);
    if (input.empty()) continue;
    const IntervalSet exchange = ranges_where(trace, rank, steps, [](std::string_view domain, std::string_view name) {
      return domain == kDomainOwn && name == "allreduce";
    });
    HostPhases row;
    row.rank = rank.run.rank;
    row.steps = static_cast<std::int64_t>(measured.size());
    // Steps of several threads may overlap: the whole is their union.
    const IntervalSet whole = unite({measured.begin(), measured.end()});
    row.step_ns = total_length(whole);
    row.input_ns = total_length(intersect(input, whole));
    row.communication_ns = total_length(subtract(intersect(exchange, whole), input));
    for (const Interval& step : measured)
      row.longest_input_ns = std::max(row.longest_input_ns, total_length(clip(input, step)));
    rows.push_back(row);
  }
  return rows;
}

Table input_wait_table(const std::vector<HostPhases>& ranks) {
  Table table{"input_wait",
              "The host's wait for data",
              {{"rank", "rank", Unit::kCount},
               {"steps", "steps", Unit::kCount},
               {"input_ns", "waited", Unit::kDuration},
               {"input_per_step_ns", "per step", Unit::kDuration},
               {"longest_input_ns", "longest in a step", Unit::kDuration},
               {"steps_ns", "steps together", Unit::kDuration},
               {"input_percent", "of the steps", Unit::kPercent}},
              {}};
  for (const HostPhases& r : ranks) {
    table.rows.push_back({int_cell(r.rank), r.steps, r.input_ns, r.input_ns / std::max<std::int64_t>(1, r.steps),
                          r.longest_input_ns, r.step_ns, percent_of(r.input_ns, r.step_ns)});
  }
  return table;
}

}  // namespace swinscope

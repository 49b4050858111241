#include "analyzer/analyses/clocks.h"

#include <cmath>
#include <string>

#include "analyzer/table/cells.h"
#include "analyzer/trace/trace_facts.h"

namespace swinscope {

Table clocks_table(const Trace& trace, const ClockAlignment& clocks) {
  Table table{"clocks",
              "Clocks of the ranks",
              {{"rank", "rank", Unit::kCount},
               {"host", "host"},
               {"aligned_by", "aligned by"},
               {"offset_ns", "offset", Unit::kDuration},
               {"drift_ppm", "drift (ppm)", Unit::kNumber},
               {"residual_p95_ns", "residual p95", Unit::kDuration},
               {"collectives", "collectives", Unit::kCount}},
              {}};
  if (rank_count(trace) < 2) return table;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    const RankClock& clock = clocks.ranks()[r];
    const bool is_compared = clock.method != ClockMethod::kReference && clock.method != ClockMethod::kSameHost;
    const double drift_ppm = std::round(1e9 * clock.drift) / 1e3 + 0.0;  // to a thousandth, without -0
    table.rows.push_back(
        {int_cell(trace.ranks[r].run.rank), trace.ranks[r].run.host, std::string(clock_method_name(clock.method)),
         clock.is_aligned() ? Cell(clock.offset_ns) : Cell(), clock.is_aligned() ? Cell(drift_ppm) : Cell(),
         clock.residual_p95_ns ? Cell(*clock.residual_p95_ns) : Cell(),
         is_compared ? Cell(clock.collectives) : Cell()});
  }
  return table;
}

}  // namespace swinscope

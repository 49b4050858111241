#include "analyzer/analyses/idle_gaps_table.h"

#include <algorithm>
#include <span>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/analyses/idle_gaps.h"
#include "analyzer/analyses/recording.h"
#include "analyzer/base/text.h"
#include "analyzer/table/cells.h"

namespace swinscope {
namespace {

std::int64_t sum_of(std::span<const IdleGap> gaps) {
  std::int64_t sum_ns = 0;
  for (const IdleGap& gap : gaps)
    sum_ns += gap.time.length();
  return sum_ns;
}

Cell text_cell(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

}  // namespace

Table idle_gaps_table(const RunFacts& run, std::size_t top, NameStyle style) {
  const std::span<const IdleGap> all = run.idle_gaps();
  const auto gaps = all.first(std::min(all.size(), top == 0 ? kLongestGaps : top));
  const std::vector<HostWork> host = host_work(run.trace, gaps);
  std::vector<std::int64_t> begin_ns;
  for (const Rank& rank : run.trace.ranks)
    begin_ns.push_back(span_of(rank).begin_ns);
  Table table{"gaps",
              fmt::format("Idle gaps ({} of {}, {:.1f} % of the idle time)", format_count(std::ssize(gaps)),
                          format_count(std::ssize(all)), percent_of(sum_of(gaps), sum_of(all))),
              {{"rank", "rank", Unit::kCount},
               {"device", "GPU", Unit::kCount},
               {"step", std::string(run.scope.unit()), Unit::kCount},
               {"start_ns", "start in the file", Unit::kValue, true},
               {"at_ns", "at", Unit::kDuration},
               {"idle_ns", "idle", Unit::kDuration},
               {"cause", "cause"},
               {"host", "what the host did"},
               {"within", "within"},
               {"kernel_before", "kernel before"},
               {"kernel_after", "kernel after"}},
              {}};
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const IdleGap& gap = gaps[i];
    const Rank& rank = run.trace.ranks[gap.rank_index];
    const auto name_cell = [&](EventIndex event) {
      return event == kNoEvent ? Cell() : Cell(event_name(run.trace, rank, event, style));
    };
    table.rows.push_back({int_cell(rank.run.rank), int_cell(gap.device), gap.step < 0 ? Cell() : int_cell(gap.step + 1),
                          gap.time.begin_ns, gap.time.begin_ns - begin_ns[gap.rank_index], gap.time.length(),
                          std::string(idle_cause_name(gap.cause)),
                          text_cell(fmt::format("{}", fmt::join(host[i].shares(run.trace), ", "))),
                          text_cell(std::string(run.trace.text(host[i].within))), name_cell(gap.before),
                          name_cell(gap.next)});
  }
  hide_empty(table, {"step", "host", "within"});
  return table;
}

}  // namespace swinscope

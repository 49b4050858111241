#include <algorithm>

#include <fmt/format.h>

#include "analyzer/analyses/ranges.h"

namespace swinscope {

Table range_rows_table(const Trace& trace, const RunScope& scope, const std::vector<RangeRow>& rows) {
  const auto has = [&](auto property) { return std::ranges::any_of(rows, property); };
  const bool has_gpu = trace.gpu_event_count() > 0;
  const bool is_by_rank = has([](const RangeRow& r) { return r.rank >= 0; });
  const bool has_domains = has([](const RangeRow& r) { return !r.domain.empty(); });
  const bool has_styles = has([](const RangeRow& r) { return r.style != RangeStyle::kPushPop; });
  Table table{"ranges",
              "Ranges",
              {{"path", "range"},
               {"name", "name", Unit::kText, true},
               {"depth", "depth", Unit::kCount, true},
               {"domain", "domain", Unit::kText, !has_domains},
               {"style", "style", Unit::kText, !has_styles},
               {"rank", "rank", Unit::kCount, !is_by_rank},
               {"calls", "calls", Unit::kCount},
               {"host_ns", "host", Unit::kDuration},
               {"host_per_step_ns", fmt::format("host per {}", scope.unit()), Unit::kDuration, true},
               {"host_mean_ns", "mean", Unit::kDuration},
               {"host_min_ns", "min", Unit::kDuration, true},
               {"host_max_ns", "max", Unit::kDuration, true},
               {"self_ns", "self", Unit::kDuration},
               {"gpu_sum_ns", "GPU sum", Unit::kDuration, !has_gpu},
               {"gpu_span_ns", "GPU span", Unit::kDuration, !has_gpu},
               {"gpu_per_step_ns", fmt::format("GPU sum per {}", scope.unit()), Unit::kDuration,
                !has_gpu || !scope.is_of_steps()},
               {"gpu_events", "GPU events", Unit::kCount, true}},
              {}};
  for (const RangeRow& r : rows) {
    const auto of_host = [&](std::int64_t value) { return r.style == RangeStyle::kGraph ? Cell() : Cell(value); };
    const auto of_call = [&](std::int64_t value) { return r.calls == 0 ? Cell() : of_host(value); };
    const auto of_gpu = [&](std::int64_t value) { return has_gpu ? Cell(value) : Cell(); };
    table.rows.push_back({r.path, r.name, std::int64_t{r.depth}, r.domain, std::string(style_name(r.style)),
                          r.rank < 0 ? Cell() : Cell(std::int64_t{r.rank}), r.calls, of_host(r.host_ns),
                          r.steps == 0 ? Cell() : of_host(r.per_step(r.host_ns)),
                          r.calls == 0 ? Cell() : of_host(r.host_ns / r.calls), of_call(r.host_min_ns),
                          of_call(r.host_max_ns), of_host(r.self_ns), of_gpu(r.gpu_sum_ns), of_gpu(r.gpu_span_ns),
                          r.steps == 0 ? Cell() : of_gpu(r.per_step(r.gpu_sum_ns)), of_gpu(r.gpu_events)});
  }
  return table;
}

}  // namespace swinscope

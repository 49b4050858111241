// The ruler above the lanes: where its ticks are and what they say.
#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "analyzer/base/intervals.h"

namespace swinscope::gui {

struct TimeTick {
  std::int64_t time_ns = 0;
  QString label;
};

// At round times since `origin_ns`, at most `count` of them; all in one unit, with as many decimals as tell them apart.
std::vector<TimeTick> time_ticks(Interval window, std::int64_t origin_ns, int count);

// A time since `origin_ns` to the nanosecond: "704.123 456 ms" has no place for errors of reading.
QString exact_time(std::int64_t time_ns, std::int64_t origin_ns);

// What exact_time() and the ruler write, read again: "1.25 s", "480 ms", "-3 us", or "1.25 s to 1.3 s"; from the
// origin. A time alone is an empty interval. Nothing for anything else.
std::optional<Interval> parse_times(const QString& text);

}  // namespace swinscope::gui

// The ruler above the lanes: where its ticks are and what they say.
#pragma once

#include <QString>
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

}  // namespace swinscope::gui

#include "analyzer/importers/stream_overlaps.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace swinscope {
namespace {

// Clocks of tracers are exact to less.
constexpr std::int64_t kToleranceNs = 1000;

}  // namespace

StreamOverlaps::Count StreamOverlaps::count() {
  std::vector<Event> events = std::exchange(events_, {});
  std::ranges::sort(events, {}, [](const Event& e) { return std::tuple(e.stream, e.start_ns, e.end_ns); });
  Count count;
  std::int64_t last_end = 0;    // of the stream so far
  std::int64_t before_end = 0;  // without the event before
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    if (i == 0 || events[i - 1].stream != event.stream) {
      last_end = before_end = event.start_ns;
    }
    if (last_end - event.start_ns > kToleranceNs) {
      ++count.overlapping;
      const bool within = last_end - event.end_ns > kToleranceNs;
      if (within || before_end - event.start_ns > kToleranceNs) ++count.impossible;
    }
    before_end = last_end;
    last_end = std::max(last_end, event.end_ns);
  }
  return count;
}

}  // namespace swinscope

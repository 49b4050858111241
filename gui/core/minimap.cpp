#include "gui/core/minimap.h"

#include <algorithm>
#include <cstddef>

#include "analyzer/base/parallel.h"

namespace swinscope::gui {
namespace {

// For each column the busy fraction of the busiest lane of one process, host or GPU; empty when it has none.
std::vector<float> busiest(const Timeline& timeline, std::uint32_t process, bool gpu, int columns) {
  const Interval span = timeline.span();
  const auto count = static_cast<std::int64_t>(columns);
  std::vector<float> most;
  for (const TimelineLane& lane : timeline.lanes) {
    if (lane.key.process != process || is_gpu(lane.key.kind) != gpu) continue;
    most.resize(static_cast<std::size_t>(columns));
    const std::int64_t width = span.length() / count;
    const std::int64_t rest = span.length() % count;
    for (std::int64_t column = 0; column < count; ++column) {
      // span * column / count, without overflow
      const std::int64_t begin = span.begin_ns + width * column + rest * column / count;
      const std::int64_t end = span.begin_ns + width * (column + 1) + rest * (column + 1) / count;
      if (begin == end) continue;
      float& value = most[static_cast<std::size_t>(column)];
      value = std::max(value, static_cast<float>(lane.busy_ns(begin, end)) / static_cast<float>(end - begin));
    }
  }
  return most;
}

std::vector<float> average(const std::vector<std::vector<float>>& rows) {
  std::vector<float> result;
  float count = 0;
  for (const std::vector<float>& row : rows) {
    if (row.empty()) continue;
    result.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i)
      result[i] += row[i];
    ++count;
  }
  for (float& value : result)
    value /= count;
  return result;
}

}  // namespace

Minimap make_minimap(const Timeline& timeline, int columns, int threads) {
  Minimap minimap;
  if (columns <= 0) return minimap;
  const std::size_t processes = timeline.processes.size();
  std::vector<std::vector<float>> gpu(processes);
  std::vector<std::vector<float>> host(processes);
  parallel_for(2 * processes, threads, [&](std::size_t i) {
    const auto process = static_cast<std::uint32_t>(i / 2);
    (i % 2 == 0 ? gpu : host)[process] = busiest(timeline, process, i % 2 == 0, columns);
  });
  minimap.gpu = average(gpu);
  minimap.host = average(host);
  for (const TimelineProcess& process : timeline.processes) {
    if (process.steps.empty()) continue;
    for (const Interval& step : process.steps)
      minimap.steps_ns.push_back(step.begin_ns);
    break;
  }
  return minimap;
}

}  // namespace swinscope::gui

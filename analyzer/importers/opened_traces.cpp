#include "analyzer/importers/opened_traces.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "analyzer/importers/open.h"

namespace swinscope {
namespace {

std::int64_t event_count(const Trace& trace) {
  std::size_t count = 0;
  for (const Rank& rank : trace.ranks)
    count += rank.gpu.size() + rank.api.size() + rank.ranges.size();
  return static_cast<std::int64_t>(count);
}

}  // namespace

std::shared_ptr<const Trace> OpenedTraces::open(const std::filesystem::path& path) {
  if (const auto known = std::ranges::find(kept_, path, &Kept::path); known != kept_.end()) {
    std::rotate(known, known + 1, kept_.end());
    return kept_.back().trace;
  }
  auto trace = std::make_shared<const Trace>(open_trace(path));
  ++reads_;
  kept_.push_back({path, trace, event_count(*trace)});
  const auto sum = [&] {
    return std::accumulate(kept_.begin(), kept_.end(), std::int64_t{0},
                           [](std::int64_t events, const Kept& kept) { return events + kept.events; });
  };
  while (kept_.size() > 1 && sum() > kMostEvents)
    kept_.erase(kept_.begin());
  return trace;
}

}  // namespace swinscope

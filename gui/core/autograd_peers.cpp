#include "gui/core/autograd_peers.h"

#include <algorithm>

namespace swinscope::gui {
namespace {

// Of each thread the outermost range with the number, by start.
std::vector<EventIndex> outermost(const Rank& rank, std::int64_t sequence) {
  std::vector<EventIndex> found;
  for (EventIndex i = 0; i < rank.ranges.size(); ++i) {
    if (rank.ranges.sequence[i] != sequence) continue;
    const auto same_lane =
        std::ranges::find(found, rank.ranges.lane[i], [&](EventIndex e) { return rank.ranges.lane[e]; });
    if (same_lane == found.end()) {
      found.push_back(i);
    } else if (rank.ranges.depth[i] < rank.ranges.depth[*same_lane]) {
      *same_lane = i;
    }
  }
  std::ranges::stable_sort(found, {}, [&](EventIndex e) { return rank.ranges.start_ns[e]; });
  return found;
}

}  // namespace

CollectivePeers autograd_peers(const OpenedRun& run, TimelineEventId event) {
  const LaneKey& lane = run.timeline->lanes[event.lane].key;
  const Rank& rank = run.trace->ranks[lane.process];
  const EventIndex range = run.timeline->event(event).ref;
  if (lane.kind != LaneKind::kRanges || range >= rank.ranges.sequence.size()) return {};
  const std::int64_t sequence = rank.ranges.sequence[range];
  if (sequence < 0) return {};
  const std::vector<EventIndex> parts = outermost(rank, sequence);
  if (parts.size() < 2) return {};
  CollectivePeers peers;
  peers.last = run.timeline->find(lane.process, LaneKind::kRanges, parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i)
    peers.others.push_back(run.timeline->find(lane.process, LaneKind::kRanges, parts[i]));
  const auto name = [&](EventIndex e) {
    return QString::fromStdString(std::string(run.trace->text(rank.ranges.name[e])));
  };
  peers.text = QStringLiteral("forward %1, backward %2").arg(name(parts[0]), name(parts[1]));
  return peers;
}

}  // namespace swinscope::gui

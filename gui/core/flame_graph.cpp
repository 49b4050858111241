#include "gui/core/flame_graph.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "gui/core/lane_groups.h"

namespace swinscope::gui {
namespace {

// The events of a lane in the window, and the node of each.
struct Placed {
  LaneId lane = 0;
  LanePosition first = 0;
  LanePosition last = 0;
  std::vector<std::uint32_t> nodes;
};

class Builder {
 public:
  Builder(const Timeline& timeline, Interval window) : timeline_(timeline), window_(window) {
    graph_.nodes.emplace_back();
  }

  // Lanes of a thread and domain, the outer ones first.
  void add(const std::vector<LaneId>& lanes) {
    std::vector<Placed> outer;
    std::vector<Placed> here;
    std::uint16_t depth = 0;
    for (const LaneId id : lanes) {
      if (timeline_.lanes[id].key.depth != depth) {
        outer = std::exchange(here, {});
        depth = timeline_.lanes[id].key.depth;
      }
      here.push_back(place(id, outer));
    }
  }

  FlameGraph finish() {
    FlameNode& root = graph_.nodes.front();
    for (const FlameNode& node : graph_.nodes)
      if (node.depth == 1) root.total_ns += node.total_ns;
    order();
    return std::move(graph_);
  }

 private:
  Placed place(LaneId id, const std::vector<Placed>& outer) {
    const TimelineLane& lane = timeline_.lanes[id];
    Placed placed{id, 0, 0, {}};
    std::tie(placed.first, placed.last) = lane.events_in(window_.begin_ns, window_.end_ns);
    placed.nodes.reserve(placed.last - placed.first);
    std::vector<LanePosition> next(outer.size());
    for (std::size_t i = 0; i < outer.size(); ++i)
      next[i] = outer[i].first;
    for (LanePosition i = placed.first; i < placed.last; ++i) {
      const std::int64_t part = std::max<std::int64_t>(
          0, std::min(lane.event_end_ns(i), window_.end_ns) - std::max(lane.start_ns(i), window_.begin_ns));
      const std::uint32_t parent = parent_of(lane.start_ns(i), outer, next);
      const std::uint32_t node = child(parent, lane.names()[i]);
      ++graph_.nodes[node].count;
      graph_.nodes[node].total_ns += part;
      graph_.nodes[node].self_ns += part;
      if (parent != 0) graph_.nodes[parent].self_ns -= part;
      placed.nodes.push_back(node);
    }
    return placed;
  }

  // The node of the range that is under way then; the root where none is. `next`: from where to look in each lane.
  std::uint32_t parent_of(std::int64_t time_ns, const std::vector<Placed>& outer, std::vector<LanePosition>& next) {
    for (std::size_t i = 0; i < outer.size(); ++i) {
      const TimelineLane& lane = timeline_.lanes[outer[i].lane];
      while (next[i] < outer[i].last && lane.event_end_ns(next[i]) <= time_ns)
        ++next[i];
      if (next[i] < outer[i].last && lane.start_ns(next[i]) <= time_ns) return outer[i].nodes[next[i] - outer[i].first];
    }
    return 0;
  }

  std::uint32_t child(std::uint32_t parent, NameId name) {
    const std::uint64_t key = (std::uint64_t{parent} << 32U) | name;
    const auto [known, is_new] = children_.try_emplace(key, static_cast<std::uint32_t>(graph_.nodes.size()));
    if (is_new) {
      FlameNode node;
      node.name = name;
      node.parent = parent;
      node.depth = graph_.nodes[parent].depth + 1;
      graph_.nodes.push_back(node);
    }
    return known->second;
  }

  void order() {
    std::vector<std::uint32_t> by_total(graph_.nodes.size());
    std::iota(by_total.begin(), by_total.end(), 0U);
    std::ranges::stable_sort(by_total, std::greater(), [&](std::uint32_t i) { return graph_.nodes[i].total_ns; });
    std::vector<std::int64_t> used(graph_.nodes.size());
    for (const std::uint32_t i : by_total) {
      if (i == 0) continue;
      graph_.nodes[i].before_ns = used[graph_.nodes[i].parent];
      used[graph_.nodes[i].parent] += graph_.nodes[i].total_ns;
    }
  }

  const Timeline& timeline_;
  Interval window_;
  FlameGraph graph_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;  // by parent and name
};

}  // namespace

std::vector<std::int64_t> FlameGraph::self_by_name(std::size_t names) const {
  std::vector<std::int64_t> self(names);
  for (std::size_t i = 1; i < nodes.size(); ++i)
    self[nodes[i].name] += nodes[i].self_ns;
  return self;
}

FlameGraph flame_graph(const Timeline& timeline, std::span<const LaneId> lanes, Interval window) {
  std::vector<LaneId> ranges;
  for (const LaneId id : lanes)
    if (timeline.lanes[id].key.kind == LaneKind::kRanges && !is_gpu_annotation(timeline.lanes[id]))
      ranges.push_back(id);
  const auto owner = [&](LaneId id) {
    const LaneKey& key = timeline.lanes[id].key;
    return std::tuple(key.process, key.global_tid, key.domain);
  };
  std::ranges::sort(ranges, {}, [&](LaneId id) {
    const LaneKey& key = timeline.lanes[id].key;
    return std::tuple(key.process, key.global_tid, key.domain, key.depth, key.sublane);
  });
  Builder builder(timeline, window);
  for (std::size_t begin = 0; begin < ranges.size();) {
    std::size_t end = begin + 1;
    while (end < ranges.size() && owner(ranges[end]) == owner(ranges[begin]))
      ++end;
    builder.add(
        {ranges.begin() + static_cast<std::ptrdiff_t>(begin), ranges.begin() + static_cast<std::ptrdiff_t>(end)});
    begin = end;
  }
  return builder.finish();
}

}  // namespace swinscope::gui

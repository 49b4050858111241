#include "gui/core/search.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <limits>

#include "analyzer/base/name_pattern.h"
#include "analyzer/base/parallel.h"
#include "gui/core/event_order.h"
#include "store/error.h"

namespace swinscope::gui {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::vector<bool> matching_names(const NameTable& names, const std::string& pattern, SearchMode mode) {
  std::vector<bool> matches(names.size());
  if (pattern.empty()) return matches;
  if (mode == SearchMode::kRegex) {
    const NamePattern regex("search for", pattern, true);
    for (NameId id = 0; id < names.size(); ++id)
      matches[id] = regex.matches(names.text(id));
    return matches;
  }
  for (NameId id = 0; id < names.size(); ++id) {
    const std::string_view text = names.text(id);
    const auto same = [](char a, char b) { return lower(a) == lower(b); };
    matches[id] = std::search(text.begin(), text.end(), pattern.begin(), pattern.end(), same) != text.end();
  }
  return matches;
}

// Counts the hits of a lane and puts each into its tick.
std::uint64_t count_hits(const TimelineLane& lane, const std::vector<bool>& matches, Interval span,
                         std::vector<std::uint32_t>& ticks) {
  const std::span<const NameId> names = lane.names();
  const double scale = static_cast<double>(ticks.size()) / static_cast<double>(span.length());
  std::uint64_t hits = 0;
  for (LanePosition i = 0; i < names.size(); ++i) {
    if (!matches[names[i]]) continue;
    ++hits;
    const auto tick = static_cast<std::size_t>(static_cast<double>(lane.start_ns(i) - span.begin_ns) * scale);
    if (!ticks.empty()) ++ticks[std::min(tick, ticks.size() - 1)];
  }
  return hits;
}

// The given lanes, or all, as far as they have hits.
std::vector<LaneId> lanes_with_hits(const Timeline& timeline, const SearchResult& result,
                                    std::span<const LaneId> lanes) {
  std::vector<LaneId> among;
  for (LaneId id = 0; id < timeline.lanes.size(); ++id) {
    if (result.hits[id] > 0 && (lanes.empty() || std::ranges::find(lanes, id) != lanes.end())) among.push_back(id);
  }
  return among;
}

// Past the last one the first again.
std::optional<TimelineEventId> hit_from(const Timeline& timeline, const SearchResult& result, const EventOrder& from,
                                        bool forward, std::span<const LaneId> lanes) {
  const std::vector<LaneId> among = lanes_with_hits(timeline, result, lanes);
  const auto wanted = [&](NameId name) { return bool{result.names[name]}; };
  if (const auto hit = nearest_event(timeline, among, from, forward, wanted)) return hit;
  return nearest_event(timeline, among, forward ? kBeforeAll : kBehindAll, forward, wanted);
}

}  // namespace

SearchResult search(const Timeline& timeline, const std::string& pattern, SearchMode mode, std::size_t columns,
                    int threads) {
  SearchResult result;
  result.names = matching_names(timeline.names, pattern, mode);
  result.hits.resize(timeline.lanes.size());
  result.ticks.resize(columns);
  if (std::ranges::find(result.names, true) == result.names.end()) return result;
  const Interval span = timeline.span();
  std::vector<std::vector<std::uint32_t>> ticks(timeline.lanes.size());
  parallel_for(timeline.lanes.size(), threads, [&](std::size_t id) {
    ticks[id].resize(columns);
    result.hits[id] = count_hits(timeline.lanes[id], result.names, span, ticks[id]);
  });
  for (LaneId id = 0; id < timeline.lanes.size(); ++id) {
    result.total += result.hits[id];
    std::ranges::transform(result.ticks, ticks[id], result.ticks.begin(), std::plus<>());
  }
  return result;
}

std::optional<TimelineEventId> next_hit(const Timeline& timeline, const SearchResult& result, TimelineEventId from,
                                        bool forward, std::span<const LaneId> lanes) {
  return hit_from(timeline, result, order_of(timeline, from), forward, lanes);
}

std::uint64_t hit_number(const Timeline& timeline, const SearchResult& result, TimelineEventId hit,
                         std::span<const LaneId> lanes) {
  const EventOrder order = order_of(timeline, hit);
  std::uint64_t number = 0;
  for (const LaneId id : lanes_with_hits(timeline, result, lanes)) {
    const TimelineLane& lane = timeline.lanes[id];
    for (LanePosition i = 0; i < lane.size() && EventOrder(lane.start_ns(i), id, i) <= order; ++i)
      number += result.names[lane.names()[i]] ? 1U : 0U;
  }
  return number;
}

std::vector<TimelineEventId> first_hits(const Timeline& timeline, const SearchResult& result,
                                        std::span<const LaneId> lanes, std::size_t limit) {
  std::vector<EventOrder> orders;
  for (const LaneId id : lanes_with_hits(timeline, result, lanes)) {
    const TimelineLane& lane = timeline.lanes[id];
    std::size_t of_lane = 0;
    for (LanePosition i = 0; i < lane.size() && of_lane < limit; ++i) {
      if (!result.names[lane.names()[i]]) continue;
      orders.emplace_back(lane.start_ns(i), id, i);
      ++of_lane;
    }
  }
  std::ranges::sort(orders);
  orders.resize(std::min(orders.size(), limit));
  std::vector<TimelineEventId> hits;
  hits.reserve(orders.size());
  for (const EventOrder& order : orders)
    hits.push_back({std::get<1>(order), std::get<2>(order)});
  return hits;
}

std::optional<TimelineEventId> first_hit(const Timeline& timeline, const SearchResult& result, std::int64_t time_ns,
                                         std::span<const LaneId> lanes) {
  const EventOrder before{time_ns - 1, std::numeric_limits<LaneId>::max(), kNoPosition};
  return hit_from(timeline, result, before, true, lanes);
}

}  // namespace swinscope::gui

#include "analyzer/analyses/range_replays.h"

#include <algorithm>
#include <tuple>

#include "analyzer/trace/graph_nodes.h"

namespace swinscope {

RangeReplays::RangeReplays(const Rank& rank, const ThreadNodes& threads) : rank_(rank), threads_(threads) {}

bool RangeReplays::add(EventIndex event) {
  const std::uint64_t node = rank_.gpu.graph_node[event];
  if (node == 0 || rank_.graph_nodes.empty()) return false;
  const auto [entry, is_new] = captured_.try_emplace(node);
  if (is_new) entry->second = find_captured(node);
  if (entry->second.place == ThreadRanges::kNone) return false;
  replayed_.push_back({rank_.gpu.launch[event], rank_.gpu.correlation[event], event, entry->second});
  return true;
}

void RangeReplays::hand_over(RangeNodes& nodes, const std::function<RangeNode(EventIndex range)>& shown,
                             const std::function<void(std::uint32_t node, const GpuWork& work)>& tell) {
  const auto launch_of = [](const Replayed& r) { return std::pair(r.launch, r.correlation); };
  std::ranges::stable_sort(replayed_, {}, launch_of);
  for (auto first = replayed_.begin(); first != replayed_.end();) {
    Replay replay = replay_of(first->launch);
    const auto launch = launch_of(*first);
    for (; first != replayed_.end() && launch_of(*first) == launch; ++first)
      add_work(*first, replay, nodes, shown);
    for (const auto& [range, work] : replay.work)
      tell(work.node, work.work);
  }
}

std::uint32_t RangeReplays::find_thread(std::uint64_t global_tid) const {
  const auto found =
      std::ranges::find_if(threads_, [&](const NamedRanges& thread) { return thread.ranges.global_tid == global_tid; });
  return found == threads_.end() ? ThreadRanges::kNone : static_cast<std::uint32_t>(found - threads_.begin());
}

RangeReplays::Captured RangeReplays::find_captured(std::uint64_t node) const {
  const auto origin = node_origin(rank_.graph_nodes, node);
  const std::uint32_t thread = origin ? find_thread(origin->global_tid) : ThreadRanges::kNone;
  if (thread == ThreadRanges::kNone) return {thread, ThreadRanges::kNone};
  return {thread, threads_[thread].ranges.innermost(rank_.ranges, origin->time_ns)};
}

RangeReplays::Replay RangeReplays::replay_of(EventIndex launch) const {
  Replay replay;
  if (launch == kNoEvent) return replay;
  replay.global_tid = rank_.api_lanes[rank_.api.lane[launch]].global_tid;
  replay.time_ns = rank_.api.start_ns[launch];
  const std::uint32_t thread = find_thread(replay.global_tid);
  if (thread == ThreadRanges::kNone) return replay;
  const std::uint32_t place = threads_[thread].ranges.innermost(rank_.ranges, replay.time_ns);
  if (place != ThreadRanges::kNone) replay.around = threads_[thread].nested[place];
  return replay;
}

bool RangeReplays::is_open_at_launch(const Captured& range, const Replay& replay) const {
  const ThreadRanges& ranges = threads_[range.thread].ranges;
  const EventIndex i = ranges.nested[range.place];
  return ranges.global_tid == replay.global_tid && rank_.ranges.start_ns[i] <= replay.time_ns &&
         replay.time_ns < rank_.ranges.end_ns[i];
}

void RangeReplays::add_work(const Replayed& replayed, Replay& replay, RangeNodes& nodes,
                            const std::function<RangeNode(EventIndex range)>& shown) const {
  const auto& [thread, innermost] = replayed.captured;
  const ThreadRanges& ranges = threads_[thread].ranges;
  std::vector<std::uint32_t> path;  // inner ones first
  for (std::uint32_t place = innermost; place != ThreadRanges::kNone && !is_open_at_launch({thread, place}, replay);
       place = ranges.parent[place])
    path.push_back(place);
  std::uint32_t around = replay.around;
  std::ranges::reverse(path);
  for (const std::uint32_t place : path) {
    const auto [entry, is_new] = replay.work.try_emplace(std::uint64_t{thread} << 32U | place);
    if (is_new) {
      RangeNode node = shown(ranges.nested[place]);
      node.parent = around;
      node.style = RangeStyle::kGraph;
      entry->second.node = nodes.child(node);
    }
    around = entry->second.node;
    entry->second.work.add(rank_.gpu.start_ns[replayed.event], rank_.gpu.end_ns[replayed.event]);
  }
}

}  // namespace swinscope

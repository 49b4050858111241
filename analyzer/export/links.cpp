#include "analyzer/export/links.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

#include "analyzer/trace/graph_nodes.h"

namespace swinscope {
namespace {

// When and where the host caused a GPU event.
struct Cause {
  std::int64_t time_ns;
  EventIndex event;
};
using CausesByThread = std::map<std::uint64_t, std::vector<Cause>>;  // each by time

CausesByThread causes_of(const Rank& rank) {
  CausesByThread causes;
  for (EventIndex i = 0; i < rank.gpu.size(); ++i) {
    const auto origin =
        rank.gpu.graph_node[i] == 0 ? std::nullopt : node_origin(rank.graph_nodes, rank.gpu.graph_node[i]);
    const EventIndex launch = rank.gpu.launch[i];
    if (origin) {
      causes[origin->global_tid].push_back({origin->time_ns, i});
    } else if (launch != kNoEvent) {
      causes[rank.api_lanes[rank.api.lane[launch]].global_tid].push_back({rank.api.start_ns[launch], i});
    }
  }
  for (auto& [thread, list] : causes)
    std::ranges::stable_sort(list, {}, &Cause::time_ns);
  return causes;
}

using IsWanted = std::function<bool(EventIndex range)>;

// Sets for each GPU event the innermost wanted range of the lane that was open at its cause, unless a later one is set.
void sweep(const Rank& rank, const RangeLane& lane, const std::vector<Cause>& causes, const IsWanted& is_wanted,
           std::vector<EventIndex>& innermost) {
  const Ranges& ranges = rank.ranges;
  std::vector<EventIndex> open;
  EventIndex next = lane.events.begin;
  for (const Cause& cause : causes) {
    for (; next < lane.events.end && ranges.start_ns[next] <= cause.time_ns; ++next) {
      while (!open.empty() && ranges.end_ns[open.back()] <= ranges.start_ns[next])
        open.pop_back();
      if (is_wanted(next)) open.push_back(next);
    }
    const auto holds = [&](EventIndex range) { return ranges.end_ns[range] > cause.time_ns; };
    while (!open.empty() && !holds(open.back()))
      open.pop_back();
    const auto found = std::find_if(open.rbegin(), open.rend(), holds);
    if (found == open.rend()) continue;
    innermost.resize(rank.gpu.size(), kNoEvent);
    EventIndex& set = innermost[cause.event];
    if (set == kNoEvent || ranges.start_ns[set] <= ranges.start_ns[*found]) set = *found;
  }
}

bool is_phase(std::string_view name) {
  constexpr std::array<std::string_view, 5> kPhases = {"data", "forward", "backward", "allreduce", "optimizer"};
  return std::ranges::find(kPhases, name) != kPhases.end();
}

}  // namespace

GpuLinks::GpuLinks(const Trace& trace, const RunScope& scope, std::size_t rank_index)
    : trace_(trace), rank_(trace.ranks[rank_index]), steps_(scope.steps()[rank_index]), operations_(trace, rank_) {
  find_ranges();
}

void GpuLinks::find_ranges() {
  const CausesByThread causes = causes_of(rank_);
  for (const RangeLane& lane : rank_.range_lanes) {
    const auto thread = causes.find(lane.global_tid);
    if (thread == causes.end()) continue;
    const std::string domain = rank_.domain_name(lane.domain, trace_.strings);
    if (domain == kDomainOwn) {
      const auto marks_phase = [&](EventIndex range) { return is_phase(trace_.text(rank_.ranges.name[range])); };
      sweep(rank_, lane, thread->second, marks_phase, phases_);
    } else if (domain == kDomainTorchOp) {
      sweep(
          rank_, lane, thread->second, [](EventIndex) { return true; }, operators_);
    }
  }
}

const Operation* GpuLinks::operation(EventIndex gpu_event) const {
  const OperationId id = operations_.are_torch_profile() ? kNoOperation : operations_.of_event(gpu_event);
  return id == kNoOperation ? nullptr : &operations_.all()[id];
}

std::string_view GpuLinks::layer_path(EventIndex gpu_event) const {
  const Operation* found = operation(gpu_event);
  return found == nullptr ? std::string_view() : found->path;
}

const OperationPayload* GpuLinks::note(EventIndex gpu_event) const {
  const Operation* found = operation(gpu_event);
  return found == nullptr || !found->what->has_cost ? nullptr : found->what;
}

const CollectiveRecord* GpuLinks::collective(EventIndex gpu_event) const {
  const std::pair key(rank_.gpu.correlation[gpu_event], rank_.gpu.graph_node[gpu_event]);
  if (key.first == 0) return nullptr;
  const auto found = std::ranges::lower_bound(
      rank_.collectives, key, {}, [](const CollectiveRecord& r) { return std::pair(r.correlation, r.graph_node); });
  const bool is_of_event = found != rank_.collectives.end() && std::pair(found->correlation, found->graph_node) == key;
  return is_of_event ? &*found : nullptr;
}

std::int64_t GpuLinks::step(EventIndex gpu_event) const { return step_of(rank_, steps_, gpu_event) + 1; }

}  // namespace swinscope

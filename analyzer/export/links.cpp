#include "analyzer/export/links.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

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

// Ranges that collector/python/sitecustomize.py puts around PyTorch's modules, in the default domain.
constexpr std::array<std::string_view, 2> kModules = {"torch.nn:", "torch.nn.backward:"};

bool is_module(std::string_view name) {
  return std::ranges::any_of(kModules, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_phase(std::string_view name) {
  constexpr std::array<std::string_view, 5> kPhases = {"data", "forward", "backward", "allreduce", "optimizer"};
  return std::ranges::find(kPhases, name) != kPhases.end();
}

std::optional<OperationNote> parse_note(std::string_view json) {
  const nlohmann::json object = nlohmann::json::parse(json, nullptr, false);
  const auto text = [&](const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto integer = [&](const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
  };
  if (!object.is_object() || text("$schema") != "swinscope.operation/1") return std::nullopt;
  return OperationNote{text("precision"), integer("flops"), integer("bytes_read"), integer("bytes_written")};
}

}  // namespace

GpuLinks::GpuLinks(const Trace& trace, const RunScope& scope, std::size_t rank_index)
    : trace_(trace), rank_(trace.ranks[rank_index]), steps_(scope.steps()[rank_index]) {
  for (const StringId json : rank_.ranges.json) {
    if (json == kNoString) continue;
    const auto [entry, is_new] = notes_.try_emplace(json);
    if (is_new) entry->second = parse_note(trace.text(json));
  }
  find_layers();
}

void GpuLinks::find_layers() {
  const CausesByThread causes = causes_of(rank_);
  for (const RangeLane& lane : rank_.range_lanes) {
    const auto thread = causes.find(lane.global_tid);
    if (thread == causes.end()) continue;
    const std::string domain = rank_.domain_name(lane.domain, trace_.strings);
    const auto name = [&](EventIndex range) { return trace_.text(rank_.ranges.name[range]); };
    if (domain == kDomainOwn) {
      const auto has_note = [&](EventIndex range) {
        const auto note = notes_.find(rank_.ranges.json[range]);
        return note != notes_.end() && note->second.has_value();
      };
      sweep(rank_, lane, thread->second, has_note, layers_);
      sweep(
          rank_, lane, thread->second, [&](EventIndex range) { return is_phase(name(range)); }, phases_);
    } else if (domain.empty()) {
      sweep(
          rank_, lane, thread->second, [&](EventIndex range) { return is_module(name(range)); }, layers_);
    } else if (domain == kDomainTorchOp) {
      sweep(
          rank_, lane, thread->second, [](EventIndex) { return true; }, operators_);
    }
  }
}

std::string_view GpuLinks::layer_path(EventIndex gpu_event) const {
  const EventIndex range = layer(gpu_event);
  if (range == kNoEvent) return {};
  const std::string_view name = trace_.text(rank_.ranges.name[range]);
  return is_module(name) ? name.substr(name.find(':') + 1) : name;
}

const OperationNote* GpuLinks::note(EventIndex gpu_event) const {
  const EventIndex range = layer(gpu_event);
  if (range == kNoEvent) return nullptr;
  const auto found = notes_.find(rank_.ranges.json[range]);
  return found == notes_.end() || !found->second ? nullptr : &*found->second;
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

#include "analyzer/facts/collectives.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace swinscope {
namespace {

// What makes a collective of one device the same as one of another.
struct Key {
  std::string group;         // ranks of the process group, where the source says them
  std::string name;          // of the kernel, without template arguments
  std::int64_t step = 0;     // of the measured ones; the sequence number where there is one
  std::int64_t ordinal = 0;  // within the step
  CollectiveMatch method = CollectiveMatch::kOrder;
  bool operator<(const Key& other) const {
    return std::tie(group, name, step, ordinal) < std::tie(other.group, other.name, other.step, other.ordinal);
  }
};

bool is_communication(const GpuEvents& gpu, EventIndex event) {
  return gpu.kind[event] == GpuKind::kKernel && gpu.gpu_class[event] == GpuClass::kCommunication;
}

bool is_transfer(std::string_view kernel) { return kernel.find("SendRecv") != std::string_view::npos; }

// The keys of a device's collectives, in time order.
std::vector<std::pair<Key, EventIndex>> keys_of(const Trace& trace, const RunScope& scope, const DeviceScope& device) {
  const Rank& rank = trace.ranks[device.rank_index];
  const RankSteps& steps = scope.steps()[device.rank_index];
  std::map<std::tuple<std::string, std::string, std::int64_t>, std::int64_t> seen;
  std::vector<std::pair<Key, EventIndex>> keys;
  for (const EventIndex e : device.events) {
    if (!is_communication(rank.gpu, e) || !scope.has_gpu_event(device.rank_index, e)) continue;
    Key key;
    key.name = trace.text(rank.gpu.short_name[e]);
    const CollectiveRecord* record = collective_record(rank, e);
    if (is_transfer(key.name) && (record == nullptr || record->group_size != 2)) continue;
    if (record != nullptr) {
      key.group = trace.text(record->ranks).empty() ? trace.text(record->group_name) : trace.text(record->ranks);
      key.step = record->seq;
      key.method = CollectiveMatch::kSequence;
    } else if (scope.is_of_steps()) {
      key.step = step_of(rank, steps, e) - static_cast<std::int64_t>(steps.first_measured);
    }
    key.ordinal = seen[{key.group, key.name, key.step}]++;
    keys.emplace_back(std::move(key), e);
  }
  return keys;
}

}  // namespace

const CollectiveRecord* collective_record(const Rank& rank, EventIndex event) {
  const auto wanted = std::tuple(rank.gpu.correlation[event], rank.gpu.graph_node[event]);
  const auto found = std::lower_bound(
      rank.collectives.begin(), rank.collectives.end(), wanted,
      [](const CollectiveRecord& r, const auto& key) { return std::tuple(r.correlation, r.graph_node) < key; });
  const bool same =
      found != rank.collectives.end() && std::tuple(found->correlation, found->graph_node) == wanted && found->seq >= 0;
  return same ? &*found : nullptr;
}

std::vector<Collective> match_collectives(const Trace& trace, const RunScope& scope) {
  std::map<Key, std::vector<CollectiveMember>> by_key;
  std::set<std::pair<std::size_t, std::int32_t>> devices;  // that take part in any; each has a scope for each window
  for (const DeviceScope& device : scope.devices()) {
    const auto keys = keys_of(trace, scope, device);
    for (const auto& [key, event] : keys) {
      by_key[key].push_back({device.rank_index, device.device, event});
      if (!is_transfer(key.name)) devices.emplace(device.rank_index, device.device);
    }
  }
  std::vector<Collective> collectives;
  for (auto& [key, members] : by_key) {
    if (members.size() < 2) continue;
    // One that only some of the devices have is of a part of the ranks, or was not recorded everywhere.
    if (members.size() == devices.size() || !key.group.empty())
      collectives.push_back({key.method, std::move(members), is_transfer(key.name)});
  }
  return collectives;
}

}  // namespace swinscope

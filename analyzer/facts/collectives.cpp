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

std::string_view group_of(const Trace& trace, const CollectiveRecord& record) {
  const std::string_view ranks = trace.text(record.ranks);
  return ranks.empty() ? trace.text(record.group_name) : ranks;
}

// Makes the keys of the collectives of devices, in time order.
class Keys {
 public:
  Keys(const Trace& trace, const RunScope& scope)
      : trace_(trace),
        scope_(scope),
        groups_known_(std::ranges::all_of(scope.devices(), [&](const DeviceScope& device) {
          return std::ranges::all_of(device.events, [&](EventIndex e) { return has_group(device.rank_index, e); });
        })) {
    find_unnumbered();
  }

  std::vector<std::pair<Key, EventIndex>> of(const DeviceScope& device) const {
    const Rank& rank = trace_.ranks[device.rank_index];
    std::map<std::tuple<std::string, std::string, std::int64_t>, std::int64_t> seen;
    std::vector<std::pair<Key, EventIndex>> keys;
    for (const EventIndex e : device.events) {
      if (!is_communication(rank.gpu, e) || !scope_.has_gpu_event(device.rank_index, e)) continue;
      Key key;
      key.name = trace_.text(rank.gpu.short_name[e]);
      const CollectiveRecord* numbered = numbered_record(rank, e);
      if (is_transfer(key.name) && (numbered == nullptr || numbered->group_size != 2)) continue;
      if (numbered != nullptr) {
        key.group = group_of(trace_, *numbered);
        key.step = numbered->seq;
        key.method = CollectiveMatch::kSequence;
      } else {
        if (groups_known_) key.group = group_of(trace_, *described_collective(rank, e));
        if (scope_.is_of_steps()) key.step = measured_step(device.rank_index, e);
      }
      key.ordinal = seen[{key.group, key.name, key.step}]++;
      keys.emplace_back(std::move(key), e);
    }
    return keys;
  }

 private:
  // Groups of which a device numbers none: it was recorded without.
  void find_unnumbered() {
    std::map<std::pair<std::string, std::pair<std::size_t, std::int32_t>>, bool> has_numbers;
    for (const DeviceScope& device : scope_.devices()) {
      const Rank& rank = trace_.ranks[device.rank_index];
      for (const EventIndex e : device.events) {
        if (!is_communication(rank.gpu, e) || rank.gpu.graph_node[e] != 0) continue;
        const CollectiveRecord* record = described_collective(rank, e);
        if (record == nullptr) continue;
        bool& has = has_numbers[{std::string(group_of(trace_, *record)), {device.rank_index, device.device}}];
        has = has || record->seq >= 0;
      }
    }
    for (const auto& [group_and_device, has] : has_numbers) {
      if (!has) unnumbered_.insert(group_and_device.first);
    }
  }

  // Null where the event is matched by order.
  const CollectiveRecord* numbered_record(const Rank& rank, EventIndex e) const {
    const CollectiveRecord* record = rank.gpu.graph_node[e] == 0 ? collective_record(rank, e) : nullptr;
    return record != nullptr && !unnumbered_.contains(std::string(group_of(trace_, *record))) ? record : nullptr;
  }

  // Of what communicates in the scope; anything else lacks none.
  bool has_group(std::size_t rank_index, EventIndex e) const {
    const Rank& rank = trace_.ranks[rank_index];
    if (!is_communication(rank.gpu, e) || !scope_.has_gpu_event(rank_index, e)) return true;
    const CollectiveRecord* record = described_collective(rank, e);
    return record != nullptr && !group_of(trace_, *record).empty();
  }
  std::int64_t measured_step(std::size_t rank_index, EventIndex e) const {
    const RankSteps& steps = scope_.steps()[rank_index];
    return step_of(trace_.ranks[rank_index], steps, e) - static_cast<std::int64_t>(steps.first_measured);
  }

  const Trace& trace_;
  const RunScope& scope_;
  bool groups_known_;
  std::set<std::string> unnumbered_;
};

}  // namespace

const CollectiveRecord* described_collective(const Rank& rank, EventIndex event) {
  const auto wanted = std::tuple(rank.gpu.correlation[event], rank.gpu.graph_node[event]);
  const auto found = std::ranges::lower_bound(
      rank.collectives, wanted, {}, [](const CollectiveRecord& r) { return std::tuple(r.correlation, r.graph_node); });
  if (found != rank.collectives.end() && std::tuple(found->correlation, found->graph_node) == wanted) return &*found;
  if (rank.gpu.graph_node[event] == 0) return nullptr;
  const auto captured = std::ranges::find(rank.collectives, rank.gpu.graph_node[event], &CollectiveRecord::graph_node);
  return captured == rank.collectives.end() ? nullptr : &*captured;
}

const CollectiveRecord* collective_record(const Rank& rank, EventIndex event) {
  const CollectiveRecord* record = described_collective(rank, event);
  return record != nullptr && record->seq >= 0 ? record : nullptr;
}

std::vector<Collective> match_collectives(const Trace& trace, const RunScope& scope) {
  std::map<Key, std::vector<CollectiveMember>> by_key;
  // Devices that take part in any, by process group ("": all); each has a scope for each window.
  std::map<std::string, std::set<std::pair<std::size_t, std::int32_t>>> devices;
  const Keys keys(trace, scope);
  for (const DeviceScope& device : scope.devices()) {
    const auto of_device = keys.of(device);
    for (const auto& [key, event] : of_device) {
      by_key[key].push_back({device.rank_index, device.device, event});
      if (is_transfer(key.name)) continue;
      devices[""].emplace(device.rank_index, device.device);
      devices[key.group].emplace(device.rank_index, device.device);
    }
  }
  std::vector<Collective> collectives;
  for (auto& [key, members] : by_key) {
    if (members.size() < 2) continue;
    // One that only some of the devices have is of a part of the ranks, or was not recorded everywhere.
    const bool is_numbered = key.method == CollectiveMatch::kSequence;
    if ((is_numbered && !key.group.empty()) || members.size() == devices[key.group].size())
      collectives.push_back({key.method, std::move(members), is_transfer(key.name), is_numbered ? key.ordinal : 0});
  }
  return collectives;
}

std::vector<CollectiveMember> unmatched_communication(const Trace& trace, const RunScope& scope,
                                                      const std::vector<Collective>& collectives) {
  std::set<std::pair<std::size_t, EventIndex>> matched;
  for (const Collective& collective : collectives) {
    for (const CollectiveMember& member : collective.members)
      matched.emplace(member.rank_index, member.event);
  }
  std::vector<CollectiveMember> unmatched;
  for (const DeviceScope& device : scope.devices()) {
    for (const EventIndex e : device.events) {
      if (is_communication(trace.ranks[device.rank_index].gpu, e) && scope.has_gpu_event(device.rank_index, e) &&
          !matched.contains({device.rank_index, e}))
        unmatched.push_back({device.rank_index, device.device, e});
    }
  }
  return unmatched;
}

}  // namespace swinscope

#include "collector/launcher/nccl_plans.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace swinscope {
namespace {

using Indexes = std::vector<std::size_t>;

template <typename Items, typename Time>
void sort_by_time(Indexes& indexes, const Items& items, Time time) {
  std::sort(indexes.begin(), indexes.end(),
            [&](std::size_t a, std::size_t b) { return std::pair(items[a].*time, a) < std::pair(items[b].*time, b); });
}

class Join {
 public:
  Join(const std::vector<NcclPlan>& plans, const std::vector<PlanLaunch>& launches,
       const std::vector<PlanKernel>& kernels)
      : plans_(plans), launches_(launches), kernels_(kernels), result_(plans.size()) {
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      caused_[kernels[k].global_tid].push_back(k);
      if (kernels[k].origin != 0) replayed_[kernels[k].origin].push_back(k);
    }
    for (auto& [thread, indexes] : caused_)
      sort_by_time(indexes, kernels, &PlanKernel::caused_ns);
    for (auto& [origin, indexes] : replayed_)
      sort_by_time(indexes, kernels, &PlanKernel::start_ns);
  }

  std::vector<std::optional<std::size_t>> take() {
    std::map<Group, Indexes> plans;
    std::map<Group, Indexes> launches;
    std::map<std::int64_t, Indexes> ungrouped;  // by thread
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      const NcclPlan& plan = plans_[i];
      (plan.call_group == 0 ? ungrouped[plan.global_tid] : plans[{plan.call_group, plan.communicator}]).push_back(i);
    }
    for (std::size_t i = 0; i < launches_.size(); ++i)
      launches[{launches_[i].call_group, launches_[i].communicator}].push_back(i);
    for (auto& [group, indexes] : plans) {
      sort_by_time(indexes, plans_, &NcclPlan::start_ns);
      const auto found = launches.find(group);
      if (found == launches.end()) continue;
      sort_by_time(found->second, launches_, &PlanLaunch::start_ns);
      join_group(indexes, found->second);
    }
    for (auto& [thread, indexes] : ungrouped) {
      sort_by_time(indexes, plans_, &NcclPlan::start_ns);
      join_thread(thread, indexes);
    }
    return std::move(result_);
  }

 private:
  using Group = std::pair<std::int64_t, std::int64_t>;  // calls, communicator

  // Kernels that were launched or captured on a thread from one time to another, both included.
  Indexes caused_on(std::int64_t thread, std::int64_t from_ns, std::int64_t to_ns) const {
    const auto of_thread = caused_.find(thread);
    if (of_thread == caused_.end()) return {};
    const auto first = std::lower_bound(of_thread->second.begin(), of_thread->second.end(), from_ns,
                                        [&](std::size_t k, std::int64_t t) { return kernels_[k].caused_ns < t; });
    Indexes found;
    for (auto it = first; it != of_thread->second.end() && kernels_[*it].caused_ns <= to_ns; ++it)
      found.push_back(*it);
    return found;
  }

  void join_group(const Indexes& plans, const Indexes& launches) {
    if (plans.size() % launches.size() != 0) return;
    const bool is_captured = plans_[plans.front()].is_captured;
    if (!is_captured && plans.size() != launches.size()) return;
    for (std::size_t l = 0; l < launches.size(); ++l) {
      const PlanLaunch& launch = launches_[launches[l]];
      const Indexes caused = caused_on(launch.global_tid, launch.start_ns, launch.end_ns);
      if (is_captured) {
        Indexes own;
        for (std::size_t i = l; i < plans.size(); i += launches.size())
          own.push_back(plans[i]);
        join_replays(own, caused);
      } else if (caused.size() == 1 && kernels_[caused.front()].origin == 0) {
        result_[plans[l]] = caused.front();
      }
    }
  }

  // `captured`: kernels of the nodes that the launch made, of every replay.
  void join_replays(const Indexes& plans, const Indexes& captured) {
    std::set<std::int64_t> nodes;
    std::set<std::int64_t> origins;
    for (const std::size_t k : captured) {
      nodes.insert(kernels_[k].graph_node);
      origins.insert(kernels_[k].origin);
    }
    if (nodes.size() != 1 || origins.size() != 1 || *origins.begin() == 0) return;
    const Indexes& replays = replayed_.at(*origins.begin());
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const std::int64_t until_ns =
          i + 1 < plans.size() ? plans_[plans[i + 1]].start_ns : std::numeric_limits<std::int64_t>::max();
      const auto begins_before = [&](std::size_t k, std::int64_t t) { return kernels_[k].start_ns < t; };
      const auto first = std::lower_bound(replays.begin(), replays.end(), plans_[plans[i]].start_ns, begins_before);
      const auto behind = std::lower_bound(first, replays.end(), until_ns, begins_before);
      if (behind - first == 1) result_[plans[i]] = *first;
    }
  }

  void join_thread(std::int64_t thread, const Indexes& plans) {
    std::int64_t after_ns = std::numeric_limits<std::int64_t>::min();
    for (const std::size_t i : plans) {
      Indexes launched = caused_on(thread, after_ns, plans_[i].start_ns);
      after_ns = plans_[i].end_ns;
      std::erase_if(launched, [&](std::size_t k) { return kernels_[k].origin != 0; });
      if (launched.size() == 1) result_[i] = launched.front();
    }
  }

  const std::vector<NcclPlan>& plans_;
  const std::vector<PlanLaunch>& launches_;
  const std::vector<PlanKernel>& kernels_;
  std::unordered_map<std::int64_t, Indexes> caused_;    // by thread, in the order of their causes
  std::unordered_map<std::int64_t, Indexes> replayed_;  // by the node as it was captured, in the order of their starts
  std::vector<std::optional<std::size_t>> result_;
};

}  // namespace

std::vector<std::optional<std::size_t>> join_plans(const std::vector<NcclPlan>& plans,
                                                   const std::vector<PlanLaunch>& launches,
                                                   const std::vector<PlanKernel>& kernels) {
  return Join(plans, launches, kernels).take();
}

}  // namespace swinscope

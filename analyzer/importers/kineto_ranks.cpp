#include "analyzer/importers/kineto_ranks.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "store/error.h"

namespace swinscope {

GpuClaim GpuClaim::of(const KinetoEvent& event, KinetoKind kind, std::int64_t process, std::int64_t order) {
  GpuClaim claim;
  claim.process = process;
  claim.device = event.device.value_or(process);
  claim.correlation = event.correlation.value_or(0);
  claim.order = order;
  claim.start_ns = event.ts_ns.value_or(0);
  claim.graph_node = event.graph_node;
  claim.is_work = kind == KinetoKind::kKernel || kind == KinetoKind::kCopy || kind == KinetoKind::kSet;
  return claim;
}

std::size_t RankPlan::of_host(std::int64_t process, std::int64_t order) const {
  if (const auto found = hosts_.find(process); found != hosts_.end()) return found->second;
  GpuClaim claim;
  claim.order = order;
  return by_order(claim).value_or(0);
}

std::optional<std::size_t> RankPlan::of_gpu(const GpuClaim& claim) const {
  if (const auto group = groups_.find({claim.process, claim.device}); group != groups_.end()) return group->second;
  const auto launch = correlations_.find(claim.correlation);
  if (launch != correlations_.end() && launch->second != kSeveral) return launch->second;
  return by_order(claim);
}

std::optional<std::size_t> RankPlan::by_order(const GpuClaim& claim) const {
  if (order_.empty()) return std::nullopt;
  const auto after = std::upper_bound(order_.begin(), order_.end(), claim.order,
                                      [](std::int64_t order, const auto& begin) { return order < begin.first; });
  return after == order_.begin() ? order_.front().second : std::prev(after)->second;
}

void RankSurvey::take_host(const KinetoEvent& event, KinetoKind kind, std::int64_t process, std::int64_t order) {
  if (!is_host(kind)) return;
  Process& p = processes_[process];
  p.first = std::min(p.first, order);
  p.last = std::max(p.last, order);
  p.operators |= kind == KinetoKind::kOperator;
  p.steps |= is_step(event, kind);
  if (!is_launch(event, kind)) return;
  p.launches = true;
  launches_.push_back({*event.correlation, process, event.ts_ns.value_or(0)});
}

void RankSurvey::take_name(std::int64_t process, std::string_view name) {
  constexpr std::size_t kMaxNameBytes = 1000;
  std::string& all = names_[process];
  if (all.size() < kMaxNameBytes) all += fmt::format("{}{}", all.empty() ? "" : ", ", name);
}

// Where a process records the steps and another one the launches, they are one rank.
std::set<std::int64_t> RankSurvey::rank_processes() const {
  std::set<std::int64_t> with_steps;
  std::set<std::int64_t> with_launches;
  std::set<std::int64_t> working;
  for (const auto& [process, p] : processes_) {
    if (p.steps) with_steps.insert(process);
    if (p.launches) with_launches.insert(process);
    if (p.launches && p.operators) working.insert(process);
  }
  if (with_steps.size() < 2) return with_launches.size() < 2 ? std::set<std::int64_t>() : with_launches;
  with_steps.insert(working.begin(), working.end());
  return with_steps;
}

RankLabel RankSurvey::label(std::int64_t process, const ProcessKeys& keys) const {
  RankLabel label = parse_rank_label(process < 0 ? keys.name(process) : std::string());
  const auto name = names_.find(process);
  if (label.identity.empty() && name != names_.end()) label = parse_rank_label(name->second);
  return label;
}

// The ranks, those with the same label as one, in the order of their numbers.
std::vector<RankSurvey::Candidate> RankSurvey::candidates(const ProcessKeys& keys) const {
  std::vector<Candidate> found;
  for (const std::int64_t process : rank_processes()) {
    RankLabel own = label(process, keys);
    const auto same = std::ranges::find_if(
        found, [&](const Candidate& c) { return !own.identity.empty() && c.label.identity == own.identity; });
    if (same != found.end()) {
      same->processes.push_back(process);
    } else {
      found.push_back({std::move(own), {process}});
    }
  }
  return found;
}

void RankSurvey::settle_ranks(RankPlan& plan, const ProcessKeys& keys) const {
  std::vector<Candidate> found = candidates(keys);
  std::set<std::int32_t> numbers;
  for (const Candidate& c : found) {
    if (c.label.number) numbers.insert(*c.label.number);
  }
  const bool stated = numbers.size() == found.size();
  // Process ids are numbers, and in order.
  std::ranges::stable_sort(found, [&](const Candidate& a, const Candidate& b) {
    if (stated) return *a.label.number < *b.label.number;
    return a.label.identity.empty() || b.label.identity.empty() ? false : a.label.identity < b.label.identity;
  });
  std::string names;
  for (const Candidate& c : found) {
    const std::int64_t process = c.processes.front();
    const std::size_t index = plan.ranks_.size();
    for (const std::int64_t own : c.processes)
      plan.hosts_[own] = index;
    const std::int32_t number = stated ? *c.label.number : static_cast<std::int32_t>(index);
    plan.ranks_.push_back({number, process, keys.pid(process), keys.name(process)});
    names += fmt::format("{}{}", names.empty() ? "" : ", ", keys.name(process));
  }
  plan.is_labelled_ = stated;
  plan.explanation_ = fmt::format("processes {}; the ranks are numbered {}", names,
                                  stated ? "as their labels say" : "in the order of the processes");
}

// Traces that stand one behind the other.
void RankSurvey::settle_order(RankPlan& plan) const {
  std::vector<std::pair<std::int64_t, std::int64_t>> spans(plan.ranks_.size(), {INT64_MAX, -1});
  for (const auto& [process, rank] : plan.hosts_) {
    const Process& p = processes_.at(process);
    spans[rank] = {std::min(spans[rank].first, p.first), std::max(spans[rank].second, p.last)};
  }
  for (std::size_t rank = 0; rank < spans.size(); ++rank)
    plan.order_.emplace_back(spans[rank].first, rank);
  std::ranges::sort(plan.order_);
  for (std::size_t i = 1; i < plan.order_.size(); ++i) {
    if (plan.order_[i].first < spans[plan.order_[i - 1].second].second) {
      plan.order_.clear();
      return;
    }
  }
}

// Loader workers and the like: by their label, the place in the file, or the process id of the parent, which is
// smaller.
void RankSurvey::settle_other_hosts(RankPlan& plan, const ProcessKeys& keys) const {
  const std::map<std::int64_t, std::size_t> ranks = plan.hosts_;
  for (const auto& [process, p] : processes_) {
    if (ranks.count(process) != 0) continue;
    const std::string identity = label(process, keys).identity;
    const auto same = std::ranges::find_if(
        ranks, [&](const auto& rank) { return !identity.empty() && label(rank.first, keys).identity == identity; });
    if (same != ranks.end()) {
      plan.hosts_[process] = same->second;
    } else if (plan.order_.empty()) {
      const auto after = ranks.upper_bound(process);
      plan.hosts_[process] = after == ranks.begin() ? after->second : std::prev(after)->second;
    }
  }
}

void RankSurvey::settle_correlations(RankPlan& plan) const {
  for (const Launch& launch : launches_) {
    const auto rank = plan.hosts_.find(launch.process);
    if (rank == plan.hosts_.end()) continue;
    const auto [entry, is_new] = plan.correlations_.try_emplace(launch.correlation, rank->second);
    if (!is_new && entry->second != rank->second) entry->second = RankPlan::kSeveral;
  }
}

bool RankSurvey::settle_by_label(RankPlan& plan, const ProcessKeys& keys) const {
  std::map<std::string, std::size_t> labels;
  for (const auto& [process, rank] : plan.hosts_) {
    if (const std::string identity = label(process, keys).identity; !identity.empty()) labels[identity] = rank;
  }
  std::set<std::size_t> labelled;
  for (const GpuClaim& claim : claims_) {
    const RankPlan::Group group{claim.process, claim.device};
    if (labels.empty() || plan.groups_.count(group) != 0) continue;
    const auto found = labels.find(label(claim.process, keys).identity);
    if (found == labels.end()) continue;
    plan.groups_[group] = found->second;
    labelled.insert(found->second);
  }
  return labelled.size() == plan.ranks_.size();
}

// Merging scripts make process ids and devices distinct by adding a multiple of some large number.
bool RankSurvey::settle_by_offset(RankPlan& plan, const std::set<RankPlan::Group>& open) const {
  for (std::int64_t step = 10'000; step <= 1'000'000'000'000; step *= 10) {
    std::map<std::int64_t, std::size_t> blocks;
    for (std::size_t rank = 0; rank < plan.ranks_.size(); ++rank) {
      if (plan.ranks_[rank].process >= 0) blocks[plan.ranks_[rank].process / step] = rank;
    }
    if (blocks.size() < plan.ranks_.size()) continue;
    std::set<std::size_t> used;
    for (const auto& [process, device] : open) {
      const auto block = blocks.find(process / step);
      if (process >= 0 && block != blocks.end()) used.insert(block->second);
    }
    if (used.size() < plan.ranks_.size()) continue;
    for (const RankPlan::Group& group : open) {
      if (const auto block = blocks.find(group.first / step); block != blocks.end())
        plan.groups_[group] = block->second;
    }
    return true;
  }
  return false;
}

// Rows in which an event stands twice, as in two traces: no rank has them alone.
std::set<RankPlan::Group> RankSurvey::shared_groups(const RankPlan& plan) const {
  std::set<RankPlan::Group> shared;
  std::set<std::tuple<RankPlan::Group, std::int64_t, std::int64_t>> seen;
  for (const GpuClaim& claim : claims_) {
    const auto launch = plan.correlations_.find(claim.correlation);
    if (!claim.is_work || launch == plan.correlations_.end() || launch->second != RankPlan::kSeveral) continue;
    const RankPlan::Group group{claim.process, claim.device};
    if (!seen.emplace(group, claim.correlation, claim.graph_node).second) shared.insert(group);
  }
  return shared;
}

// Rows all of whose decided events belong to one rank.
void RankSurvey::settle_by_votes(RankPlan& plan, const std::set<RankPlan::Group>& open) const {
  std::map<RankPlan::Group, std::set<std::size_t>> voted;
  for (const GpuClaim& claim : claims_) {
    const auto launch = plan.correlations_.find(claim.correlation);
    if (!claim.is_work || launch == plan.correlations_.end() || launch->second == RankPlan::kSeveral) continue;
    voted[{claim.process, claim.device}].insert(launch->second);
  }
  for (const auto& [group, ranks] : voted) {
    if (ranks.size() == 1 && open.count(group) != 0) plan.groups_[group] = *ranks.begin();
  }
}

// A rank that launched later than the events of a row began cannot be the one of that row.
void RankSurvey::settle_by_time(RankPlan& plan, const std::set<RankPlan::Group>& open) const {
  std::map<std::pair<std::size_t, std::int64_t>, std::int64_t> first_launch;
  for (const Launch& launch : launches_) {
    const auto rank = plan.hosts_.find(launch.process);
    if (rank == plan.hosts_.end()) continue;
    const auto [entry, is_new] = first_launch.try_emplace({rank->second, launch.correlation}, launch.start_ns);
    if (!is_new) entry->second = std::min(entry->second, launch.start_ns);
  }
  std::map<RankPlan::Group, std::set<std::size_t>> possible;
  for (const RankPlan::Group& group : open) {
    for (std::size_t rank = 0; rank < plan.ranks_.size(); ++rank)
      possible[group].insert(rank);
  }
  for (const GpuClaim& claim : claims_) {
    const auto group = possible.find({claim.process, claim.device});
    if (group == possible.end() || !claim.is_work || claim.correlation == 0) continue;
    std::erase_if(group->second, [&](std::size_t rank) {
      const auto launch = first_launch.find({rank, claim.correlation});
      return launch == first_launch.end() || launch->second > claim.start_ns;
    });
  }
  // Each rank has rows of its own: who has only one left takes it from the others.
  for (std::size_t turn = 0; turn < possible.size(); ++turn) {
    for (const auto& [group, ranks] : possible) {
      if (ranks.size() != 1 || plan.groups_.count(group) != 0) continue;
      const std::size_t rank = *ranks.begin();
      plan.groups_[group] = rank;
      for (auto& [other, others] : possible) {
        if (other != group && others.size() > 1) others.erase(rank);
      }
    }
  }
}

void RankSurvey::settle_groups(RankPlan& plan, const ProcessKeys& keys) const {
  if (settle_by_label(plan, keys) || !plan.order_.empty()) return;
  const auto open = [&] {
    std::set<RankPlan::Group> groups;
    for (const GpuClaim& claim : claims_) {
      const RankPlan::Group group{claim.process, claim.device};
      if (plan.groups_.count(group) == 0) groups.insert(group);
    }
    return groups;
  };
  if (settle_by_offset(plan, open())) return;
  const std::set<RankPlan::Group> shared = shared_groups(plan);
  const auto unshared = [&] {
    std::set<RankPlan::Group> groups = open();
    std::erase_if(groups, [&](const RankPlan::Group& group) { return shared.count(group) != 0; });
    return groups;
  };
  settle_by_votes(plan, unshared());
  settle_by_time(plan, unshared());
}

void RankSurvey::refuse_undecided(const RankPlan& plan, const std::string& path) const {
  const auto undecided = std::ranges::count_if(
      claims_, [&](const GpuClaim& claim) { return claim.is_work && !plan.of_gpu(claim).has_value(); });
  if (undecided == 0) return;
  throw Error(ErrorKind::kInput,
              fmt::format("{}: {} ranks in one file that cannot be told apart", path, plan.ranks().size()),
              fmt::format("{} of {} GPU events may belong to more than one of the {}", undecided, claims_.size(),
                          plan.explanation().substr(0, plan.explanation().find(';'))),
              "give the traces as they were before they were merged, in one folder");
}

RankPlan RankSurvey::decide(const std::string& path, const ProcessKeys& keys) const {
  RankPlan plan;
  settle_ranks(plan, keys);
  if (plan.ranks_.size() < 2) return {};
  settle_order(plan);
  settle_other_hosts(plan, keys);
  settle_correlations(plan);
  settle_groups(plan, keys);
  refuse_undecided(plan, path);
  return plan;
}

}  // namespace swinscope

#include "collector/sampling/process_tree.h"

#include <algorithm>
#include <set>

namespace swinscope {
namespace {

constexpr char kEnded = 'Z';

// How long an ended process may have run without being seen.
std::int64_t unsampled_time(const TreeProcess& process) {
  return process.stat.state == kEnded ? 0 : process.end_ns - process.last_seen_ns;
}

}  // namespace

std::size_t ProcessTree::find_alive(pid_t pid) const {
  const auto found = alive_.find(pid);
  return found == alive_.end() ? TreeProcess::kNone : found->second;
}

std::vector<std::size_t> ProcessTree::sample(std::int64_t now_ns, const std::vector<ProcessStat>& stats) {
  std::vector<std::size_t> changed;
  std::set<pid_t> present;
  for (const ProcessStat& stat : stats) {
    std::size_t index = find_alive(stat.pid);
    if (index != TreeProcess::kNone && processes_[index].stat.start_ticks != stat.start_ticks) {
      processes_[index].end_ns = now_ns;  // another process has its id now
      index = TreeProcess::kNone;
    }
    present.insert(stat.pid);
    if (index == TreeProcess::kNone) {
      index = processes_.size();
      alive_[stat.pid] = index;
      TreeProcess& added = processes_.emplace_back();
      added.first_seen_ns = now_ns;
      added.start_ns = monotonic_start_ns(stat.start_ticks);
      changed.push_back(index);
    } else if (processes_[index].stat.name != stat.name) {
      changed.push_back(index);
    }
    TreeProcess& process = processes_[index];
    process.stat = stat;
    process.last_seen_ns = now_ns;
    process.own_ns = stat.cpu_ns;
    process.max_rss_bytes = std::max(process.max_rss_bytes, stat.rss_bytes);
  }
  for (auto entry = alive_.begin(); entry != alive_.end();) {
    if (present.count(entry->first) != 0) {
      ++entry;
      continue;
    }
    processes_[entry->second].end_ns = now_ns;
    entry = alive_.erase(entry);
  }
  // After all are entered: a child may come before its parent.
  for (const auto& [pid, index] : alive_) {
    TreeProcess& process = processes_[index];
    process.waiter = find_alive(process.stat.parent);
    if (process.first_seen_ns != now_ns) continue;
    process.parent = process.waiter;
    // Its parent had ended before anybody saw the two together: it came from the command somehow.
    if (process.parent == TreeProcess::kNone && index != 0) process.parent = 0;
  }
  return changed;
}

void ProcessTree::last_look(const ProcessStat& stat) {
  const std::size_t index = find_alive(stat.pid);
  if (index == TreeProcess::kNone || processes_[index].stat.start_ticks != stat.start_ticks) return;
  processes_[index].stat = stat;
  processes_[index].own_ns = stat.cpu_ns;
}

void ProcessTree::reaped(pid_t pid, std::int64_t cpu_ns, std::int64_t now_ns) {
  std::size_t index = find_alive(pid);
  if (index == TreeProcess::kNone) {
    // It may have been missed by the sample between its end and now.
    for (index = processes_.size(); index-- > 0;) {
      if (processes_[index].stat.pid == pid && !processes_[index].total_ns) break;
    }
  }
  if (index == TreeProcess::kNone) {
    index = processes_.size();
    TreeProcess& unseen = processes_.emplace_back();
    unseen.stat.pid = pid;
    unseen.stat.name = "(short-lived)";
    unseen.first_seen_ns = now_ns;
    unseen.last_seen_ns = now_ns;
    unseen.start_ns = now_ns;
    unseen.parent = index == 0 ? TreeProcess::kNone : 0;
  }
  TreeProcess& process = processes_[index];
  process.total_ns = cpu_ns;
  if (process.is_alive()) process.end_ns = now_ns;
  alive_.erase(pid);
}

void ProcessTree::settle(std::size_t index, const std::vector<std::vector<std::size_t>>& children,
                         std::vector<std::int64_t>& totals) {
  TreeProcess& process = processes_[index];
  std::vector<std::size_t> waited_for;
  std::int64_t known_ns = 0;
  double unsampled_ns = 0;  // between the last sample with a child and the first without it
  for (const std::size_t child : children[index]) {
    settle(child, children, totals);
    if (processes_[child].is_alive() || processes_[child].total_ns) continue;
    waited_for.push_back(child);
    known_ns += totals[child];
    unsampled_ns += static_cast<double>(unsampled_time(processes_[child]));
  }
  const std::int64_t of_children_ns = std::max(process.stat.children_ns, known_ns);
  totals[index] = process.own_ns + of_children_ns;
  process.unseen_ns = of_children_ns - known_ns;
  const double part = unsampled_ns > 0 ? std::min(static_cast<double>(process.unseen_ns) / unsampled_ns, 1.0) : 0;
  for (const std::size_t child : waited_for) {
    const auto share_ns = static_cast<std::int64_t>(part * static_cast<double>(unsampled_time(processes_[child])));
    processes_[child].own_ns += share_ns;
    process.unseen_ns -= share_ns;
  }
  if (process.total_ns) process.own_ns += std::max(std::int64_t{0}, *process.total_ns - totals[index]);
}

void ProcessTree::finish() {
  std::vector<std::vector<std::size_t>> children(processes_.size());
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (processes_[i].waiter != TreeProcess::kNone) children[processes_[i].waiter].push_back(i);
  }
  std::vector<std::int64_t> totals(processes_.size());
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (processes_[i].waiter == TreeProcess::kNone) settle(i, children, totals);
  }
}

void ProcessTree::assign_ranks(const std::map<pid_t, std::int32_t>& known) {
  for (TreeProcess& process : processes_) {
    const auto told = known.find(process.stat.pid);
    if (told != known.end()) process.rank = told->second;
  }
  const auto has_rank = [](const TreeProcess& process) { return process.rank != kNoRank; };
  if (!processes_.empty() && std::none_of(processes_.begin(), processes_.end(), has_rank)) processes_.front().rank = 0;
  // A process is found after the one that started it, or in the same sample; a few rounds settle any order.
  bool changed = true;
  while (changed) {
    changed = false;
    for (TreeProcess& process : processes_) {
      if (process.rank != kNoRank || process.parent == TreeProcess::kNone || !has_rank(processes_[process.parent]))
        continue;
      process.rank = processes_[process.parent].rank;
      changed = true;
    }
  }
}

}  // namespace swinscope

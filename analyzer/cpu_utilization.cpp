#include "analyzer/cpu_utilization.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

namespace swinscope {
namespace {

struct Sample {
  std::int64_t at_ns;
  std::int64_t cpu_ns;
};

// CPU time used in the window by what the samples describe; before the first sample it was 0 at `born_ns`.
std::int64_t used_in(const std::vector<Sample>& samples, Interval window) {
  if (samples.empty()) return 0;
  const auto at = [&](std::int64_t when) -> double {
    const auto after = std::upper_bound(samples.begin(), samples.end(), when,
                                        [](std::int64_t t, const Sample& s) { return t < s.at_ns; });
    if (after == samples.begin()) return static_cast<double>(samples.front().cpu_ns);
    const Sample& before = *std::prev(after);
    if (after == samples.end() || after->at_ns == before.at_ns) return static_cast<double>(before.cpu_ns);
    const double share = static_cast<double>(when - before.at_ns) / static_cast<double>(after->at_ns - before.at_ns);
    return static_cast<double>(before.cpu_ns) + share * static_cast<double>(after->cpu_ns - before.cpu_ns);
  };
  return static_cast<std::int64_t>(at(window.end_ns) - at(window.begin_ns));
}

std::vector<Sample> process_samples(const Rank& rank) {
  std::vector<Sample> samples;
  for (const ThreadCpuRecord& record : rank.thread_cpu) {
    if (tid_of(record.global_tid) == 0) samples.push_back({record.timestamp_ns, record.cpu_ns});
  }
  return samples;
}

double cores_allowed(const Rank& rank) {
  for (const NamedValue& fact : rank.run.environment) {
    double cores = 0;
    if (fact.name != "cpu.cores_allowed") continue;
    std::from_chars(fact.value.data(), fact.value.data() + fact.value.size(), cores);
    return cores;
  }
  return 0;
}

// The processes below one, from what the launcher saw; by process id, which suffices within one recording.
std::set<std::uint64_t> descendants(const Launcher& launcher, std::uint64_t ancestor) {
  std::set<std::uint64_t> found;
  for (bool grown = true; grown;) {
    grown = false;
    for (const ProcessRecord& process : launcher.processes) {
      const bool below = process.parent_global_pid == ancestor || found.count(process.parent_global_pid) != 0;
      if (below && process.global_pid != ancestor) grown |= found.insert(process.global_pid).second;
    }
  }
  return found;
}

// A worker of a rank that recorded a file of its own: its time is counted with the rank's first process.
bool is_below_its_rank(const Trace& trace, const Rank& rank) {
  return std::any_of(trace.launchers.begin(), trace.launchers.end(), [&](const Launcher& launcher) {
    return launcher.run.host == rank.run.host &&
           std::any_of(trace.ranks.begin(), trace.ranks.end(), [&](const Rank& other) {
             return other.run.rank == rank.run.rank && other.run.host == rank.run.host &&
                    descendants(launcher, other.run.global_pid).count(rank.run.global_pid) != 0;
           });
  });
}

std::int64_t children_cpu(const Trace& trace, const Rank& rank, Interval window) {
  std::int64_t sum = 0;
  for (const Launcher& launcher : trace.launchers) {
    if (launcher.run.host != rank.run.host) continue;
    const std::set<std::uint64_t> below = descendants(launcher, rank.run.global_pid);
    const std::int64_t shift = rank.run.utc_epoch_ns - launcher.run.utc_epoch_ns;
    std::map<std::uint64_t, std::vector<Sample>> by_process;
    for (const ProcessCpuRecord& record : launcher.process_cpu) {
      if (below.count(record.global_pid) != 0)
        by_process[record.global_pid].push_back({record.timestamp_ns - shift, record.cpu_ns});
    }
    for (const auto& [process, samples] : by_process)
      sum += used_in(samples, window);
  }
  return sum;
}

}  // namespace

std::optional<double> CpuUtilization::utilization() const {
  if (cores_allowed <= 0 || window.length() <= 0) return std::nullopt;
  return static_cast<double>(process_cpu_ns + children_cpu_ns) / (static_cast<double>(window.length()) * cores_allowed);
}

std::vector<CpuUtilization> cpu_utilization(const Trace& trace, const RunScope& scope) {
  std::vector<CpuUtilization> rows;
  for (std::size_t i = 0; i < trace.ranks.size(); ++i) {
    const Rank& rank = trace.ranks[i];
    const std::vector<Sample> samples = process_samples(rank);
    if (samples.size() < 2 || is_below_its_rank(trace, rank) || !scope.has_rank(i)) continue;
    const Interval window = scope.host_window(i);
    CpuUtilization row;
    row.rank = rank.run.rank;
    row.window = window.length() > 0 ? window : Interval{samples.front().at_ns, samples.back().at_ns};
    row.process_cpu_ns = used_in(samples, row.window);
    row.children_cpu_ns = children_cpu(trace, rank, row.window);
    row.cores_allowed = cores_allowed(rank);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace swinscope

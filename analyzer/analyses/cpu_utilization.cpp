#include "analyzer/analyses/cpu_utilization.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "analyzer/table/cells.h"

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

double cores_allowed(const RunInfo& run) {
  for (const NamedValue& fact : run.environment) {
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

// What the launcher saw of a command of which no process recorded itself, by rank. Its totals are exact; samples are
// not needed.
void add_rows_of(const Launcher& launcher, std::vector<CpuUtilization>& rows) {
  std::map<std::uint64_t, std::int64_t> last_sample_ns;
  for (const ProcessCpuRecord& sample : launcher.process_cpu)
    last_sample_ns[sample.global_pid] = std::max(last_sample_ns[sample.global_pid], sample.timestamp_ns);
  std::map<std::uint64_t, std::int32_t> rank_of;
  for (const ProcessRecord& process : launcher.processes)
    rank_of[process.global_pid] = process.rank;
  std::map<std::int32_t, CpuUtilization> by_rank;
  for (const ProcessRecord& process : launcher.processes) {
    const std::int64_t end_ns =
        process.end_ns == kOpenEnd ? std::max(process.start_ns, last_sample_ns[process.global_pid]) : process.end_ns;
    const auto [row, is_new] = by_rank.try_emplace(process.rank);
    Interval& window = row->second.window;
    window = is_new ? Interval{process.start_ns, end_ns}
                    : Interval{std::min(window.begin_ns, process.start_ns), std::max(window.end_ns, end_ns)};
    const auto parent = rank_of.find(process.parent_global_pid);
    const bool below = parent != rank_of.end() && parent->second == process.rank;
    (below ? row->second.children_cpu_ns : row->second.process_cpu_ns) += process.cpu_ns;
    row->second.children_cpu_ns += process.unseen_cpu_ns;
  }
  for (auto& [rank, row] : by_rank) {
    row.rank = rank;
    row.cores_allowed = cores_allowed(launcher.run);
    rows.push_back(row);
  }
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
    row.cores_allowed = cores_allowed(rank.run);
    rows.push_back(row);
  }
  if (trace.ranks.empty()) {
    for (const Launcher& launcher : trace.launchers)
      add_rows_of(launcher, rows);
  }
  return rows;
}

Table cpu_utilization_table(const std::vector<CpuUtilization>& ranks) {
  Table table{"cpu_utilization",
              "CPU utilization",
              {{"rank", "rank", Unit::kCount},
               {"window_ns", "window", Unit::kDuration},
               {"process_cpu_ns", "process", Unit::kDuration},
               {"children_cpu_ns", "its children", Unit::kDuration},
               {"cores_allowed", "cores allowed", Unit::kNumber},
               {"cpu_util_percent", "CPU utilization", Unit::kPercent}},
              {}};
  for (const CpuUtilization& r : ranks) {
    const auto used = r.utilization();
    table.rows.push_back({r.rank == kNoRank ? Cell() : int_cell(r.rank), r.window.length(), r.process_cpu_ns,
                          r.children_cpu_ns, r.cores_allowed > 0 ? Cell(r.cores_allowed) : Cell(),
                          used ? Cell(100 * *used) : Cell()});
  }
  return table;
}

}  // namespace swinscope

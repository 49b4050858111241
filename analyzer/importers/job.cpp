#include "analyzer/importers/job.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "analyzer/importers/file_facts.h"
#include "analyzer/importers/ranks.h"

namespace swinscope {
namespace {

// Times from which the clock began at the epoch, not with the recording.
constexpr std::int64_t kYear2001Ns = 1'000'000'000'000'000'000;

bool is_own(const FileProcess& process) { return process.run.source == "swinscope"; }

bool is_stated(const FileProcess& process) {
  return is_own(process) ||
         std::ranges::find(process.run.collector, kRankStatedBy, &NamedValue::name) != process.run.collector.end();
}

// An import has given the rank: the file has the name that it, or an export of it, gave.
bool is_settled(const FileProcess& process) {
  const std::string name = process.file.filename().string();
  const std::string given = fmt::format("rank{}", process.run.rank);
  const bool has_given_name =
      name == given + ".db" || name == given + ".kineto.json" || name == given + ".kineto.json.gz";
  return is_stated(process) || (has_given_name && process.run.source_file != name);
}

bool has_events(const FileProcess& process) { return process.records > 0; }
bool has_clock(const FileProcess& process) {
  return process.run.utc_epoch_ns > 0 || process.span.begin_ns > kYear2001Ns;
}

bool differ(const std::string& a, const std::string& b) { return !a.empty() && !b.empty() && a != b; }

bool on_one_machine(const FileProcess& a, const FileProcess& b) {
  return !differ(a.run.host, b.run.host) && !differ(a.run.command, b.run.command) &&
         (a.run.gpus.empty() || b.run.gpus.empty() || a.run.gpus == b.run.gpus);
}

// Ranks that did the same at the same time, in containers where all have the same id, have numbers in their names.
bool is_copy(const FileProcess& a, const FileProcess& b) {
  return a.file != b.file && pid_of(a.run.global_pid) != 0 && pid_of(a.run.global_pid) == pid_of(b.run.global_pid) &&
         has_events(a) && a.records == b.records && a.span == b.span && a.run.utc_epoch_ns == b.run.utc_epoch_ns &&
         a.run.rank == b.run.rank && rank_in_name(a.file) == rank_in_name(b.file) && on_one_machine(a, b);
}

// Whether both can have been recorded in one process.
bool of_one_process(const FileProcess& a, const FileProcess& b) {
  if (a.file == b.file || is_own(a) || is_own(b) || !on_one_machine(a, b)) return false;
  const std::uint32_t pid_a = pid_of(a.run.global_pid);
  const std::uint32_t pid_b = pid_of(b.run.global_pid);
  if (is_stated(a) != is_stated(b)) return false;
  if (is_stated(a)) {
    // A rank of a job that was started again goes on in another process.
    return a.run.rank == b.run.rank && a.run.world_size == b.run.world_size &&
           (a.run.world_size > 1 || pid_a == pid_b || pid_a == 0 || pid_b == 0);
  }
  const std::string worker = trace_handler_worker(a.file);
  if (!worker.empty()) return worker == trace_handler_worker(b.file);
  return pid_a != 0 && pid_a == pid_b && rank_in_name(a.file) == rank_in_name(b.file);
}

bool apart(const FileProcess& a, const FileProcess& b) {
  if (!has_events(a) || !has_events(b) || !has_clock(a) || !has_clock(b)) return false;
  const std::int64_t offset = b.run.utc_epoch_ns - a.run.utc_epoch_ns;
  return a.span.end_ns <= b.span.begin_ns + offset || b.span.end_ns + offset <= a.span.begin_ns;
}

std::string name_of(const FileProcess& process) { return process.file.filename().string(); }

// Lists "a.json -> 0, b.json -> 1", the first few.
class RankList {
 public:
  void add(const FileProcess& process, std::int32_t rank) {
    constexpr int kMost = 16;
    if (++count_ <= kMost) text_ += fmt::format("{}{} -> {}", count_ == 1 ? "" : ", ", name_of(process), rank);
    if (count_ == kMost + 1) text_ += ", …";
  }
  int count() const { return count_; }
  const std::string& text() const { return text_; }

 private:
  int count_ = 0;
  std::string text_;
};

class Settling {
 public:
  explicit Settling(const std::vector<FileProcess>& processes) : processes_(processes) {
    job_.places.resize(processes.size());
    order_.resize(processes.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    for (const std::size_t i : order_)
      job_.places[i].head = i;
    std::ranges::stable_sort(order_, natural_less, [&](std::size_t i) { return processes_[i].file.string(); });
    std::erase_if(order_, [&](std::size_t i) { return processes_[i].run.rank == kNoRank; });
    for (std::size_t i = 0; i < processes.size(); ++i)
      job_.places[i].rank = processes[i].run.rank;
  }

  Job settle() {
    leave_out_copies();
    join_processes();
    say_contradictions();
    number_ranks();
    for (Place& place : job_.places)
      place.rank = job_.places[place.head].rank;
    return std::move(job_);
  }

 private:
  void leave_out_copies() {
    for (auto later = order_.begin(); later != order_.end(); ++later) {
      const auto first = std::find_if(order_.begin(), later,
                                      [&](std::size_t i) { return is_copy(processes_[i], processes_[*later]); });
      if (first == later) continue;
      job_.places[*later] = {*first, 0, true, 0};
      job_.notes.push_back(fmt::format("{} holds the same events as {}: they count once", name_of(processes_[*later]),
                                       name_of(processes_[*first])));
    }
    std::erase_if(order_, [&](std::size_t i) { return job_.places[i].twice; });
  }

  // Later windows join the first one; what remains in order_ are heads.
  void join_processes() {
    std::vector<std::size_t> by_time = order_;
    std::ranges::stable_sort(
        by_time, {}, [&](std::size_t i) { return processes_[i].run.utc_epoch_ns + processes_[i].span.begin_ns; });
    std::map<std::size_t, std::vector<std::size_t>> windows;  // by head
    for (const std::size_t i : by_time) {
      const auto home = std::ranges::find_if(windows, [&](const auto& entry) {
        return of_one_process(processes_[entry.first], processes_[i]) &&
               std::ranges::all_of(entry.second, [&](std::size_t w) { return apart(processes_[w], processes_[i]); });
      });
      if (home == windows.end()) {
        windows[i] = {i};
        continue;
      }
      home->second.push_back(i);
      const std::int64_t epoch_ns = processes_[home->first].run.utc_epoch_ns;
      job_.places[i] = {home->first, processes_[i].run.utc_epoch_ns - epoch_ns, false, 0};
    }
    for (const auto& [head, members] : windows) {
      if (members.size() > 1) say_windows(members);
    }
    std::erase_if(order_, [&](std::size_t i) { return job_.places[i].head != i; });
  }

  void say_windows(const std::vector<std::size_t>& members) {
    std::string names;
    std::set<std::uint32_t> pids;
    for (const std::size_t i : members) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(processes_[i]));
      pids.insert(pid_of(processes_[i].run.global_pid));
    }
    job_.notes.push_back(
        fmt::format("{} windows of one {}: {}", members.size(), pids.size() > 1 ? "rank" : "process", names));
    if (pids.size() > 1) {
      job_.doubts.push_back(
          fmt::format("the windows of rank {} are of {} processes, as if the job had been started again",
                      processes_[members.front()].run.rank, pids.size()));
    }
  }

  // No process of a job has the rank of another. Workers, which our recordings have, are no contradiction.
  void say_contradictions() {
    std::map<std::int32_t, std::vector<std::size_t>> stated;
    for (const std::size_t i : order_) {
      if (is_stated(processes_[i]) && !is_own(processes_[i])) stated[processes_[i].run.rank].push_back(i);
    }
    for (const auto& [rank, members] : stated) {
      if (members.size() < 2) continue;
      std::string names;
      for (const std::size_t i : members)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(processes_[i]));
      const std::string line = fmt::format("{} files say that they are rank {}: {}", members.size(), rank, names);
      job_.notes.push_back(line);
      job_.doubts.push_back(line);
    }
  }

  void number_ranks() {
    std::set<std::int32_t> taken;
    std::vector<std::size_t> unknown;
    for (const std::size_t i : order_) {
      if (is_settled(processes_[i])) {
        taken.insert(processes_[i].run.rank);
      } else {
        unknown.push_back(i);
      }
    }
    const bool several = order_.size() > 1 && std::ranges::any_of(order_, [&](std::size_t i) {
                           return processes_[i].file != processes_[order_.front()].file;
                         });
    if (unknown.empty() || (!several && order_.size() > 1)) return;
    number_by_name(unknown, taken, several);
    number_by_order(unknown, taken);
  }

  // Only where no two of them have the same number. Those without one stay unknown.
  void number_by_name(std::vector<std::size_t>& unknown, std::set<std::int32_t>& taken, bool several) {
    std::map<std::size_t, std::int32_t> numbers;
    std::set<std::int32_t> seen = taken;
    // Files of one name may lie in folders of their ranks.
    const bool folders = std::ranges::any_of(unknown, [&](std::size_t i) {
      return processes_[i].file.parent_path() != processes_[unknown.front()].file.parent_path();
    });
    for (const std::size_t i : unknown) {
      auto number = rank_in_name(processes_[i].file);
      if (!number && folders) number = rank_in_name(processes_[i].file.parent_path());
      if (number && !seen.insert(*number).second) return;
      if (number) numbers[i] = *number;
    }
    RankList list;
    for (const auto& [i, number] : numbers)
      job_.places[i].rank = number;
    for (const std::size_t i : unknown) {
      if (numbers.contains(i)) list.add(processes_[i], numbers.at(i));
    }
    taken = std::move(seen);
    std::erase_if(unknown, [&](std::size_t i) { return numbers.contains(i); });
    if (list.count() > 0 && several) {
      job_.notes.push_back(fmt::format("ranks are the numbers in the file names: {}", list.text()));
    }
  }

  void number_by_order(const std::vector<std::size_t>& unknown, std::set<std::int32_t>& taken) {
    if (order_.size() == 1) return;
    RankList list;
    std::int32_t next = 0;
    for (const std::size_t i : unknown) {
      while (taken.contains(next))
        ++next;
      taken.insert(next);
      job_.places[i].rank = next;
      list.add(processes_[i], next);
    }
    if (list.count() > 0) {
      job_.notes.push_back(fmt::format(
          "the files do not say their ranks; they are numbered in the order of their names: {}", list.text()));
    }
  }

  const std::vector<FileProcess>& processes_;
  std::vector<std::size_t> order_;  // of processes, by the names of their files
  Job job_;
};

template <typename Fact>
void add_new(std::vector<Fact>& to, const std::vector<Fact>& more) {
  for (const Fact& fact : more) {
    if (std::ranges::find(to, fact) == to.end()) to.push_back(fact);
  }
}

void join_runs(RunInfo& run, Interval span, const RunInfo& next, Interval next_span, std::int64_t offset_ns) {
  if (run.windows.empty()) run.windows.push_back({span.begin_ns, span.end_ns});
  std::vector<WindowInfo> windows = next.windows;
  if (windows.empty()) windows.push_back({next_span.begin_ns, next_span.end_ns});
  for (const WindowInfo& window : windows)
    run.windows.push_back({window.start_ns + offset_ns, window.end_ns + offset_ns});
  std::ranges::sort(run.windows, {}, &WindowInfo::start_ns);
  run.source_file += ", " + next.source_file;
  run.complete &= next.complete;
  run.graph_level_only |= next.graph_level_only;
  add_new(run.gpus, next.gpus);
  add_new(run.contexts, next.contexts);
  add_new(run.streams, next.streams);
  add_new(run.processes, next.processes);
  add_new(run.threads, next.threads);
  add_new(run.environment, next.environment);
  add_new(run.collector, next.collector);
  for (const DropInfo& drop : next.drops) {
    const auto same = std::ranges::find_if(
        run.drops, [&](const DropInfo& known) { return known.what == drop.what && known.reason == drop.reason; });
    if (same == run.drops.end()) {
      run.drops.push_back(drop);
    } else {
      same->count += drop.count;
    }
  }
}

}  // namespace

Job settle_job(const std::vector<FileProcess>& processes) { return Settling(processes).settle(); }

void FileProcess::add_events_of(const FileProcess& other) {
  std::ranges::copy(other.run.drops, std::back_inserter(run.drops));
  if (other.records == 0) return;
  span = records == 0
             ? other.span
             : Interval{std::min(span.begin_ns, other.span.begin_ns), std::max(span.end_ns, other.span.end_ns)};
  records += other.records;
  correlations = std::max(correlations, other.correlations);
}

RecordShift join_windows(FileProcess& process, const FileProcess& next, std::int64_t offset_ns) {
  // Ids may begin anew with a window.
  const std::uint64_t most = std::numeric_limits<decltype(KernelRecord::correlation)>::max();
  const RecordShift shift{offset_ns, process.correlations <= most - next.correlations ? process.correlations : 0};
  join_runs(process.run, process.span, next.run, next.span, offset_ns);
  const Interval moved{next.span.begin_ns + offset_ns, next.span.end_ns + offset_ns};
  process.add_events_of({{}, {}, moved, next.records, next.correlations + shift.correlations});
  return shift;
}

}  // namespace swinscope

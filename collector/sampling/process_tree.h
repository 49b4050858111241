// CPU time of all the processes below one, from samples, however short they live.
//
// A sample shows each living process's own time, and that of the children it has waited for as one sum. A process that
// ended between two samples has its last part in its parent's sum only, and one that was never seen has all of it
// there. Processes that the launcher itself waits for have an exact total (wait4). Hence, with K the known children
// that a process waited for and T(k) = own(k) + max(children(k), sum of T over k's own K):
//   unseen = max(0, children - sum of T over K), less what each of K may have used on one core between the last sample
//            with it and the first without it, which is added to theirs
//   own    = as last seen + (exact total - own - max(children, sum of T over K)) for those that have an exact total
// so that own and unseen times of a subtree sum to all that its root accounted for. What nobody waited for (a parent
// that ignores SIGCHLD) is as last seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "collector/base/process_stat.h"
#include "store/records.h"

namespace swinscope {

struct TreeProcess {
  static constexpr std::size_t kNone = ~std::size_t{0};

  ProcessStat stat;            // as last seen
  std::size_t parent = kNone;  // the process that started it (the command where nobody saw which), kNone for
                               // the command itself
  std::size_t waiter = kNone;  // the process that would wait for it now; kNone: the launcher
  std::int64_t start_ns = 0;   // CLOCK_MONOTONIC, as all times
  std::int64_t first_seen_ns = 0;
  std::int64_t last_seen_ns = 0;
  std::int64_t end_ns = kOpenEnd;  // the first sample without it
  std::int64_t own_ns = 0;         // as last seen; final after finish()
  std::int64_t unseen_ns = 0;      // after finish()
  std::int64_t max_rss_bytes = 0;
  std::optional<std::int64_t> total_ns;  // exact, own and waited-for children
  std::int32_t rank = kNoRank;           // what its environment said; final after assign_ranks()
  std::string command;

  bool is_alive() const { return end_ns == kOpenEnd; }
};

class ProcessTree {
 public:
  // All processes below the launcher at this moment. Returns the indices of those that are new, or have a new name
  // (exec).
  std::vector<std::size_t> sample(std::int64_t now_ns, const std::vector<ProcessStat>& stats);
  // A process has ended and nobody waited for it yet: what it and the children that it waited for have used is final.
  void last_look(const ProcessStat& stat);
  // The launcher waited for a process; `cpu_ns` is that of the process and of the children it waited for.
  void reaped(pid_t pid, std::int64_t cpu_ns, std::int64_t now_ns);
  // No process is left, or those that are will not be waited for. Settles own and unseen times.
  void finish();

  // Gives each process the rank of its own environment, else that of the process which started it. `known` (pid ->
  // rank) are processes that told their rank themselves. When nobody has a rank, the command is rank 0.
  void assign_ranks(const std::map<pid_t, std::int32_t>& known);

  std::vector<TreeProcess>& processes() { return processes_; }
  const std::vector<TreeProcess>& processes() const { return processes_; }

 private:
  std::size_t find_alive(pid_t pid) const;
  void settle(std::size_t index, const std::vector<std::vector<std::size_t>>& children,
              std::vector<std::int64_t>& totals);

  std::vector<TreeProcess> processes_;
  std::map<pid_t, std::size_t> alive_;
};

}  // namespace swinscope

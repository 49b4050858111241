// Several ranks in one PyTorch trace: traces that were merged into one file (by hand, by SGLang, by a script).
//
// A process is a rank when it has steps, or launches GPU work; workers of a loader and the profiler's own processes are
// none. GPU events carry a device instead of a process, and every process counts its correlation ids from 1: an event
// belongs to the rank whose label stands in its process id or process name ("[TP00] 0", "rank 1"); else, where one
// trace stands behind the other in the file, to the trace in which it stands; else to the only rank that launched with
// its correlation id, or to the rank of all the others of its device, or to the only rank that launched early enough.
// What that does not decide is refused: a merged rank would have wrong figures everywhere.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/importers/kineto_event.h"
#include "analyzer/importers/kineto_processes.h"

namespace swinscope {

// A GPU event as far as it matters to whom it belongs.
struct GpuClaim {
  std::int64_t process = 0;  // ProcessKeys, of its row
  std::int64_t device = 0;
  std::int64_t correlation = 0;
  std::int64_t order = 0;  // in the file
  std::int64_t start_ns = 0;
  std::int64_t graph_node = 0;
  bool is_work = false;  // a kernel, copy or set

  static GpuClaim of(const KinetoEvent& event, KinetoKind kind, std::int64_t process, std::int64_t order);
};

// Which events belong to which rank of a file.
class RankPlan {
 public:
  struct Member {
    std::int32_t number = 0;
    std::int64_t process = 0;
    std::uint64_t pid = 0;
    std::string name;
  };
  const std::vector<Member>& ranks() const { return ranks_; }
  // "processes 4000 and 4001; the ranks are numbered in the order of the process ids"
  const std::string& explanation() const { return explanation_; }
  // The numbers are those that the trace states.
  bool is_labelled() const { return is_labelled_; }

  std::size_t of_host(std::int64_t process, std::int64_t order) const;
  std::optional<std::size_t> of_gpu(const GpuClaim& claim) const;

 private:
  friend class RankSurvey;
  using Group = std::pair<std::int64_t, std::int64_t>;  // process and device of GPU rows
  static constexpr std::size_t kSeveral = SIZE_MAX;

  std::optional<std::size_t> by_order(const GpuClaim& claim) const;

  std::vector<Member> ranks_;
  std::string explanation_;
  bool is_labelled_ = false;
  std::map<std::int64_t, std::size_t> hosts_;
  std::map<Group, std::size_t> groups_;  // those that belong to one rank as a whole
  std::unordered_map<std::int64_t, std::size_t> correlations_;
  std::vector<std::pair<std::int64_t, std::size_t>> order_;  // where the trace of a rank begins; empty: they are mixed
};

// Collects what the plan needs: in memory that grows with the launches and GPU events of the file.
class RankSurvey {
 public:
  void take_host(const KinetoEvent& event, KinetoKind kind, std::int64_t process, std::int64_t order);
  void take_gpu(const GpuClaim& claim) { claims_.push_back(claim); }
  void take_name(std::int64_t process, std::string_view name);

  // Fewer than two ranks: the file is one rank after all. Throws Error(kInput) when GPU events cannot be told apart.
  RankPlan decide(const std::string& path, const ProcessKeys& keys) const;

 private:
  struct Process {
    std::int64_t first = INT64_MAX;
    std::int64_t last = -1;
    bool steps = false;
    bool launches = false;
    bool operators = false;
  };
  struct Launch {
    std::int64_t correlation;
    std::int64_t process;
    std::int64_t start_ns;
  };

  struct Candidate {
    RankLabel label;
    std::vector<std::int64_t> processes;
  };

  std::set<std::int64_t> rank_processes() const;
  std::vector<Candidate> candidates(const ProcessKeys& keys) const;
  RankLabel label(std::int64_t process, const ProcessKeys& keys) const;
  void settle_ranks(RankPlan& plan, const ProcessKeys& keys) const;
  void settle_order(RankPlan& plan) const;
  void settle_other_hosts(RankPlan& plan, const ProcessKeys& keys) const;
  void settle_correlations(RankPlan& plan) const;
  void settle_groups(RankPlan& plan, const ProcessKeys& keys) const;
  bool settle_by_label(RankPlan& plan, const ProcessKeys& keys) const;
  bool settle_by_offset(RankPlan& plan, const std::set<RankPlan::Group>& open) const;
  std::set<RankPlan::Group> shared_groups(const RankPlan& plan) const;
  void settle_by_votes(RankPlan& plan, const std::set<RankPlan::Group>& open) const;
  void settle_by_time(RankPlan& plan, const std::set<RankPlan::Group>& open) const;
  void refuse_undecided(const RankPlan& plan, const std::string& path) const;

  std::map<std::int64_t, Process> processes_;
  std::map<std::int64_t, std::string> names_;
  std::vector<Launch> launches_;
  std::vector<GpuClaim> claims_;
};

}  // namespace swinscope

#include "advisor/loss_intervals.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "advisor/graph.h"
#include "advisor/replay.h"
#include "analyzer/analyses/work_calls.h"
#include "store/error.h"

namespace swinscope {
namespace {

constexpr double kBound = 0.05;  // of the step: above it the replay is not good enough

class ReplayedRun {
 public:
  ReplayedRun(const RunFacts& run, const WorkDifference& difference)
      : run_(run), difference_(difference), graph_(make_graph(run)) {
    const Replay unchanged = replay(graph_);
    const ReplayError error = replay_error(graph_, unchanged, run);
    if (error.step_error() > kBound) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("{}: its replay is {:.1f} % off", run.trace.path, 100 * error.step_error()),
                  "effects of causes are differences of replayed steps");
    }
    error_ns_ = static_cast<double>(std::abs(error.replayed_step_ns - error.traced_step_ns));
    step_ns_ = static_cast<double>(replayed_step_ns(graph_, unchanged, run));
    for (std::size_t r = 0; r < graph_.ranks.size(); ++r) {
      for (NodeIndex i = 0; i < graph_.ranks[r].ops.size(); ++i)
        node_of_[{graph_.ranks[r].rank_index, graph_.ranks[r].ops[i].event}] = {r, i};
    }
  }

  double error_ns() const { return error_ns_; }
  double step_ns() const { return step_ns_; }

  // What the step gets shorter by. What is before the measured steps stays: ranks are to begin them as they did.
  double without(const std::function<void(DependencyGraph&)>& edit) const {
    DependencyGraph edited = graph_;
    edit(edited);
    return step_ns_ - static_cast<double>(replayed_step_ns(edited, replay(edited), run_));
  }

  // The same where calls take so much less: `less_ns` of their change, of a call of the scope.
  double with_less(const std::function<double(const WorkChange&, const WorkCall&)>& less_ns) const {
    std::map<WorkKey, const WorkChange*> changes;
    for (const WorkChange& change : difference_.changes)
      changes[change.key] = &change;
    const WorkCalls work(run_);
    std::vector<const WorkChange*> change_of_key;
    for (const WorkKey& key : work.keys()) {
      const auto found = changes.find(matched_key(key, difference_));
      change_of_key.push_back(found == changes.end() ? nullptr : found->second);
    }
    return without([&](DependencyGraph& graph) {
      for (const WorkCall& call : work.calls()) {
        const auto node = node_of_.find({call.rank_index, call.event});
        if (change_of_key[call.key] == nullptr || node == node_of_.end()) continue;
        OpNode& op = graph.ranks[node->second.first].ops[node->second.second];
        const double less = less_ns(*change_of_key[call.key], call);
        op.duration_ns = std::max<std::int64_t>(0, op.duration_ns - std::llround(less));
      }
    });
  }

  double without_ops(const std::function<void(const Rank&, OpNode&)>& edit) const {
    return without([&](DependencyGraph& graph) {
      for (RankGraph& rank : graph.ranks) {
        for (OpNode& op : rank.ops) {
          if (run_.scope.has_gpu_event(rank.rank_index, op.event)) edit(run_.trace.ranks[rank.rank_index], op);
        }
      }
    });
  }

  // The host's calls, and what it does between them, take no time.
  double without_host() const {
    return without([&](DependencyGraph& graph) {
      for (RankGraph& rank : graph.ranks) {
        const ApiCalls& api = run_.trace.ranks[rank.rank_index].api;
        for (CallNode& call : rank.calls) {
          if (run_.scope.has_host_time(rank.rank_index, api.start_ns[call.event]))
            call.own_ns = call.segment_ns = call.handed_ns = 0;
        }
      }
    });
  }

 private:
  const RunFacts& run_;
  const WorkDifference& difference_;
  DependencyGraph graph_;
  double step_ns_ = 0;
  double error_ns_ = 0;
  std::map<std::pair<std::size_t, EventIndex>, std::pair<std::size_t, NodeIndex>> node_of_;
};

bool communicates(const Rank& rank, const OpNode& op) {
  return rank.gpu.gpu_class[op.event] == GpuClass::kCommunication;
}

void no_transfer(const Rank& rank, OpNode& op) {
  if (communicates(rank, op)) op.duration_ns = 0;
}
void no_waiting(const Rank& /*rank*/, OpNode& op) { op.collective = kNoNode; }
void no_copies(const Rank& rank, OpNode& op) {
  if (rank.gpu.gpu_class[op.event] == GpuClass::kMemory) op.duration_ns = 0;
}
void no_gap(const Rank& /*rank*/, OpNode& op) { op.gap_ns = std::min<std::int64_t>(0, op.gap_ns); }

// Of one call; 0 where there are none to share it.
double share(double ns, double calls) { return calls > 0 ? ns / calls : 0; }

double slowed_beside(const WorkChange& change, const WorkCall& call) {
  return call.is_beside ? share(change.beside_ns, change.beside_calls) : 0;
}
double slowed_alone(const WorkChange& change, const WorkCall& call) {
  return call.is_beside ? 0 : share(change.slowed_ns, change.other.calls - change.beside_calls);
}
double new_work(const WorkChange& change, const WorkCall& /*call*/) {
  return share(change.work_ns, change.other.calls);
}

class Intervals {
 public:
  Intervals(const ReplayedRun& base, const ReplayedRun& other, double base_times, std::int64_t half_width_ns)
      : base_(base),
        other_(other),
        times_(base_times),
        error_ns_(std::hypot(base.error_ns(), other.error_ns(), static_cast<double>(half_width_ns))) {}

  void taken_out_of_both(LossPart part, double of_base, double of_other) {
    const double effect = of_other - times_ * of_base;
    set(part, effect, effect);
  }

  void taken_out_of_both(LossPart part, const std::function<void(const Rank&, OpNode&)>& edit) {
    taken_out_of_both(part, base_.without_ops(edit), other_.without_ops(edit));
  }

  void slowed(LossPart part, const std::function<double(const WorkChange&, const WorkCall&)>& less,
              const std::function<double(const WorkChange&)>& more) {
    const double taken_out = other_.with_less(less);
    const double put_in =
        -times_ * base_.with_less([&](const WorkChange& change, const WorkCall&) { return -more(change); });
    set(part, taken_out, put_in);
  }

  void only_taken_out(LossPart part, double effect) { set(part, effect, effect); }

  const LossIntervals& all() const { return all_; }

 private:
  void set(LossPart part, double one, double two) {
    all_[static_cast<std::size_t>(part)] = {std::llround(std::min(one, two) - error_ns_),
                                            std::llround(std::max(one, two) + error_ns_)};
  }

  const ReplayedRun& base_;
  const ReplayedRun& other_;
  double times_;
  double error_ns_;
  LossIntervals all_;
};

}  // namespace

LossEffects loss_effects(const RunFacts& base, const RunFacts& other, const WorkDifference& difference,
                         double base_times) {
  const ReplayedRun of_base(base, difference);
  const ReplayedRun of_other(other, difference);
  Intervals intervals(of_base, of_other, base_times, difference.half_width_ns.value_or(0));
  const bool is_matched = difference.part(LossPart::kWire) != 0;
  const double transfer_ns = of_other.without_ops(no_transfer);
  intervals.taken_out_of_both(is_matched ? LossPart::kWire : LossPart::kCommunication, of_base.without_ops(no_transfer),
                              transfer_ns);
  intervals.taken_out_of_both(LossPart::kWait, no_waiting);
  intervals.taken_out_of_both(LossPart::kCopies, no_copies);
  intervals.taken_out_of_both(LossPart::kHost, of_base.without_host(), of_other.without_host());
  intervals.taken_out_of_both(LossPart::kGaps, no_gap);
  // At the base, whose calls are what they are whatever is communicated, each takes its share of the part.
  intervals.slowed(LossPart::kBeside, slowed_beside,
                   [](const WorkChange& change) { return share(change.beside_ns, change.base.calls); });
  intervals.slowed(LossPart::kSlowed, slowed_alone,
                   [](const WorkChange& change) { return share(change.slowed_ns, change.base.calls); });
  intervals.only_taken_out(LossPart::kWork, of_other.with_less(new_work));
  return {intervals.all(), 1 - transfer_ns / of_other.step_ns()};
}

}  // namespace swinscope

#include "advisor/replay.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "analyzer/base/statistics.h"

namespace swinscope {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

// One rank's part of a replay: goes on until it needs the end of a collective that other ranks have not come to.
class RankReplay {
 public:
  RankReplay(const RankGraph& graph) : graph_(graph) {
    times_.calls.resize(graph.calls.size());
    times_.ops.resize(graph.ops.size());
    is_known_.resize(graph.ops.size(), false);
  }

  // Whether anything was done. `arrived` is called for each member of a collective when its start is known.
  template <typename Arrived>
  bool advance(const Arrived& arrived) {
    bool has_moved = false;
    for (; next_ < graph_.order.size(); ++next_, next_op_ = 0, has_call_ = false, has_moved = true) {
      const OrderedNode& node = graph_.order[next_];
      if (node.call == kNoNode) {
        if (!place(node.op, arrived)) return has_moved;
        continue;
      }
      if (!has_call_ && !begin(node.call)) return has_moved;
      has_call_ = true;
      const CallNode& call = graph_.calls[node.call];
      for (; call.ops.begin + next_op_ < call.ops.end; ++next_op_, has_moved = true) {
        if (!place(call.ops.begin + next_op_, arrived)) return has_moved;
      }
      if (!finish(node.call)) return has_moved;
    }
    return has_moved;
  }
  bool is_done() const { return next_ == graph_.order.size(); }

  void resolve(NodeIndex op, std::int64_t end_ns) {
    times_.ops[op].end_ns = end_ns;
    is_known_[op] = true;
  }
  // What the rank waits for that other ranks should have resolved; kNoNode: nothing.
  NodeIndex missing() const { return missing_; }
  const NodeTimes& op(NodeIndex index) const { return times_.ops[index]; }
  RankTimes take() { return std::move(times_); }

 private:
  bool is_known(NodeIndex op) {
    if (is_known_[op]) return true;
    missing_ = op;
    return false;
  }

  bool begin(NodeIndex index) {
    const CallNode& call = graph_.calls[index];
    NodeTimes& times = times_.calls[index];
    times.start_ns = graph_.order[next_].time_ns;  // the first of its thread: when it begins is given
    if (call.before != kNoNode) {
      const std::int64_t segment_ns = call.handed_by == kNoNode ? call.segment_ns : 0;
      times = {times_.calls[call.before].end_ns + segment_ns, 0, call.before, Decider::kThread, kNoNode};
    }
    if (call.handed_by != kNoNode) {
      const std::int64_t handed_ns = times_.calls[call.handed_by].end_ns + call.handed_ns;
      if (call.before == kNoNode || handed_ns > times.start_ns)
        times = {handed_ns, 0, call.handed_by, Decider::kHandedOver, kNoNode};
    }
    if (call.is_launch && graph_.queue_length > 0) return wait_for_room(times);
    return true;
  }
  // The launch takes a place: the one so many launches before has to be done.
  bool wait_for_room(NodeTimes& times) {
    const auto length = static_cast<std::size_t>(graph_.queue_length);
    if (launches_.size() < length) return true;
    const NodeIndex before = launches_[launches_.size() - length];
    const Slice& ops = graph_.calls[before].ops;
    for (NodeIndex op = ops.begin; op < ops.end; ++op) {
      if (!is_known(op)) return false;
      if (times_.ops[op].end_ns > times.start_ns) times = {times_.ops[op].end_ns, 0, op, Decider::kQueue, kNoNode};
    }
    return true;
  }

  template <typename Arrived>
  bool place(NodeIndex index, const Arrived& arrived) {
    const OpNode& op = graph_.ops[index];
    if (op.before != kNoNode && !is_known(op.before)) return false;
    for (EventIndex i = op.waits.begin; i < op.waits.end; ++i)
      if (!is_known(graph_.op_waits[i])) return false;
    NodeTimes times{op.recorded_start_ns, 0, kNoNode, Decider::kNothing, kNoNode};
    // One that was removed is there no later than what is before it.
    if (op.call != kNoNode && (!op.is_removed || op.before == kNoNode)) {
      const std::int64_t latency_ns = op.is_removed ? 0 : op.latency_ns;
      times = {times_.calls[op.call].start_ns + latency_ns, 0, op.call, Decider::kLaunch, kNoNode};
    }
    const auto later = [&](NodeIndex other, std::int64_t delay_ns, Decider bound) {
      const std::int64_t start_ns = times_.ops[other].end_ns + delay_ns;
      if (start_ns > times.start_ns || times.bound == Decider::kNothing) times = {start_ns, 0, other, bound, kNoNode};
    };
    if (op.before != kNoNode) later(op.before, op.gap_ns, Decider::kStream);
    for (EventIndex i = op.waits.begin; i < op.waits.end; ++i)
      later(graph_.op_waits[i], op.wait_delay_ns, Decider::kEvent);
    const std::int64_t free_ns = op.before == kNoNode ? times.start_ns : times_.ops[op.before].end_ns;
    times.end_ns = std::max(times.start_ns, free_ns) + op.duration_ns;
    times_.ops[index] = times;
    if (op.collective == kNoNode) {
      is_known_[index] = true;
    } else {
      arrived(index, op.collective);
    }
    return true;
  }

  bool finish(NodeIndex index) {
    const CallNode& call = graph_.calls[index];
    NodeTimes& times = times_.calls[index];
    times.end_ns = times.start_ns + call.own_ns;
    for (EventIndex i = call.waits.begin; i < call.waits.end; ++i) {
      const NodeIndex op = graph_.call_waits[i];
      if (!is_known(op)) return false;
      const std::int64_t end_ns = times_.ops[op].end_ns + call.wake_ns;
      if (end_ns <= times.end_ns) continue;
      times.end_ns = end_ns;
      times.waited_for = op;
    }
    if (call.is_launch) launches_.push_back(index);
    return true;
  }

  const RankGraph& graph_;
  RankTimes times_;
  std::vector<bool> is_known_;       // whether an op's end is
  std::vector<NodeIndex> launches_;  // so far
  std::size_t next_ = 0;             // in the order
  NodeIndex next_op_ = 0;            // of the call that is under way
  bool has_call_ = false;            // has begun
  NodeIndex missing_ = kNoNode;
};

// A time of the host on a thread, in replayed time: as far after the end of the call before it, or before the next one.
class HostClock {
 public:
  HostClock(const Rank& rank, const RankGraph& graph, const RankTimes& times, std::uint32_t thread)
      : rank_(rank), graph_(graph), times_(times) {
    for (NodeIndex call = 0; call < graph.calls.size(); ++call)
      if (graph.calls[call].thread == thread) calls_.push_back(call);
  }

  std::optional<std::int64_t> replayed(std::int64_t time_ns) const {
    if (calls_.empty()) return std::nullopt;
    const auto next = std::ranges::upper_bound(calls_, time_ns, {}, [&](NodeIndex call) { return begin_of(call); });
    if (next == calls_.begin()) return times_.calls[*next].start_ns - (begin_of(*next) - time_ns);
    const NodeIndex call = *std::prev(next);
    const NodeTimes& times = times_.calls[call];
    const std::int64_t end_ns = rank_.api.end_ns[graph_.calls[call].event];
    if (time_ns < end_ns) return std::min(times.start_ns + (time_ns - begin_of(call)), times.end_ns);
    const bool is_handed = next != calls_.end() && graph_.calls[*next].handed_by != kNoNode;
    if (!is_handed) return times.end_ns + (time_ns - end_ns);
    return std::max(times.end_ns, times_.calls[*next].start_ns - (begin_of(*next) - time_ns));
  }

 private:
  std::int64_t begin_of(NodeIndex call) const { return rank_.api.start_ns[graph_.calls[call].event]; }
  const Rank& rank_;
  const RankGraph& graph_;
  const RankTimes& times_;
  std::vector<NodeIndex> calls_;
};

// The thread on which the steps are, else the one that launches most.
std::uint32_t thread_of_steps(const Rank& rank, const RankGraph& graph, const RankSteps& steps) {
  std::vector<std::size_t> launches(rank.api_lanes.size(), 0);
  for (const CallNode& call : graph.calls)
    if (call.is_launch) ++launches[call.thread];
  std::uint32_t most = 0;
  for (std::uint32_t thread = 0; thread < launches.size(); ++thread) {
    if (std::ranges::binary_search(steps.threads, rank.api_lanes[thread].global_tid) && launches[thread] > 0)
      return thread;
    if (launches[thread] > launches[most]) most = thread;
  }
  return most;
}

// Finds the windows of a rank's devices in replayed time.
class WindowFinder {
 public:
  WindowFinder(const RunFacts& run, const RankGraph& graph, const RankTimes& times)
      : rank_(run.trace.ranks[graph.rank_index]),
        graph_(graph),
        times_(times),
        steps_(run.scope.steps()[graph.rank_index]),
        thread_(thread_of_steps(rank_, graph, steps_)),
        clock_(rank_, graph, times, thread_) {}

  std::uint32_t thread() const { return thread_; }

  Interval of(std::int32_t device, const Interval& recorded, const Interval& host) const {
    if (steps_.is_repetition()) return {start_at(device, recorded.begin_ns), start_at(device, recorded.end_ns)};
    const std::int64_t begin_ns = clock_.replayed(host.begin_ns).value_or(kNever);
    std::int64_t before_ns = begin_ns;  // the end of what was launched earlier
    std::int64_t end_ns = clock_.replayed(host.end_ns).value_or(kNever);
    for (NodeIndex op = 0; op < graph_.ops.size(); ++op) {
      const OpNode& node = graph_.ops[op];
      if (rank_.gpu_lanes[node.lane].device != device) continue;
      const EventIndex launch = rank_.gpu.launch[node.event];
      const std::int64_t cause_ns = launch == kNoEvent ? node.recorded_start_ns : rank_.api.start_ns[launch];
      if (cause_ns >= host.end_ns) continue;
      std::int64_t& last_ns = cause_ns < host.begin_ns ? before_ns : end_ns;
      last_ns = std::max(last_ns, times_.ops[op].end_ns);
    }
    return {before_ns < end_ns ? before_ns : begin_ns, end_ns};
  }

 private:
  // Of repetitions, which are the GPU's: when the first work from then on starts, or the last one ends.
  std::int64_t start_at(std::int32_t device, std::int64_t time_ns) const {
    std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t at_ns = kNever;
    std::int64_t last_end_ns = kNever;
    for (NodeIndex op = 0; op < graph_.ops.size(); ++op) {
      const OpNode& node = graph_.ops[op];
      if (rank_.gpu_lanes[node.lane].device != device) continue;
      if (node.recorded_start_ns < time_ns) {
        last_end_ns = std::max(last_end_ns, times_.ops[op].end_ns);
      } else if (node.recorded_start_ns < first_ns) {
        first_ns = node.recorded_start_ns;
        at_ns = times_.ops[op].start_ns;
      }
    }
    return at_ns == kNever ? last_end_ns : at_ns;
  }

  const Rank& rank_;
  const RankGraph& graph_;
  const RankTimes& times_;
  const RankSteps& steps_;
  const std::uint32_t thread_;
  const HostClock clock_;
};

// When an operation would start if all before it had happened when it did.
std::int64_t start_after_recorded(const RankGraph& graph, const Rank& rank, NodeIndex op) {
  const OpNode& node = graph.ops[op];
  const auto end_of = [&](NodeIndex other) { return rank.gpu.end_ns[graph.ops[other].event]; };
  std::int64_t start_ns =
      node.call == kNoNode ? node.recorded_start_ns : rank.api.start_ns[graph.calls[node.call].event] + node.latency_ns;
  if (node.before != kNoNode) start_ns = std::max(start_ns, end_of(node.before) + node.gap_ns);
  for (EventIndex i = node.waits.begin; i < node.waits.end; ++i)
    start_ns = std::max(start_ns, end_of(graph.op_waits[i]) + node.wait_delay_ns);
  return start_ns;
}

}  // namespace

Replay replay(const DependencyGraph& graph) {
  std::vector<RankReplay> ranks;
  for (const RankGraph& rank : graph.ranks)
    ranks.emplace_back(rank);
  struct Meeting {
    std::vector<CollectiveNode::Member> arrived;
    bool is_off = false;  // each member goes on alone
  };
  std::vector<Meeting> meetings(graph.collectives.size());
  const auto resolve = [&](std::size_t collective) {
    const auto& members = graph.collectives[collective].members;
    std::int64_t last_ns = kNever;
    const auto start_ns = [&](const CollectiveNode::Member& member) {
      return ranks[member.rank].op(member.op).start_ns + graph.ranks[member.rank].clock_offset_ns;
    };
    for (const auto& member : members)
      last_ns = std::max(last_ns, start_ns(member));
    for (const auto& member : members) {
      const RankGraph& rank = graph.ranks[member.rank];
      const std::int64_t end_ns = last_ns - rank.clock_offset_ns + rank.ops[member.op].duration_ns;
      ranks[member.rank].resolve(member.op, end_ns);
    }
  };
  const auto go_on_alone = [&](const CollectiveNode::Member& member) {
    ranks[member.rank].resolve(member.op, ranks[member.rank].op(member.op).end_ns);
  };
  Replay result;
  for (;;) {
    bool has_moved = false;
    for (std::uint32_t r = 0; r < ranks.size(); ++r) {
      const auto arrived = [&](NodeIndex op, std::uint32_t collective) {
        Meeting& meeting = meetings[collective];
        meeting.arrived.push_back({r, op});
        if (meeting.is_off) {
          go_on_alone({r, op});
        } else if (meeting.arrived.size() == graph.collectives[collective].members.size()) {
          resolve(collective);
        }
      };
      has_moved = ranks[r].advance(arrived) || has_moved;
    }
    if (has_moved) continue;
    const auto stuck = std::ranges::find_if(ranks, [](const RankReplay& rank) { return !rank.is_done(); });
    if (stuck == ranks.end()) break;
    const auto r = static_cast<std::uint32_t>(stuck - ranks.begin());
    const NodeIndex op = stuck->missing();
    const std::uint32_t collective = graph.ranks[r].ops[op].collective;
    ++result.unmatched;
    if (collective == kNoNode) {  // of a graph that waits for what comes later
      go_on_alone({r, op});
    } else {
      meetings[collective].is_off = true;
      std::ranges::for_each(meetings[collective].arrived, go_on_alone);
    }
  }
  for (RankReplay& rank : ranks)
    result.ranks.push_back(rank.take());
  return result;
}

std::vector<ReplayedWindow> replayed_windows(const DependencyGraph& graph, const Replay& replay, const RunFacts& run) {
  std::vector<ReplayedWindow> windows;
  for (std::uint32_t r = 0; r < graph.ranks.size(); ++r) {
    const WindowFinder finder(run, graph.ranks[r], replay.ranks[r]);
    for (const DeviceScope& scope : run.scope.devices()) {
      if (scope.rank_index != graph.ranks[r].rank_index) continue;
      windows.push_back(
          {r, scope.device, scope.steps, finder.of(scope.device, scope.window, scope.host), finder.thread()});
    }
  }
  return windows;
}

SlowestDevice slowest_device(const std::vector<ReplayedWindow>& windows) {
  std::map<std::pair<std::uint32_t, std::int32_t>, SlowestDevice> devices;
  for (const ReplayedWindow& window : windows) {
    SlowestDevice& device = devices[{window.rank, window.device}];
    device.rank = window.rank;
    device.device = window.device;
    device.time_ns += window.time.length();
    device.steps += window.steps;
  }
  SlowestDevice slowest;
  for (const auto& [key, device] : devices)
    if (slowest.steps == 0 || device.step_ns() > slowest.step_ns()) slowest = device;
  return slowest;
}

std::int64_t replayed_step_ns(const DependencyGraph& graph, const Replay& replay, const RunFacts& run) {
  return slowest_device(replayed_windows(graph, replay, run)).step_ns();
}

double ReplayError::step_error() const {
  if (traced_step_ns == 0) return 0;
  return std::abs(static_cast<double>(replayed_step_ns - traced_step_ns)) / static_cast<double>(traced_step_ns);
}

ReplayError replay_error(const DependencyGraph& graph, const Replay& replay, const RunFacts& run) {
  ReplayError error;
  error.traced_step_ns = run.scope.step_ns();
  error.replayed_step_ns = replayed_step_ns(graph, replay, run);
  std::vector<std::int64_t> differences;
  std::int64_t close = 0;
  for (std::size_t r = 0; r < graph.ranks.size(); ++r) {
    const RankGraph& rank = graph.ranks[r];
    const Rank& recorded = run.trace.ranks[rank.rank_index];
    const RankSteps& steps = run.scope.steps()[rank.rank_index];
    // What accumulated in the steps before is no error of this one.
    std::map<int, std::int64_t> offset;
    for (NodeIndex op = 0; op < rank.ops.size(); ++op) {
      const EventIndex event = rank.ops[op].event;
      if (!run.scope.has_gpu_event(rank.rank_index, event)) continue;
      const std::int64_t difference = replay.ranks[r].ops[op].start_ns - recorded.gpu.start_ns[event];
      const auto [first, is_new] = offset.emplace(step_of(recorded, steps, event), difference);
      differences.push_back(std::abs(difference - first->second));
      constexpr std::int64_t kCloseNs = 2'000;
      const std::int64_t predicted_ns = start_after_recorded(rank, recorded, op);
      if (std::abs(predicted_ns - recorded.gpu.start_ns[event]) <= kCloseNs) ++close;
    }
  }
  error.events = static_cast<std::int64_t>(differences.size());
  error.start_p50_ns = quantile_of(differences, 0.5);
  error.start_p95_ns = quantile_of(differences, 0.95);
  error.within_2us = differences.empty() ? 0 : static_cast<double>(close) / static_cast<double>(differences.size());
  return error;
}

}  // namespace swinscope

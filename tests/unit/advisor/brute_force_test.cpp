// Replays and critical paths of random traces against their definition: times by trying every constraint again until
// none is broken, the path by changing each piece of work and looking what that does to the end of the steps.
#include <limits>
#include <set>
#include <string>

#include "advisor/critical_path.h"
#include "tests/unit/advisor/random_runs.h"
#include "tests/unit/advisor/replayed.h"

namespace swinscope::test {
namespace {

// The least times with which nothing begins before it may. Knows no order: it goes over all nodes until none moves.
class Relaxation {
 public:
  explicit Relaxation(const DependencyGraph& graph) : graph_(graph) {
    for (const RankGraph& rank : graph.ranks) {
      Ends& ends = ranks_.emplace_back();
      ends.calls.assign(rank.calls.size(), kNever);
      ends.ops.assign(rank.ops.size(), kNever);
      ends.begins = ends.calls;
      ends.starts = ends.ops;
      std::vector<NodeIndex>& launches = launches_.emplace_back();
      for (NodeIndex call = 0; call < rank.calls.size(); ++call)
        if (rank.calls[call].is_launch) launches.push_back(call);
    }
    for (bool has_moved = true; has_moved;) {
      has_moved = false;
      for (std::uint32_t r = 0; r < graph.ranks.size(); ++r) {
        for (NodeIndex call = 0; call < graph.ranks[r].calls.size(); ++call)
          has_moved |= relax_call(r, call);
        for (NodeIndex op = 0; op < graph.ranks[r].ops.size(); ++op)
          has_moved |= relax_op(r, op);
      }
    }
  }

  // Where the replay differs, a line each.
  std::vector<std::string> differences(const Replay& replay) const {
    std::vector<std::string> lines;
    const auto compare = [&](const char* what, NodeIndex node, const NodeTimes& found, std::int64_t start_ns,
                             std::int64_t end_ns) {
      if (std::pair(found.start_ns, found.end_ns) == std::pair(start_ns, end_ns)) return;
      lines.push_back(
          fmt::format("{} {}: {}..{} instead of {}..{}", what, node, found.start_ns, found.end_ns, start_ns, end_ns));
    };
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      for (NodeIndex call = 0; call < ranks_[r].calls.size(); ++call)
        compare("call", call, replay.ranks[r].calls[call], ranks_[r].begins[call], ranks_[r].calls[call]);
      for (NodeIndex op = 0; op < ranks_[r].ops.size(); ++op)
        compare("op", op, replay.ranks[r].ops[op], ranks_[r].starts[op], ranks_[r].ops[op]);
    }
    return lines;
  }

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min() / 2;
  struct Ends {
    std::vector<std::int64_t> begins;  // of calls
    std::vector<std::int64_t> calls;
    std::vector<std::int64_t> starts;  // of ops
    std::vector<std::int64_t> ops;
  };

  static bool raise(std::int64_t& time_ns, std::int64_t to_ns) {
    if (to_ns <= time_ns) return false;
    time_ns = to_ns;
    return true;
  }

  bool relax_call(std::uint32_t r, NodeIndex index) {
    const RankGraph& rank = graph_.ranks[r];
    const CallNode& call = rank.calls[index];
    Ends& times = ranks_[r];
    std::int64_t begin_ns = kNever;
    if (call.before == kNoNode && call.handed_by == kNoNode) begin_ns = first_begin(rank, index);
    if (call.before != kNoNode) begin_ns = times.calls[call.before] + (call.handed_by == kNoNode ? call.segment_ns : 0);
    if (call.handed_by != kNoNode) begin_ns = std::max(begin_ns, times.calls[call.handed_by] + call.handed_ns);
    const auto launch = static_cast<std::int64_t>(std::ranges::lower_bound(launches_[r], index) - launches_[r].begin());
    if (call.is_launch && rank.queue_length > 0 && launch >= rank.queue_length) {
      const Slice& ops = rank.calls[launches_[r][static_cast<std::size_t>(launch - rank.queue_length)]].ops;
      for (NodeIndex op = ops.begin; op < ops.end; ++op)
        begin_ns = std::max(begin_ns, times.ops[op]);
    }
    bool has_moved = raise(times.begins[index], begin_ns);
    std::int64_t end_ns = times.begins[index] + call.own_ns;
    for (EventIndex w = call.waits.begin; w < call.waits.end; ++w)
      end_ns = std::max(end_ns, times.ops[rank.call_waits[w]] + call.wake_ns);
    has_moved |= raise(times.calls[index], end_ns);
    return has_moved;
  }

  static std::int64_t first_begin(const RankGraph& rank, NodeIndex call) {
    return std::ranges::find(rank.order, call, &OrderedNode::call)->time_ns;
  }

  bool relax_op(std::uint32_t r, NodeIndex index) {
    const RankGraph& rank = graph_.ranks[r];
    const OpNode& op = rank.ops[index];
    Ends& times = ranks_[r];
    std::int64_t start_ns = kNever;
    if (op.call != kNoNode) start_ns = times.begins[op.call] + op.latency_ns;
    if (op.before != kNoNode) start_ns = std::max(start_ns, times.ops[op.before] + op.gap_ns);
    for (EventIndex w = op.waits.begin; w < op.waits.end; ++w)
      start_ns = std::max(start_ns, times.ops[rank.op_waits[w]] + op.wait_delay_ns);
    // Nothing says when it may start.
    if (op.call == kNoNode && op.before == kNoNode && op.waits.size() == 0) start_ns = op.recorded_start_ns;
    const bool has_moved = raise(times.starts[index], start_ns);
    const std::int64_t free_ns = op.before == kNoNode ? kNever : times.ops[op.before];
    if (op.collective == kNoNode)
      return raise(times.ops[index], std::max(times.starts[index], free_ns) + op.duration_ns) || has_moved;
    std::int64_t last_ns = kNever;
    for (const auto& [other, member] : graph_.collectives[op.collective].members)
      last_ns = std::max(last_ns, ranks_[other].starts[member] + graph_.ranks[other].clock_offset_ns);
    return raise(times.ops[index], last_ns - rank.clock_offset_ns + op.duration_ns) || has_moved;
  }

  const DependencyGraph& graph_;
  std::vector<Ends> ranks_;
  std::vector<std::vector<NodeIndex>> launches_;
};

TEST(BruteForce, TimesOfAReplay) {
  int with_collectives = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const Replayed run(random_hand_trace(seed, 1 + static_cast<int>(seed % 3), seed % 2 == 0));
    if (run.times.unmatched > 0) continue;  // what is waited for in a circle has no such times
    ASSERT_EQ(Relaxation(run.graph).differences(run.times), std::vector<std::string>{}) << "seed " << seed;
    with_collectives += run.graph.collectives.empty() ? 0 : 1;
  }
  EXPECT_GT(with_collectives, 0);
}

Interval steps_of(const Replayed& run) {
  const std::vector<ReplayedWindow> windows = replayed_windows(run.graph, run.times, run.facts);
  EXPECT_EQ(windows.size(), 1U);
  return windows.front().time;
}

// What is on the path decides the end of the steps: it comes later by as much as any of that takes longer. Nothing else
// from their begin on does: it stays where it is when that takes no time at all.
void expect_critical(Replayed run, unsigned seed) {
  // Work that begins long before that before it on its stream, or what it waits for, has ended hides a piece of the
  // path.
  for (OpNode& op : run.graph.ranks[0].ops) {
    op.gap_ns = std::max<std::int64_t>(0, op.gap_ns);
    op.wait_delay_ns = std::max<std::int64_t>(0, op.wait_delay_ns);
  }
  run.again();
  const auto [begin_ns, end_ns] = steps_of(run);
  const std::vector<NodeTimes> as_it_is = run.times.ranks[0].ops;
  std::set<NodeIndex> on_path;
  for (const PathPiece& piece : find_critical_path(run.graph, run.times, run.facts).pieces)
    if (piece.op != kNoNode && piece.cause != PathCause::kDelay) on_path.insert(piece.op);
  for (NodeIndex index = 0; index < run.graph.ranks[0].ops.size(); ++index) {
    std::int64_t& duration_ns = run.graph.ranks[0].ops[index].duration_ns;
    const std::int64_t before_ns = duration_ns;
    constexpr std::int64_t kMoreNs = 1'000;
    const bool is_critical = on_path.contains(index);
    if (!is_critical && as_it_is[index].start_ns < begin_ns) continue;
    duration_ns = is_critical ? before_ns + kMoreNs : 0;
    run.again();
    ASSERT_EQ(steps_of(run).end_ns, is_critical ? end_ns + kMoreNs : end_ns) << "seed " << seed << ", op " << index;
    duration_ns = before_ns;
  }
}

TEST(BruteForce, TheCriticalPath) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    expect_critical(Replayed(Program(seed, 1'000).run()), seed);
    expect_critical(Replayed(random_hand_trace(seed, 1, seed % 2 == 0)), seed);
  }
}

}  // namespace
}  // namespace swinscope::test

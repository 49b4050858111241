#include "advisor/device_steps.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "store/error.h"

namespace swinscope {

class DeviceStepsMaker {
 public:
  DeviceStepsMaker(const DependencyGraph& graph, const RunFacts& run, DeviceSteps& made)
      : graph_(graph), run_(run), made_(made) {}

  void make() {
    made_.steps_ = common_steps();
    work_of_op_.resize(graph_.ranks.size());
    for (std::uint32_t rank = 0; rank < graph_.ranks.size(); ++rank) {
      add_ops(rank);
      add_order(rank);
      add_host_points(rank);
    }
    add_collectives();
    put_in_order();
  }

 private:
  // Works before they are in order, by the order in which they were found.
  struct Found {
    DeviceWork work;
    std::vector<std::uint32_t> after;
  };

  const RankSteps& steps_of(std::uint32_t rank) const { return run_.scope.steps()[graph_.ranks[rank].rank_index]; }

  std::size_t common_steps() const {
    std::size_t count = std::numeric_limits<std::size_t>::max();
    for (std::uint32_t rank = 0; rank < graph_.ranks.size(); ++rank)
      count = std::min(count, steps_of(rank).measured().size());
    if (count == 0) throw Error(ErrorKind::kUsage, "the ranks have no step in common", "one of them has none", "");
    return count;
  }

  void add_ops(std::uint32_t rank) {
    const RankGraph& nodes = graph_.ranks[rank];
    const RankSteps& steps = steps_of(rank);
    work_of_op_[rank].assign(nodes.ops.size(), kNoNode);
    for (NodeIndex op = 0; op < nodes.ops.size(); ++op) {
      const int step = step_of(run_.trace.ranks[nodes.rank_index], steps, nodes.ops[op].event);
      if (step < 0 || std::cmp_less(step, steps.first_measured)) continue;
      const auto place = static_cast<std::size_t>(step) - steps.first_measured;
      if (place >= made_.steps_) continue;
      work_of_op_[rank][op] = static_cast<std::uint32_t>(found_.size());
      found_.push_back({{rank, op, static_cast<std::uint32_t>(place), kNoNode, nodes.ops[op].duration_ns, {}}, {}});
    }
  }

  // Nothing of another step: all ranks begin each anew.
  void wait(std::uint32_t work, std::uint32_t before) {
    if (before != kNoNode && found_[before].work.step == found_[work].work.step) found_[work].after.push_back(before);
  }

  void add_order(std::uint32_t rank) {
    const RankGraph& nodes = graph_.ranks[rank];
    const std::vector<std::uint32_t>& work_of = work_of_op_[rank];
    for (NodeIndex op = 0; op < nodes.ops.size(); ++op) {
      if (work_of[op] == kNoNode) continue;
      const OpNode& node = nodes.ops[op];
      if (node.before != kNoNode) wait(work_of[op], work_of[node.before]);
      for (EventIndex i = node.waits.begin; i < node.waits.end; ++i)
        wait(work_of[op], work_of[nodes.op_waits[i]]);
    }
  }

  // What a thread launches after it has waited comes after what it waited for.
  void add_host_points(std::uint32_t rank) {
    const RankGraph& nodes = graph_.ranks[rank];
    const std::vector<std::uint32_t>& work_of = work_of_op_[rank];
    std::vector<std::uint32_t> last(run_.trace.ranks[nodes.rank_index].api_lanes.size(), kNoNode);  // of each thread
    for (const OrderedNode& ordered : nodes.order) {
      if (ordered.call == kNoNode) continue;
      const CallNode& call = nodes.calls[ordered.call];
      std::uint32_t& point = last[call.thread];
      if (call.handed_by != kNoNode) point = add_point(rank, {point, last[nodes.calls[call.handed_by].thread]});
      for (NodeIndex op = call.ops.begin; op < call.ops.end; ++op)
        if (work_of[op] != kNoNode) wait(work_of[op], point);
      if (call.waits.size() == 0) continue;
      std::vector<std::uint32_t> awaited = {point};
      for (EventIndex i = call.waits.begin; i < call.waits.end; ++i)
        awaited.push_back(work_of[nodes.call_waits[i]]);
      point = add_point(rank, awaited);
    }
  }

  // After all of these; itself one of them where there is only one.
  std::uint32_t add_point(std::uint32_t rank, std::vector<std::uint32_t> after) {
    std::erase(after, kNoNode);
    if (after.empty()) return kNoNode;
    if (after.size() == 1) return after.front();
    const auto step = [&](std::uint32_t work) { return found_[work].work.step; };
    const auto point = static_cast<std::uint32_t>(found_.size());
    found_.push_back({{rank, kNoNode, step(std::ranges::max(after, {}, step)), kNoNode, 0, {}}, {}});
    for (const std::uint32_t before : after)
      wait(point, before);
    return point;
  }

  void add_collectives() {
    for (const CollectiveNode& collective : graph_.collectives) {
      std::vector<std::uint32_t> members;
      for (const auto& [rank, op] : collective.members)
        if (work_of_op_[rank][op] != kNoNode) members.push_back(work_of_op_[rank][op]);
      const auto step = [&](std::uint32_t work) { return found_[work].work.step; };
      if (members.size() < 2) continue;
      if (std::ranges::any_of(members, [&](std::uint32_t m) { return step(m) != step(members.front()); })) {
        ++made_.unmatched_;
        continue;
      }
      for (const std::uint32_t member : members)
        found_[member].work.collective = static_cast<std::uint32_t>(made_.collectives_.size());
      made_.collectives_.push_back(std::move(members));
    }
  }

  // Kahn's order; a member of a collective lets nothing go on before all of them have come.
  void put_in_order() {
    count_waits();
    std::vector<std::uint32_t> order;
    while (order.size() < found_.size()) {
      while (ready_.empty())
        take_apart(order);
      const std::uint32_t work = ready_.back();
      ready_.pop_back();
      order.push_back(work);
      const std::uint32_t collective = found_[work].work.collective;
      if (collective == kNoNode) {
        end(work);
      } else if (--missing_[collective] == 0) {
        for (const std::uint32_t member : made_.collectives_[collective])
          end(member);
      }
    }
    renumber(order);
  }

  void count_waits() {
    behind_.resize(found_.size());
    for (std::uint32_t work = 0; work < found_.size(); ++work) {
      left_.push_back(found_[work].after.size());
      if (left_.back() == 0) ready_.push_back(work);
      for (const std::uint32_t before : found_[work].after)
        behind_[before].push_back(work);
    }
    for (const std::vector<std::uint32_t>& members : made_.collectives_)
      missing_.push_back(members.size());
  }

  void end(std::uint32_t work) {
    for (const std::uint32_t next : behind_[work])
      if (--left_[next] == 0) ready_.push_back(next);
  }

  // All collectives in which someone waits for members that cannot come.
  void take_apart(const std::vector<std::uint32_t>& order) {
    std::vector<std::uint32_t> waiting;
    for (const std::uint32_t work : order) {
      const std::uint32_t collective = found_[work].work.collective;
      if (collective != kNoNode && missing_[collective] > 0) waiting.push_back(work);
    }
    if (waiting.empty())
      throw Error(ErrorKind::kFailure, "work of a rank waits for itself", "its graph has a circle", "");
    for (const std::uint32_t work : waiting) {
      const std::uint32_t collective = found_[work].work.collective;
      if (collective == kNoNode) continue;  // with another member that waits
      ++made_.unmatched_;
      for (const std::uint32_t member : std::exchange(made_.collectives_[collective], {}))
        found_[member].work.collective = kNoNode;
    }
    for (const std::uint32_t work : waiting)
      end(work);
  }

  void renumber(const std::vector<std::uint32_t>& order) {
    std::vector<std::uint32_t> place(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i)
      place[order[i]] = i;
    for (const std::uint32_t work : order) {
      DeviceWork& added = made_.works_.emplace_back(found_[work].work);
      added.after.begin = static_cast<EventIndex>(made_.after_.size());
      for (const std::uint32_t before : found_[work].after)
        made_.after_.push_back(place[before]);
      added.after.end = static_cast<EventIndex>(made_.after_.size());
    }
    for (std::vector<std::uint32_t>& members : made_.collectives_)
      for (std::uint32_t& member : members)
        member = place[member];
  }

  const DependencyGraph& graph_;
  const RunFacts& run_;
  DeviceSteps& made_;
  std::vector<Found> found_;
  std::vector<std::vector<std::uint32_t>> work_of_op_;  // by rank and op, in found_
  std::vector<std::vector<std::uint32_t>> behind_;      // by work: what waits for it
  std::vector<std::size_t> left_;                       // by work: what it still waits for
  std::vector<std::size_t> missing_;                    // by collective: members that have not come
  std::vector<std::uint32_t> ready_;                    // works that may start
};

DeviceSteps::DeviceSteps(const DependencyGraph& graph, const RunFacts& run) {
  DeviceStepsMaker(graph, run, *this).make();
}

std::vector<std::int64_t> DeviceSteps::replay(std::span<const std::int64_t> durations) const {
  std::vector<std::int64_t> ends(works_.size(), 0);
  struct Coming {
    std::int64_t last_ns = 0;
    std::size_t members = 0;
  };
  std::vector<Coming> coming(collectives_.size());
  std::vector<std::int64_t> step_ends(steps_, 0);
  const auto end = [&](std::uint32_t work, std::int64_t start_ns) {
    ends[work] = start_ns + durations[work];
    std::int64_t& step_end = step_ends[works_[work].step];
    step_end = std::max(step_end, ends[work]);
  };
  for (std::uint32_t i = 0; i < works_.size(); ++i) {
    const DeviceWork& work = works_[i];
    std::int64_t start_ns = 0;
    for (EventIndex before = work.after.begin; before < work.after.end; ++before)
      start_ns = std::max(start_ns, ends[after_[before]]);
    if (work.collective == kNoNode) {
      end(i, start_ns);
      continue;
    }
    Coming& come = coming[work.collective];
    come.last_ns = std::max(come.last_ns, start_ns);
    const std::vector<std::uint32_t>& members = collectives_[work.collective];
    if (++come.members < members.size()) continue;
    for (const std::uint32_t member : members)
      end(member, come.last_ns);
  }
  return step_ends;
}

}  // namespace swinscope

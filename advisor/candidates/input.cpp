#include <array>
#include <map>
#include <utility>

#include "advisor/candidates/candidates.h"
#include "analyzer/analyses/idle_causes.h"

namespace swinscope {
namespace {

constexpr std::array<double, 3> kStays = {0.5, 0.05, 0};
constexpr std::int64_t kShortNs = 10'000;  // a batch that was ready takes the host that long

// The waits of one rank, and the work that comes after each.
class RankWaits {
 public:
  RankWaits(const Work& work, std::uint32_t r)
      : work_(work),
        r_(r),
        rank_(work.graph.ranks[r]),
        recorded_(work.run.trace.ranks[rank_.rank_index]),
        input_(input_ranges(work.run.trace, recorded_)) {}

  void add_to(Change& change) const {
    if (input_.empty()) return;
    std::map<std::uint32_t, bool> has_waited;  // by thread, since its last launch
    for (NodeIndex index = 0; index < rank_.calls.size(); ++index) {
      const CallNode& call = rank_.calls[index];
      if (!work_.run.scope.has_host_time(rank_.rank_index, recorded_.api.start_ns[call.event])) continue;
      if (const double share = share_of_wait(call); share > 0) {
        Hastened& hastened = change.hastened.emplace_back(Hastened{r_, index});
        for (std::size_t i = 0; i < kStays.size(); ++i)
          hastened.factor[i] = 1 - share * (1 - kStays[i]);
        has_waited[call.thread] = true;
      }
      if (call.ops.size() > 0 && std::exchange(has_waited[call.thread], false))
        change.evidence.push_back({r_, call.ops.begin});
    }
  }

 private:
  // Of the thread's way to the call.
  double share_of_wait(const CallNode& call) const {
    if (call.before == kNoNode || call.handed_by != kNoNode) return 0;
    const ApiCalls& api = recorded_.api;
    const Interval way{api.end_ns[rank_.calls[call.before].event], api.start_ns[call.event]};
    const std::int64_t waited_ns = input_.covered_ns(recorded_.api_lanes[call.thread].global_tid, way);
    return waited_ns < kShortNs ? 0 : static_cast<double>(waited_ns) / static_cast<double>(way.length());
  }

  const Work& work_;
  std::uint32_t r_;
  const RankGraph& rank_;
  const Rank& recorded_;
  ThreadIntervals input_;
};

}  // namespace

std::vector<Change> find_input_waits(const Work& work) {
  Change change;
  for (std::uint32_t r = 0; r < work.graph.ranks.size(); ++r)
    RankWaits(work, r).add_to(change);
  if (change.hastened.empty() || change.evidence.empty()) return {};
  change.kind = "input";
  change.id = "input-1";
  change.title =
      "Have the next batch ready when it is asked for (" + times_per_step(change.evidence.size(), work) + ")";
  change.why =
      "the thread that launches stands still until data has come: more loader workers (num_workers), less work for "
      "each sample, or faster storage";
  change.assumptions = {"of these waits 5 % (half to nothing) stays",
                        "preparing takes cores of the host, of which the trace does not say how many are free"};
  return {change};
}

}  // namespace swinscope

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "advisor/candidates/candidates.h"
#include "analyzer/trace/launch_calls.h"

namespace swinscope {

std::vector<Change> find_waits(const Work& work) {
  Change change;
  std::set<std::string> names;
  for (std::uint32_t r = 0; r < work.graph.ranks.size(); ++r) {
    const RankGraph& rank = work.graph.ranks[r];
    const Rank& recorded = work.run.trace.ranks[rank.rank_index];
    std::map<std::uint32_t, std::vector<NodeIndex>> since_launch;  // by thread: its waits
    for (NodeIndex index = 0; index < rank.calls.size(); ++index) {
      const CallNode& call = rank.calls[index];
      if (!work.run.scope.has_host_time(rank.rank_index, recorded.api.start_ns[call.event])) continue;
      if (call.is_launch) {
        for (const NodeIndex wait : std::exchange(since_launch[call.thread], {})) {
          change.without_wait.push_back({r, wait});
          change.evidence.push_back({r, rank.call_waits[rank.calls[wait].waits.begin]});
          names.emplace(plain_call_name(work.run.trace.text(recorded.api.name[rank.calls[wait].event])));
        }
      }
      if (call.waits.size() > 0) since_launch[call.thread].push_back(index);
    }
  }
  if (change.without_wait.empty()) return {};
  change.kind = "wait";
  change.id = "wait-1";
  change.title = "Launch on without waiting for the GPU (" + times_per_step(change.without_wait.size(), work) + ")";
  change.why = fmt::format("the host waits in {}, and launches nothing meanwhile", fmt::join(names, " and "));
  change.assumptions = {
      "what it waits for is not needed at once: losses that each step prints, tests for NaN, results that are read "
      "back"};
  change.confidence = Confidence::kSpeculative;  // what the program does with it is not known
  return {change};
}

}  // namespace swinscope

#include "advisor/spin_waits.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>

namespace swinscope {
namespace {

constexpr std::int64_t kMicrosecond = 1'000;
constexpr std::int64_t kPauseNs = 200 * kMicrosecond;
// The host reads what it waits for before the kernel ends, or a while later.
constexpr std::int64_t kMostOffNs = 100 * kMicrosecond;
constexpr std::int64_t kOneOf = 20;  // of the pause

// A launch whose kernel ran on for long, and what its thread did then.
struct Pause {
  NodeIndex next = kNoNode;  // the call behind the pause
  NodeIndex op = kNoNode;
  bool ends_with_it = false;
};

bool is_near(std::int64_t off_ns, std::int64_t pause_ns) {
  return std::abs(off_ns) <= std::min(kMostOffNs, pause_ns / kOneOf);
}

}  // namespace

void find_spin_waits(RankNodes& nodes) {
  RankGraph& graph = nodes.graph;
  std::map<std::string_view, std::vector<Pause>> pauses;                  // by kernel
  std::vector<NodeIndex> launched(nodes.rank.api_lanes.size(), kNoNode);  // last, by thread
  for (NodeIndex index = 0; index < graph.calls.size(); ++index) {
    const CallNode& call = graph.calls[index];
    NodeIndex& op = launched[call.thread];
    if (op != kNoNode && call.before != kNoNode) {
      const std::int64_t begin_ns = nodes.end_of(call.before);
      const std::int64_t end_ns = nodes.end_of_op(op);
      // It is looked at once: at the first call from which on it ran for so long.
      const bool is_pause = call.segment_ns >= kPauseNs && call.handed_by == kNoNode;
      if (end_ns - begin_ns >= kPauseNs && (is_pause || call.is_launch)) {
        const bool near = is_pause && is_near(nodes.begin_of(index) - end_ns, call.segment_ns) &&
                          graph.calls[call.before].waits.size() == 0;
        pauses[nodes.trace.text(nodes.gpu.name[graph.ops[op].event])].push_back({index, op, near});
        op = kNoNode;
      }
    }
    if (call.ops.size() > 0) op = call.ops.end - 1;
  }
  for (const auto& [name, found] : pauses) {
    const auto near = std::ranges::count(found, true, &Pause::ends_with_it);
    if (near < 2 || 4 * near < 3 * static_cast<std::ptrdiff_t>(found.size())) continue;
    for (const Pause& pause : found) {
      if (!pause.ends_with_it) continue;
      CallNode& next = graph.calls[pause.next];
      CallNode& before = graph.calls[next.before];
      before.waits = {static_cast<EventIndex>(graph.call_waits.size()),
                      static_cast<EventIndex>(graph.call_waits.size() + 1)};
      graph.call_waits.push_back(pause.op);
      before.wake_ns = nodes.begin_of(pause.next) - nodes.end_of_op(pause.op);
      next.segment_ns = 0;
    }
  }
}

}  // namespace swinscope

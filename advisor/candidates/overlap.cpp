#include "advisor/candidates/candidates.h"

namespace swinscope {

std::vector<Change> find_overlaps(const Work& work) {
  constexpr std::size_t kFew = 8;
  const std::optional<double> begin_ns = work.rates() == nullptr ? std::nullopt : work.rates()->empty_kernel_ns();
  if (!begin_ns) return {};
  Change change;
  for (const WorkStream& stream : work.streams()) {
    const RankGraph& nodes = work.graph.ranks[stream.rank];
    const Rank& rank = work.run.trace.ranks[nodes.rank_index];
    if (!can_overlap_kernels(rank.run)) continue;
    for (std::size_t i = 1; i < stream.items.size(); ++i) {
      const WorkItem& item = stream.items[i];
      const auto is_kernel = [&](const WorkItem& of) { return rank.gpu.kind[of.event] == GpuKind::kKernel; };
      const bool is_collective = nodes.ops[item.ref.op].collective != kNoNode;
      if (item.is_split || is_collective || !is_kernel(item) || !is_kernel(stream.items[i - 1])) continue;
      change.evidence.push_back(item.ref);
      change.overlapped.push_back({item.ref, {0, 0.5 * *begin_ns, *begin_ns}});
    }
  }
  if (change.overlapped.size() < kFew) return {};
  change.kind = "overlap";
  change.id = "overlap-1";
  change.title = "Start kernels while those before them end (" + times_per_step(change.overlapped.size(), work) + ")";
  change.why = "with programmatic dependent launch a kernel's blocks are in place when its inputs are ready";
  change.assumptions = {"every one of these kernels is written for it, or comes from a library that is",
                        "of the time of an empty kernel half (none to all) is hidden, and the gap before it is gone"};
  change.confidence = Confidence::kSpeculative;
  return {change};
}

}  // namespace swinscope

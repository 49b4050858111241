#include "analyzer/facts/event_costs.h"

#include <unordered_map>

namespace swinscope {
namespace {

// One run of an operation: of what it captured into a CUDA graph, one replay.
std::uint64_t run_of(const Rank& rank, const RankOperations& operations, EventIndex event) {
  const std::uint64_t replay = operations.is_replay(event) ? rank.gpu.correlation[event] : 0;
  return replay << 32U | operations.of_event(event);
}

}  // namespace

EventCosts::EventCosts(const Rank& rank, const RankOperations& operations) {
  if (operations.all().empty()) return;
  const auto has_cost = [&](EventIndex event) {
    const OperationId id = operations.of_event(event);
    return id != kNoOperation && rank.gpu.kind[event] == GpuKind::kKernel && operations.all()[id].what->has_cost;
  };
  std::unordered_map<std::uint64_t, int> kernels;
  for (EventIndex i = 0; i < rank.gpu.size(); ++i)
    if (has_cost(i)) ++kernels[run_of(rank, operations, i)];
  costs_.resize(rank.gpu.size(), nullptr);
  for (EventIndex i = 0; i < rank.gpu.size(); ++i)
    if (has_cost(i) && kernels.at(run_of(rank, operations, i)) == 1)
      costs_[i] = operations.all()[operations.of_event(i)].what;
}

}  // namespace swinscope

// The steps of a job as what its GPUs do alone: the work of each stream in its order, what it waits for on other
// streams and behind waits of the host, and collectives and transfers, which end when the last of their ranks has come.
// The host is never late and nothing has a delay, so that only work of one rank makes another wait. Each step is on its
// own: all ranks begin it at once.
//
// Steps of several ranks are the same by their place among the measured ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "advisor/graph.h"
#include "analyzer/analyses/run_facts.h"

namespace swinscope {

// Work of a GPU in a measured step, or a point after which a thread of the host has seen what it waited for.
struct DeviceWork {
  std::uint32_t rank = 0;              // in DependencyGraph::ranks
  NodeIndex op = kNoNode;              // in RankGraph::ops; none: a point of the host, which takes no time
  std::uint32_t step = 0;              // of those that all ranks have
  std::uint32_t collective = kNoNode;  // works with the same number wait for each other
  std::int64_t duration_ns = 0;        // of a member of a collective: from the start of the last one to its end
  Slice after;                         // what has to end first: in DeviceSteps::after()
};

class DeviceSteps {
 public:
  // Throws Error(kUsage) where the ranks have no step in common.
  DeviceSteps(const DependencyGraph& graph, const RunFacts& run);

  // In an order in which everything comes after what it waits for.
  const std::vector<DeviceWork>& works() const { return works_; }
  const std::vector<std::uint32_t>& after() const { return after_; }  // in works()
  std::size_t steps() const { return steps_; }
  // Collectives whose members wait for each other in a circle: they are taken apart, as if each rank were alone.
  std::int64_t unmatched() const { return unmatched_; }

  // By step: from its begin to the end of its last work, when each work takes so long, in ns. Durations: by work.
  std::vector<std::int64_t> replay(std::span<const std::int64_t> durations) const;

 private:
  friend class DeviceStepsMaker;
  std::vector<DeviceWork> works_;
  std::vector<std::uint32_t> after_;
  std::vector<std::vector<std::uint32_t>> collectives_;  // their members, in works_
  std::size_t steps_ = 0;
  std::int64_t unmatched_ = 0;
};

}  // namespace swinscope

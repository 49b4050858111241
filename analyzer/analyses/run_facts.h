// The facts of a run and of one scope of it, each computed when it is first asked for and then kept: what documents,
// cards, experiments and the desktop program take their figures from. Several threads may ask at once.
#pragma once

#include <vector>

#include "analyzer/analyses/collective_waits.h"
#include "analyzer/analyses/host_phases.h"
#include "analyzer/analyses/host_waits.h"
#include "analyzer/analyses/idle_gaps.h"
#include "analyzer/analyses/kernel_table.h"
#include "analyzer/analyses/late_ranks.h"
#include "analyzer/analyses/layers.h"
#include "analyzer/analyses/time_breakdown.h"
#include "analyzer/analyses/verdict.h"
#include "analyzer/base/lazy.h"
#include "analyzer/facts/clock_alignment.h"
#include "analyzer/facts/collectives.h"
#include "analyzer/facts/dependencies.h"
#include "analyzer/facts/operations.h"
#include "analyzer/facts/scope.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

class RunFacts {
 public:
  // Throws as RunScope does. The trace must outlive it.
  RunFacts(const Trace& trace, const Selection& selection);

  const Trace& trace;
  const RunScope scope;

  const std::vector<RankOperations>& operations() const;  // in the order of Trace::ranks
  const std::vector<Dependencies>& dependencies() const;  // as well
  const std::vector<Collective>& collectives() const;     // of the scope
  const ClockAlignment& clocks() const;                   // the same whatever is selected
  const CollectiveWaits& waits() const;                   // of collectives(), by clocks()
  const LateRanks& late_ranks() const;
  const std::vector<DeviceBreakdown>& devices() const;
  const std::vector<IdleGap>& idle_gaps() const;  // the longest first
  const HostActivity& host_waits() const;         // in idle_gaps()
  const std::vector<HostPhases>& host() const;
  const std::vector<KernelRow>& kernels() const;  // by name, all ranks together
  const std::vector<LayerRow>& layers() const;    // whole paths, by phase
  const Verdict& verdict() const;

 private:
  bool selects_all_ = false;  // the scope is that by which clocks are aligned
  Lazy<std::vector<RankOperations>> operations_;
  Lazy<std::vector<Dependencies>> dependencies_;
  Lazy<std::vector<Collective>> collectives_;
  Lazy<ClockAlignment> clocks_;
  Lazy<CollectiveWaits> waits_;
  Lazy<LateRanks> late_ranks_;
  Lazy<std::vector<DeviceBreakdown>> devices_;
  Lazy<std::vector<IdleGap>> idle_gaps_;
  Lazy<HostActivity> host_waits_;
  Lazy<std::vector<HostPhases>> host_;
  Lazy<std::vector<KernelRow>> kernels_;
  Lazy<std::vector<LayerRow>> layers_;
  Lazy<Verdict> verdict_;
};

}  // namespace swinscope

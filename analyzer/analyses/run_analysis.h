// The facts of a run and of one scope of it, each computed once: what documents, cards, experiments and the desktop
// program take their figures from.
#pragma once

#include <vector>

#include "analyzer/analyses/host_phases.h"
#include "analyzer/analyses/kernel_table.h"
#include "analyzer/analyses/time_breakdown.h"
#include "analyzer/analyses/verdict.h"
#include "analyzer/facts/scope.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

struct RunAnalysis {
  // Throws as RunScope does. The trace must outlive it.
  RunAnalysis(const Trace& trace, const Selection& selection);

  const Trace& trace;
  RunScope scope;
  std::vector<DeviceBreakdown> devices;
  std::vector<HostPhases> host;
  std::vector<KernelRow> kernels;  // by name, all ranks together
  Verdict verdict;
};

}  // namespace swinscope

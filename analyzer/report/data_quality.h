// How far the figures of a report can be believed: of each thing that decides it what is known, or that it is not.
// Silence is not a "no": where a source does not count its losses, nobody knows that nothing was lost.
#pragma once

#include <string>
#include <vector>

#include "analyzer/analyses/run_facts.h"
#include "analyzer/experiment/experiment.h"
#include "analyzer/table/render.h"

namespace swinscope {

struct QualityFact {
  Fact fact;
  bool is_known = true;
};

// Lost records, missing ranks, clocks of the ranks, steps, cost of tracing, power and clocks of the GPUs, CPU time,
// FLOPs and bytes.
std::vector<QualityFact> data_quality(const RunFacts& run);
// Repeats, steps, traced points and what tracing cost, warm-up.
std::vector<QualityFact> data_quality(const Experiment& experiment, const std::vector<ScalingRow>& rows);

// "lost records, power and clocks of the GPUs": the names of what is not known; empty where all is.
std::string unknown_things(const std::vector<QualityFact>& quality);

}  // namespace swinscope

// What the GPUs of a run draw: the mean of the samples of each ("Power" of `record --gpu-metrics`) within the measured
// window, added up; watts. Nothing where power was not sampled of as many GPUs as did something: a sampler numbers the
// GPUs of the host, so that of more it is not known which are the run's.
#pragma once

#include <optional>

#include "analyzer/analyses/run_facts.h"

namespace swinscope {

std::optional<double> gpu_power_w(const RunFacts& run);

}  // namespace swinscope

// The step of an experiment's point as its timing runs have it, in which nothing but steps was recorded, or as it was
// given to `join`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace swinscope {

struct TimedStep {
  std::int64_t step_ns = 0;      // the median over the timing runs
  std::optional<double> spread;  // of their single steps: (third - first quartile) / median; nothing: not known
};

// Of the point whose traced run this is; nothing where it is none, or its point has neither given times nor timing runs
// that can be read.
std::optional<TimedStep> timed_step_beside(const std::filesystem::path& traced);

}  // namespace swinscope

// How much memory of a device a rank has, over time: by PyTorch's allocator (allocated, and reserved of CUDA for that;
// torch.profiler's profile_memory), and by what the process asked CUDA for since recording began (`record`, Nsight
// Systems' --cuda-memory-usage).
//
// The level at a time is that of the last change until then. Levels are looked at from the begin of the rank's first
// measured step to the end of its last one, of all changes where there are no steps. Growth of a step = level at its
// end
// - level at the end of the step before. The level is said to grow where it does in every measured step but the first
// two, of which the program may keep something for good, and these are at least kStepsThatGrow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/analyses/run_facts.h"
#include "analyzer/table/table.h"

namespace swinscope {

inline constexpr std::size_t kStepsThatGrow = 3;

struct StepLevel {
  std::size_t step = 0;  // of RankSteps::steps
  std::int64_t peak_bytes = 0;
  std::int64_t end_bytes = 0;
};

struct MemoryLevel {
  std::size_t rank_index = 0;
  std::int32_t device = 0;
  std::string what;  // "PyTorch allocated"
  std::int64_t begin_bytes = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t peak_at_ns = 0;
  std::int64_t end_bytes = 0;
  std::vector<StepLevel> steps;  // the measured ones

  // Median growth of the steps behind the first; nothing of fewer than two steps.
  std::optional<std::int64_t> growth() const;
  bool keeps_growing() const;
};

// By rank, device, then what.
std::vector<MemoryLevel> memory_levels(const RunFacts& run);

// A row for each, with the step, and the layer or range, of the peak.
Table memory_table(const RunFacts& run);
// A row for each step of each.
Table memory_steps_table(const RunFacts& run);

}  // namespace swinscope

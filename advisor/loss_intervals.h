// What a part of the difference of two runs (experiment/work_difference.h) is worth by replay: taken out of the run
// that has it, and put into the base that has it not. A part that others hide is worth less than its time, one on which
// others wait is worth more; the two replays bound it.
//
//   taken out   R(other) - R(other without it), for what both have less R(base) - R(base without it)
//   put in      R(base with it) - R(base), where the base has the kernels to put it into
// where R is the replayed step, of the slowest device. Without it is
//   transfer, communication   collectives and copies between GPUs that take no time
//   waiting                   collectives that no rank waits for
//   slowed (both)             kernels that take what they take at the base
//   run by one only           kernels that take no time
//   copies                    copies and sets that take no time
//   host                      launches that come when they are wanted
//   gaps                      no time between one kernel and the next
// Waiting for data is part of the host's time in a replay, and idle time without a recorded reason is of none: neither
// has an interval. Each end is widened by the errors of the replays and by how sure the difference of the steps is (95
// %).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "analyzer/analyses/run_facts.h"
#include "analyzer/experiment/work_difference.h"

namespace swinscope {

struct LossInterval {
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
};
using LossIntervals = std::array<std::optional<LossInterval>, kLossParts>;

struct LossEffects {
  LossIntervals intervals;
  // POP's: R(other without transfer) / R(other), the step on a network that takes no time.
  double transfer_efficiency = 1;
};

// `difference`: of step_work() of the two. Throws Error(kUsage) where one of the traces cannot be replayed, or not well
// enough.
LossEffects loss_effects(const RunFacts& base, const RunFacts& other, const WorkDifference& difference,
                         double base_times);

}  // namespace swinscope

// Where the time goes that a step takes longer on N GPUs than it ideally would (METRICS "Scaling-loss waterfall").
//
//   loss       = T(N) - T(base) x work of a GPU over that at the base, of timed steps (timing runs)
//   parts      = those of work_difference.h, of the traced runs; none is rescaled
//   distortion = loss - traced loss: what recording changed, and what the slowest rank is slower by in one of the two
// so that the parts and the distortion sum to the loss, in ns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/experiment/difference_tables.h"
#include "analyzer/experiment/experiment.h"
#include "analyzer/experiment/work_difference.h"
#include "analyzer/table/table.h"

namespace swinscope {

// Beyond this share of the loss the distortion leaves causes indicative only (METRICS).
inline constexpr double kMuchDistortion = 0.2;

struct ScalingLoss {
  std::size_t row = 0;  // in the experiment's rows; likewise the next
  std::size_t base = 0;
  std::int64_t ideal_ns = 0;  // T(base) x work
  std::int64_t step_ns = 0;   // T(N)
  WorkDifference traced;
  std::int64_t loss_ns() const { return step_ns - ideal_ns; }
  std::int64_t distortion_ns() const { return loss_ns() - traced.change_ns(); }
  bool is_indicative() const;
};

// Of every row whose base, traced runs and share of the work are known, and whose traced steps are those that were
// timed.
std::vector<ScalingLoss> scaling_losses(const std::vector<ScalingRow>& rows);

// "2 GPUs lose 1.930 ms a step (5.6 % of 34.43 ms): 0.700 ms kernels slowed beside communication (gemm most, 0.310 ms),
// …". `name`: of the point; `base_name`: of its base.
std::string loss_sentence(const ScalingLoss& loss, const std::string& name, const std::string& base_name,
                          bool is_within_noise);

// For difference_tables.h. `names`: of all rows; the losses must outlive it.
std::vector<NamedDifference> named(const std::vector<ScalingLoss>& losses, const std::vector<std::string>& names);

// POP's factors of each point (METRICS), by the traced runs; their product is useful time over all time.
Table pop_table(const std::vector<ScalingRow>& rows, const std::vector<std::string>& names);

}  // namespace swinscope

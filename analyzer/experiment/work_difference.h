// Why the steps of one run take longer than those of another: kernel by kernel, and as parts that sum to the
// difference.
//
// Kernels, copies and sets of the two runs are the same where layer, name and shape are (shapes do not count where one
// run is to do a fraction of the other's work; layers do not where one of the runs has none). Per step, mean over the
// devices, all times exclusive (exclusive_time.h):
//   new or gone work   kernels of one run only, and calls that one makes more often: calls x mean
//   slowed beside      of kernels that both run: what their calls during which the device communicates take longer than
//   communication      as many calls of the base without communication beside them
//   slowed             what the other calls of these take longer
//   copies             exposed copies and sets, whatever became of them
//   the rest           transfer, waiting, host, input, gaps: differences of StepWork::no_work_ns
//   slowest rank       the step is that of the slowest rank, the parts are means: what that adds
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analyses/step_work.h"

namespace swinscope {

enum class LossPart : std::uint8_t {
  kWire,
  kWait,
  kCommunication,
  kBeside,
  kSlowed,
  kWork,
  kCopies,
  kHost,
  kInput,
  kGaps,
  kUnexplained,
  kSlowestRank,
};
inline constexpr std::size_t kLossParts = 12;
std::string_view loss_part_key(LossPart part);    // "exposed_wire"
std::string_view loss_part_title(LossPart part);  // "transfer of collectives"

enum class ChangeVerdict : std::uint8_t {
  kSame,  // within what steps differ by, or by less than kNoticeable
  kSlower,
  kFaster,
  kNew,      // only the other run has it
  kGone,     // only the base has it
  kUnknown,  // a single step: nothing says what steps differ by
};
std::string_view change_name(ChangeVerdict verdict);

// Repeats of a run differ by as much, however alike the steps of one are.
inline constexpr double kNoticeable = 0.01;

// A mean over steps; ns.
struct StepTime {
  double calls = 0;
  double ns = 0;
  double variance_ns2 = 0;  // of single steps
  std::int64_t steps = 0;   // times devices
};

struct WorkChange {
  WorkKey key;
  std::string short_name;
  GpuClass gpu_class = GpuClass::kCompute;
  OperationKind operation = OperationKind::kUnknown;
  StepTime base;
  StepTime other;
  ChangeVerdict verdict = ChangeVerdict::kUnknown;
  double beside_ns = 0;  // its part of LossPart::kBeside, and so on; they sum to change_ns()
  double slowed_ns = 0;
  double work_ns = 0;
  double copies_ns = 0;
  double beside_calls = 0;  // of the other run, per step: those during which it communicates
  double change_ns() const { return other.ns - base.ns; }
  // Of a group of them (grouped()): how many.
  std::int64_t kernels = 1;
};

struct WorkDifference {
  // By what kernels of the two runs are the same, beside their names.
  bool by_layer = false;
  bool by_shape = false;
  bool is_split = false;          // both runs have GPU activity; else there are neither parts nor changes
  std::int64_t base_step_ns = 0;  // as it is to be: times `base_times`
  std::int64_t other_step_ns = 0;
  std::optional<std::int64_t> half_width_ns;  // of their difference, 95 %, by the single steps
  ChangeVerdict verdict = ChangeVerdict::kUnknown;
  std::array<std::int64_t, kLossParts> part_ns{};  // they sum to change_ns(), exactly
  std::vector<WorkChange> changes;                 // the largest difference first, whatever its sign
  std::int64_t change_ns() const { return other_step_ns - base_step_ns; }
  std::int64_t part(LossPart of) const { return part_ns[static_cast<std::size_t>(of)]; }
};

// A key without what the runs were not matched by: that of the change that it belongs to.
WorkKey matched_key(WorkKey key, const WorkDifference& difference);

// `base_times`: the part of the base's work that each device of the other run has to do, 1 / 2 for strong scaling from
// one GPU to two. `by_shape`: whether kernels of other shapes are others; by default where that is 1.
WorkDifference work_difference(const StepWork& base, const StepWork& other, double base_times = 1,
                               std::optional<bool> by_shape = std::nullopt);
// Counts each ns `times`. What rounding leaves goes to the largest part: they still sum to the difference.
void scale(WorkDifference& difference, double times);

enum class ChangeGrouping : std::uint8_t {
  kNone,    // layer, name, shape
  kKernel,  // short name
  kLayer,   // path and phase
};
// Added up, in the order of WorkDifference::changes. The verdicts are of the sums, whose steps are taken as
// independent.
std::vector<WorkChange> grouped(const std::vector<WorkChange>& changes, ChangeGrouping grouping);

}  // namespace swinscope

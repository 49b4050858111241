#include "analyzer/experiment/work_difference.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "analyzer/base/statistics.h"

namespace swinscope {
namespace {

struct PartName {
  LossPart part;
  std::string_view key;
  std::string_view title;
};

constexpr std::array<PartName, kLossParts> kParts = {
    {{LossPart::kWire, "exposed_wire", "transfer of collectives"},
     {LossPart::kWait, "exposed_wait", "waiting for other ranks"},
     {LossPart::kCommunication, "exposed_communication", "communication, transfer and waiting not told apart"},
     {LossPart::kBeside, "slowed_beside_communication", "kernels slowed beside communication"},
     {LossPart::kSlowed, "slowed", "kernels slowed otherwise"},
     {LossPart::kWork, "new_work", "kernels that only one runs, or runs more often"},
     {LossPart::kCopies, "copies", "exposed copies and sets"},
     {LossPart::kHost, "host", "host: launches that come late"},
     {LossPart::kInput, "input", "waiting for data"},
     {LossPart::kGaps, "gaps", "gaps between kernels launched in time"},
     {LossPart::kUnexplained, "unexplained_idle", "idle for no recorded reason"},
     {LossPart::kSlowestRank, "slowest_rank", "the slowest rank over the mean"}}};

// The rows of a run that are one for this comparison.
struct Side {
  WorkTime all;
  WorkTime beside;
  double variance_ns2 = 0;

  void add(const WorkRow& row, const StepWork& run) {
    add_to(all, row.all);
    add_to(beside, row.beside);
    const auto steps = static_cast<double>(run.device_steps);
    const double mean = run.per_step(row.all.exclusive_ns);
    if (run.device_steps > 1) variance_ns2 += std::max(0.0, row.squared_ns2 - steps * mean * mean) / (steps - 1);
  }

  // What a call takes with nothing communicated beside it; of all calls where there is no such call.
  double alone_mean_ns() const {
    const WorkTime alone{all.calls - beside.calls, all.exclusive_ns - beside.exclusive_ns};
    return alone.calls > 0 ? alone.mean_ns() : all.mean_ns();
  }

 private:
  static void add_to(WorkTime& sum, const WorkTime& time) {
    sum.calls += time.calls;
    sum.exclusive_ns += time.exclusive_ns;
  }
};

struct Pair {
  const WorkRow* named_as = nullptr;
  Side base;
  Side other;
};

// The rows of both runs by what they are the same by.
std::map<WorkKey, Pair> match(const StepWork& base, const StepWork& other, const WorkDifference& difference) {
  std::map<WorkKey, Pair> pairs;
  const auto add = [&](const StepWork& run, Side Pair::*side) {
    for (const WorkRow& row : run.rows) {
      Pair& pair = pairs[matched_key(row.key, difference)];
      if (pair.named_as == nullptr) pair.named_as = &row;
      (pair.*side).add(row, run);
    }
  };
  add(base, &Pair::base);
  add(other, &Pair::other);
  return pairs;
}

StepTime step_time(const Side& side, const StepWork& run, double times) {
  StepTime time;
  time.steps = run.device_steps;
  time.calls = times * run.per_step(side.all.calls);
  time.ns = times * run.per_step(side.all.exclusive_ns);
  time.variance_ns2 = times * times * side.variance_ns2;
  return time;
}

double half_width(double variance_a, std::int64_t steps_a, double variance_b, std::int64_t steps_b) {
  const double error = std::sqrt(variance_a / static_cast<double>(steps_a) + variance_b / static_cast<double>(steps_b));
  return student_t95(static_cast<std::size_t>(std::min(steps_a, steps_b) - 1)) * error;
}

ChangeVerdict judged(double base_ns, double other_ns, double half_width_ns) {
  const double change = other_ns - base_ns;
  if (std::abs(change) <= std::max(half_width_ns, kNoticeable * base_ns)) return ChangeVerdict::kSame;
  return change > 0 ? ChangeVerdict::kSlower : ChangeVerdict::kFaster;
}

ChangeVerdict verdict_of(const StepTime& base, const StepTime& other) {
  if (base.calls == 0) return ChangeVerdict::kNew;
  if (other.calls == 0) return ChangeVerdict::kGone;
  if (base.steps < 2 || other.steps < 2) return ChangeVerdict::kUnknown;
  return judged(base.ns, other.ns, half_width(base.variance_ns2, base.steps, other.variance_ns2, other.steps));
}

// Time of the calls beside communication that as many calls without would not have taken.
double extra_beside(const Side& side, const StepWork& run, double alone_mean_ns) {
  return run.per_step(side.beside.exclusive_ns) - run.per_step(side.beside.calls) * alone_mean_ns;
}

WorkChange change_of(const WorkKey& key, const Pair& pair, const StepWork& base, const StepWork& other, double times) {
  WorkChange change;
  change.key = key;
  change.short_name = pair.named_as->short_name;
  change.gpu_class = pair.named_as->gpu_class;
  change.operation = pair.named_as->operation;
  change.base = step_time(pair.base, base, times);
  change.other = step_time(pair.other, other, 1);
  change.beside_calls = other.per_step(pair.other.beside.calls);
  change.verdict = verdict_of(change.base, change.other);
  if (change.gpu_class == GpuClass::kMemory) {
    change.copies_ns = change.change_ns();
  } else if (pair.base.all.calls == 0 || pair.other.all.calls == 0) {
    change.work_ns = change.change_ns();
  } else {
    const double alone_ns = pair.base.alone_mean_ns();
    change.work_ns = (change.other.calls - change.base.calls) * pair.base.all.mean_ns();
    change.beside_ns = extra_beside(pair.other, other, alone_ns) - times * extra_beside(pair.base, base, alone_ns);
    change.slowed_ns = change.change_ns() - change.work_ns - change.beside_ns;
  }
  return change;
}

// What is no kernel, copy or set is the same part of both.
constexpr std::array kPartOfNoWork = {LossPart::kWire,  LossPart::kWait, LossPart::kCommunication, LossPart::kHost,
                                      LossPart::kInput, LossPart::kGaps, LossPart::kUnexplained};
static_assert(kPartOfNoWork.size() == kNoWorks);

// Rounded so that they sum to the difference of the steps.
void split(const StepWork& base, const StepWork& other, double times, WorkDifference& difference) {
  std::array<double, kLossParts> exact{};
  const auto part = [&](LossPart of) -> double& { return exact[static_cast<std::size_t>(of)]; };
  for (const WorkChange& change : difference.changes) {
    part(LossPart::kBeside) += change.beside_ns;
    part(LossPart::kSlowed) += change.slowed_ns;
    part(LossPart::kWork) += change.work_ns;
    part(LossPart::kCopies) += change.copies_ns;
  }
  for (std::size_t i = 0; i < kNoWorks; ++i)
    part(kPartOfNoWork[i]) += other.per_step(other.no_work_ns[i]) - times * base.per_step(base.no_work_ns[i]);
  double sum = 0;
  std::int64_t given = 0;
  for (std::size_t i = 0; i < kLossParts; ++i) {
    sum += exact[i];
    const bool is_last = i + 1 == kLossParts;
    difference.part_ns[i] = (is_last ? difference.change_ns() : std::llround(sum)) - given;
    given += difference.part_ns[i];
  }
}

void judge_steps(const StepWork& base, const StepWork& other, double times, WorkDifference& difference) {
  if (base.single_ns.size() < 2 || other.single_ns.size() < 2) return;
  const double half =
      half_width(times * times * variance(base.single_ns), static_cast<std::int64_t>(base.single_ns.size()),
                 variance(other.single_ns), static_cast<std::int64_t>(other.single_ns.size()));
  difference.half_width_ns = std::llround(half);
  difference.verdict =
      judged(static_cast<double>(difference.base_step_ns), static_cast<double>(difference.other_step_ns), half);
}

void add_to(StepTime& sum, const StepTime& time) {
  sum.calls += time.calls;
  sum.ns += time.ns;
  sum.variance_ns2 += time.variance_ns2;
  sum.steps = time.steps;
}

void sort_changes(std::vector<WorkChange>& changes) {
  std::ranges::stable_sort(changes, std::greater(), [](const WorkChange& c) { return std::abs(c.change_ns()); });
}

WorkKey group_key(const WorkChange& change, ChangeGrouping grouping) {
  WorkKey key;
  if (grouping == ChangeGrouping::kKernel) {
    key.name = change.short_name;
  } else {
    key.path = change.key.path;
    key.phase = change.key.phase;
  }
  return key;
}

}  // namespace

std::string_view loss_part_key(LossPart part) { return kParts[static_cast<std::size_t>(part)].key; }
std::string_view loss_part_title(LossPart part) { return kParts[static_cast<std::size_t>(part)].title; }

std::string_view change_name(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::kSame:
      return "within noise";
    case ChangeVerdict::kSlower:
      return "slower";
    case ChangeVerdict::kFaster:
      return "faster";
    case ChangeVerdict::kNew:
      return "new";
    case ChangeVerdict::kGone:
      return "gone";
    case ChangeVerdict::kUnknown:
      break;
  }
  return "not known: one step";
}

WorkKey matched_key(WorkKey key, const WorkDifference& difference) {
  if (!difference.by_layer) key.path = key.phase = {};
  if (!difference.by_shape) key.shape = {};
  return key;
}

WorkDifference work_difference(const StepWork& base, const StepWork& other, double base_times,
                               std::optional<bool> by_shape) {
  WorkDifference difference;
  difference.base_step_ns = std::llround(base_times * static_cast<double>(base.step_ns));
  difference.other_step_ns = other.step_ns;
  judge_steps(base, other, base_times, difference);
  difference.is_split = base.device_steps > 0 && other.device_steps > 0;
  if (!difference.is_split) return difference;
  difference.by_layer = base.has_layers && other.has_layers;
  difference.by_shape = by_shape.value_or(base_times == 1);
  for (const auto& [key, pair] : match(base, other, difference))
    difference.changes.push_back(change_of(key, pair, base, other, base_times));
  sort_changes(difference.changes);
  split(base, other, base_times, difference);
  return difference;
}

void scale(WorkDifference& difference, double times) {
  if (times == 1) return;
  const auto scaled = [times](std::int64_t ns) { return std::llround(times * static_cast<double>(ns)); };
  difference.base_step_ns = scaled(difference.base_step_ns);
  difference.other_step_ns = scaled(difference.other_step_ns);
  if (difference.half_width_ns) difference.half_width_ns = scaled(*difference.half_width_ns);
  std::int64_t left = difference.is_split ? difference.change_ns() : 0;
  for (std::int64_t& part : difference.part_ns) {
    part = scaled(part);
    left -= part;
  }
  *std::ranges::max_element(difference.part_ns, {}, [](std::int64_t part) { return std::abs(part); }) += left;
  for (WorkChange& change : difference.changes) {
    for (double* ns :
         {&change.base.ns, &change.other.ns, &change.beside_ns, &change.slowed_ns, &change.work_ns, &change.copies_ns})
      *ns *= times;
    change.base.variance_ns2 *= times * times;
    change.other.variance_ns2 *= times * times;
  }
}

std::vector<WorkChange> grouped(const std::vector<WorkChange>& changes, ChangeGrouping grouping) {
  if (grouping == ChangeGrouping::kNone) return changes;
  std::map<WorkKey, WorkChange> groups;
  for (const WorkChange& change : changes) {
    WorkKey key = group_key(change, grouping);
    const auto [group, is_new] = groups.try_emplace(key, change);
    WorkChange& sum = group->second;
    if (is_new) {
      sum.key = std::move(key);
      continue;
    }
    ++sum.kernels;
    add_to(sum.base, change.base);
    add_to(sum.other, change.other);
    sum.beside_ns += change.beside_ns;
    sum.slowed_ns += change.slowed_ns;
    sum.work_ns += change.work_ns;
    sum.copies_ns += change.copies_ns;
    if (sum.operation != change.operation) sum.operation = OperationKind::kOther;
  }
  std::vector<WorkChange> sums;
  for (auto& [key, sum] : groups) {
    sum.verdict = verdict_of(sum.base, sum.other);
    sums.push_back(std::move(sum));
  }
  sort_changes(sums);
  return sums;
}

}  // namespace swinscope

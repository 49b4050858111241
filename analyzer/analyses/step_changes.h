// Whether the steps of a rank take longer from some step on, for good or for a while: changes of the level of its step
// times (base/change_points.h: tests on ranks, at most 1 % of steady ranks of independent step times is said to
// change), of at least kSmallestChange.
//
// A stretch is the steps between two changes. Step times are those of the ranges that mark them, as the table of steps
// has their median. Beside that stands what tells a slow GPU from a slow job: the median of the time in which what a
// step launched, but communication, ran (|U(…)|, over its devices), and the clock of its GPU, where it was sampled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/analyses/run_facts.h"
#include "analyzer/table/table.h"

namespace swinscope {

inline constexpr double kSmallestChange = 0.01;  // of the median step before: two repeats of a run differ by as much

struct StepStretch {
  std::size_t rank_index = 0;
  std::size_t first = 0;  // of RankSteps::steps
  std::size_t count = 0;
  bool is_last = false;  // of its rank
  std::int64_t median_ns = 0;
  std::optional<std::int64_t> before_ns;  // median of the stretch before; none of the first
  double p = 1;                           // of the change with which it begins
  std::optional<std::int64_t> work_ns;
  std::optional<double> sm_mhz;
  double change() const;  // of the median step, relative to before; 0 of the first
};

// By rank, then step; one for each rank with measured steps and without a change.
std::vector<StepStretch> step_stretches(const RunFacts& run);
Table step_changes_table(const RunFacts& run);

// "rank 1: from step 13 on, steps take 14.20 ms instead of 10.10 ms (+40.6 %)", or "steps 13 to 20 take …", of the
// largest change, and of how many ranks steps change; empty where none does.
std::string step_change_note(const RunFacts& run);

}  // namespace swinscope

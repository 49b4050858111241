// Ranks and their steps as the cells of a heat map: how long the others waited for a rank in a step, and how much
// longer its step took than the median of the ranks' steps of that number.
#pragma once

#include <QString>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/analyses/run_facts.h"
#include "gui/core/calls.h"

namespace swinscope::gui {

enum class GridValue : std::uint8_t {
  kDelay,       // exposed wait of each of the others, on average (analyzer/analyses/late_ranks.h)
  kOverMedian,  // duration of the step - median over the ranks
};

struct RankGridRow {
  std::size_t rank_index = 0;       // in Trace::ranks
  std::optional<std::size_t> late;  // in LateRanks::ranks; nothing: it takes part in no collective
  QString label;                    // "rank 3"; with its GPU where it has several
  // By measured step.
  std::vector<std::int64_t> delay_ns;        // 0 where nobody waits for it
  std::vector<std::int64_t> over_median_ns;  // may be negative
};

struct RankGrid {
  std::vector<RankGridRow> rows;  // by rank, device
  std::size_t steps = 0;          // of the rank with the most
  std::int64_t first_step = 1;    // as a person counts the first of them

  // Nothing behind the last step of a rank that has fewer.
  std::optional<std::int64_t> value(GridValue of, std::size_t row, std::size_t step) const;
  // The largest size of any value.
  std::int64_t largest(GridValue of) const;
  // The row and the step with the largest value; nothing where none is above 0.
  std::optional<std::pair<std::size_t, std::size_t>> worst(GridValue of) const;
  // "rank 3, step 12: each of the others waits 2.000 ms"
  QString text(GridValue of, std::size_t row, std::size_t step) const;
};

RankGrid rank_grid(const RunFacts& run);

// Where a step of a row begins to be looked at: the collective at which the others waited longest for it, else the
// first GPU event of the step, with the whole step around it. Nothing where the step has no GPU event.
std::optional<Call> call_of_step(const RunFacts& run, const RankGrid& grid, std::size_t row, std::size_t step);

}  // namespace swinscope::gui

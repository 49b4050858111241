// The collectives of a run, by process group, kind and size: how long they transfer, how long their ranks wait for each
// other, and who comes last.
//
//   arrival spread = last start - first start over the ranks          wait of a rank = last start - its start
//   transfer of a rank = its end - last start                         (collective_waits.h: on aligned clocks, else by
//   durations) exposed wait, exposed transfer = what of both no kernel of the rank's device hides (time_breakdown.h),
//   where two
//     collectives at once count for the one that began first
//   bandwidths: of the median transfer (facts/collective_calls.h)
// Medians and the maximum of the transfer are over all ranks of all collectives of the row, those of the spread over
// its collectives. Waits and exposed times are means over the ranks, per step where there are steps. A collective is a
// kernel of each rank; where a call is several kernels, each counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/analyses/collective_exposure.h"
#include "analyzer/analyses/collective_waits.h"
#include "analyzer/analyses/run_facts.h"
#include "analyzer/facts/collective_calls.h"
#include "analyzer/table/table.h"

namespace swinscope {

struct CollectivesRow {
  CollectiveCall call;
  CollectiveMatch method = CollectiveMatch::kOrder;
  std::int64_t count = 0;        // collectives
  std::int64_t members = 0;      // ranks (devices) that take part, of those that are there
  std::int64_t undivided = 0;    // of them: an end before the last start, beyond what the clocks are aligned to
  std::int64_t later_parts = 0;  // of them: not the first kernel of their call
  std::optional<std::int64_t> transfer_median_ns;
  std::optional<std::int64_t> transfer_max_ns;
  std::optional<std::int64_t> spread_median_ns;
  std::optional<std::int64_t> spread_max_ns;
  std::int64_t wait_ns = 0;  // over all ranks and steps, as the two below
  std::int64_t exposed_wait_ns = 0;
  std::int64_t exposed_transfer_ns = 0;
  std::int64_t steps = 1;            // of a rank that took part; 1 where the scope is the whole trace
  std::optional<std::int32_t> last;  // rank that came last most often
  std::int64_t last_count = 0;       // how often
  std::int64_t last_known = 0;       // collectives whose last one is known

  std::optional<double> algorithm_gb_per_s() const;
  std::optional<double> bus_gb_per_s() const;
};

// Communication kernels that were not matched, by name.
struct UnmatchedRow {
  std::string name;
  std::int64_t kernels = 0;
  std::int64_t ranks = 0;  // devices that have any
};

struct CollectiveRows {
  std::vector<CollectivesRow> rows;  // by exposed wait and transfer, most first
  std::vector<UnmatchedRow> unmatched;
  std::int64_t peer_copies = 0;  // copies between GPUs: nothing says which copy of another rank belongs to them
};

CollectiveRows collective_rows(const RunFacts& run);

// A row for each; unmatched ones have their kernel's name as kind and "not matched" as method.
Table collectives_table(const RunFacts& run);

// How they were matched and on which clock, what was not matched or divided, which ranks are missing: a line each.
std::vector<std::string> collective_notes(const RunFacts& run);

}  // namespace swinscope

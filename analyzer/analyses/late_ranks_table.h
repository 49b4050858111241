// Who waits for whom and why, in one sentence and as a table: what late_ranks.h finds.
#pragma once

#include <string>
#include <vector>

#include "analyzer/analyses/run_facts.h"
#include "analyzer/table/table.h"

namespace swinscope {

// A row for each rank and device that takes part in collectives, the largest delay first: times per step of each of the
// others, on average, where there are steps. No rows where nothing was matched.
Table late_ranks_table(const RunFacts& run);

// "rank 3 arrives last at 91 % of 412 collectives and makes the others wait 3.10 ms per step (8.1 %): its kernels are
// slower, gemm_x most (2.90 ms)"; else that no rank does, or why that is not known.
std::string late_rank_verdict(const RunFacts& run);

// Why that is not known, or that there is nothing to compare; empty where the verdict says something.
std::string late_rank_abstention(const RunFacts& run);

// What is not known, a line each.
std::vector<std::string> late_rank_notes(const RunFacts& run);

}  // namespace swinscope

// The longest gaps as rows: when, how long, why, what the host did meanwhile, and the events around.
#pragma once

#include <cstddef>

#include "analyzer/analyses/run_facts.h"
#include "analyzer/table/table.h"
#include "analyzer/trace/kernel_names.h"

namespace swinscope {

// Shown where nobody says how many: what is shorter than that many others is no gap to look at by itself.
inline constexpr std::size_t kLongestGaps = 1000;

// `top`: that many; 0: kLongestGaps. `style`: of the events around. The title says how many there are, and what share
// of the idle time these have.
Table idle_gaps_table(const RunFacts& run, std::size_t top, NameStyle style = NameStyle::kShort);

}  // namespace swinscope

// The steps of a trace's ranks by what the program printed: for runs of an experiment whose steps are found so.
#pragma once

#include <string>
#include <vector>

#include "analyzer/facts/steps.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// One for each of Trace::ranks, in host time, nothing measured yet. Lines that close several steps give as many of
// equal length; where lines do not tell the rank, all ranks have the same steps. None where the lines show none.
std::vector<RankSteps> printed_steps(const Trace& trace, const std::string& pattern);

}  // namespace swinscope

// Facts about a trace that stand wherever it is described: how many ranks and files it has, and which ranks are
// missing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/trace/trace.h"

namespace swinscope {

// Ranks, not processes: a rank with two workers that have files of their own is one.
std::int64_t rank_count(const Trace& trace);

// The ranks of the job by what the trace says; 0 where it does not.
std::int32_t world_size(const Trace& trace);

struct MissingRanks {
  std::int64_t count = 0;
  std::vector<std::int32_t> ranks;  // which; empty when there are more than kMostNamed
  static constexpr std::int64_t kMostNamed = 16;
  // "6 of 8 ranks are missing: 2, 3, 4, 5, 6, 7"; empty when none is.
  std::string sentence() const;
  std::int32_t world_size = 0;
};

// Which ranks the job has and the trace lacks; none where the size of the job is unknown.
MissingRanks missing_ranks(const Trace& trace);

// Whether the programs that recorded count what they lose. Where they do not, nobody knows that nothing was lost.
bool counts_losses(const Trace& trace);

}  // namespace swinscope

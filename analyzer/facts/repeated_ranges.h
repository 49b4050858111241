// Which NVTX ranges of a program that nobody knows are its steps: `scale --step auto`.
//
// Ranges of one name, numbers split off ("Step 3" is "Step N"), that come at least three times on a thread. Numbers are
// split off where they rise from one to the next; else ("layer 0", "layer 1", "layer 0", …) each name is one of its
// own. Of these names the one whose outermost ranges cover the most time wins, so that what encloses others does.
// Ranges of libraries (NCCL, cuBLAS, operators of PyTorch) count for nothing: how many of them a step has is not known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/trace/trace.h"

namespace swinscope {

struct RepeatedRanges {
  std::string pattern;  // a regular expression for the names
  std::string shown;    // "Step N"
  std::int64_t count = 0;
  std::int64_t covered_ns = 0;
};

std::optional<RepeatedRanges> find_repeated_ranges(const Trace& trace, const Rank& rank);

}  // namespace swinscope

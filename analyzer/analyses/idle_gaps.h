// Each gap in which a device had nothing to do: how long, why (idle_causes.h, whose sums the gaps' lengths are), and
// what the host did meanwhile.
//
// The host is the thread that launched what ends the gap, or, of the last one of a window, what came before it. Each
// nanosecond of the gap belongs to the call or range of that thread that was open then and had begun last; to none
// where none was. Start/end ranges are left out: they say nothing of what a thread does.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/analyses/idle_causes.h"

namespace swinscope {

struct IdleGap : JudgedGap {
  std::size_t rank_index = 0;  // in Trace::ranks
  std::int32_t device = 0;
  int step = -1;             // of RankSteps::steps: that of the event that ends it, or of the one before; -1: none
  std::uint64_t thread = 0;  // the host's; 0 where no launch was recorded
};

// Of the scope, the longest first; of equal ones by rank, device and time.
std::vector<IdleGap> idle_gaps(const Trace& trace, const RunScope& scope);

struct HostWork {
  StringId within = kNoString;  // the innermost range around the whole gap
  // By name, the longest first; they sum to the gap with what is not recorded.
  std::vector<std::pair<StringId, std::int64_t>> parts;
  std::int64_t unrecorded_ns = 0;
  // The largest, "aten::mul 61 %", "cudaLaunchKernel 24 %", and last "nothing recorded 15 %"; none where the thread is
  // not known.
  std::vector<std::string> shares(const Trace& trace) const;
};

// Of parts by name, the longest first, and what is not recorded: the largest, as HostWork::shares has them.
using NamedTime = std::pair<std::string_view, std::int64_t>;
std::vector<std::string> largest_shares(std::span<const NamedTime> parts, std::int64_t unrecorded_ns);

// Of each of the gaps.
std::vector<HostWork> host_work(const Trace& trace, std::span<const IdleGap> gaps);

}  // namespace swinscope

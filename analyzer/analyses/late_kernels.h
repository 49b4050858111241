// Which kernels of a rank that comes late take longer than on the ranks that wait for it: by name, the time in its
// stretch (late_ranks.h) above the median of the others' time in theirs. A delay that longer kernels cause is shared
// out among those names in these proportions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "analyzer/base/intervals.h"
#include "analyzer/facts/collectives.h"
#include "analyzer/facts/scope.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

class LateKernels {
 public:
  // Of a rank: up to its arrival at the collective.
  struct Stretch {
    CollectiveMember member;
    Interval interval;
  };

  LateKernels(const Trace& trace, const RunScope& scope) : trace_(trace), scope_(scope) {}

  // A delay that kernels of `late` caused. Of the collectives of one stretch the last is looked at, for the delays of
  // all: its part of the stretch has those of the others.
  void add(std::size_t device, const Stretch& late, std::vector<Stretch> others, std::int64_t delay_ns);
  // The device's stretch has ended.
  void finish_stretch(std::size_t device);
  // The kernel with the largest delay; nothing is changed where there is none.
  void take(std::size_t device, StringId& kernel, std::int64_t& delay_ns);

 private:
  using Times = std::unordered_map<StringId, std::int64_t>;  // by short name
  struct Pending {
    Stretch late;
    std::vector<Stretch> others;
    std::int64_t delay_ns = 0;
  };
  Times times_in(const Stretch& stretch) const;

  const Trace& trace_;
  const RunScope& scope_;
  std::map<std::size_t, Pending> pending_;                          // by device
  std::map<std::size_t, std::map<StringId, std::int64_t>> delays_;  // by device, name
};

}  // namespace swinscope

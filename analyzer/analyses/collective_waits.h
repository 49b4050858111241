// How long each collective waited for other ranks before it could transfer (METRICS "Collectives").
//
// Where the ranks' clocks agree (the ends of matched collectives, facts/collectives.h, differ by little),
//   wait of rank i = last start over ranks - start of i,      transfer of rank i = end of i - last start,
// else the shortest duration over ranks is taken as the transfer of each, and the rest as its wait. A collective whose
// transfer would be negative is a fault of the alignment: it is counted, and left undivided.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analyzer/facts/collectives.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

class CollectiveWaits {
 public:
  CollectiveWaits(const Trace& trace, const std::vector<Collective>& collectives);

  // From the event's start; nothing for one that was not matched.
  std::optional<std::int64_t> wait_ns(std::size_t rank_index, EventIndex event) const;

  std::int64_t matched() const { return matched_; }        // collectives, not events
  std::int64_t misaligned() const { return misaligned_; }  // of them those left undivided
  bool clocks_agree() const { return clocks_agree_; }

 private:
  struct Member {
    std::size_t rank_index;
    EventIndex event;
    std::int64_t start_ns;  // since the Unix epoch
    std::int64_t end_ns;
  };

  void divide(const std::vector<std::vector<Member>>& collectives);

  std::vector<std::unordered_map<EventIndex, std::int64_t>> wait_ns_;  // by rank
  std::int64_t matched_ = 0;
  std::int64_t misaligned_ = 0;
  bool clocks_agree_ = false;
};

}  // namespace swinscope

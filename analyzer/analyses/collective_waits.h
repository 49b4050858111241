// How long each collective waited for other ranks before it could transfer (METRICS "Collectives").
//
// Of a matched collective (facts/collectives.h) whose ranks are on one clock (facts/clock_alignment.h),
//   wait of rank i = last start over ranks - start of i,      transfer of rank i = end of i - last start,
// else the shortest duration over ranks is taken as the transfer of each, and the rest as its wait. A collective that
// some rank ended before the last one began it, by more than the clocks are aligned to, is a fault of the alignment: it
// is counted, and left undivided.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/facts/clock_alignment.h"
#include "analyzer/facts/collectives.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// Who came when.
struct CollectiveArrivals {
  bool is_divided = false;     // wait and transfer are told apart
  std::size_t last = 0;        // of Collective::members the one that came last
  std::int64_t spread_ns = 0;  // last arrival - first one
  bool is_last_known = false;  // the spread is more than the clocks may be wrong by
};

class CollectiveWaits {
 public:
  CollectiveWaits(const Trace& trace, const std::vector<Collective>& collectives, const ClockAlignment& clocks);

  // From the event's start, no more than its duration; nothing for one that was not matched.
  std::optional<std::int64_t> wait_ns(std::size_t rank_index, EventIndex event) const;

  // In the order of the collectives.
  const std::vector<CollectiveArrivals>& arrivals() const { return arrivals_; }

  std::int64_t matched() const { return matched_; }          // collectives, not events
  std::int64_t misaligned() const { return misaligned_; }    // of them those left undivided
  std::int64_t by_duration() const { return by_duration_; }  // of them those divided by the shortest duration
  // What makes the division doubtful, a line each.
  std::vector<std::string> doubts() const;

 private:
  struct Member {
    std::size_t rank_index;
    EventIndex event;
    std::int64_t duration_ns;
    std::int64_t start_ns;  // on the common clock
    std::int64_t end_ns;
  };

  void divide(const std::vector<Member>& members, std::optional<std::int64_t> tolerance_ns);

  std::vector<std::unordered_map<EventIndex, std::int64_t>> wait_ns_;  // by rank
  std::vector<CollectiveArrivals> arrivals_;
  std::int64_t matched_ = 0;
  std::int64_t misaligned_ = 0;
  std::int64_t by_duration_ = 0;
};

}  // namespace swinscope

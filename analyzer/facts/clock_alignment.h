// One clock for all ranks (METRICS "Clock alignment"): what has to be added to the times of each.
//
// Times of a rank are its trace's plus RunInfo::utc_epoch_ns. The clock of the first rank that took part in a
// collective (of the first rank where none did) is the reference; every other rank has
//   same host      ranks of one host share CLOCK_MONOTONIC: nothing is added. The host that a foreign trace names is
//                  believed unless the ends of the collectives of its ranks say otherwise
//   clocks agree   the host of one of the two is not known, but the ends of their collectives differ by at most 50 us
//                  (median): nothing is added
//   collectives    else the difference of the ends of at least 20 collectives on both clocks, the last member's of
//   each,
//                  as a line over time: slope and height are medians (Theil-Sen, which a quarter of outliers does not
//                  move). It counts where its residuals have a median of at most 50 us
//   not aligned    else.
// Ranks of one host get one line. Ranks are aligned with the reference directly, never by way of a third.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/facts/collectives.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

enum class ClockMethod : std::uint8_t { kReference, kSameHost, kAgree, kCollectives, kNone };
std::string_view clock_method_name(ClockMethod method);  // "same host"

struct RankClock {
  ClockMethod method = ClockMethod::kNone;
  std::size_t clock = 0;          // ranks that share a clock have the same number
  std::int64_t reference_ns = 0;  // when `offset_ns` holds, by the rank's own clock: the middle of the collectives
  std::int64_t offset_ns = 0;     // to be added then
  double drift = 0;               // to be added for each ns from then on; 1e-6 is 1 ppm
  std::int64_t collectives = 0;   // whose ends on both clocks were compared
  // 95 % of these ends differ by no more after the alignment; nothing where none were compared.
  std::optional<std::int64_t> residual_p95_ns;

  bool is_aligned() const { return method != ClockMethod::kNone; }
};

class ClockAlignment {
 public:
  // By the collectives of the measured steps, which it matches where the hosts do not settle it.
  explicit ClockAlignment(const Trace& trace);
  // By those given, which RunScope(trace, {}) has.
  ClockAlignment(const Trace& trace, const std::vector<Collective>& collectives);

  const std::vector<RankClock>& ranks() const { return ranks_; }  // in the order of Trace::ranks
  // RankClock::offset_ns of each: what is added where the drift is left, as on timelines and in exports.
  std::vector<std::int64_t> offsets_ns() const;
  // A time of a rank's trace on the reference clock, since the Unix epoch where that is known. Of a rank that is not
  // aligned, on its own clock.
  std::int64_t common_ns(std::size_t rank_index, std::int64_t time_ns) const;
  // What times of two ranks may be wrong by against each other; nothing where they are on no common clock.
  std::optional<std::int64_t> tolerance_ns(std::size_t rank_a, std::size_t rank_b) const;

 private:
  void align(const Trace& trace, const std::vector<Collective>& collectives);

  std::vector<RankClock> ranks_;
  std::vector<std::int64_t> epoch_ns_;
};

}  // namespace swinscope

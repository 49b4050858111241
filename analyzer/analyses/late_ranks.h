// Who makes the others wait at collectives, for how long, and why ("delay cost").
//
// A matched collective's waits end when the last of its ranks comes (collective_waits.h) and are charged to that rank.
//   delay of a rank = sum over the collectives at which it was last of the others' exposed waits
// where exposed is what no kernel of the waiting device hides (collective_exposure.h), so that the delays of all ranks,
// and what no rank can be blamed for, sum to the exposed wait of all devices in time_breakdown.h. Nothing is charged
// twice: what is waited for at one collective is another time than what is waited for at the next.
//
// Why it was last is read off its stretch: from the end of the last collective after which the ranks went on together
// to its arrival at this one. Together is a collective during whose transfer none of its ranks computed; all of them
// leave it at once, and whatever they do next waits for it. A collective beside which ranks compute is none: who is
// late there may have fallen behind before. Parts of the stretch (stretch_parts.h) that are longer than the median of
// the other ranks' are causes, in these proportions; what they do not explain of how late the rank was is
//   communication   as far as it left the collective before later than the others or spent longer in others, or
//   other           the rest: not known.
//   clock           of longer kernels what a lower clock of the GPU explains, where it was sampled (gpu_samples.h)
// The causes of a rank sum to its delay in integer ns. Clocks that are aligned are no cause; where they are not, waits
// are told by durations, and the causes are still those of each rank's own clock.
//
// Which kernel: that whose time in the stretch is most above the median of the other ranks', kernels taken by name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/analyses/collective_waits.h"
#include "analyzer/facts/clock_alignment.h"
#include "analyzer/facts/collectives.h"
#include "analyzer/facts/scope.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

enum class LateCause : std::uint8_t {
  kHost,             // idle because its host launched late
  kSynchronization,  // idle because its host was blocked in a synchronizing call
  kInput,            // idle because it waited for data
  kDependency,       // idle between what was launched in time
  kKernels,
  kClock,
  kCopies,
  kCommunication,
  kOther,
};
inline constexpr std::size_t kLateCauses = 9;
std::string_view late_cause_name(LateCause cause);  // "host"

struct LateRank {
  std::size_t rank_index = 0;  // in Trace::ranks
  std::int32_t rank = 0;
  std::int32_t device = 0;
  std::int64_t steps = 0;        // measured; 0 where the scope is the whole trace
  std::int64_t collectives = 0;  // that it took part in and whose last one is known
  std::int64_t last = 0;         // of them those to which it came last
  // Over all the others and all steps:
  std::int64_t wait_ns = 0;  // theirs until it came, hidden or not
  std::int64_t delay_ns = 0;
  std::array<std::int64_t, kLateCauses> cause_ns{};  // by LateCause; they sum to the delay
  StringId kernel = kNoString;                       // takes most longer than on the others
  std::int64_t kernel_ns = 0;                        // its part of the kernels' (and the clock's)
  std::optional<double> clock_mhz;                   // mean over its window
  std::vector<std::int64_t> delay_of_step;           // by measured step; empty where the scope is the whole trace
  // Likewise: of the collectives to which it came last the one that was waited for longest; kNoEvent: none.
  std::vector<EventIndex> worst_of_step;
};

struct LateRanks {
  std::vector<LateRank> ranks;    // of those that take part in any, by rank, device
  std::int64_t collectives = 0;   // whose last one is known
  std::int64_t undecided = 0;     // others that were divided: all came within what the clocks may be wrong by
  std::int64_t undecided_ns = 0;  // exposed wait of these, which nobody is blamed for

  // What each of the other ranks waits for this one, on average, per step (in the whole scope without steps), and its
  // causes, which sum to it.
  std::array<std::int64_t, kLateCauses> causes_per_step(const LateRank& rank) const;
  std::int64_t delay_per_step(const LateRank& rank) const { return per_step(rank, rank.delay_ns); }
  std::int64_t per_step(const LateRank& rank, std::int64_t ns) const;
  std::int64_t divisor(const LateRank& rank) const;
};

LateRanks find_late_ranks(const Trace& trace, const RunScope& scope, const std::vector<Collective>& collectives,
                          const CollectiveWaits& waits, const ClockAlignment& clocks);

}  // namespace swinscope

#include "analyzer/analyses/late_ranks.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "analyzer/analyses/collective_exposure.h"
#include "analyzer/analyses/late_kernels.h"
#include "analyzer/analyses/stretch_parts.h"
#include "analyzer/analyses/verdict.h"
#include "analyzer/base/statistics.h"
#include "analyzer/facts/gpu_samples.h"

namespace swinscope {
namespace {

using Lengths = StretchParts::Lengths;
using Causes = std::array<std::int64_t, kLateCauses>;  // by LateCause

constexpr double kSameClock = 0.01;  // clocks that differ by less are alike

constexpr std::size_t index_of(StretchPart part) { return static_cast<std::size_t>(part); }
constexpr std::size_t index_of(LateCause cause) { return static_cast<std::size_t>(cause); }

// whole x part / parts, rounded.
std::int64_t share_of(std::int64_t whole, std::int64_t part, std::int64_t parts) {
  return std::llround(static_cast<double>(whole) * static_cast<double>(part) / static_cast<double>(parts));
}

struct OwnCause {
  StretchPart part;
  LateCause cause;
};
constexpr std::array kIdleCauses = {OwnCause{StretchPart::kHost, LateCause::kHost},
                                    OwnCause{StretchPart::kSynchronization, LateCause::kSynchronization},
                                    OwnCause{StretchPart::kInput, LateCause::kInput},
                                    OwnCause{StretchPart::kDependency, LateCause::kDependency}};
constexpr std::array kBusyCauses = {OwnCause{StretchPart::kKernels, LateCause::kKernels},
                                    OwnCause{StretchPart::kCopies, LateCause::kCopies}};

// What a stretch has more of than is usual. Idle counts as a whole: where one gap is two on another rank, parts of it
// may have other causes there, but it is no longer. What is more of it belongs to the causes that are longer.
Causes longer_parts(const Lengths& own, const Lengths& usual) {
  Causes longer{};
  const auto excess = [&](StretchPart part) { return own[index_of(part)] - usual[index_of(part)]; };
  for (const auto& [part, cause] : kBusyCauses)
    longer[index_of(cause)] = std::max<std::int64_t>(0, excess(part));
  std::int64_t idle = 0;
  std::int64_t positive = 0;
  for (const auto& [part, cause] : kIdleCauses) {
    idle += excess(part);
    positive += std::max<std::int64_t>(0, excess(part));
  }
  if (idle <= 0) return longer;
  std::int64_t sum = 0;    // of the positive ones so far
  std::int64_t given = 0;  // of the idle so far
  for (const auto& [part, cause] : kIdleCauses) {
    sum += std::max<std::int64_t>(0, excess(part));
    const std::int64_t up_to_here = share_of(idle, sum, positive);
    longer[index_of(cause)] = up_to_here - given;
    given = up_to_here;
  }
  return longer;
}

std::int64_t median_of(std::vector<std::int64_t> values) {
  std::ranges::sort(values);
  return quantile(values, 0.5);
}

// A device on its way from collective to collective.
struct Walker {
  StretchParts parts;
  std::int64_t begin_ns = 0;           // of its stretch, by its own clock
  bool left_collective = false;        // the stretch begins at the end of one; else with the scope
  std::vector<std::int64_t> worst_ns;  // by step: of LateRank::worst_of_step
};

class Finder {
 public:
  Finder(const Trace& trace, const RunScope& scope, const std::vector<Collective>& collectives,
         const CollectiveWaits& waits, const ClockAlignment& clocks)
      : trace_(trace),
        scope_(scope),
        collectives_(collectives),
        waits_(waits),
        clocks_(clocks),
        exposure_(collective_exposure(trace, scope, collectives, waits)),
        kernels_(trace, scope) {}

  LateRanks find() {
    add_devices();
    std::vector<std::size_t> order(collectives_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t c) { return start_ns(collectives_[c].members.front()); });
    for (const std::size_t c : order) {
      const bool is_divided = waits_.arrivals()[c].is_divided;
      if (is_divided) charge(c);
      if (is_divided && is_together(collectives_[c])) go_on_from(collectives_[c]);
    }
    for (std::size_t d = 0; d < found_.ranks.size(); ++d)
      kernels_.take(d, found_.ranks[d].kernel, found_.ranks[d].kernel_ns);
    return std::move(found_);
  }

 private:
  using Device = std::pair<std::size_t, std::int32_t>;

  void add_devices() {
    for (const Collective& collective : collectives_)
      for (const CollectiveMember& member : collective.members)
        index_.try_emplace({member.rank_index, member.device}, 0);
    for (auto& [device, index] : index_) {
      index = found_.ranks.size();
      LateRank& rank = found_.ranks.emplace_back();
      rank.rank_index = device.first;
      rank.rank = trace_.ranks[device.first].run.rank;
      rank.device = device.second;
      rank.steps = scope_.step_count(device.first);
      rank.delay_of_step.resize(static_cast<std::size_t>(rank.steps));
      rank.worst_of_step.resize(static_cast<std::size_t>(rank.steps), kNoEvent);
      walkers_.emplace_back().worst_ns.resize(static_cast<std::size_t>(rank.steps));
      Walker& walker = walkers_.back();
      const IdleJudge judge(trace_, trace_.ranks[device.first], scope_.steps()[device.first]);
      Interval whole{std::numeric_limits<std::int64_t>::max(), 0};
      for (const DeviceScope& window : scope_.devices()) {
        if (Device(window.rank_index, window.device) != device) continue;
        walker.parts.add(trace_.ranks[device.first], window, judge);
        whole = {std::min(whole.begin_ns, window.window.begin_ns), std::max(whole.end_ns, window.window.end_ns)};
      }
      walker.begin_ns = whole.begin_ns;
      rank.clock_mhz = mean_sm_clock(trace_, device.first, device.second, whole);
    }
  }

  std::size_t index_of_member(const CollectiveMember& member) const {
    return index_.at({member.rank_index, member.device});
  }
  std::int64_t own_start_ns(const CollectiveMember& m) const {
    return trace_.ranks[m.rank_index].gpu.start_ns[m.event];
  }
  std::int64_t own_end_ns(const CollectiveMember& m) const { return trace_.ranks[m.rank_index].gpu.end_ns[m.event]; }
  std::int64_t start_ns(const CollectiveMember& m) const { return clocks_.common_ns(m.rank_index, own_start_ns(m)); }

  // None of the ranks computes while it transfers.
  bool is_together(const Collective& collective) const {
    return std::ranges::all_of(collective.members, [&](const CollectiveMember& m) {
      const std::int64_t arrived = own_start_ns(m) + waits_.wait_ns(m.rank_index, m.event).value_or(0);
      const Lengths lengths = walkers_[index_of_member(m)].parts.of({arrived, own_end_ns(m)});
      return lengths[index_of(StretchPart::kKernels)] == 0;
    });
  }

  void go_on_from(const Collective& collective) {
    for (const CollectiveMember& member : collective.members) {
      const std::size_t d = index_of_member(member);
      kernels_.finish_stretch(d);
    }
    for (const CollectiveMember& member : collective.members) {
      Walker& walker = walkers_[index_of_member(member)];
      walker.begin_ns = own_end_ns(member);
      walker.left_collective = true;
    }
  }

  void charge(std::size_t c) {
    const Collective& collective = collectives_[c];
    const CollectiveArrivals& arrivals = waits_.arrivals()[c];
    std::int64_t wait = 0;
    std::int64_t delay = 0;
    for (std::size_t m = 0; m < collective.members.size(); ++m) {
      wait += waits_.wait_ns(collective.members[m].rank_index, collective.members[m].event).value_or(0);
      delay += exposure_[c][m].wait_ns;
    }
    if (!arrivals.is_last_known) {
      ++found_.undecided;
      found_.undecided_ns += delay;
      return;
    }
    ++found_.collectives;
    for (const CollectiveMember& member : collective.members)
      ++found_.ranks[index_of_member(member)].collectives;
    const CollectiveMember& last = collective.members[arrivals.last];
    LateRank& late = found_.ranks[index_of_member(last)];
    ++late.last;
    late.wait_ns += wait;
    late.delay_ns += delay;
    if (const auto step = step_of_member(last)) {
      late.delay_of_step[*step] += delay;
      std::int64_t& worst = walkers_[index_of_member(last)].worst_ns[*step];
      if (delay > worst) worst = delay, late.worst_of_step[*step] = last.event;
    }
    if (delay > 0) explain(collective, arrivals.last, delay);
  }

  std::optional<std::size_t> step_of_member(const CollectiveMember& member) const {
    const RankSteps& steps = scope_.steps()[member.rank_index];
    const LateRank& late = found_.ranks[index_of_member(member)];
    const auto step =
        step_of(trace_.ranks[member.rank_index], steps, member.event) - static_cast<std::int64_t>(steps.first_measured);
    if (step < 0 || step >= std::ssize(late.delay_of_step)) return std::nullopt;
    return static_cast<std::size_t>(step);
  }

  // The stretch of a member up to its arrival.
  Interval stretch_of(const CollectiveMember& m) const {
    return {walkers_[index_of_member(m)].begin_ns, own_start_ns(m)};
  }

  // The stretches of the ranks that wait: medians.
  struct Usual {
    Lengths parts{};
    std::int64_t begin_ns = 0;  // on the common clock
    std::int64_t wait_ns = 0;
  };
  Usual usual_of(const Collective& collective, std::size_t last) const {
    std::array<std::vector<std::int64_t>, kStretchParts> parts;
    std::vector<std::int64_t> begins;
    std::vector<std::int64_t> waits;
    for (std::size_t m = 0; m < collective.members.size(); ++m) {
      if (m == last) continue;
      const CollectiveMember& other = collective.members[m];
      const Walker& walker = walkers_[index_of_member(other)];
      const Lengths of = walker.parts.of(stretch_of(other));
      for (std::size_t p = 0; p < kStretchParts; ++p)
        parts[p].push_back(of[p]);
      begins.push_back(clocks_.common_ns(other.rank_index, walker.begin_ns));
      waits.push_back(waits_.wait_ns(other.rank_index, other.event).value_or(0));
    }
    Usual usual{{}, median_of(std::move(begins)), median_of(std::move(waits))};
    for (std::size_t p = 0; p < kStretchParts; ++p)
      usual.parts[p] = median_of(std::move(parts[p]));
    return usual;
  }

  // Divides a delay by what the last one's stretch has more of than the others'.
  void explain(const Collective& collective, std::size_t last, std::int64_t delay) {
    const CollectiveMember& late = collective.members[last];
    const Walker& walker = walkers_[index_of_member(late)];
    const Lengths own = walker.parts.of(stretch_of(late));
    const Usual usual = usual_of(collective, last);
    Causes parts = longer_parts(own, usual.parts);
    const std::int64_t explained = std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
    const std::int64_t rest = std::max<std::int64_t>(0, usual.wait_ns - explained);
    constexpr std::size_t kSending = index_of(StretchPart::kCommunication);
    std::int64_t elsewhere = own[kSending] - usual.parts[kSending];
    if (walker.left_collective && clocks_.ranks()[late.rank_index].is_aligned())
      elsewhere += clocks_.common_ns(late.rank_index, walker.begin_ns) - usual.begin_ns;
    parts[index_of(LateCause::kCommunication)] = std::clamp<std::int64_t>(elsewhere, 0, rest);
    parts[index_of(LateCause::kOther)] = rest - parts[index_of(LateCause::kCommunication)];
    split_off_clock(collective, last, own[index_of(StretchPart::kKernels)], parts);
    add(collective, last, delay, parts);
  }

  // What a lower clock explains of longer kernels.
  void split_off_clock(const Collective& collective, std::size_t last, std::int64_t kernels_ns, Causes& parts) const {
    const auto own = found_.ranks[index_of_member(collective.members[last])].clock_mhz;
    std::vector<std::int64_t> others;
    for (std::size_t m = 0; m < collective.members.size(); ++m) {
      const auto clock = found_.ranks[index_of_member(collective.members[m])].clock_mhz;
      if (m != last && clock) others.push_back(std::llround(*clock));
    }
    if (!own || others.empty()) return;
    const auto usual = static_cast<double>(median_of(std::move(others)));
    if (usual <= 0 || *own >= (1 - kSameClock) * usual) return;
    const std::int64_t by_clock = std::llround(static_cast<double>(kernels_ns) * (1 - *own / usual));
    std::int64_t& kernels = parts[index_of(LateCause::kKernels)];
    parts[index_of(LateCause::kClock)] = std::min(kernels, by_clock);
    kernels -= parts[index_of(LateCause::kClock)];
  }

  // In the proportions of the parts.
  void add(const Collective& collective, std::size_t last, std::int64_t delay, const Causes& parts) {
    const std::size_t d = index_of_member(collective.members[last]);
    const std::int64_t whole = std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
    auto& causes = found_.ranks[d].cause_ns;
    if (whole == 0) {
      causes[index_of(LateCause::kOther)] += delay;
      return;
    }
    std::int64_t sum = 0;    // of the parts so far
    std::int64_t given = 0;  // of the delay so far
    std::int64_t of_kernels = 0;
    for (std::size_t i = 0; i < kLateCauses; ++i) {
      sum += parts[i];
      const std::int64_t up_to_here = share_of(delay, sum, whole);
      causes[i] += up_to_here - given;
      if (i == index_of(LateCause::kKernels) || i == index_of(LateCause::kClock)) of_kernels += up_to_here - given;
      given = up_to_here;
    }
    if (of_kernels == 0) return;
    std::vector<LateKernels::Stretch> others;
    for (std::size_t m = 0; m < collective.members.size(); ++m)
      if (m != last) others.push_back({collective.members[m], stretch_of(collective.members[m])});
    kernels_.add(d, {collective.members[last], stretch_of(collective.members[last])}, std::move(others), of_kernels);
  }

  const Trace& trace_;
  const RunScope& scope_;
  const std::vector<Collective>& collectives_;
  const CollectiveWaits& waits_;
  const ClockAlignment& clocks_;
  std::vector<std::vector<CollectiveExposure>> exposure_;
  LateKernels kernels_;
  LateRanks found_;
  std::vector<Walker> walkers_;          // in the order of LateRanks::ranks
  std::map<Device, std::size_t> index_;  // in them
};

}  // namespace

std::string_view late_cause_name(LateCause cause) {
  constexpr std::array<std::string_view, kLateCauses> kNames = {
      "host", "synchronization", "input", "dependency", "kernels", "clock", "copies", "communication", "other"};
  return kNames[static_cast<std::size_t>(cause)];
}

std::int64_t LateRanks::divisor(const LateRank& rank) const {
  return std::max<std::int64_t>(1, rank.steps) * std::max<std::int64_t>(1, std::ssize(ranks) - 1);
}

std::int64_t LateRanks::per_step(const LateRank& rank, std::int64_t ns) const {
  return (ns + divisor(rank) / 2) / divisor(rank);
}

std::array<std::int64_t, kLateCauses> LateRanks::causes_per_step(const LateRank& rank) const {
  return divide_exactly(rank.cause_ns, divisor(rank));
}

LateRanks find_late_ranks(const Trace& trace, const RunScope& scope, const std::vector<Collective>& collectives,
                          const CollectiveWaits& waits, const ClockAlignment& clocks) {
  return Finder(trace, scope, collectives, waits, clocks).find();
}

}  // namespace swinscope

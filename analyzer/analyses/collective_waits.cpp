#include "analyzer/analyses/collective_waits.h"

#include <algorithm>

#include <fmt/format.h>

namespace swinscope {
namespace {

// Of the times of all members; nothing where these are on no common clock.
std::optional<std::int64_t> tolerance_of(const Collective& collective, const ClockAlignment& clocks) {
  std::int64_t most = 0;
  for (const CollectiveMember& member : collective.members) {
    const auto tolerance = clocks.tolerance_ns(collective.members.front().rank_index, member.rank_index);
    if (!tolerance) return std::nullopt;
    most = std::max(most, *tolerance);
  }
  return most;
}

}  // namespace

CollectiveWaits::CollectiveWaits(const Trace& trace, const std::vector<Collective>& collectives,
                                 const ClockAlignment& clocks)
    : wait_ns_(trace.ranks.size()) {
  for (const Collective& collective : collectives) {
    std::vector<Member> members;
    for (const auto& [rank_index, device, event] : collective.members) {
      const std::int64_t start_ns = trace.ranks[rank_index].gpu.start_ns[event];
      const std::int64_t end_ns = trace.ranks[rank_index].gpu.end_ns[event];
      members.push_back({rank_index, event, end_ns - start_ns, clocks.common_ns(rank_index, start_ns),
                         clocks.common_ns(rank_index, end_ns)});
    }
    divide(members, tolerance_of(collective, clocks));
  }
}

void CollectiveWaits::divide(const std::vector<Member>& members, std::optional<std::int64_t> tolerance_ns) {
  ++matched_;
  CollectiveArrivals& arrivals = arrivals_.emplace_back();
  const std::int64_t last_start = std::ranges::max(members, {}, &Member::start_ns).start_ns;
  const std::int64_t shortest = std::ranges::min(members, {}, &Member::duration_ns).duration_ns;
  const auto ended_before = [&](const Member& m) { return m.end_ns + *tolerance_ns < last_start; };
  if (tolerance_ns && std::ranges::any_of(members, ended_before)) {
    ++misaligned_;
    return;
  }
  if (!tolerance_ns) ++by_duration_;
  const std::int64_t first_start = std::ranges::min(members, {}, &Member::start_ns).start_ns;
  const std::int64_t longest = std::ranges::max(members, {}, &Member::duration_ns).duration_ns;
  const auto late_ns = [&](const Member& m) {
    return tolerance_ns ? m.start_ns - first_start : longest - m.duration_ns;
  };
  const auto last = std::ranges::max_element(members, {}, late_ns);
  arrivals = {true, static_cast<std::size_t>(last - members.begin()), late_ns(*last),
              late_ns(*last) > tolerance_ns.value_or(0)};
  for (const Member& m : members) {
    wait_ns_[m.rank_index][m.event] =
        tolerance_ns ? std::min(last_start - m.start_ns, m.duration_ns) : m.duration_ns - shortest;
  }
}

std::optional<std::int64_t> CollectiveWaits::wait_ns(std::size_t rank_index, EventIndex event) const {
  const auto found = wait_ns_[rank_index].find(event);
  return found == wait_ns_[rank_index].end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> CollectiveWaits::doubts() const {
  std::vector<std::string> lines;
  if (by_duration_ > 0) {
    lines.push_back(fmt::format(
        "the clocks of the ranks are not aligned: the wait of {} of {} collectives is what they take longer "
        "than on the rank where they are shortest",
        by_duration_, matched_));
  }
  if (misaligned_ > 0) {
    lines.push_back(
        fmt::format("{} of {} collectives end on a rank before they begin on the last one, by more than the clocks are "
                    "aligned to: their waiting is not told from their transfer",
                    misaligned_, matched_));
  }
  return lines;
}

}  // namespace swinscope

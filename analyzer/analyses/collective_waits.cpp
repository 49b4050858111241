#include "analyzer/analyses/collective_waits.h"

#include <algorithm>

#include "analyzer/base/statistics.h"

namespace swinscope {

CollectiveWaits::CollectiveWaits(const Trace& trace, const std::vector<Collective>& collectives)
    : wait_ns_(trace.ranks.size()) {
  std::vector<std::vector<Member>> timed;
  for (const Collective& collective : collectives) {
    std::vector<Member>& members = timed.emplace_back();
    for (const CollectiveMember& member : collective.members) {
      const Rank& rank = trace.ranks[member.rank_index];
      members.push_back({member.rank_index, member.event, rank.gpu.start_ns[member.event] + rank.run.utc_epoch_ns,
                         rank.gpu.end_ns[member.event] + rank.run.utc_epoch_ns});
    }
  }
  divide(timed);
}

void CollectiveWaits::divide(const std::vector<std::vector<Member>>& collectives) {
  constexpr std::int64_t kAgreeNs = 50'000;
  std::vector<std::int64_t> spread;  // of the ends
  for (const std::vector<Member>& members : collectives) {
    const auto [first, last] = std::ranges::minmax_element(members, {}, &Member::end_ns);
    spread.push_back(last->end_ns - first->end_ns);
  }
  std::ranges::sort(spread);
  clocks_agree_ = !spread.empty() && quantile(spread, 0.5) <= kAgreeNs;
  for (const std::vector<Member>& members : collectives) {
    const std::int64_t last_start = std::ranges::max(members, {}, &Member::start_ns).start_ns;
    const auto duration = [](const Member& m) { return m.end_ns - m.start_ns; };
    const std::int64_t shortest = duration(std::ranges::min(members, {}, duration));
    ++matched_;
    if (clocks_agree_ && std::ranges::any_of(members, [&](const Member& m) { return m.end_ns < last_start; })) {
      ++misaligned_;
      continue;
    }
    for (const Member& m : members) {
      wait_ns_[m.rank_index][m.event] = clocks_agree_ ? last_start - m.start_ns : duration(m) - shortest;
    }
  }
}

std::optional<std::int64_t> CollectiveWaits::wait_ns(std::size_t rank_index, EventIndex event) const {
  const auto found = wait_ns_[rank_index].find(event);
  return found == wait_ns_[rank_index].end() ? std::nullopt : std::optional(found->second);
}

}  // namespace swinscope

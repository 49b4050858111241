#include "analyzer/analyses/idle_gaps.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

namespace swinscope {
namespace {

constexpr std::size_t kNamed = 3;  // parts of the host's work that are said

// A call or range that overlaps a gap.
struct Piece {
  Interval time;
  StringId name = kNoString;
  bool is_range = false;
};

// A stack of what is open, and whose time it is.
class OpenPieces {
 public:
  explicit OpenPieces(Interval gap) : gap_(gap), now_ns_(gap.begin_ns) {}

  void open(const Piece& piece) {
    go_to(std::max(piece.time.begin_ns, gap_.begin_ns));
    open_.push_back(piece);
  }
  HostWork finish() {
    go_to(gap_.end_ns);
    work_.parts.assign(by_name_.begin(), by_name_.end());
    std::ranges::stable_sort(work_.parts, std::greater(), &std::pair<StringId, std::int64_t>::second);
    return std::move(work_);
  }

 private:
  void go_to(std::int64_t time_ns) {
    while (!open_.empty() && now_ns_ < time_ns) {
      const std::int64_t until_ns = std::min(open_.back().time.end_ns, time_ns);
      if (until_ns > now_ns_) by_name_[open_.back().name] += until_ns - now_ns_;
      now_ns_ = std::max(now_ns_, until_ns);
      if (open_.back().time.end_ns <= now_ns_) open_.pop_back();
    }
    if (now_ns_ < time_ns) work_.unrecorded_ns += time_ns - now_ns_;
    now_ns_ = std::max(now_ns_, time_ns);
  }

  Interval gap_;
  std::int64_t now_ns_;
  std::vector<Piece> open_;
  std::map<StringId, std::int64_t> by_name_;
  HostWork work_;
};

HostWork work_in(Interval gap, std::vector<Piece>& pieces) {
  std::ranges::sort(pieces, {}, [](const Piece& piece) { return std::tuple(piece.time.begin_ns, -piece.time.end_ns); });
  OpenPieces open(gap);
  StringId within = kNoString;
  for (const Piece& piece : pieces) {
    open.open(piece);
    if (piece.is_range && piece.time.begin_ns <= gap.begin_ns && piece.time.end_ns >= gap.end_ns) within = piece.name;
  }
  HostWork work = open.finish();
  work.within = within;
  return work;
}

// The gaps of one rank whose host is known, by thread.
class GapsByThread {
 public:
  GapsByThread(std::size_t rank_index, std::span<const IdleGap> gaps) : gaps_(gaps) {
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      if (gaps[i].rank_index == rank_index && gaps[i].thread != 0) by_thread_[gaps[i].thread].push_back(i);
    }
    const auto begin = [&](std::size_t i) { return gaps_[i].time.begin_ns; };
    for (auto& [thread, indices] : by_thread_) {
      std::ranges::sort(indices, {}, begin);
      // Gaps of several devices may overlap: no gap that begins earlier than this before an event reaches it.
      for (const std::size_t i : indices)
        longest_ns_ = std::max(longest_ns_, gaps_[i].time.length());
    }
  }

  void add(std::uint64_t thread, const Piece& piece, std::vector<std::vector<Piece>>& pieces) const {
    const auto found = by_thread_.find(thread);
    if (found == by_thread_.end()) return;
    const auto begin = [&](std::size_t i) { return gaps_[i].time.begin_ns; };
    for (auto i = std::ranges::lower_bound(found->second, piece.time.begin_ns - longest_ns_, {}, begin);
         i != found->second.end() && gaps_[*i].time.begin_ns < piece.time.end_ns; ++i) {
      if (gaps_[*i].time.end_ns > piece.time.begin_ns) pieces[*i].push_back(piece);
    }
  }

 private:
  std::span<const IdleGap> gaps_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_thread_;
  std::int64_t longest_ns_ = 0;
};

void collect(const Rank& rank, const GapsByThread& gaps, std::vector<std::vector<Piece>>& pieces) {
  for (EventIndex i = 0; i < rank.api.size(); ++i) {
    gaps.add(rank.api_lanes[rank.api.lane[i]].global_tid,
             {{rank.api.start_ns[i], rank.api.end_ns[i]}, rank.api.name[i], false}, pieces);
  }
  const Ranges& ranges = rank.ranges;
  for (EventIndex i = 0; i < ranges.size(); ++i) {
    if (std::ranges::binary_search(rank.start_end_ranges, i)) continue;
    gaps.add(rank.range_lanes[ranges.lane[i]].global_tid,
             {{ranges.start_ns[i], ranges.end_ns[i]}, ranges.name[i], true}, pieces);
  }
}

IdleGap located(const JudgedGap& gap, const DeviceScope& device, const Rank& rank, const RankSteps& steps) {
  IdleGap located{gap, device.rank_index, device.device};
  const EventIndex event = gap.next != kNoEvent ? gap.next : gap.before;
  if (event == kNoEvent) return located;
  located.step = step_of(rank, steps, event);
  const EventIndex launch = rank.gpu.launch[event];
  if (launch != kNoEvent) located.thread = rank.api_lanes[rank.api.lane[launch]].global_tid;
  return located;
}

}  // namespace

std::vector<IdleGap> idle_gaps(const Trace& trace, const RunScope& scope) {
  std::vector<IdleGap> gaps;
  for (std::size_t i = 0; i < trace.ranks.size(); ++i) {
    if (!scope.has_rank(i)) continue;
    const IdleJudge judge(trace, trace.ranks[i], scope.steps()[i]);
    for (const DeviceScope& device : scope.devices()) {
      if (device.rank_index != i) continue;
      judge.for_each_gap(device, [&](const JudgedGap& gap) {
        gaps.push_back(located(gap, device, trace.ranks[i], scope.steps()[i]));
      });
    }
  }
  std::ranges::stable_sort(gaps, std::greater(), [](const IdleGap& gap) { return gap.time.length(); });
  return gaps;
}

std::vector<std::string> largest_shares(std::span<const NamedTime> parts, std::int64_t unrecorded_ns) {
  std::int64_t whole_ns = unrecorded_ns;
  for (const auto& [name, length_ns] : parts)
    whole_ns += length_ns;
  std::vector<std::string> shares;
  const auto add = [&](std::string_view name, std::int64_t length_ns) {
    if (200 * length_ns < whole_ns || length_ns == 0) return;  // it would be 0 %
    shares.push_back(
        fmt::format("{} {:.0f} %", name, 100 * static_cast<double>(length_ns) / static_cast<double>(whole_ns)));
  };
  for (const auto& [name, length_ns] : parts.first(std::min(kNamed, parts.size())))
    add(name, length_ns);
  add("nothing recorded", unrecorded_ns);
  return shares;
}

std::vector<std::string> HostWork::shares(const Trace& trace) const {
  std::vector<NamedTime> named;
  for (const auto& [name, length_ns] : parts)
    named.emplace_back(trace.text(name), length_ns);
  return largest_shares(named, unrecorded_ns);
}

std::vector<HostWork> host_work(const Trace& trace, std::span<const IdleGap> gaps) {
  std::vector<std::vector<Piece>> pieces(gaps.size());
  for (std::size_t i = 0; i < trace.ranks.size(); ++i)
    collect(trace.ranks[i], GapsByThread(i, gaps), pieces);
  std::vector<HostWork> work(gaps.size());
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    if (gaps[i].thread != 0) work[i] = work_in(gaps[i].time, pieces[i]);
  }
  return work;
}

}  // namespace swinscope

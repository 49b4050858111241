#include "analyzer/analyses/host_waits.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/base/text.h"
#include "analyzer/table/cells.h"

namespace swinscope {
namespace {

// The calls of a thread and its ranges of each domain, one after the other by their begin, the outer one first.
class ThreadPieces {
 public:
  ThreadPieces(const Rank& rank, std::uint64_t thread) : rank_(rank) {
    for (const ThreadLane& lane : rank.api_lanes)
      if (lane.global_tid == thread) lanes_.push_back({lane.events, false});
    for (const RangeLane& lane : rank.range_lanes)
      if (lane.global_tid == thread) lanes_.push_back({lane.events, true});
    for (Lane& lane : lanes_)
      skip_start_end(lane);
  }

  struct Piece {
    Interval time;
    StringId name = kNoString;
  };
  bool has_next() const {
    return std::ranges::any_of(lanes_, [](const Lane& lane) { return lane.rest.size() > 0; });
  }
  Piece next() {
    Lane* first = nullptr;
    for (Lane& lane : lanes_) {
      if (lane.rest.size() > 0 && (first == nullptr || key(lane) < key(*first))) first = &lane;
    }
    const Piece piece = piece_of(*first);
    ++first->rest.begin;
    skip_start_end(*first);
    return piece;
  }

 private:
  struct Lane {
    Slice rest;
    bool is_of_ranges;
  };
  Piece piece_of(const Lane& lane) const {
    const EventIndex i = lane.rest.begin;
    if (lane.is_of_ranges) return {{rank_.ranges.start_ns[i], rank_.ranges.end_ns[i]}, rank_.ranges.name[i]};
    return {{rank_.api.start_ns[i], rank_.api.end_ns[i]}, rank_.api.name[i]};
  }
  // Of two that begin together the range holds the call.
  std::tuple<std::int64_t, std::int64_t, bool> key(const Lane& lane) const {
    const Interval time = piece_of(lane).time;
    return {time.begin_ns, -time.end_ns, !lane.is_of_ranges};
  }
  // They say nothing of what a thread does.
  void skip_start_end(Lane& lane) const {
    while (lane.is_of_ranges && lane.rest.size() > 0 &&
           std::ranges::binary_search(rank_.start_end_ranges, lane.rest.begin))
      ++lane.rest.begin;
  }

  const Rank& rank_;
  std::vector<Lane> lanes_;
};

// Adds up, along the time of a thread, what of each name lies in the gaps.
class Sweep {
 public:
  // By time, apart from each other.
  explicit Sweep(const std::vector<Interval>& gaps) : gaps_(gaps), now_ns_(gaps.front().begin_ns) {}

  bool is_done() const { return first_ == gaps_.size(); }
  void open(const ThreadPieces::Piece& piece) {
    go_to(piece.time.begin_ns);
    open_.push_back(piece);
  }
  void finish() { go_to(gaps_.back().end_ns); }

  const std::unordered_map<StringId, std::int64_t>& by_name() const { return by_name_; }

 private:
  void go_to(std::int64_t time_ns) {
    while (!open_.empty() && now_ns_ < time_ns) {
      const ThreadPieces::Piece top = open_.back();
      const std::int64_t until_ns = std::min(top.time.end_ns, time_ns);
      if (until_ns > now_ns_) {
        if (const std::int64_t in_gaps_ns = gaps_until(until_ns); in_gaps_ns > 0) by_name_[top.name] += in_gaps_ns;
      }
      if (top.time.end_ns <= now_ns_) open_.pop_back();
    }
    if (now_ns_ < time_ns) gaps_until(time_ns);
  }
  // How much of the time from now on to then lies in gaps; then is now.
  std::int64_t gaps_until(std::int64_t then_ns) {
    std::int64_t sum_ns = 0;
    while (first_ < gaps_.size() && gaps_[first_].begin_ns < then_ns) {
      const Interval gap = gaps_[first_];
      sum_ns += std::max<std::int64_t>(0, std::min(gap.end_ns, then_ns) - std::max(gap.begin_ns, now_ns_));
      if (gap.end_ns > then_ns) break;
      ++first_;
    }
    now_ns_ = then_ns;
    return sum_ns;
  }

  const std::vector<Interval>& gaps_;
  std::size_t first_ = 0;  // of the gaps: those before it have been passed
  std::int64_t now_ns_;
  std::vector<ThreadPieces::Piece> open_;
  std::unordered_map<StringId, std::int64_t> by_name_;
};

bool waits_for_host(const IdleGap& gap) {
  return gap.thread != 0 && (gap.cause == &IdleCauses::host_ns || gap.cause == &IdleCauses::synchronization_ns);
}

// "ProfilerStep#3" is "ProfilerStep#*", and "<built-in method astype of numpy.ndarray object at 0x7cbf>" has no
// address.
std::string without_number(std::string_view name) {
  constexpr std::string_view kAddress = " at 0x";
  if (const std::size_t at = name.find(kAddress); at != std::string_view::npos)
    return fmt::format("{}*", name.substr(0, at + kAddress.size()));
  const std::size_t end = name.find_last_not_of("0123456789") + 1;
  if (end == name.size() || end == 0 || (name[end - 1] != '#' && name[end - 1] != ' ')) return std::string(name);
  return fmt::format("{}*", name.substr(0, end));
}

}  // namespace

HostActivity host_waits(const Trace& trace, const std::vector<IdleGap>& gaps) {
  HostActivity waits;
  // A device's gaps are apart from each other.
  std::map<std::tuple<std::size_t, std::uint64_t, std::int32_t>, std::vector<Interval>> by_thread;
  for (const IdleGap& gap : gaps) {
    if (!waits_for_host(gap)) continue;
    by_thread[{gap.rank_index, gap.thread, gap.device}].push_back(gap.time);
    waits.total_ns += gap.time.length();
  }
  std::unordered_map<StringId, std::int64_t> by_name;
  for (auto& [thread, intervals] : by_thread) {
    std::ranges::sort(intervals, {}, &Interval::begin_ns);
    Sweep sweep(intervals);
    for (ThreadPieces pieces(trace.ranks[std::get<0>(thread)], std::get<1>(thread));
         !sweep.is_done() && pieces.has_next();)
      sweep.open(pieces.next());
    sweep.finish();
    for (const auto& [name, length_ns] : sweep.by_name())
      by_name[name] += length_ns;
  }
  std::map<std::string, std::int64_t> by_text;
  waits.unrecorded_ns = waits.total_ns;
  for (const auto& [name, length_ns] : by_name) {
    by_text[without_number(trace.text(name))] += length_ns;
    waits.unrecorded_ns -= length_ns;
  }
  waits.parts.assign(by_text.begin(), by_text.end());
  std::ranges::stable_sort(waits.parts, std::greater(), &std::pair<std::string, std::int64_t>::second);
  return waits;
}

std::string HostActivity::shares() const {
  const std::vector<NamedTime> named(parts.begin(), parts.end());
  return fmt::format("{}", fmt::join(largest_shares(named, unrecorded_ns), ", "));
}

Table host_waits_table(const HostActivity& waits, const RunScope& scope) {
  Table table{"host_waits",
              fmt::format("What the host did while GPUs waited for it (sum {})", format_duration(waits.total_ns)),
              {{"name", "call or range"},
               {"total_ns", "total", Unit::kDuration},
               {"share_percent", "share", Unit::kPercent},
               {"per_step_ns", fmt::format("per {}", scope.unit()), Unit::kDuration}},
              {}};
  std::int64_t steps = 0;
  if (scope.is_of_steps())
    for (const DeviceScope& device : scope.devices())
      steps += device.steps;
  const auto add = [&](Cell name, std::int64_t ns) {
    if (ns > 0)
      table.rows.push_back(
          {std::move(name), ns, percent_of(ns, waits.total_ns), steps == 0 ? Cell() : Cell(ns / steps)});
  };
  constexpr std::size_t kMost = 20;
  std::int64_t others_ns = 0;
  for (std::size_t i = 0; i < waits.parts.size(); ++i) {
    const auto& [name, ns] = waits.parts[i];
    if (i < kMost) add(name, ns);
    others_ns += i < kMost ? 0 : ns;
  }
  add(fmt::format("{} others", waits.parts.size() - std::min(kMost, waits.parts.size())), others_ns);
  add(std::string(kNothingRecorded), waits.unrecorded_ns);
  hide_empty(table, {"per_step_ns"});
  return table;
}

}  // namespace swinscope

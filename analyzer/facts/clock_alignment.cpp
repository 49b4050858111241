#include "analyzer/facts/clock_alignment.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "analyzer/base/statistics.h"

namespace swinscope {
namespace {

constexpr std::int64_t kAgreeNs = 50'000;
constexpr std::size_t kFewest = 20;   // collectives that a line is laid through
constexpr std::size_t kPicked = 400;  // of them those whose slopes are looked at, which are pairs

bool is_own(const Rank& rank) { return rank.run.source == "swinscope"; }

// Recordings of ours on one host need no collectives.
bool hosts_settle_it(const Trace& trace) {
  return std::ranges::all_of(trace.ranks, [&](const Rank& rank) {
    return is_own(rank) && !rank.run.host.empty() && rank.run.host == trace.ranks.front().run.host;
  });
}

// The end of a collective on the reference clock and on another.
struct Sample {
  std::int64_t own_ns;
  std::int64_t reference_ns;
  std::int64_t difference_ns() const { return reference_ns - own_ns; }
};

std::int64_t median(std::vector<std::int64_t> values) {
  std::ranges::sort(values);
  return quantile(values, 0.5);
}

double median(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// What is to be added to the own time, in ns since the first sample both ways: doubles hold no time since 1970.
struct Line {
  double height = 0;
  double slope = 0;
  double at(double own) const { return height + slope * own; }
};

struct Point {
  double own;
  double difference;
};

// Theil-Sen (Sen, 1968). Points are in the order of time.
Line line_through(const std::vector<Point>& points) {
  std::vector<Point> picked;
  const std::size_t count = std::min(points.size(), kPicked);
  for (std::size_t i = 0; i < count; ++i)
    picked.push_back(points[i * points.size() / count]);
  std::vector<double> slopes;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      const double apart = picked[j].own - picked[i].own;
      if (apart > 0) slopes.push_back((picked[j].difference - picked[i].difference) / apart);
    }
  }
  Line line;
  line.slope = median(slopes);
  std::vector<double> heights;
  heights.reserve(points.size());
  for (const Point& point : points)
    heights.push_back(point.difference - line.slope * point.own);
  line.height = median(heights);
  return line;
}

std::vector<std::int64_t> sizes_of_differences(const std::vector<Sample>& samples) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(samples.size());
  for (const Sample& sample : samples)
    sizes.push_back(std::abs(sample.difference_ns()));
  std::ranges::sort(sizes);
  return sizes;
}

void set_residual(std::vector<std::int64_t> sizes, RankClock& clock) {
  std::ranges::sort(sizes);
  clock.residual_p95_ns = quantile(sizes, 0.95);
}

void align_by_collectives(std::vector<Sample> samples, RankClock& clock) {
  std::ranges::sort(samples, {}, &Sample::own_ns);
  const Sample first = samples.front();
  std::vector<Point> points;
  points.reserve(samples.size());
  for (const Sample& sample : samples) {
    points.push_back({static_cast<double>(sample.own_ns - first.own_ns),
                      static_cast<double>(sample.difference_ns() - first.difference_ns())});
  }
  const Line line = line_through(points);
  std::vector<std::int64_t> sizes;
  sizes.reserve(points.size());
  for (const Point& point : points)
    sizes.push_back(std::llround(std::abs(point.difference - line.at(point.own))));
  set_residual(sizes, clock);
  if (median(std::move(sizes)) > kAgreeNs) return;
  const std::int64_t middle_ns = (samples.back().own_ns - first.own_ns) / 2;
  clock.method = ClockMethod::kCollectives;
  clock.reference_ns = first.own_ns + middle_ns;
  clock.offset_ns = first.difference_ns() + std::llround(line.at(static_cast<double>(middle_ns)));
  clock.drift = line.slope;
}

// The clocks of a trace, and the ends of the collectives on each.
class Clocks {
 public:
  Clocks(const Trace& trace, const std::vector<Collective>& collectives) : trace_(trace), collectives_(collectives) {
    std::map<std::string, std::vector<std::size_t>> by_host;
    for (std::size_t r = 0; r < trace.ranks.size(); ++r)
      by_host[trace.ranks[r].run.host].push_back(r);
    of_rank_.resize(trace.ranks.size());
    for (const auto& [host, ranks] : by_host) {
      const bool is_one = !host.empty() && share_a_clock(ranks);
      for (const std::size_t r : ranks) {
        if (!is_one || r == ranks.front()) host_known_.push_back(is_one);
        of_rank_[r] = host_known_.size() - 1;
      }
    }
    std::size_t first = collectives.empty() ? 0 : trace.ranks.size() - 1;
    for (const Collective& collective : collectives)
      first = std::min(first, std::ranges::min(collective.members, {}, &CollectiveMember::rank_index).rank_index);
    reference_ = of_rank_[first];
  }

  std::size_t reference() const { return reference_; }
  std::size_t clock_of(std::size_t rank_index) const { return of_rank_[rank_index]; }
  // Whether the two are known to be of different hosts.
  bool hosts_differ(std::size_t clock) const { return host_known_[clock] && host_known_[reference_]; }

  std::vector<Sample> samples_of(std::size_t clock) const {
    std::vector<Sample> samples;
    for (const Collective& collective : collectives_) {
      const std::optional<std::int64_t> own = last_end(collective, clock);
      const std::optional<std::int64_t> reference = last_end(collective, reference_);
      if (own && reference) samples.push_back({*own, *reference});
    }
    return samples;
  }

 private:
  // Containers on several machines may have the same name.
  bool share_a_clock(const std::vector<std::size_t>& ranks) const {
    if (std::ranges::all_of(ranks, [&](std::size_t r) { return is_own(trace_.ranks[r]); })) return true;
    std::vector<std::int64_t> spread;
    for (const Collective& collective : collectives_) {
      std::vector<std::int64_t> ends;
      for (const CollectiveMember& member : collective.members) {
        if (std::ranges::binary_search(ranks, member.rank_index)) ends.push_back(end_ns(member));
      }
      if (ends.size() < 2) continue;
      const auto [first, last] = std::ranges::minmax(ends);
      spread.push_back(last - first);
    }
    return spread.empty() || median(std::move(spread)) <= kAgreeNs;
  }

  std::int64_t end_ns(const CollectiveMember& member) const {
    const Rank& rank = trace_.ranks[member.rank_index];
    return rank.gpu.end_ns[member.event] + rank.run.utc_epoch_ns;
  }

  std::optional<std::int64_t> last_end(const Collective& collective, std::size_t clock) const {
    std::optional<std::int64_t> last;
    for (const CollectiveMember& member : collective.members) {
      if (of_rank_[member.rank_index] == clock) last = std::max(last.value_or(INT64_MIN), end_ns(member));
    }
    return last;
  }

  const Trace& trace_;
  const std::vector<Collective>& collectives_;
  std::vector<std::size_t> of_rank_;
  std::vector<bool> host_known_;  // by clock
  std::size_t reference_ = 0;
};

// Of a clock that is not the reference.
RankClock align_clock(const Clocks& clocks, std::size_t clock) {
  RankClock aligned;
  std::vector<Sample> samples = clocks.samples_of(clock);
  aligned.collectives = static_cast<std::int64_t>(samples.size());
  if (samples.empty()) return aligned;
  const std::vector<std::int64_t> sizes = sizes_of_differences(samples);
  if (!clocks.hosts_differ(clock) && quantile(sizes, 0.5) <= kAgreeNs) {
    aligned.method = ClockMethod::kAgree;
    set_residual(sizes, aligned);
  } else if (samples.size() >= kFewest) {
    align_by_collectives(std::move(samples), aligned);
  }
  return aligned;
}

}  // namespace

std::string_view clock_method_name(ClockMethod method) {
  switch (method) {
    case ClockMethod::kReference:
      return "reference";
    case ClockMethod::kSameHost:
      return "same host";
    case ClockMethod::kAgree:
      return "clocks agree";
    case ClockMethod::kCollectives:
      return "collectives";
    case ClockMethod::kNone:
      break;
  }
  return "not aligned";
}

ClockAlignment::ClockAlignment(const Trace& trace) {
  align(trace, hosts_settle_it(trace) ? std::vector<Collective>() : match_collectives(trace, RunScope(trace, {})));
}

ClockAlignment::ClockAlignment(const Trace& trace, const std::vector<Collective>& collectives) {
  align(trace, collectives);
}

void ClockAlignment::align(const Trace& trace, const std::vector<Collective>& collectives) {
  if (trace.ranks.empty()) return;
  const Clocks clocks(trace, collectives);
  std::map<std::size_t, RankClock> by_clock;
  bool has_reference = false;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    epoch_ns_.push_back(trace.ranks[r].run.utc_epoch_ns);
    const std::size_t clock = clocks.clock_of(r);
    RankClock rank;
    if (clock == clocks.reference()) {
      rank.method = std::exchange(has_reference, true) ? ClockMethod::kSameHost : ClockMethod::kReference;
    } else {
      const auto known = by_clock.find(clock);
      rank = known != by_clock.end() ? known->second : by_clock[clock] = align_clock(clocks, clock);
    }
    rank.clock = clock;
    ranks_.push_back(rank);
  }
}

std::vector<std::int64_t> ClockAlignment::offsets_ns() const {
  std::vector<std::int64_t> offsets;
  for (const RankClock& rank : ranks_)
    offsets.push_back(rank.offset_ns);
  return offsets;
}

std::int64_t ClockAlignment::common_ns(std::size_t rank_index, std::int64_t time_ns) const {
  const RankClock& rank = ranks_[rank_index];
  const std::int64_t own_ns = time_ns + epoch_ns_[rank_index];
  const double drifted = rank.drift * static_cast<double>(own_ns - rank.reference_ns);
  return own_ns + rank.offset_ns + (rank.drift == 0 ? 0 : std::llround(drifted));
}

std::optional<std::int64_t> ClockAlignment::tolerance_ns(std::size_t rank_a, std::size_t rank_b) const {
  const RankClock& a = ranks_[rank_a];
  const RankClock& b = ranks_[rank_b];
  if (a.clock == b.clock) return 0;
  if (!a.is_aligned() || !b.is_aligned()) return std::nullopt;
  return std::max(a.residual_p95_ns.value_or(0), b.residual_p95_ns.value_or(0));
}

}  // namespace swinscope

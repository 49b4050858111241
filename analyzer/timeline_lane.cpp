#include "analyzer/timeline_lane.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace swinscope {
namespace {

template <typename T>
std::size_t bytes_of(const std::vector<T>& column) {
  return column.capacity() * sizeof(T);
}

}  // namespace

void TimelineLane::reserve(std::size_t events) {
  start_ns_.reserve(events);
  duration_.reserve(events);
  name_.reserve(events);
  ref_.reserve(events);
  if (is_gpu(key.kind)) launch_.reserve(events);
}

void TimelineLane::append(const LaneEvent& event) {
  assert(event.duration_ns >= 0 && (empty() || event.start_ns >= end_ns()));
  if (event.duration_ns >= kLong) long_.emplace_back(size(), event.duration_ns);
  start_ns_.push_back(event.start_ns);
  duration_.push_back(static_cast<std::uint32_t>(std::min<std::int64_t>(event.duration_ns, kLong)));
  name_.push_back(event.name);
  ref_.push_back(event.ref);
  if (is_gpu(key.kind)) launch_.push_back(event.launch);
}

void TimelineLane::seal() {
  index_durations();
  index_times();
}

LaneEvent TimelineLane::event(LanePosition i) const {
  return {start_ns_[i], duration_ns(i), name_[i], ref_[i], launch_.empty() ? kNoEvent : launch_[i]};
}

void TimelineLane::rename(std::span<const NameId> to) {
  for (NameId& name : name_)
    name = to[name];
}

// The indexes hold durations, positions and distances from the begin: none changes.
void TimelineLane::shift(std::int64_t offset_ns) {
  if (offset_ns == 0) return;
  for (std::int64_t& start : start_ns_)
    start += offset_ns;
}

std::int64_t TimelineLane::long_duration_ns(LanePosition i) const {
  return std::lower_bound(long_.begin(), long_.end(), std::pair(i, std::int64_t{0}))->second;
}

void TimelineLane::index_durations() {
  const std::size_t blocks = (start_ns_.size() + kBlock - 1) / kBlock;
  sum_.reserve(blocks);
  longest_.assign(1, {});
  longest_[0].reserve(blocks);
  std::int64_t sum = 0;
  for (LanePosition begin = 0; begin < size(); begin += std::min(kBlock, size() - begin)) {
    sum_.push_back(sum);
    Key best = 0;
    for (LanePosition i = begin; i < begin + std::min(kBlock, size() - begin); ++i) {
      sum += duration_ns(i);
      best = std::max(best, key_of(i));
    }
    longest_[0].push_back(best);
  }
  while (longest_.back().size() > kBlock) {
    const std::span<const Key> below = longest_.back();
    std::vector<Key> level;
    level.reserve(below.size() / kBlock + 1);
    for (std::size_t begin = 0; begin < below.size(); begin += kBlock)
      level.push_back(std::ranges::max(below.subspan(begin, std::min<std::size_t>(kBlock, below.size() - begin))));
    longest_.push_back(std::move(level));
  }
}

// One entry for about every four events, however long the lane is.
void TimelineLane::index_times() {
  if (empty()) return;
  const auto span = static_cast<std::uint64_t>(start_ns_.back() - start_ns_.front());
  const std::uint64_t wanted = start_ns_.size() / 4 + 1;
  shift_ = static_cast<int>(std::bit_width(span / wanted));
  first_.reserve((span >> static_cast<unsigned>(shift_)) + 2);
  LanePosition i = 0;
  for (std::uint64_t stretch = 0; stretch <= span >> static_cast<unsigned>(shift_); ++stretch) {
    const std::int64_t begin = begin_ns() + static_cast<std::int64_t>(stretch << static_cast<unsigned>(shift_));
    while (start_ns_[i] < begin)
      ++i;
    first_.push_back(i);
  }
  first_.push_back(size());
}

// Of a time between the first and the last start.
std::size_t TimelineLane::stretch_of(std::int64_t time_ns) const {
  return static_cast<std::uint64_t>(time_ns - begin_ns()) >> static_cast<unsigned>(shift_);
}

void TimelineLane::prefetch_index(std::int64_t time_ns) const {
  if (empty() || time_ns <= begin_ns() || time_ns > start_ns_.back()) return;
  __builtin_prefetch(&first_[stretch_of(time_ns)]);
}

void TimelineLane::prefetch_events(std::int64_t time_ns) const {
  if (empty() || time_ns <= begin_ns() || time_ns > start_ns_.back()) return;
  const LanePosition i = first_[stretch_of(time_ns)];
  __builtin_prefetch(start_ns_.data() + i);
  __builtin_prefetch(duration_.data() + i);
  __builtin_prefetch(name_.data() + i);
  __builtin_prefetch(sum_.data() + i / kBlock);
  __builtin_prefetch(longest_[0].data() + i / kBlock);
}

LanePosition TimelineLane::first_from(std::int64_t time_ns) const {
  if (empty() || time_ns <= begin_ns()) return 0;
  if (time_ns > start_ns_.back()) return size();
  const std::size_t stretch = stretch_of(time_ns);
  const LanePosition from = first_[stretch];
  // The events of the next stretch begin behind `time`, and the first of them may be the answer.
  const LanePosition to = first_[stretch + 1];
  constexpr LanePosition kFew = 32;
  if (to - from > kFew) {
    const auto begin = start_ns_.begin();
    return static_cast<LanePosition>(std::lower_bound(begin + from, begin + to, time_ns) - begin);
  }
  // Without a branch that depends on the times, which nobody can predict.
  LanePosition before = 0;
  for (LanePosition i = from; i < to; ++i)
    before += start_ns_[i] < time_ns ? 1U : 0U;
  return from + before;
}

std::pair<LanePosition, LanePosition> TimelineLane::events_in(std::int64_t begin_ns, std::int64_t end_ns) const {
  LanePosition first = first_from(begin_ns);
  if (first > 0 && event_end_ns(first - 1) > begin_ns) --first;
  return {first, std::max(first, first_from(end_ns))};
}

std::int64_t TimelineLane::add_up_ns(LanePosition first, LanePosition last) const {
  std::int64_t sum = 0;
  if (long_.empty()) {
    for (LanePosition i = first; i < last; ++i)
      sum += duration_[i];
  } else {
    for (LanePosition i = first; i < last; ++i)
      sum += duration_ns(i);
  }
  return sum;
}

std::int64_t TimelineLane::sum_ns(LanePosition first, LanePosition last) const {
  if (last - first <= 2 * kBlock) return add_up_ns(first, last);
  // Both are in a block that has a sum: the last event is in one.
  const auto before = [&](LanePosition end) { return sum_[end / kBlock] + add_up_ns(end - end % kBlock, end); };
  return before(last - 1) - before(first) + duration_ns(last - 1);
}

TimelineLane::Key TimelineLane::largest_key(LanePosition first, LanePosition last) const {
  Key best = 0;
  for (; first < last && (first % kBlock != 0 || last - first < kBlock); ++first)
    best = std::max(best, key_of(first));
  while (last % kBlock != 0 && first < last)
    best = std::max(best, key_of(--last));
  // Whole blocks now, then whole blocks of blocks.
  std::size_t begin = first / kBlock;
  std::size_t end = last / kBlock;
  for (std::size_t level = 0; begin < end; ++level) {
    const std::vector<Key>& blocks = longest_[level];
    const bool top = level + 1 == longest_.size();
    while (begin < end && (begin % kBlock != 0 || top))
      best = std::max(best, blocks[begin++]);
    while (begin < end && end % kBlock != 0)
      best = std::max(best, blocks[--end]);
    begin /= kBlock;
    end /= kBlock;
  }
  return best;
}

LanePosition TimelineLane::longest(LanePosition first, LanePosition last) const {
  const Key largest = largest_key(first, last);
  if (largest >> 32U != kLong) return kNoPosition - static_cast<LanePosition>(largest);
  // Several may be too long for a key to tell them apart.
  const auto from = std::lower_bound(long_.begin(), long_.end(), std::pair(first, std::int64_t{0}));
  const auto to = std::lower_bound(from, long_.end(), std::pair(last, std::int64_t{0}));
  return std::max_element(from, to, [](const auto& a, const auto& b) { return a.second < b.second; })->first;
}

Occupancy TimelineLane::occupancy(std::int64_t begin_ns, std::int64_t end_ns) const {
  return occupancy(events_in(begin_ns, end_ns), begin_ns, end_ns);
}

Occupancy TimelineLane::occupancy(std::pair<LanePosition, LanePosition> events, std::int64_t begin_ns,
                                  std::int64_t end_ns) const {
  const auto [first, last] = events;
  if (first >= last) return {};
  const auto part_ns = [&](LanePosition i) {
    return std::min(event_end_ns(i), end_ns) - std::max(start_ns_[i], begin_ns);
  };
  // Only the first and the last event can reach beyond the stretch.
  Occupancy result{part_ns(first), first};
  if (last - first == 1) return result;
  std::int64_t most = result.busy_ns;
  const auto consider = [&](LanePosition i, std::int64_t covered) {
    if (covered > most) {
      most = covered;
      result.event = i;
    }
  };
  if (last - first > 2) {
    result.busy_ns += sum_ns(first + 1, last - 1);
    const LanePosition inner = longest(first + 1, last - 1);
    consider(inner, duration_ns(inner));
  }
  const std::int64_t last_part = part_ns(last - 1);
  result.busy_ns += last_part;
  consider(last - 1, last_part);
  return result;
}

LanePosition TimelineLane::find(EventIndex ref) const {
  const auto found = std::lower_bound(ref_.begin(), ref_.end(), ref);
  if (found == ref_.end() || *found != ref) return kNoPosition;
  return static_cast<LanePosition>(found - ref_.begin());
}

std::size_t TimelineLane::memory_bytes() const {
  std::size_t bytes = sizeof(*this) + label.capacity() + bytes_of(start_ns_) + bytes_of(duration_) + bytes_of(name_) +
                      bytes_of(ref_) + bytes_of(launch_) + bytes_of(long_) + bytes_of(sum_) + bytes_of(first_);
  for (const std::vector<Key>& level : longest_)
    bytes += bytes_of(level);
  return bytes;
}

}  // namespace swinscope

#include "analyzer/timeline/timeline_lane.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>

#include "analyzer/timeline/timeline_walk.h"

namespace swinscope {
namespace {

template <typename T>
std::size_t bytes_of(const std::vector<T>& column) {
  return column.capacity() * sizeof(T);
}

// From one time to a later one, which may be as late as can be.
std::uint64_t distance_of(std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<std::uint64_t>(to_ns) - static_cast<std::uint64_t>(from_ns);
}

}  // namespace

void TimelineLane::reserve(std::size_t events) {
  times_.reserve(events / kBlock + 1);
  blocks_.reserve(events / kBlock + 1);
  name_.reserve(events);
  ref_.reserve(events);
  if (is_gpu(key.kind)) launch_.reserve(events);
}

void TimelineLane::append(const LaneEvent& event) {
  assert(event.duration_ns >= 0 && (empty() || event.start_ns >= end_ns()));
  const LanePosition i = size();
  if (i % kBlock == 0) {
    blocks_.push_back({event.start_ns});
    times_.emplace_back().distance.fill(kFar);
  }
  Block& block = blocks_.back();
  const std::uint64_t distance_ns = distance_of(block.start_ns, event.start_ns);
  if (distance_ns >= kFar) far_.emplace_back(i, event.start_ns);
  times_.back().distance[i % kBlock] = static_cast<std::uint32_t>(std::min<std::uint64_t>(distance_ns, kFar));
  if (block.busy_ns != kLongNs && event.duration_ns >= kLongNs - block.busy_ns) {
    for (LanePosition before = i - i % kBlock; before < i; ++before)
      long_.emplace_back(before, duration_ns(before));
    block.busy_ns = kLongNs;
  }
  if (block.busy_ns == kLongNs) {
    long_.emplace_back(i, event.duration_ns);
  } else {
    block.busy_ns += static_cast<std::uint32_t>(event.duration_ns);
    if (i % kBlock + 1 < kBlock) times_.back().until[i % kBlock] = block.busy_ns;
  }
  name_.push_back(event.name);
  ref_.push_back(event.ref);
  if (is_gpu(key.kind)) launch_.push_back(event.launch);
}

void TimelineLane::seal() {
  index_durations();
  index_times();
}

LaneEvent TimelineLane::event(LanePosition i) const {
  return {start_ns(i), duration_ns(i), name_[i], ref_[i], launch_.empty() ? kNoEvent : launch_[i]};
}

void TimelineLane::rename(std::span<const NameId> to) {
  for (NameId& name : name_)
    name = to[name];
  for (Block& block : blocks_)
    block.longest_name = to[block.longest_name];
}

// All else but the grid is durations, positions and distances, none of which changes.
void TimelineLane::shift(std::int64_t offset_ns) {
  if (offset_ns == 0) return;
  for (Block& block : blocks_)
    block.start_ns += offset_ns;
  for (auto& [position, start_ns] : far_)
    start_ns += offset_ns;
  grid_ = LaneGrid();
}

std::int64_t TimelineLane::far_start_ns(LanePosition i) const {
  return std::ranges::lower_bound(far_, i, {}, &Exceptions::value_type::first)->second;
}

std::int64_t TimelineLane::long_duration_ns(LanePosition i) const {
  return std::ranges::lower_bound(long_, i, {}, &Exceptions::value_type::first)->second;
}

void TimelineLane::index_block(std::size_t b) {
  const auto begin = static_cast<LanePosition>(b * kBlock);
  const LanePosition events = std::min(kBlock, size() - begin);
  std::array<std::int64_t, kBlock> durations{};
  Times& times = times_[b];
  Block& block = blocks_[b];
  unsigned longest_until = 0;
  std::int64_t longest = -1;
  for (LanePosition i = 0; i < events; ++i) {
    durations[i] = duration_ns(begin + i);
    block.longest = std::max(block.longest, key_of(begin + i));
    if (durations[i] <= longest) continue;
    longest = durations[i];
    longest_until |= 1U << i;
  }
  unsigned longest_from = 0;
  longest = -1;
  for (LanePosition i = events; i-- > 0;) {
    if (durations[i] < longest) continue;
    longest = durations[i];
    longest_from |= 1U << i;
  }
  times.longest_until = static_cast<std::uint16_t>(longest_until);
  times.longest_from = static_cast<std::uint16_t>(longest_from);
  block.longest_name = name_[position_of(block.longest)];
}

void TimelineLane::index_durations() {
  std::int64_t sum = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    blocks_[b].before_ns = sum;
    index_block(b);
    const auto begin = static_cast<LanePosition>(b * kBlock);
    for (LanePosition i = begin; i < begin + std::min(kBlock, size() - begin); ++i)
      sum += duration_ns(i);
  }
  std::vector<DurationKey> below(blocks_.size());
  std::ranges::transform(blocks_, below.begin(), &Block::longest);
  while (below.size() > kBlock) {
    std::vector<DurationKey> level;
    level.reserve(below.size() / kBlock + 1);
    for (std::size_t begin = 0; begin < below.size(); begin += kBlock) {
      const auto rest = std::span(below).subspan(begin);
      level.push_back(std::ranges::max(rest.first(std::min<std::size_t>(kBlock, rest.size()))));
    }
    below = longest_.emplace_back(std::move(level));
  }
}

// One entry for about two blocks, however long the lane is.
void TimelineLane::index_times() {
  if (empty()) return;
  const std::uint64_t span = distance_of(begin_ns(), start_ns(size() - 1));
  shift_ = static_cast<int>(std::bit_width(span / (blocks_.size() / 2 + 1)));
  const std::uint64_t stretches = (span >> static_cast<unsigned>(shift_)) + 1;
  first_.reserve(stretches + 1);
  std::uint32_t b = 0;
  for (std::uint64_t stretch = 0; stretch < stretches; ++stretch) {
    const std::int64_t begin = begin_ns() + static_cast<std::int64_t>(stretch << static_cast<unsigned>(shift_));
    while (b + 1 < blocks_.size() && blocks_[b + 1].start_ns < begin)
      ++b;
    first_.push_back(b);
  }
  first_.push_back(static_cast<std::uint32_t>(blocks_.size() - 1));
}

// Of a time behind the first start; for all behind the last start it is the same.
std::size_t TimelineLane::stretch_of(std::int64_t time_ns) const {
  const std::uint64_t stretch = distance_of(begin_ns(), time_ns) >> static_cast<unsigned>(shift_);
  return std::min<std::size_t>(stretch, first_.size() - 2);
}

LanePosition TimelineLane::first_from(std::int64_t time_ns) const { return moment(time_ns).next; }

Moment TimelineLane::moment(std::int64_t time_ns) const {
  if (empty() || time_ns <= begin_ns()) return {time_ns};
  return moment_in(block_of(first_[stretch_of(time_ns)], time_ns), time_ns);
}

// The last block that begins before a time, which is behind the first start, looking from block b on.
std::uint32_t TimelineLane::block_of(std::uint32_t b, std::int64_t time_ns) const {
  constexpr std::uint32_t kFew = 8;
  const auto behind = static_cast<std::uint32_t>(blocks_.size());
  for (const std::uint32_t last = b + kFew; b < last; ++b) {
    if (b + 1 == behind || blocks_[b + 1].start_ns >= time_ns) return b;
  }
  const auto rest = std::span(blocks_).subspan(b + 1, first_[stretch_of(time_ns) + 1] - b);
  return b + static_cast<std::uint32_t>(std::ranges::lower_bound(rest, time_ns, {}, &Block::start_ns) - rest.begin());
}

// Of a time in a block, behind its first start.
Moment TimelineLane::moment_in(std::uint32_t b, std::int64_t time_ns) const {
  const Block& block = blocks_[b];
  const std::uint64_t distance_ns = distance_of(block.start_ns, time_ns);
  Moment moment{time_ns, b * kBlock, false, block.before_ns};
  std::int64_t end_ns = 0;  // of the event before
  if (distance_ns <= kFar && block.busy_ns != kLongNs) {
    // All 16 each time: nobody can predict a branch that depends on the times.
    std::uint32_t before = 0;
    for (const std::uint32_t one : times_[b].distance)
      before += static_cast<std::int32_t>(one) < static_cast<std::int32_t>(distance_ns) ? 1U : 0U;
    const std::uint32_t busy_ns = busy_before(b, before);
    moment.next += before;
    moment.busy_ns += busy_ns;
    end_ns = block.start_ns + times_[b].distance[before - 1] + busy_ns - busy_before(b, before - 1);
  } else {
    const LanePosition end = moment.next + std::min(kBlock, size() - moment.next);
    for (; moment.next < end && start_ns(moment.next) < time_ns; ++moment.next)
      moment.busy_ns += duration_ns(moment.next);
    end_ns = event_end_ns(moment.next - 1);
  }
  moment.covered = end_ns > time_ns;
  if (moment.covered) moment.busy_ns -= end_ns - time_ns;
  return moment;
}

std::pair<LanePosition, LanePosition> TimelineLane::events_in(std::int64_t begin_ns, std::int64_t end_ns) const {
  const Moment begin = moment(begin_ns);
  const LanePosition first = begin.covered ? begin.next - 1 : begin.next;
  return {first, std::max(first, first_from(end_ns))};
}

DurationKey TimelineLane::longest_in_block(LanePosition first, LanePosition last) const {
  DurationKey best = 0;
  for (LanePosition i = first; i < last; ++i)
    best = std::max(best, key_of(i));
  return best;
}

// Of whole blocks, then of whole blocks of blocks.
DurationKey TimelineLane::longest_of_blocks(std::size_t begin, std::size_t end) const {
  DurationKey best = 0;
  const bool is_short = end - begin < std::size_t{2} * kBlock || longest_.empty();
  for (; begin < end && (begin % kBlock != 0 || is_short); ++begin)
    best = std::max(best, blocks_[begin].longest);
  while (begin < end && end % kBlock != 0)
    best = std::max(best, blocks_[--end].longest);
  for (std::size_t level = 0; begin < end; ++level) {
    begin /= kBlock;
    end /= kBlock;
    const std::vector<DurationKey>& keys = longest_[level];
    const bool top = level + 1 == longest_.size();
    while (begin < end && (begin % kBlock != 0 || top))
      best = std::max(best, keys[begin++]);
    while (begin < end && end % kBlock != 0)
      best = std::max(best, keys[--end]);
  }
  return best;
}

// Of at least one event. Its duration is in the key: a look at the event would cost a line of the cache.
std::pair<LanePosition, std::int64_t> TimelineLane::longest(LanePosition first, LanePosition last) const {
  const std::size_t first_block = first / kBlock;
  const std::size_t last_block = (last - 1) / kBlock;
  DurationKey largest = 0;
  if (first_block == last_block) {
    largest = longest_in_block(first, last);
  } else {
    largest = longest_of_blocks(first_block + 1, last_block);
    largest = std::max({largest, longest_from(first), longest_until(last - 1)});
  }
  if (duration_of(largest) != kLongNs) return {position_of(largest), duration_of(largest)};
  // Several may be too long for a key to tell them apart.
  const auto from = std::ranges::lower_bound(long_, first, {}, &Exceptions::value_type::first);
  const auto to = std::ranges::lower_bound(long_, last, {}, &Exceptions::value_type::first);
  return *std::max_element(from, to, [](const auto& a, const auto& b) { return a.second < b.second; });
}

Occupancy TimelineLane::occupancy(std::int64_t begin_ns, std::int64_t end_ns) const {
  return LaneWalk(*this, begin_ns).advance(end_ns);
}

LanePosition TimelineLane::find(EventIndex ref) const {
  const auto found = std::lower_bound(ref_.begin(), ref_.end(), ref);
  if (found == ref_.end() || *found != ref) return kNoPosition;
  return static_cast<LanePosition>(found - ref_.begin());
}

std::size_t TimelineLane::memory_bytes() const {
  std::size_t bytes = sizeof(*this) + label.capacity() + bytes_of(times_) + bytes_of(blocks_) + bytes_of(name_) +
                      bytes_of(ref_) + bytes_of(launch_) + bytes_of(far_) + bytes_of(long_) + bytes_of(first_) +
                      grid_.memory_bytes();
  for (const std::vector<DurationKey>& level : longest_)
    bytes += bytes_of(level);
  return bytes;
}

}  // namespace swinscope

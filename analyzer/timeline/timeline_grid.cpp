#include "analyzer/timeline/timeline_grid.h"

#include <algorithm>

#include "analyzer/timeline/timeline_lane.h"

namespace swinscope {
namespace {

std::uint32_t at_most_long(std::int64_t ns) { return static_cast<std::uint32_t>(std::min<std::int64_t>(ns, kLongNs)); }

}  // namespace

LaneGrid::LaneGrid(const TimelineLane& lane, std::size_t most_cells) {
  constexpr std::size_t kFewCells = 64;
  if (lane.empty() || most_cells < kFewCells) return;
  const auto cells_of = [&](int shift) {
    return static_cast<std::uint64_t>(lane.end_ns() >> shift) - static_cast<std::uint64_t>(lane.begin_ns() >> shift);
  };
  while (cells_of(lowest_) > most_cells) {
    if (++lowest_ > kHighest) return;
  }
  levels_.push_back(lowest_level(lane, lowest_));
  for (int shift = lowest_; shift < kHighest && levels_.back().cells.size() > kFewCells; ++shift)
    levels_.push_back(doubled(levels_.back(), shift));
}

LaneGrid::Level LaneGrid::lowest_level(const TimelineLane& lane, int shift) {
  const std::int64_t cell_ns = std::int64_t{1} << shift;
  Level level{lane.begin_ns() >> shift, {}};
  std::vector<Cell>& cells = level.cells;
  cells.resize(static_cast<std::size_t>((lane.end_ns() >> shift) - level.first) + 1 + kBehind);
  std::size_t behind = 1;  // the cell behind that of the event before; cells before it are done but for their content
  for (LanePosition i = 0; i < lane.size(); ++i) {
    const std::int64_t start_ns = lane.start_ns(i);
    const std::int64_t duration_ns = lane.duration_ns(i);
    const std::int64_t end_ns = start_ns + duration_ns;
    auto at = static_cast<std::size_t>((start_ns >> shift) - level.first);
    for (; behind <= at; ++behind)
      cells[behind].next = i;
    std::int64_t from_ns = start_ns;
    std::int64_t border_ns = (level.first + static_cast<std::int64_t>(at) + 1) * cell_ns;
    if (end_ns <= border_ns) cells[at].longest = std::max(cells[at].longest, duration_key(duration_ns, i));
    for (;; ++at, ++behind, border_ns += cell_ns) {
      cells[at].busy_ns += static_cast<std::uint32_t>(std::min(end_ns, border_ns) - from_ns);
      if (end_ns <= border_ns) break;
      cells[at + 1].next = i + 1;
      cells[at + 1].before_ns = at_most_long(border_ns - start_ns);
      cells[at + 1].after_ns = at_most_long(end_ns - border_ns);
      from_ns = border_ns;
    }
  }
  for (; behind < cells.size(); ++behind)
    cells[behind].next = lane.size();
  return level;
}

LaneGrid::Level LaneGrid::doubled(const Level& level, int shift) {
  const std::uint32_t cell_ns = 1U << shift;
  Level result{level.first >> 1, {}};
  const auto skipped = static_cast<std::size_t>(level.first & 1);  // a cell that is not there, before the first
  const auto cell = [&](std::size_t i) {
    if (i < skipped) return Cell{};
    return level.cells[i - skipped];
  };
  const std::size_t count = level.cells.size() + skipped - kBehind;
  result.cells.reserve((count + 1) / 2 + kBehind);
  for (std::size_t i = 0; i < count; i += 2) {
    Cell both = cell(i);
    const Cell right = cell(i + 1);
    both.busy_ns += right.busy_ns;
    both.longest = std::max(both.longest, right.longest);
    if (right.after_ns != 0 && right.before_ns <= cell_ns && right.after_ns <= cell_ns) {
      both.longest = std::max(both.longest, duration_key(right.before_ns + right.after_ns, right.next - 1));
    }
    result.cells.push_back(both);
  }
  result.cells.insert(result.cells.end(), kBehind, level.cells.back());
  return result;
}

void LaneGrid::occupancies(int shift, std::span<const std::int64_t> times_ns, std::span<Occupancy> out) const {
  const Level& level = levels_[static_cast<std::size_t>(shift - lowest_)];
  const auto cell_at = [&](std::int64_t time_ns) {
    const auto last = static_cast<std::int64_t>(level.cells.size() - kBehind);
    return level.cells.data() + std::clamp((time_ns >> shift) - level.first, std::int64_t{0}, last);
  };
  const Cell* begin = cell_at(times_ns[0]);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Cell* const end = cell_at(times_ns[i + 1]);
    out[i] = between(begin, end - begin, shift);
    begin = end;
  }
}

// An event lies within a cell, or across at least one border: those of both ends are borders, too. Nothing here
// depends on a branch, since nobody can predict how many cells there are or which of them have events across.
Occupancy LaneGrid::between(const Cell* cells, std::int64_t count, int shift) {
  std::uint64_t busy_ns = 0;
  DurationKey longest = 0;
  for (std::int64_t c = 0; c <= kMostCells; ++c) {
    const Cell& cell = cells[c];
    const std::int64_t before_ns = std::min<std::int64_t>(cell.before_ns, c << shift);
    const std::int64_t after_ns = std::min<std::int64_t>(cell.after_ns, (count - c) << shift);
    const DurationKey across = duration_key(before_ns + after_ns, cell.next - 1);
    longest = std::max(longest, c <= count && cell.after_ns != 0 ? across : 0);
    busy_ns += c < count ? cell.busy_ns : 0;
    longest = std::max(longest, c < count ? cell.longest : 0);
  }
  return {static_cast<std::int64_t>(busy_ns), longest == 0 ? kNoPosition : position_of(longest)};
}

std::size_t LaneGrid::memory_bytes() const {
  std::size_t bytes = levels_.capacity() * sizeof(Level);
  for (const Level& level : levels_)
    bytes += level.cells.capacity() * sizeof(Cell);
  return bytes;
}

}  // namespace swinscope

// What a lane holds between moments that lie on a grid: multiples of a power of two of nanoseconds.
//
// LaneWalk (timeline_walk.h) answers for any stretch of time and looks at the events around its ends. Where a stretch
// holds dozens of events, and its ends need not be just anywhere, their content can be known beforehand: of each cell
// of the grid its busy time, the longest event within it, and the event across the border to the cell before.
// A stretch is then a few cells that follow each other in memory, and the answer is exact, as a walk's is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/timeline/timeline_event.h"

namespace swinscope {

class TimelineLane;

class LaneGrid {
 public:
  LaneGrid() = default;
  // Of a lane whose other indexes are there. The cells of the lowest level are `most_cells` at most, those of each
  // further level two of the one before.
  LaneGrid(const TimelineLane& lane, std::size_t most_cells);

  // Whether occupancies() can be asked for stretches between multiples of 2^shift ns.
  bool has(int shift) const { return shift >= lowest_ && shift - lowest_ < static_cast<int>(levels_.size()); }
  // lane.occupancy() of the stretches [times[0], times[1]), [times[1], times[2]) and so on: out has one less. Each
  // time is a multiple of 2^shift, and 1 to kMostCells cells behind the one before.
  void occupancies(int shift, std::span<const std::int64_t> times_ns, std::span<Occupancy> out) const;
  static constexpr std::int64_t kMostCells = 4;

  std::size_t memory_bytes() const;

 private:
  // A stretch is shorter than kLongNs.
  static constexpr int kHighest = 29;

  struct Cell {
    std::uint32_t busy_ns = 0;
    LanePosition next = 0;  // the first event that starts in this cell or later
    // Of event next - 1, where it began before this cell and ends in it or later: how much of it lies before and behind
    // the border, at most kLongNs. Otherwise both are 0.
    std::uint32_t before_ns = 0;
    std::uint32_t after_ns = 0;
    DurationKey longest = 0;  // of the events within this cell, 0 when there is none
  };
  struct Level {
    std::int64_t first = 0;   // which multiple of 2^shift is the begin of cells[0]
    std::vector<Cell> cells;  // the last kBehind are behind all events
  };
  static constexpr std::size_t kBehind = kMostCells + 1;
  static Level lowest_level(const TimelineLane& lane, int shift);
  static Level doubled(const Level& level, int shift);
  static Occupancy between(const Cell* cells, std::int64_t count, int shift);

  std::vector<Level> levels_;
  int lowest_ = 1;  // the shift of levels_[0]
};

}  // namespace swinscope

// Reads what the thread of a lane has written, in order, and gives the blocks back. Used by one thread.
//
// The memory is the program's, which may have overwritten anything: every number is checked before it is used. A lane
// that makes no sense is read no further. What is within a block is looked at in a copy (backlog.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/segment/backlog.h"
#include "collector/segment/segment.h"

namespace swinscope {

class LaneReader {
 public:
  LaneReader(const SegmentView& segment, std::uint32_t index) : segment_(segment), index_(index) {}

  // Takes what there is, whole blocks and parts of them, until `max_bytes` have gone by. Returns whether the lane was
  // emptied.
  bool read(std::size_t max_bytes, Backlog& to);
  bool is_damaged() const { return is_damaged_; }
  std::uint32_t index() const { return index_; }

 private:
  bool begin();
  bool advance();
  void damage() { is_damaged_ = true; }

  SegmentView segment_;
  std::uint32_t index_;
  std::uint32_t block_ = 0;
  std::uint32_t offset_ = 0;
  bool is_damaged_ = false;
};

}  // namespace swinscope

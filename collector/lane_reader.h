// Reads what the thread of a lane has written, in order, and gives the blocks back. Used by one thread.
//
// The memory is the program's, which may have overwritten anything: every number is checked before it is used, and a
// record is looked at in a copy. A lane that makes no sense is read no further.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "collector/segment.h"

namespace swinscope {

class LaneReader {
 public:
  LaneReader(const SegmentView& segment, std::uint32_t index) : segment_(segment), index_(index) {}

  // Calls take(record) for the records there are, until `max_bytes` have gone by. A record is consumed even when take
  // throws. Returns whether the lane was emptied.
  bool drain(std::size_t max_bytes, const std::function<void(const std::byte*)>& take);
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
  std::vector<std::byte> record_;
};

}  // namespace swinscope

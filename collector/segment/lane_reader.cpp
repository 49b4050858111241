#include "collector/segment/lane_reader.h"

#include "collector/segment/thread_buffers.h"

namespace swinscope {

// False when the thread has written nothing yet.
bool LaneReader::begin() {
  if (block_ != 0) return true;
  const std::uint32_t first = segment_.lane(index_).first_block.load(std::memory_order_acquire);
  if (first > segment_.size().blocks) damage();
  if (first == 0 || is_damaged_) return false;
  block_ = first;
  offset_ = kFirstRecord;
  return true;
}

// To the next block, when the thread has gone there and this one is read. False when it has not.
bool LaneReader::advance() {
  BlockHead& head = segment_.head(block_);
  const std::uint32_t next = head.next.load(std::memory_order_acquire);
  if (next == 0 || head.committed.load(std::memory_order_acquire) != offset_) return false;
  if (next > segment_.size().blocks || next == block_) {
    damage();
    return false;
  }
  segment_.free_block(block_);
  segment_.lane(index_).freed.fetch_add(1, std::memory_order_relaxed);
  block_ = next;
  offset_ = kFirstRecord;
  return true;
}

bool LaneReader::read(std::size_t max_bytes, Backlog& to) {
  std::size_t done = 0;
  while (!is_damaged_ && begin()) {
    const std::uint32_t committed = segment_.head(block_).committed.load(std::memory_order_acquire);
    if (committed == offset_) {
      if (segment_.head(block_).next.load(std::memory_order_acquire) == 0) return true;
      advance();
      continue;
    }
    if (committed < offset_ || committed > kBlockBytes) {
      damage();
      break;
    }
    if (done >= max_bytes) return false;
    to.push(segment_.block(block_) + offset_, committed - offset_);
    done += committed - offset_;
    offset_ = committed;
  }
  return true;
}

}  // namespace swinscope

#include "collector/lane_reader.h"

#include <cstring>

#include "collector/nvtx_event.h"
#include "collector/thread_buffers.h"

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

bool LaneReader::drain(std::size_t max_bytes, const std::function<void(const std::byte*)>& take) {
  std::size_t done = 0;
  while (!is_damaged_ && begin()) {
    const std::uint32_t committed = segment_.head(block_).committed.load(std::memory_order_acquire);
    if (committed == offset_) {
      const bool is_unchanged = segment_.head(block_).next.load(std::memory_order_acquire) == 0;
      if (is_unchanged) return true;
      if (!advance() && is_damaged_) return true;
      continue;
    }
    const std::byte* record = segment_.block(block_) + offset_;
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, record, sizeof(bytes));
    const std::size_t size = ThreadBuffer::round_up(bytes);
    if (committed < offset_ || committed > kBlockBytes || bytes < sizeof(EventHead) || size > committed - offset_) {
      damage();
      break;
    }
    if (done >= max_bytes) return false;
    record_.assign(record, record + bytes);
    std::memcpy(record_.data(), &bytes, sizeof(bytes));  // as it was checked
    offset_ += static_cast<std::uint32_t>(size);
    done += size;
    take(record_.data());
  }
  return true;
}

}  // namespace swinscope

#include "collector/event_ring.h"

#include <cstring>

namespace swinscope {

std::uint32_t EventRing::size_word(std::uint64_t position) const {
  std::uint32_t size = 0;
  std::memcpy(&size, memory_ + position % capacity_, sizeof(size));
  return size;
}

std::byte* EventRing::reserve(std::size_t bytes, std::size_t keep_free) {
  const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  const std::size_t offset = tail % capacity_;
  const std::size_t to_end = capacity_ - offset;
  const std::size_t size = round_up(bytes);
  const std::size_t filler = size > to_end ? to_end : 0;
  const std::size_t wanted = filler + size + keep_free;
  if (tail + wanted - seen_head_ > capacity_) {
    seen_head_ = head_.load(std::memory_order_acquire);
    if (tail + wanted - seen_head_ > capacity_) return nullptr;
  }
  if (filler != 0) std::memcpy(memory_ + offset, &kFiller, sizeof(kFiller));
  reserved_ = filler + size;
  return memory_ + (filler != 0 ? 0 : offset);
}

void EventRing::commit() { tail_.store(tail_.load(std::memory_order_relaxed) + reserved_, std::memory_order_release); }

bool EventRing::is_half_full() {
  const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  if (tail - seen_head_ <= capacity_ / 2) return false;
  seen_head_ = head_.load(std::memory_order_acquire);
  return tail - seen_head_ > capacity_ / 2;
}

}  // namespace swinscope

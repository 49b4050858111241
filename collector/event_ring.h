// A ring of records between one producing thread and one consuming thread: no locks, no allocation, records contiguous.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace swinscope {

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): producer and consumer have cache lines of their own
class EventRing {
 public:
  // Records are rounded up to this, so that a record of one granule fits wherever there is room at all.
  static constexpr std::size_t kGranule = 32;

  // `memory` is zeroed or was a ring before; `capacity` is a power of two and a multiple of kGranule.
  EventRing(std::byte* memory, std::size_t capacity) : memory_(memory), capacity_(capacity) {}

  std::size_t capacity() const { return capacity_; }

  // Producer. Room for a record whose first four bytes will hold `bytes` (rounded up, see round_up), or null when it
  // would not leave `keep_free` bytes, which later records of one granule then are sure to find.
  std::byte* reserve(std::size_t bytes, std::size_t keep_free);
  // Producer: hands the reserved record to the consumer.
  void commit();
  // Producer: more than half is taken.
  bool is_half_full();

  // Consumer: calls take(const std::byte* record) for the records there are, until `max_bytes` have gone by. A record
  // is consumed even when take throws. Returns whether the ring was emptied.
  template <typename Take>
  bool drain(std::size_t max_bytes, Take&& take);

  static constexpr std::size_t round_up(std::size_t bytes) { return (bytes + kGranule - 1) / kGranule * kGranule; }

 private:
  // Size word of the filler at the end of the ring, before a record that would not fit there.
  static constexpr std::uint32_t kFiller = 0xFFFFFFFF;
  static constexpr std::size_t kCacheLine = 64;

  std::uint32_t size_word(std::uint64_t position) const;

  std::byte* memory_;
  std::size_t capacity_;

  // Positions count bytes from the beginning of time; modulo capacity they are offsets.
  alignas(kCacheLine) std::atomic<std::uint64_t> head_ = 0;  // written by the consumer
  alignas(kCacheLine) std::atomic<std::uint64_t> tail_ = 0;  // written by the producer
  std::uint64_t seen_head_ = 0;                              // the producer's last look at head_
  std::uint64_t reserved_ = 0;                               // bytes between reserve and commit
};

template <typename Take>
bool EventRing::drain(std::size_t max_bytes, Take&& take) {
  struct Advance {
    std::atomic<std::uint64_t>& head;
    std::uint64_t to;
    Advance(std::atomic<std::uint64_t>& position, std::uint64_t value) : head(position), to(value) {}
    Advance(const Advance&) = delete;
    Advance& operator=(const Advance&) = delete;
    Advance(Advance&&) = delete;
    Advance& operator=(Advance&&) = delete;
    ~Advance() { head.store(to, std::memory_order_release); }
  };
  std::uint64_t head = head_.load(std::memory_order_relaxed);
  const std::uint64_t tail = tail_.load(std::memory_order_acquire);
  const std::uint64_t stop = head + max_bytes;
  while (head != tail && head < stop) {
    const std::size_t offset = head % capacity_;
    const std::uint32_t size = size_word(head);
    const bool filler = size == kFiller;
    head += filler ? capacity_ - offset : round_up(size);
    const Advance after{head_, head};
    if (!filler) take(static_cast<const std::byte*>(memory_ + offset));
  }
  return head == tail;
}

}  // namespace swinscope

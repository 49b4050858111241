#include "collector/cupti/cupti_buffers.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include <sys/mman.h>

namespace swinscope {

CuptiBuffers::CuptiBuffers(std::size_t count, std::size_t max_bytes)
    : max_bytes_(max_bytes), count_(std::min(count, kMaxBuffers)), bytes_(max_bytes) {
  void* memory =
      mmap(nullptr, count_ * max_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<std::uint8_t*>(memory);
  for (std::size_t i = 0; i < count_; ++i)
    free_[i / kWordBits].fetch_or(std::uint64_t{1} << (i % kWordBits), std::memory_order_relaxed);
}

CuptiBuffers::~CuptiBuffers() { munmap(memory_, count_ * max_bytes_); }

// The lowest free one: few buffers in use stay in few pages.
std::uint8_t* CuptiBuffers::request(std::size_t& bytes) {
  for (std::size_t word = 0; word < free_.size(); ++word) {
    std::uint64_t bits = free_[word].load(std::memory_order_relaxed);
    while (bits != 0) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
      if (!free_[word].compare_exchange_weak(bits, bits & (bits - 1), std::memory_order_acquire)) continue;
      const std::size_t now = in_use_.fetch_add(1, std::memory_order_relaxed) + 1;
      std::size_t most = high_water_.load(std::memory_order_relaxed);
      while (now > most && !high_water_.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
      }
      bytes = now > count_ / 4 ? max_bytes_ : bytes_.load(std::memory_order_relaxed);
      return memory_ + (word * kWordBits + bit) * max_bytes_;
    }
  }
  refused_.fetch_add(1, std::memory_order_relaxed);
  bytes = 0;
  return nullptr;
}

void CuptiBuffers::complete(std::uint8_t* buffer, std::size_t valid_bytes) {
  const auto number = static_cast<std::size_t>(buffer - memory_) / max_bytes_;
  valid_bytes_[number].store(valid_bytes, std::memory_order_relaxed);
  const std::uint64_t place = tail_.fetch_add(1, std::memory_order_relaxed) % kMaxBuffers;
  queue_[place].store(static_cast<std::uint32_t>(number) + 1, std::memory_order_release);
  queued_.fetch_add(1, std::memory_order_release);
}

std::optional<CuptiBuffers::Full> CuptiBuffers::take() {
  const std::uint32_t entry = queue_[head_ % kMaxBuffers].exchange(0, std::memory_order_acquire);
  if (entry == 0) return std::nullopt;
  ++head_;
  const std::size_t number = entry - 1;
  return Full{memory_ + number * max_bytes_, valid_bytes_[number].load(std::memory_order_relaxed)};
}

void CuptiBuffers::release(const Full& full) {
  std::memset(full.data, 0, std::min(full.valid_bytes, max_bytes_));
  const auto number = static_cast<std::size_t>(full.data - memory_) / max_bytes_;
  in_use_.fetch_sub(1, std::memory_order_relaxed);
  free_[number / kWordBits].fetch_or(std::uint64_t{1} << (number % kWordBits), std::memory_order_release);
  queued_.fetch_sub(1, std::memory_order_release);
}

void CuptiBuffers::set_bytes(std::size_t bytes) {
  bytes_.store(std::min(bytes, max_bytes_), std::memory_order_relaxed);
}

}  // namespace swinscope

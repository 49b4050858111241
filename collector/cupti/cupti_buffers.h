// The buffers that CUPTI fills: a bounded number of a bounded size, allocated once. CUPTI asks for them and gives them
// back on any thread of the program; the writer thread empties them. No locks, no allocation.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace swinscope {

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): the threads' and the writer's parts have lines of their own
class CuptiBuffers {
 public:
  static constexpr std::size_t kMaxBuffers = 512;

  // Address space only: memory is taken as buffers are used. Throws std::bad_alloc.
  CuptiBuffers(std::size_t count, std::size_t max_bytes);
  CuptiBuffers(const CuptiBuffers&) = delete;
  CuptiBuffers& operator=(const CuptiBuffers&) = delete;
  CuptiBuffers(CuptiBuffers&&) = delete;
  CuptiBuffers& operator=(CuptiBuffers&&) = delete;
  ~CuptiBuffers();

  // A buffer full of zeros, or null when all are in use; `bytes` receives its size: that of set_bytes() while few are
  // in use, else max_bytes, so that records that come faster all at once find most of the memory.
  std::uint8_t* request(std::size_t& bytes);
  // Hands a buffer of request() to the writer.
  void complete(std::uint8_t* buffer, std::size_t valid_bytes);

  // The writer's part.
  struct Full {
    std::uint8_t* data;
    std::size_t valid_bytes;
  };
  // The next completed buffer; it stays out until release(), which clears it.
  std::optional<Full> take();
  void release(const Full& full);
  // Of the buffers handed out from now on while few are in use; at most max_bytes.
  void set_bytes(std::size_t bytes);

  std::size_t completed() const { return queued_.load(std::memory_order_acquire); }
  std::uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  // Memory of the buffers that were in use at once at most.
  std::size_t high_water_bytes() const { return high_water_.load(std::memory_order_relaxed) * max_bytes_; }

 private:
  static constexpr std::size_t kWordBits = 64;
  static constexpr std::size_t kCacheLine = 64;

  std::size_t max_bytes_;
  std::size_t count_;
  std::uint8_t* memory_;
  std::array<std::atomic<std::size_t>, kMaxBuffers> valid_bytes_{};

  alignas(kCacheLine) std::array<std::atomic<std::uint64_t>, kMaxBuffers / kWordBits> free_{};  // a bit a buffer
  std::atomic<std::size_t> bytes_;
  std::atomic<std::size_t> in_use_ = 0;
  std::atomic<std::size_t> high_water_ = 0;
  std::atomic<std::uint64_t> refused_ = 0;

  // Completed buffers in order: 1 + number, 0 for none. There are as many places as buffers, so none is ever taken.
  alignas(kCacheLine) std::array<std::atomic<std::uint32_t>, kMaxBuffers> queue_{};
  std::atomic<std::uint64_t> tail_ = 0;
  std::atomic<std::size_t> queued_ = 0;
  std::uint64_t head_ = 0;  // the writer's
};

}  // namespace swinscope

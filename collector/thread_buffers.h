// One buffer for each thread of a program that emits events: the thread writes, the recorder's writer thread reads.
//
// Getting a buffer is the only time that a callback may allocate, once for each thread (and from a pool of those that
// ended threads left). Everything that a callback needs afterwards lies in the buffer.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "collector/event_ring.h"
#include "collector/nvtx_registry.h"

namespace swinscope {

// Kinds of events that were not recorded; counted by the thread, reported by the writer.
enum class DropKind : std::uint8_t { kRange, kRangeEnd, kMark, kPayload, kText, kUnsupported, kGraphNode };
inline constexpr std::size_t kDropKinds = 7;

// Levels of a thread's push/pop stack in one domain. A range is recorded whole or not at all: room for the pop is set
// aside when the push is recorded. Below kTrackedLevels, where levels have no bit, a pop may be lost alone.
struct PushStack {
  static constexpr std::uint32_t kTrackedLevels = 64;
  std::uint64_t recorded = 0;  // bit n: the push at level n is in the ring
  std::uint32_t depth = 0;
};

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): by who uses what; the ring has cache lines of its own
struct ThreadBuffer {
  enum class State : std::uint32_t { kFree, kOwned, kAbandoned };

  ThreadBuffer(std::byte* memory, std::size_t capacity, std::uint32_t nth) : ring(memory, capacity), number(nth) {}

  std::atomic<State> state = State::kFree;
  ThreadBuffer* next = nullptr;  // set before the buffer is published
  EventRing ring;
  std::uint32_t number;
  std::atomic<std::uint32_t> tid = 0;
  std::array<std::atomic<std::uint64_t>, kDropKinds> drops = {};

  // The owner's.
  bool busy = false;  // in a callback: a signal handler that emits events would break into the record being written
  std::uint64_t next_range = 0;
  std::uint32_t set_aside = 0;  // bytes of the ring kept for pops
  std::array<PushStack, NvtxRegistry::kMaxDomains> stacks = {};

  void drop(DropKind kind) { drops[static_cast<std::size_t>(kind)].fetch_add(1, std::memory_order_relaxed); }
};

class ThreadBuffers {
 public:
  static constexpr std::uint32_t kMaxBuffers = 1024;

  // `ring_bytes`: a power of two.
  explicit ThreadBuffers(std::size_t ring_bytes) : ring_bytes_(ring_bytes) {}
  ThreadBuffers(const ThreadBuffers&) = delete;
  ThreadBuffers& operator=(const ThreadBuffers&) = delete;
  ThreadBuffers(ThreadBuffers&&) = delete;
  ThreadBuffers& operator=(ThreadBuffers&&) = delete;
  // No other thread may use a buffer any more.
  ~ThreadBuffers();

  // A buffer for a thread; null when there are too many or no memory. Lock-free.
  ThreadBuffer* acquire(std::uint32_t tid);
  // The owner ends. What it left is still read.
  static void abandon(ThreadBuffer& buffer);

  // The writer thread's. Calls visit for each buffer in use; a buffer whose owner has ended becomes free when visit
  // returns true (emptied).
  void for_each(const std::function<bool(ThreadBuffer&, bool ended)>& visit);

  // Totals since the beginning, threads that have ended included.
  std::uint64_t dropped(DropKind kind) const;
  std::uint32_t count() const { return count_.load(std::memory_order_relaxed); }

  // Counts an event of a thread that has no buffer.
  void refuse() { refused_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  ThreadBuffer* reuse(std::uint32_t tid);
  ThreadBuffer* make(std::uint32_t tid);

  std::size_t ring_bytes_;
  std::atomic<ThreadBuffer*> first_ = nullptr;
  std::atomic<std::uint32_t> count_ = 0;
  std::atomic<std::uint64_t> refused_ = 0;
};

}  // namespace swinscope

#include "collector/segment/thread_buffers.h"

#include <cstring>
#include <new>

#include "collector/base/clock.h"
#include "collector/segment/nvtx_event.h"

namespace swinscope {

std::byte* ThreadBuffer::reserve(std::size_t bytes, std::size_t keep_free) {
  const std::size_t wanted = round_up(bytes) + keep_free;
  if (block == 0 || offset + wanted > kBlockBytes) {
    if (!begin_block(wanted)) return nullptr;
  }
  const auto end = static_cast<std::uint32_t>(offset + wanted);
  if (end > home.entry(block).populated && !fill_up()) return nullptr;
  reserved = static_cast<std::uint32_t>(round_up(bytes));
  return home.block(block) + offset;
}

void ThreadBuffer::commit() {
  offset += reserved;
  home.head(block).committed.store(offset, std::memory_order_release);
}

// It may have linked a block and not gone there.
void ThreadBuffer::repair() {
  const std::uint32_t linked =
      block == 0 ? first_block.load(std::memory_order_relaxed) : home.head(block).next.load(std::memory_order_relaxed);
  if (linked == 0) return;
  block = linked;
  offset = kFirstRecord;
}

// Half of a block may stay unused where a long record follows.
bool ThreadBuffer::begin_block(std::size_t bytes) {
  if (bytes > kMaxRecord) return false;
  const std::uint32_t number_of_next = home.take_block(taken - freed.load(std::memory_order_relaxed));
  if (number_of_next == 0) return false;
  constexpr std::uint32_t kFirstBytes = 16U << 10U;
  BlockEntry& entry = home.entry(number_of_next);
  // A block that was used before has its memory.
  if (entry.populated < kFirstBytes) {
    if (!home.provide(home.block(number_of_next), kFirstBytes)) {
      home.free_block(number_of_next);
      return false;
    }
    entry.populated = kFirstBytes;
  }
  BlockHead& next = home.head(number_of_next);
  next.committed.store(kFirstRecord, std::memory_order_relaxed);
  next.next.store(0, std::memory_order_relaxed);
  if (block == 0) {
    first_block.store(number_of_next, std::memory_order_release);
  } else {
    home.head(block).next.store(number_of_next, std::memory_order_release);
  }
  block = number_of_next;
  offset = kFirstRecord;
  ++taken;
  return true;
}

// The rest of the block at once: a thread that has filled the first part tends to go on.
bool ThreadBuffer::fill_up() const {
  BlockEntry& entry = home.entry(block);
  if (!home.provide(home.block(block) + entry.populated, kBlockBytes - entry.populated)) return false;
  entry.populated = kBlockBytes;
  return true;
}

ThreadBuffer* ThreadBuffers::acquire(std::uint32_t tid) const {
  ThreadBuffer* buffer = reuse();
  if (buffer == nullptr) buffer = make();
  if (buffer == nullptr) return nullptr;
  buffer->tid = tid;
  buffer->set_aside = 0;
  buffer->busy = nullptr;
  buffer->recorded.fill(0);
  buffer->depth.fill(0);
  std::byte* to = buffer->reserve(sizeof(EventHead), 0);
  if (to == nullptr) {
    abandon(*buffer);
    return nullptr;
  }
  EventHead begin;
  begin.bytes = sizeof(begin);
  begin.kind = EventKind::kThread;
  begin.time_ns = monotonic_ns();
  begin.id = tid;
  std::memcpy(to, &begin, sizeof(begin));
  buffer->commit();
  return buffer;
}

ThreadBuffer* ThreadBuffers::reuse() const {
  std::atomic<std::uint64_t>& stack = segment_.header().free_lanes;
  std::uint64_t first = stack.load(std::memory_order_acquire);
  while ((first & 0xFFFFFFFFU) != 0) {
    ThreadBuffer& lane = segment_.lane(static_cast<std::uint32_t>(first) - 1);
    const std::uint64_t next = lane.next_free.load(std::memory_order_relaxed);
    if (stack.compare_exchange_weak(first, ((first >> 32U) + 1) << 32U | next, std::memory_order_acq_rel)) return &lane;
  }
  return nullptr;
}

ThreadBuffer* ThreadBuffers::make() const {
  std::atomic<std::uint32_t>& used = segment_.header().used_lanes;
  std::uint32_t number = used.load(std::memory_order_relaxed);
  do {
    if (number >= segment_.size().lanes || !segment_.provide(&segment_.lane(number), kPageBytes)) return nullptr;
  } while (!used.compare_exchange_weak(number, number + 1, std::memory_order_acq_rel));
  ThreadBuffer& lane = segment_.lane(number);
  lane.number = number;
  lane.home = segment_;
  return &lane;
}

void ThreadBuffers::abandon(ThreadBuffer& buffer) const {
  std::atomic<std::uint64_t>& stack = segment_.header().free_lanes;
  std::uint64_t first = stack.load(std::memory_order_relaxed);
  std::uint64_t changed = 0;
  do {
    buffer.next_free.store(static_cast<std::uint32_t>(first), std::memory_order_relaxed);
    changed = ((first >> 32U) + 1) << 32U | (buffer.number + 1);
  } while (!stack.compare_exchange_weak(first, changed, std::memory_order_acq_rel));
}

}  // namespace swinscope

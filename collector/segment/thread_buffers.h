// One lane for each thread of a program that emits events: the thread writes, one reader reads. No locks, no
// allocation; records are contiguous. Everything that a callback needs lies in the lane and its block, within the
// segment.
//
// A lane whose thread has ended is the next thread's at once: what is left to be read is read in order, and a record
// says where the other thread begins.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collector/segment/segment.h"

namespace swinscope {

// A thread's push/pop stack in one domain. A range is recorded whole or not at all: room for the pop is set aside when
// the push is recorded. Below kTrackedLevels, where levels have no bit, a pop may be lost alone.
struct PushStack {
  static constexpr std::uint32_t kTrackedLevels = 64;
  std::uint64_t& recorded;  // bit n: the push at level n is on its way
  std::uint32_t& depth;
};

// The reader looks at first_block and the counts only.
struct ThreadBuffer {
  // Records are rounded up to this.
  static constexpr std::size_t kGranule = 32;
  static constexpr std::size_t kMaxRecord = kBlockBytes - kFirstRecord;
  static constexpr std::size_t round_up(std::size_t bytes) { return (bytes + kGranule - 1) / kGranule * kGranule; }

  // Room for a record whose first four bytes will hold `bytes`, or null when it would not leave `keep_free` bytes for
  // the records that must follow.
  std::byte* reserve(std::size_t bytes, std::size_t keep_free);
  // Hands the reserved record to the reader.
  void commit();
  // After a write that was left in the middle.
  void repair();
  void drop(DropKind kind) { drops[static_cast<std::size_t>(kind)].fetch_add(1, std::memory_order_relaxed); }
  PushStack stack(std::uint32_t domain) { return {recorded[domain], depth[domain]}; }

  std::atomic<std::uint32_t> first_block;
  std::atomic<std::uint32_t> freed;  // blocks that the reader has given back
  std::array<std::atomic<std::uint64_t>, kDropKinds> drops;

  // The program's.
  std::atomic<std::uint32_t> next_free;
  std::uint32_t number;  // from 0
  std::uint32_t tid;
  std::uint32_t taken;   // blocks so far
  std::uint32_t block;   // the one that is being written; 0: none yet
  std::uint32_t offset;  // of the next record in it
  std::uint32_t reserved;
  std::uint32_t set_aside;  // bytes of the block kept for pops
  const void* busy;         // the Emitter that is writing
  std::uint64_t next_range;
  SegmentView home;
  std::array<std::uint64_t, kMaxDomains> recorded;
  std::array<std::uint32_t, kMaxDomains> depth;

 private:
  bool begin_block(std::size_t bytes);
  bool fill_up() const;
};
static_assert(sizeof(ThreadBuffer) <= kPageBytes);

// Lanes of the process that the segment belongs to.
class ThreadBuffers {
 public:
  ThreadBuffers() = default;
  explicit ThreadBuffers(const SegmentView& segment) : segment_(segment) {}

  // A lane for a thread; null when there are too many or no memory. Lock-free.
  ThreadBuffer* acquire(std::uint32_t tid) const;
  // The owner ends.
  void abandon(ThreadBuffer& buffer) const;
  // Counts an event of a thread that has no lane.
  void refuse(DropKind kind) const {
    segment_.header().drops[static_cast<std::size_t>(kind)].fetch_add(1, std::memory_order_relaxed);
  }

 private:
  ThreadBuffer* reuse() const;
  ThreadBuffer* make() const;

  SegmentView segment_;
};

}  // namespace swinscope

// A lane from both its ends: the thread that writes, the reader that gives the blocks back.
#include "collector/segment/thread_buffers.h"

#include <atomic>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "collector/nvtx/nvtx_emitter.h"
#include "collector/segment/lane_reader.h"
#include "tests/unit/collector/support.h"

namespace swinscope {
namespace {

// Records with a size, a value and a pattern.
struct Pair {
  explicit Pair(std::uint32_t blocks = 4) : segment(test::small_segment(blocks)) {}

  bool put(std::uint32_t bytes, std::uint32_t value, std::size_t keep_free = 0) {
    std::byte* to = lane->reserve(bytes, keep_free);
    if (to == nullptr) return false;
    std::memset(to, static_cast<int>(value & 0xFFU), bytes);
    std::memcpy(to, &bytes, sizeof(bytes));
    std::memcpy(to + sizeof(bytes), &value, sizeof(value));
    lane->commit();
    return true;
  }
  std::vector<std::uint32_t> take(std::size_t max_bytes = std::size_t{1} << 30U) {
    std::vector<std::uint32_t> values;
    reader.read(std::size_t{1} << 30U, backlog);
    backlog.drain(max_bytes, [&](const std::byte* record) {
      std::uint32_t bytes = 0;
      std::uint32_t value = 0;
      std::memcpy(&bytes, record, sizeof(bytes));
      std::memcpy(&value, record + sizeof(bytes), sizeof(value));
      if (is_first_) return void(is_first_ = false);  // it says whose thread it is
      for (std::uint32_t i = 8; i < bytes; ++i)
        EXPECT_EQ(std::to_integer<std::uint32_t>(record[i]), value & 0xFFU);
      values.push_back(value);
    });
    return values;
  }

  Segment segment;
  ThreadBuffers buffers{segment.view()};
  ThreadBuffer* lane = buffers.acquire(1);
  LaneReader reader{segment.view(), 0};
  Backlog backlog;

  bool is_damaged() const { return reader.is_damaged() || backlog.is_damaged(); }

 private:
  bool is_first_ = true;
};

TEST(Lane, GivesRecordsBackInOrder) {
  Pair p;
  for (std::uint32_t i = 0; i < 5; ++i)
    ASSERT_TRUE(p.put(32 + 30 * i, i));
  EXPECT_EQ(p.take(), (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(p.take().empty());
}

TEST(Lane, BlocksGoRoundAndRecordsStayContiguous) {
  Pair p;
  std::uint32_t next_out = 0;
  // 15 MB through 256 KiB, in sizes that do not divide a block.
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(p.put(32 + (i * 37) % 3000, i)) << i;
    if (i % 20 != 0) continue;
    for (const std::uint32_t value : p.take())
      EXPECT_EQ(value, next_out++);
  }
  for (const std::uint32_t value : p.take())
    EXPECT_EQ(value, next_out++);
  EXPECT_EQ(next_out, 10'000U);
}

// One lane may have as many blocks as it leaves free: two of four, and the third, as there is one more.
TEST(Lane, RefusesWhatHasNoRoomAndTakesItLater) {
  Pair p;
  std::uint32_t count = 0;
  while (p.put(1024, count))
    ++count;
  constexpr std::uint32_t kPerBlock = (kBlockBytes - kFirstRecord) / 1024;
  EXPECT_EQ(count, 3 * kPerBlock);
  EXPECT_NE(p.buffers.acquire(2), nullptr);  // there is room for another thread
  EXPECT_EQ(p.take().size(), count);
  EXPECT_TRUE(p.put(1024, 99));
  EXPECT_EQ(p.take(), (std::vector<std::uint32_t>{99}));
}

TEST(Lane, RoomKeptFreeIsFoundBySmallRecords) {
  Pair p(1);
  std::uint32_t count = 0;
  while (p.put(32, count, 64))
    ++count;
  EXPECT_TRUE(p.put(32, count++));
  EXPECT_TRUE(p.put(32, count++));
  EXPECT_FALSE(p.put(32, count));
  EXPECT_EQ(p.take().size(), count);
}

TEST(Lane, ARecordThatIsLargerThanABlockIsRefused) {
  Pair p;
  EXPECT_TRUE(p.put(ThreadBuffer::kMaxRecord, 1));
  EXPECT_FALSE(p.put(ThreadBuffer::kMaxRecord + 1, 2));
  EXPECT_EQ(p.take(), (std::vector<std::uint32_t>{1}));
}

TEST(Lane, ReadsNoMoreThanItIsTold) {
  Pair p;
  for (std::uint32_t i = 0; i < 100; ++i)
    p.put(32, i);
  EXPECT_LT(p.take(320).size(), 12U);
  EXPECT_GT(p.take().size(), 80U);
}

TEST(Lane, WhatTheProgramOverwroteIsReadNoFurther) {
  for (const std::uint32_t bytes : {0U, 31U, kBlockBytes, 0xFFFFFFFFU}) {
    Pair p;
    p.put(32, 1);
    std::byte* to = p.lane->reserve(32, 0);
    std::memcpy(to, &bytes, sizeof(bytes));
    p.lane->commit();
    p.put(32, 3);
    EXPECT_EQ(p.take(), (std::vector<std::uint32_t>{1})) << bytes;
    EXPECT_TRUE(p.is_damaged()) << bytes;
  }
  for (const auto overwrite : {+[](Pair& p) { p.lane->first_block = 77; },
                               +[](Pair& p) { p.segment.view().head(p.lane->block).committed = 0xFFFFFFE0; },
                               +[](Pair& p) { p.segment.view().head(p.lane->block).next = 4711; }}) {
    Pair p;
    p.put(32, 1);
    overwrite(p);
    p.take();
    EXPECT_TRUE(p.is_damaged());
  }
}

TEST(Lane, OneThreadWritesWhileAnotherReads) {
  Pair p;
  constexpr std::uint32_t kCount = 200'000;
  std::thread writer([&] {
    for (std::uint32_t i = 0; i < kCount;)
      if (p.put(32 + i % 200, i)) ++i;
  });
  std::uint32_t next = 0;
  while (next < kCount)
    for (const std::uint32_t value : p.take(4096))
      ASSERT_EQ(value, next++);
  writer.join();
}

TEST(ThreadBuffers, EachThreadHasItsOwn) {
  const Segment segment = test::small_segment();
  const ThreadBuffers buffers(segment.view());
  std::set<ThreadBuffer*> seen;
  for (std::uint32_t tid = 1; tid <= 5; ++tid)
    seen.insert(buffers.acquire(tid));
  EXPECT_EQ(seen.size(), 5U);
  EXPECT_EQ(seen.count(nullptr), 0U);
}

TEST(ThreadBuffers, TheLaneOfAThreadThatHasEndedIsTheNextOnesAtOnce) {
  const Segment segment = test::small_segment();
  const ThreadBuffers buffers(segment.view());
  ThreadBuffer* first = buffers.acquire(1);
  first->depth[3] = 7;
  first->recorded[3] = 1;
  first->set_aside = 64;
  buffers.abandon(*first);
  EXPECT_EQ(buffers.acquire(4), first);  // though nobody has read it
  EXPECT_EQ(first->tid, 4U);
  EXPECT_EQ(first->depth[3], 0U);
  EXPECT_EQ(first->recorded[3], 0U);
  EXPECT_EQ(first->set_aside, 0U);
}

TEST(ThreadBuffers, BeyondTheLimitThereIsNone) {
  const Segment segment = test::small_segment();
  const ThreadBuffers buffers(segment.view());
  std::vector<ThreadBuffer*> all;
  for (std::uint32_t i = 0; i < segment.view().size().lanes; ++i)
    all.push_back(buffers.acquire(i + 1));
  EXPECT_NE(all.back(), nullptr);
  EXPECT_EQ(buffers.acquire(9999), nullptr);
  buffers.abandon(*all[3]);
  EXPECT_EQ(buffers.acquire(9999), all[3]);
}

TEST(ThreadBuffers, ThreadsComeAndGoWhileTheReaderReads) {
  test::Bench bench;
  constexpr int kRounds = 50;
  constexpr std::uint32_t kThreads = 4;
  constexpr int kRanges = 40;
  std::atomic<bool> done = false;
  std::thread program([&] {
    for (int round = 0; round < kRounds; ++round) {
      std::vector<std::thread> threads;
      for (std::uint32_t tid = 1; tid <= kThreads; ++tid) {
        threads.emplace_back([&, tid] {
          ThreadBuffer& buffer = bench.thread(tid);
          for (int i = 0; i < kRanges; ++i) {
            Emitter(buffer, bench.registry).push(0, test::text_details("r"));
            Emitter(buffer, bench.registry).pop(0);
          }
          bench.buffers.abandon(buffer);
        });
      }
      for (std::thread& thread : threads)
        thread.join();
    }
    done = true;
  });
  while (!done)
    bench.source.poll(bench.writer());
  program.join();
  EXPECT_EQ(bench.ranges().size(), static_cast<std::size_t>(kRounds) * kThreads * kRanges);
  EXPECT_LE(bench.segment.header().used_lanes.load(), kThreads);  // as many as threads at a time
  EXPECT_EQ(bench.row("SELECT count(DISTINCT globalTid) FROM NVTX_EVENTS"), std::to_string(kThreads));
}

// A handler leaves the callback by longjmp: its frame is gone, and the next callback takes over.
TEST(Emitter, ACallbackThatNeverEndsDoesNotStopTheOthers) {
  test::Bench bench;
  ThreadBuffer& thread = bench.thread(1);
  alignas(Emitter) std::byte frame[sizeof(Emitter)];
  new (frame) Emitter(thread, bench.registry);  // never destroyed
  std::memset(frame, 0, sizeof(frame));         // other calls use its place
  Emitter(thread, bench.registry).push(0, test::text_details("after"));
  Emitter(thread, bench.registry).pop(0);
  EXPECT_EQ(bench.ranges(), std::vector<std::string>{"after"});
  EXPECT_EQ(bench.dropped("NVTX range"), 0);
}

// It had linked the next block, and not gone there.
TEST(Emitter, ABlockThatWasLinkedIsGoneTo) {
  Pair p;
  p.put(32, 1);
  const std::uint32_t next = p.segment.view().take_block(1);
  populate(p.segment.view().block(next), kBlockBytes);
  p.segment.view().entry(next).populated = kBlockBytes;
  p.segment.view().head(next).committed = kFirstRecord;
  p.segment.view().head(p.lane->block).next = next;
  p.lane->repair();
  EXPECT_TRUE(p.put(32, 2));
  EXPECT_EQ(p.take(), (std::vector<std::uint32_t>{1, 2}));
}

}  // namespace
}  // namespace swinscope

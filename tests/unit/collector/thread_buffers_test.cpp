#include "collector/thread_buffers.h"

#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "collector/nvtx_emitter.h"
#include "tests/unit/collector/support.h"

namespace swinscope {
namespace {

constexpr std::size_t kRing = 4096;

TEST(ThreadBuffers, EachThreadHasItsOwn) {
  ThreadBuffers buffers(kRing);
  std::set<ThreadBuffer*> seen;
  for (std::uint32_t tid = 1; tid <= 5; ++tid)
    seen.insert(buffers.acquire(tid));
  EXPECT_EQ(seen.size(), 5U);
  EXPECT_EQ(seen.count(nullptr), 0U);
}

TEST(ThreadBuffers, ABufferIsReusedOnceItWasReadOut) {
  ThreadBuffers buffers(kRing);
  ThreadBuffer* first = buffers.acquire(1);
  first->stacks[3].depth = 7;
  first->set_aside = 64;
  ThreadBuffers::abandon(*first);
  EXPECT_NE(buffers.acquire(2), first);  // not read out yet
  buffers.for_each([&](ThreadBuffer& buffer, bool ended) {
    EXPECT_EQ(ended, &buffer == first);
    return false;  // something was left
  });
  EXPECT_NE(buffers.acquire(3), first);
  buffers.for_each([](ThreadBuffer&, bool) { return true; });
  EXPECT_EQ(buffers.acquire(4), first);
  EXPECT_EQ(first->tid.load(), 4U);
  EXPECT_EQ(first->stacks[3].depth, 0U);
  EXPECT_EQ(first->set_aside, 0U);
}

TEST(ThreadBuffers, BeyondTheLimitEventsAreCounted) {
  ThreadBuffers buffers(kRing);
  for (std::uint32_t i = 0; i < ThreadBuffers::kMaxBuffers; ++i)
    ASSERT_NE(buffers.acquire(i + 1), nullptr);
  EXPECT_EQ(buffers.acquire(9999), nullptr);
  EXPECT_EQ(buffers.acquire(9999), nullptr);
  EXPECT_EQ(buffers.refused(), 2U);
}

TEST(ThreadBuffers, ThreadsComeAndGoWhileTheWriterReads) {
  test::Bench bench;
  constexpr int kRounds = 50;
  constexpr std::uint32_t kThreads = 4;
  constexpr int kRanges = 40;
  std::atomic<bool> done = false;
  std::atomic<int> polls = 0;
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
          ThreadBuffers::abandon(buffer);
        });
      }
      for (std::thread& thread : threads)
        thread.join();
      // The one under way may have passed a buffer already; the next reads all of it.
      for (const int before = polls; polls < before + 2;)
        std::this_thread::yield();
    }
    done = true;
  });
  for (; !done; ++polls)
    bench.source.poll(bench.writer());
  program.join();
  EXPECT_EQ(bench.ranges().size(), static_cast<std::size_t>(kRounds) * kThreads * kRanges);
  EXPECT_LE(bench.buffers.count(), kThreads);  // as many as threads at a time: those of a round may not all have met
}

}  // namespace
}  // namespace swinscope

#include "kernels/parallel.h"

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/kernels/support.h"

#if defined(__SANITIZE_THREAD__)
// By default ThreadSanitizer ends a forked child that starts a thread.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }
#endif

namespace swinscope::cpu {
namespace {

using test::to_size;

class Parallel : public ::testing::Test {
 protected:
  void TearDown() override { set_thread_count(before_); }
  int before_ = thread_count();
};

std::vector<int> visits(std::int64_t count) {
  std::vector<std::atomic<int>> seen(to_size(count));
  parallel_for(count, [&](std::int64_t task) { ++seen[to_size(task)]; });
  return {seen.begin(), seen.end()};
}

TEST_F(Parallel, EveryTaskRunsOnce) {
  for (const int threads : {1, 2, 5}) {
    set_thread_count(threads);
    EXPECT_EQ(thread_count(), threads);
    for (const std::int64_t count : {0, 1, 2, 3, 1000})
      EXPECT_EQ(visits(count), std::vector<int>(to_size(count), 1));
  }
}

TEST_F(Parallel, RangesCoverWithoutOverlap) {
  set_thread_count(3);
  for (const std::int64_t count : {0, 1, 9, 10, 11, 95}) {
    std::vector<std::atomic<int>> seen(to_size(count));
    std::atomic<bool> within{true};
    parallel_ranges(count, 10, [&](std::int64_t begin, std::int64_t end) {
      if (end - begin > 10 || begin % 10 != 0 || begin >= end) within = false;
      for (std::int64_t i = begin; i < end; ++i)
        ++seen[to_size(i)];
    });
    EXPECT_TRUE(within);
    EXPECT_EQ(std::vector<int>(seen.begin(), seen.end()), std::vector<int>(to_size(count), 1));
  }
}

// Each of two tasks waits for the other: only two threads at once can finish. The workers come from the pool.
TEST_F(Parallel, TasksRunAtTheSameTime) {
  set_thread_count(2);
  std::atomic<int> arrived{0};
  std::mutex mutex;
  std::set<std::thread::id> threads;
  parallel_for(2, [&](std::int64_t) {
    ++arrived;
    while (arrived < 2)
      std::this_thread::yield();
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(threads.size(), 2U);
}

TEST_F(Parallel, NestedCallsStayOnTheirThread) {
  set_thread_count(3);
  std::atomic<int> inner{0};
  std::atomic<bool> same{true};
  parallel_for(8, [&](std::int64_t) {
    const std::thread::id outer = std::this_thread::get_id();
    parallel_for(16, [&](std::int64_t) {
      ++inner;
      if (std::this_thread::get_id() != outer) same = false;
    });
  });
  EXPECT_EQ(inner, 8 * 16);
  EXPECT_TRUE(same);
}

TEST_F(Parallel, SeveralThreadsMayCallAtOnce) {
  set_thread_count(2);
  std::atomic<int> total{0};
  std::vector<std::thread> callers;
  callers.reserve(4);
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round)
        parallel_for(10, [&](std::int64_t) { ++total; });
    });
  }
  for (std::thread& caller : callers)
    caller.join();
  EXPECT_EQ(total, 4 * 200 * 10);
}

TEST_F(Parallel, AForkedChildHasItsOwnWorkers) {
  set_thread_count(2);
  EXPECT_EQ(visits(100), std::vector<int>(100, 1));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    std::atomic<int> arrived{0};
    parallel_for(2, [&](std::int64_t) {
      ++arrived;
      while (arrived < 2)
        std::this_thread::yield();
    });
    _exit(thread_count() == 2 && visits(100) == std::vector<int>(100, 1) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(visits(100), std::vector<int>(100, 1));
}

TEST_F(Parallel, ScratchIsAlignedKeptAndPerThread) {
  auto* const first = thread_scratch<double>(100);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 64, 0U);
  EXPECT_EQ(thread_scratch<double>(50), first);
  double* other = nullptr;
  std::thread([&] {
    other = thread_scratch<double>(100);
    other[99] = 1.0;
  }).join();
  first[99] = 2.0;
  EXPECT_EQ(first[99], 2.0);
  auto* const larger = thread_scratch<double>(100000);
  larger[99999] = 3.0;
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(larger) % 64, 0U);
}

TEST_F(Parallel, RefusesNoThreads) { EXPECT_THROW(set_thread_count(0), std::invalid_argument); }

}  // namespace
}  // namespace swinscope::cpu

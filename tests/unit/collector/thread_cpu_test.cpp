#include "collector/sampling/thread_cpu.h"

#include <array>
#include <atomic>
#include <ctime>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "collector/base/clock.h"
#include "tests/unit/store/support.h"

namespace swinscope {
namespace {

void burn_own_cpu(std::int64_t ns) {
  const std::int64_t until_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
  while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns) {
  }
}

TEST(ThreadCpu, TheClockOfAnotherThreadIsReadById) {
  std::atomic<std::uint32_t> tid = 0;
  std::atomic<std::int64_t> own_ns = 0;
  std::atomic<bool> read = false;
  std::thread other([&] {
    burn_own_cpu(20'000'000);
    own_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    tid = static_cast<std::uint32_t>(gettid());
    while (!read)
      std::this_thread::yield();
  });
  while (tid == 0)
    std::this_thread::yield();
  EXPECT_GE(thread_cpu_ns(tid), own_ns.load());
  EXPECT_THAT(threads_of_process(), ::testing::Contains(tid.load()));
  read = true;
  other.join();
  EXPECT_GE(thread_cpu_ns(0), own_ns.load());
}

class ThreadCpuRows : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kPid = 99;

  std::vector<std::string> rows(const std::string& sql) {
    writer_.flush();
    return test::Sqlite(folder_ / "t.db").values(sql);
  }
  std::string cpu_of(std::uint64_t tid) {
    return fmt::format("SELECT cpuNs FROM SWINSCOPE_THREAD_CPU WHERE globalTid = {} ORDER BY timestamp",
                       make_global_tid(kPid, tid));
  }

  test::TempFolder folder_;
  TraceWriter writer_{folder_ / "t.db", WriteMode::kLive};
};

TEST_F(ThreadCpuRows, EachSampleLiesBetweenWhatTheThreadSaysBeforeAndAfter) {
  ThreadCpuSource source(make_global_pid(kPid), 0, 1);
  const auto own_tid = static_cast<std::uint64_t>(gettid());
  std::vector<std::int64_t> bounds;
  for (int i = 0; i < 3; ++i) {
    burn_own_cpu(2'000'000);
    bounds.push_back(clock_ns(CLOCK_THREAD_CPUTIME_ID));
    source.poll(writer_);
    bounds.push_back(clock_ns(CLOCK_THREAD_CPUTIME_ID));
  }
  const auto samples = rows(cpu_of(own_tid));
  ASSERT_EQ(samples.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_GE(std::stoll(samples[i]), bounds[2 * i]);
    EXPECT_LE(std::stoll(samples[i]), bounds[2 * i + 1]);
  }
  EXPECT_EQ(rows(cpu_of(0)).size(), 3U);  // the process
}

TEST_F(ThreadCpuRows, AThreadThatSleepsHasNoRowsUntilItWakes) {
  std::array<int, 2> wake{};
  std::array<int, 2> end{};
  ASSERT_EQ(pipe(wake.data()), 0);
  ASSERT_EQ(pipe(end.data()), 0);
  const auto wait_for = [](int pipe_end) {
    char byte = 0;
    while (read(pipe_end, &byte, 1) < 0) {
    }
  };
  std::atomic<pid_t> tid = 0;
  std::atomic<bool> has_burnt = false;
  std::thread other([&] {
    tid = gettid();
    wait_for(wake[0]);
    burn_own_cpu(2'000'000);
    has_burnt = true;
    wait_for(end[0]);
  });
  const auto until = [](const auto& is_so) {
    while (!is_so())
      std::this_thread::yield();
  };
  until([&] { return tid != 0 && test::is_asleep(tid); });
  const auto rows_of_thread = cpu_of(static_cast<std::uint64_t>(tid.load()));
  ThreadCpuSource source(make_global_pid(kPid), 0, 1);
  for (int i = 0; i < 6; ++i)
    source.poll(writer_);
  const auto asleep = rows(rows_of_thread);
  EXPECT_EQ(asleep.size(), 1U);
  close(wake[1]);
  until([&] { return has_burnt && test::is_asleep(tid); });
  source.poll(writer_);
  const auto awake = rows(rows_of_thread);
  close(end[1]);
  other.join();
  close(wake[0]);
  close(end[0]);
  ASSERT_EQ(awake.size(), 3U);
  EXPECT_EQ(awake[1], asleep[0]);  // until when it slept
  EXPECT_GE(std::stoll(awake[2]), std::stoll(asleep[0]) + 2'000'000);
}

TEST_F(ThreadCpuRows, WithoutAPeriodThereIsOneSampleAtTheEnd) {
  ThreadCpuSource source(make_global_pid(kPid), 0, 0);
  source.poll(writer_);
  EXPECT_TRUE(rows(cpu_of(0)).empty());
  source.finish(writer_);
  EXPECT_EQ(rows(cpu_of(0)).size(), 1U);
}

TEST_F(ThreadCpuRows, NamesOfThreadsAreKeptAfterTheirEnd) {
  ThreadCpuSource source(make_global_pid(kPid), 0, 1);
  std::atomic<std::uint32_t> tid = 0;
  std::atomic<bool> seen = false;
  std::thread other([&] {
    pthread_setname_np(pthread_self(), "loader 3");
    tid = static_cast<std::uint32_t>(gettid());
    while (!seen)
      std::this_thread::yield();
  });
  while (tid == 0)
    std::this_thread::yield();
  source.poll(writer_);
  seen = true;
  other.join();
  source.poll(writer_);
  RunInfo run;
  run.threads.push_back({make_global_tid(kPid, static_cast<std::uint64_t>(gettid())), "named by NVTX"});
  source.describe(run);
  EXPECT_THAT(run.threads, ::testing::Contains(ThreadInfo{make_global_tid(kPid, tid), "loader 3"}));
  EXPECT_EQ(std::count_if(run.threads.begin(), run.threads.end(),
                          [&](const ThreadInfo& t) { return t.global_tid == run.threads[0].global_tid; }),
            1);
}

TEST_F(ThreadCpuRows, LostSamplesAreCounted) {
  ThreadCpuSource source(make_global_pid(kPid), 0, 1);
  source.poll(writer_);
  source.lost("no space");
  RunInfo run;
  source.describe(run);
  ASSERT_EQ(run.drops.size(), 1U);
  EXPECT_EQ(run.drops[0].what, "thread CPU sample");
  EXPECT_GE(run.drops[0].count, 2);
}

}  // namespace
}  // namespace swinscope

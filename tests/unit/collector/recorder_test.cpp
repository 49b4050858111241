// The whole path from threads to a finished file, in one process.
#include "collector/recorder.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collector/nvtx_emitter.h"
#include "tests/unit/collector/support.h"
#include "tests/unit/store/support.h"

namespace swinscope {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kPatienceNs = 60'000'000'000;

RecorderOptions options_for(const test::fs::path& folder) {
  RecorderOptions options;
  options.folder = folder;
  options.identity = {2, 4, true};
  options.utc_offset_ns = 1'000'000'000'000;
  return options;
}

// Looks again and again; the test's own time limit is the only one.
void wait_until(const std::function<bool()>& is_so) {
  while (!is_so())
    std::this_thread::yield();
}

// Returns how many ranges it emitted.
int emit_ranges(Recorder& recorder, const NvtxRegistry& registry, ThreadBuffer& buffer, int count) {
  for (int i = 0; i < count; ++i) {
    Emitter(buffer, registry).push(0, test::text_details("outer"));
    Emitter(buffer, registry).push(0, test::text_details("inner"));
    Emitter(buffer, registry).pop(0);
    Emitter(buffer, registry).pop(0);
    if (buffer.ring.is_half_full()) recorder.wake();
  }
  return 2 * count;
}

// As a thread that ends with its last range; it emits nothing while all buffers wait for a writer without CPU time.
void emit_ranges_of_thread(Recorder& recorder, const NvtxRegistry& registry, std::uint32_t tid, int count) {
  ThreadBuffer* buffer = recorder.buffers().acquire(tid);
  if (buffer == nullptr) return;
  emit_ranges(recorder, registry, *buffer, count);
  ThreadBuffers::abandon(*buffer);
}

// Ranges that the file did not take, as distinct from those that found no room before.
bool has_lost_ranges(const test::fs::path& trace) {
  const std::vector<DropInfo> drops = DropNote::read(trace);
  return std::any_of(drops.begin(), drops.end(),
                     [](const DropInfo& drop) { return drop.what == "NVTX range or mark"; });
}

TEST(Recorder, FourThreadsIntoOneFile) {
  test::TempFolder folder;
  NvtxRegistry registry;
  Recorder recorder(options_for(folder.path()), registry);
  constexpr int kRanges = 5000;
  std::vector<std::thread> threads;
  for (std::uint32_t tid = 1; tid <= 4; ++tid) {
    threads.emplace_back([&, tid] { emit_ranges_of_thread(recorder, registry, tid, kRanges); });
  }
  for (std::thread& thread : threads)
    thread.join();
  ASSERT_TRUE(recorder.finish(kPatienceNs));
  EXPECT_THAT(test::names_in(folder.path()), ElementsAre("rank2.db"));
  test::Sqlite db(folder / "rank2.db");
  const std::int64_t recorded = std::stoll(db.value("SELECT count(*) FROM NVTX_EVENTS WHERE end IS NOT NULL"));
  const std::int64_t dropped = std::stoll(db.value("SELECT coalesce(sum(count), 0) FROM SWINSCOPE_DROPS"));
  EXPECT_EQ(recorded + dropped, 4 * 2 * kRanges);
  EXPECT_EQ(db.value("SELECT count(*) FROM NVTX_EVENTS WHERE end IS NULL"), "0");
  EXPECT_THAT(db.values("SELECT rank, worldSize, complete, globalPid FROM SWINSCOPE_RUN"),
              ElementsAre("2", "4", "1", std::to_string(make_global_pid(static_cast<std::uint64_t>(getpid())))));
}

TEST(Recorder, WhatWasEmittedAWhileAgoCanBeReadMeanwhile) {
  test::TempFolder folder;
  NvtxRegistry registry;
  Recorder recorder(options_for(folder.path()), registry);
  ThreadBuffer& buffer = *recorder.buffers().acquire(1);
  Emitter(buffer, registry).push(0, test::text_details("open"));
  const auto count = [&](const std::string& where) {
    if (!test::fs::exists(folder / "rank2.db")) return std::string();
    try {
      return test::Sqlite(folder / "rank2.db").value("SELECT count(*) FROM NVTX_EVENTS WHERE " + where);
    } catch (const std::runtime_error&) {
      return std::string();  // the tables are not made yet
    }
  };
  wait_until([&] { return count("end IS NULL") == "1"; });
  Emitter(buffer, registry).pop(0);
  wait_until([&] { return count("end IS NOT NULL") == "1"; });
  EXPECT_EQ(test::Sqlite(folder / "rank2.db").value("SELECT complete FROM SWINSCOPE_RUN"), "0");
  ASSERT_TRUE(recorder.finish(kPatienceNs));
}

TEST(Recorder, AFullBufferDropsAndCountsWhileTheWriterIsKeptAway) {
  test::TempFolder folder;
  NvtxRegistry registry;
  RecorderOptions options = options_for(folder.path());
  options.ring_bytes = 1U << 14U;
  Recorder recorder(options, registry);
  // As during a fork: nobody reads the buffers. A file that is slow to open keeps the first try waiting for too long.
  wait_until([&] { return recorder.stop_for_fork(); });
  constexpr int kRanges = 10'000;
  emit_ranges_of_thread(recorder, registry, 1, kRanges);
  recorder.resume_after_fork();
  ASSERT_TRUE(recorder.finish(kPatienceNs));
  test::Sqlite db(folder / "rank2.db");
  const std::int64_t recorded = std::stoll(db.value("SELECT count(*) FROM NVTX_EVENTS"));
  EXPECT_GT(recorded, 50);
  EXPECT_LT(recorded, 1000);
  EXPECT_EQ(recorded + std::stoll(db.value("SELECT sum(count) FROM SWINSCOPE_DROPS")), 2 * kRanges);
  EXPECT_EQ(db.value("SELECT count(*) FROM NVTX_EVENTS WHERE end IS NULL"), "0");
}

TEST(Recorder, AFileThatHasReachedItsSizeIsFinishedAndTheRestIsCounted) {
  test::TempFolder folder;
  NvtxRegistry registry;
  RecorderOptions options = options_for(folder.path());
  options.max_bytes = 1;  // reached by the first commit
  Recorder recorder(options, registry);
  // Ranges until one is refused: the commit before it was the last one. One thread emits them all: every thread that
  // finds no free buffer would count as lost, too.
  ThreadBuffer& buffer = *recorder.buffers().acquire(1);
  int emitted = 0;
  wait_until([&] {
    emitted += emit_ranges(recorder, registry, buffer, 10);
    return has_lost_ranges(folder / "rank2.db");
  });
  ASSERT_TRUE(recorder.finish(kPatienceNs));
  test::Sqlite db(folder / "rank2.db");
  EXPECT_EQ(db.value("SELECT complete FROM SWINSCOPE_RUN"), "1");
  EXPECT_EQ(db.value("SELECT reason FROM SWINSCOPE_DROPS WHERE what = 'NVTX range or mark'"),
            "the file has reached the size of --max-size");
  // A range that was open at the last commit is in the file without its end, and counts as lost.
  const std::int64_t recorded = std::stoll(db.value("SELECT count(*) FROM NVTX_EVENTS WHERE end IS NOT NULL"));
  const std::int64_t dropped =
      std::stoll(db.value("SELECT coalesce(sum(count), 0) FROM SWINSCOPE_DROPS WHERE what LIKE 'NVTX%'"));
  EXPECT_EQ(recorded + dropped, emitted);
}

TEST(Recorder, WithoutAFolderTheProgramRunsOn) {
  NvtxRegistry registry;
  Recorder recorder(options_for("/nonexistent/folder"), registry);
  emit_ranges_of_thread(recorder, registry, 1, 100);
  EXPECT_TRUE(recorder.finish(kPatienceNs));
}

// Writes beyond the limit fail as on a full disk. The signal that comes with it must not reach the program: the
// recorder's thread blocks it.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  FileSizeLimit(FileSizeLimit&&) = delete;
  FileSizeLimit& operator=(FileSizeLimit&&) = delete;
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

// While they are made the file is locked.
bool has_tables(const test::fs::path& trace) {
  try {
    return test::Sqlite(trace).value("SELECT count(*) FROM SWINSCOPE_RUN") == "1";
  } catch (const std::exception&) {
    return false;
  }
}

TEST(Recorder, AFullDiskIsCountedInTheNoteAndRecordingGoesOnWhenThereIsRoomAgain) {
  test::TempFolder folder;
  NvtxRegistry registry;
  Recorder recorder(options_for(folder.path()), registry);
  const auto trace = folder / "rank2.db";
  wait_until(
      [&] { return test::fs::exists(trace) && test::fs::exists(DropNote::path_for(trace)) && has_tables(trace); });
  {
    const FileSizeLimit limit(1'000'000);
    wait_until([&] {
      emit_ranges_of_thread(recorder, registry, 1, 500);
      return has_lost_ranges(trace);
    });
  }
  // The loss is over when a name that comes now is in the file.
  wait_until([&] {
    if (ThreadBuffer* buffer = recorder.buffers().acquire(1)) {
      Emitter(*buffer, registry).push(0, test::text_details("after"));
      Emitter(*buffer, registry).pop(0);
      ThreadBuffers::abandon(*buffer);
    }
    return test::Sqlite(trace).value("SELECT count(*) FROM StringIds WHERE value = 'after'") != "0";
  });
  ASSERT_TRUE(recorder.finish(kPatienceNs));
  test::Sqlite db(trace);
  EXPECT_EQ(db.value("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(db.value("SELECT complete FROM SWINSCOPE_RUN"), "1");
  EXPECT_GT(std::stoll(db.value("SELECT sum(count) FROM SWINSCOPE_DROPS WHERE what = 'NVTX range or mark'")), 0);
  EXPECT_EQ(db.value("SELECT count(*) FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId WHERE value IS NULL OR value "
                     "NOT IN ('outer', 'inner', 'after')"),
            "0");
  EXPECT_THAT(test::names_in(folder.path()), ElementsAre("rank2.db"));
}

}  // namespace
}  // namespace swinscope

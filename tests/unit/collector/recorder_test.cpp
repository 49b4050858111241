// The whole path from threads to a finished file, in one process: with a thread of its own (Recorder), and piece by
// piece (ProcessRecording).
#include "collector/injected/recorder.h"

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

#include "collector/base/clock.h"
#include "collector/injected/process_recording.h"
#include "collector/nvtx/nvtx_emitter.h"
#include "tests/unit/collector/support.h"
#include "tests/unit/store/support.h"

namespace swinscope {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kPatienceNs = 60'000'000'000;

// A process of rank 2 of 4 and its segment.
struct Program {
  explicit Program(std::uint32_t blocks = 256) : segment(Segment::anonymous({64U << 10U, 16, blocks})) {
    segment.header().pid = static_cast<std::uint32_t>(getpid());
    segment.header().start_ns = monotonic_ns();
    segment.header().rank = 2;
    segment.header().world_size = 4;
  }
  RecordingOptions options(const test::fs::path& folder) const {
    RecordingOptions options;
    options.folder = folder;
    options.utc_offset_ns = 1'000'000'000'000;
    return options;
  }
  // Returns how many ranges it emitted.
  int emit(ThreadBuffer& buffer, int count) {
    for (int i = 0; i < count; ++i) {
      Emitter(buffer, registry).push(0, test::text_details("outer"));
      Emitter(buffer, registry).push(0, test::text_details("inner"));
      Emitter(buffer, registry).pop(0);
      Emitter(buffer, registry).pop(0);
    }
    return 2 * count;
  }
  int emit_as_thread(std::uint32_t tid, int count) {
    ThreadBuffer* buffer = buffers.acquire(tid);
    if (buffer == nullptr) return 0;
    const int emitted = emit(*buffer, count);
    buffers.abandon(*buffer);
    return emitted;
  }

  Segment segment;
  NvtxRegistry registry{segment.view()};
  ThreadBuffers buffers{segment.view()};
};

// Looks again and again; the test's own time limit is the only one.
void wait_until(const std::function<bool()>& is_so) {
  while (!is_so())
    std::this_thread::yield();
}

// Ranges that the file did not take, as distinct from those that found no room before.
bool has_lost_ranges(const test::fs::path& trace) {
  const std::vector<DropInfo> drops = DropNote::read(trace);
  return std::any_of(drops.begin(), drops.end(),
                     [](const DropInfo& drop) { return drop.what == "NVTX range or mark"; });
}

std::int64_t recorded_in(test::Sqlite& db) {
  return std::stoll(db.value("SELECT count(*) FROM NVTX_EVENTS WHERE end IS NOT NULL"));
}
std::int64_t dropped_in(test::Sqlite& db) {
  return std::stoll(db.value("SELECT coalesce(sum(count), 0) FROM SWINSCOPE_DROPS WHERE what LIKE 'NVTX range%'"));
}

TEST(Recorder, FourThreadsIntoOneFile) {
  test::TempFolder folder;
  Program program;
  Recorder recorder(program.segment.view(), program.options(folder.path()));
  constexpr int kRanges = 5000;
  std::vector<std::thread> threads;
  for (std::uint32_t tid = 1; tid <= 4; ++tid)
    threads.emplace_back([&, tid] { program.emit_as_thread(tid, kRanges); });
  for (std::thread& thread : threads)
    thread.join();
  program.segment.header().has_ended = 1;
  ASSERT_TRUE(recorder.finish(kPatienceNs));
  EXPECT_THAT(test::names_in(folder.path()), ElementsAre("rank2.db"));
  test::Sqlite db(folder / "rank2.db");
  EXPECT_EQ(recorded_in(db) + dropped_in(db), 4 * 2 * kRanges);
  EXPECT_EQ(db.value("SELECT count(*) FROM NVTX_EVENTS WHERE end IS NULL"), "0");
  EXPECT_THAT(db.values("SELECT rank, worldSize, complete, globalPid FROM SWINSCOPE_RUN"),
              ElementsAre("2", "4", "1", std::to_string(make_global_pid(static_cast<std::uint64_t>(getpid())))));
}

TEST(Recorder, WhatWasEmittedAWhileAgoCanBeReadMeanwhile) {
  test::TempFolder folder;
  Program program;
  Recorder recorder(program.segment.view(), program.options(folder.path()));
  ThreadBuffer& buffer = *program.buffers.acquire(1);
  Emitter(buffer, program.registry).push(0, test::text_details("open"));
  const auto count = [&](const std::string& where) {
    if (!test::fs::exists(folder / "rank2.db")) return std::string();
    try {
      return test::Sqlite(folder / "rank2.db").value("SELECT count(*) FROM NVTX_EVENTS WHERE " + where);
    } catch (const std::runtime_error&) {
      return std::string();  // the tables are not made yet
    }
  };
  wait_until([&] { return count("end IS NULL") == "1"; });
  Emitter(buffer, program.registry).pop(0);
  wait_until([&] { return count("end IS NOT NULL") == "1"; });
  EXPECT_EQ(test::Sqlite(folder / "rank2.db").value("SELECT complete FROM SWINSCOPE_RUN"), "0");
  ASSERT_TRUE(recorder.finish(kPatienceNs));
}

TEST(Recorder, FullBuffersDropAndCountWhileTheReaderIsKeptAway) {
  test::TempFolder folder;
  Program program(2);
  Recorder recorder(program.segment.view(), program.options(folder.path()));
  // As during a fork: nobody reads the buffers. A file that is slow to open keeps the first try waiting for too long.
  wait_until([&] { return recorder.stop_for_fork(); });
  constexpr int kRanges = 10'000;
  program.emit_as_thread(1, kRanges);
  recorder.resume_after_fork();
  ASSERT_TRUE(recorder.finish(kPatienceNs));
  test::Sqlite db(folder / "rank2.db");
  EXPECT_GT(recorded_in(db), 500);
  EXPECT_LT(recorded_in(db), 2000);  // 128 KiB of 4 x 32 and more
  EXPECT_EQ(recorded_in(db) + dropped_in(db), 2 * kRanges);
  EXPECT_EQ(db.value("SELECT count(*) FROM NVTX_EVENTS WHERE end IS NULL"), "0");
}

TEST(ProcessRecording, NothingIsLostOfAProcessThatEndedWithoutAWord) {
  test::TempFolder folder;
  Program program;
  const int emitted = program.emit_as_thread(1, 500);
  ProcessRecording recording(program.segment.view(), program.options(folder.path()));
  recording.finish(true);
  test::Sqlite db(folder / "rank2.db");
  EXPECT_EQ(recorded_in(db), emitted);
  EXPECT_EQ(db.value("SELECT complete FROM SWINSCOPE_RUN"), "1");
}

TEST(ProcessRecording, AProcessThatEndedWithinARangeWasCutOff) {
  test::TempFolder folder;
  Program program;
  ThreadBuffer& buffer = *program.buffers.acquire(1);
  Emitter(buffer, program.registry).push(0, test::text_details("open"));
  program.emit(buffer, 10);
  ProcessRecording recording(program.segment.view(), program.options(folder.path()));
  recording.work();
  recording.finish(true);
  test::Sqlite db(folder / "rank2.db");
  EXPECT_EQ(recorded_in(db), 20);
  EXPECT_EQ(db.value("SELECT count(*) FROM NVTX_EVENTS WHERE end IS NULL"), "1");
  EXPECT_EQ(db.value("SELECT complete FROM SWINSCOPE_RUN"), "0");
}

TEST(ProcessRecording, AFileThatHasReachedItsSizeIsFinishedAndTheRestIsCounted) {
  test::TempFolder folder;
  Program program;
  RecordingOptions options = program.options(folder.path());
  options.max_bytes = 1;  // reached by the first commit
  ProcessRecording recording(program.segment.view(), options);
  ThreadBuffer& buffer = *program.buffers.acquire(1);
  int emitted = 0;
  wait_until([&] {
    emitted += program.emit(buffer, 10);
    recording.work();
    return has_lost_ranges(folder / "rank2.db");
  });
  EXPECT_EQ(program.segment.header().is_full.load(), 1U);
  emitted += program.emit(buffer, 10);
  recording.finish(true);
  test::Sqlite db(folder / "rank2.db");
  EXPECT_EQ(db.value("SELECT complete FROM SWINSCOPE_RUN"), "1");
  EXPECT_EQ(db.value("SELECT reason FROM SWINSCOPE_DROPS WHERE what LIKE 'NVTX range%'"),
            "the file has reached the size of --max-size");
  EXPECT_EQ(recorded_in(db) + dropped_in(db), emitted);
}

TEST(ProcessRecording, AFileThatRotatesKeepsTheNewestAndCountsTheRest) {
  test::TempFolder folder;
  Program program;
  RecordingOptions options = program.options(folder.path());
  options.max_bytes = 1 << 20;
  options.rotates = true;
  ProcessRecording recording(program.segment.view(), options);
  ThreadBuffer& buffer = *program.buffers.acquire(1);
  int emitted = 0;
  for (int flush = 0; flush < 40; ++flush) {
    emitted += program.emit(buffer, 1000);
    recording.flush_now();
  }
  Emitter(buffer, program.registry).push(0, test::text_details("the last"));
  Emitter(buffer, program.registry).pop(0);
  recording.finish(true);
  test::Sqlite db(folder / "rank2.db");
  EXPECT_EQ(recorded_in(db) + dropped_in(db), emitted + 1);
  EXPECT_GT(dropped_in(db), 0);
  EXPECT_EQ(db.value("SELECT reason FROM SWINSCOPE_DROPS"), "older than what --max-size keeps");
  EXPECT_EQ(db.value("SELECT count(*) FROM NVTX_EVENTS WHERE text = 'the last'"), "1");
  EXPECT_EQ(db.value("SELECT complete FROM SWINSCOPE_RUN"), "1");
  EXPECT_EQ(program.segment.header().is_full.load(), 0U);
  EXPECT_LT(test::fs::file_size(folder / "rank2.db"), std::uintmax_t{2} << 20U);  // with its indexes
}

TEST(ProcessRecording, WithoutAFolderTheLossIsTold) {
  Program program;
  ProcessRecording recording(program.segment.view(), program.options("/nonexistent/folder"));
  const int emitted = program.emit_as_thread(1, 100);
  recording.work();
  recording.finish(true);
  const std::vector<DropInfo> untold = recording.untold();
  const auto ranges = std::find_if(untold.begin(), untold.end(),
                                   [](const DropInfo& drop) { return drop.what == "NVTX range or mark"; });
  ASSERT_NE(ranges, untold.end());
  EXPECT_EQ(ranges->count, emitted);
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
  Program program;
  Recorder recorder(program.segment.view(), program.options(folder.path()));
  const auto trace = folder / "rank2.db";
  wait_until(
      [&] { return test::fs::exists(trace) && test::fs::exists(DropNote::path_for(trace)) && has_tables(trace); });
  {
    const FileSizeLimit limit(1'000'000);
    wait_until([&] {
      program.emit_as_thread(1, 500);
      return has_lost_ranges(trace);
    });
  }
  // The loss is over when a name that comes now is in the file.
  wait_until([&] {
    if (ThreadBuffer* buffer = program.buffers.acquire(1)) {
      Emitter(*buffer, program.registry).push(0, test::text_details("after"));
      Emitter(*buffer, program.registry).pop(0);
      program.buffers.abandon(*buffer);
    }
    return test::Sqlite(trace).value("SELECT count(*) FROM StringIds WHERE value = 'after'") != "0";
  });
  program.segment.header().has_ended = 1;
  ASSERT_TRUE(recorder.finish(kPatienceNs));
  test::Sqlite db(trace);
  EXPECT_EQ(db.value("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(db.value("SELECT complete FROM SWINSCOPE_RUN"), "1");
  EXPECT_GT(std::stoll(db.value("SELECT sum(count) FROM SWINSCOPE_DROPS WHERE what = 'NVTX range or mark'")), 0);
  EXPECT_EQ(db.value("SELECT count(*) FROM (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n LEFT JOIN "
                     "StringIds s ON s.id = n.textId) WHERE value IS NULL OR value "
                     "NOT IN ('outer', 'inner', 'after')"),
            "0");
  EXPECT_THAT(test::names_in(folder.path()), ElementsAre("rank2.db"));
}

}  // namespace
}  // namespace swinscope

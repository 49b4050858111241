// Recordings: readable while they are written, whole up to the last flush when the process is killed.
#include <atomic>
#include <thread>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/reader.h"
#include "store/writer.h"
#include "tests/unit/store/describe.h"
#include "tests/unit/store/process.h"
#include "tests/unit/store/records.h"
#include "tests/unit/store/support.h"

namespace {
std::atomic<int> disk_waits = 0;
}

// SQLite's calls of these come here, since the program's own symbols go first.
extern "C" int fsync(int file) {
  ++disk_waits;
  return static_cast<int>(syscall(SYS_fsync, file));
}
extern "C" int fdatasync(int file) {
  ++disk_waits;
  return static_cast<int>(syscall(SYS_fdatasync, file));
}

namespace swinscope::test {
namespace {

void add_calls(TraceWriter& writer, int count) {
  for (int i = 0; i < count; ++i) {
    ApiRecord r;
    r.name = writer.intern("cudaLaunchKernel");
    writer.add(r);
  }
}

std::string call_count(const fs::path& path) {
  return Sqlite(path).value("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME");
}

TEST(LiveWriter, OthersReadWhatWasFlushed) {
  const TempFolder folder;
  TraceWriter writer(folder / "rank0.db", WriteMode::kLive);
  EXPECT_EQ(call_count(folder / "rank0.db"), "0");
  add_calls(writer, 10);
  EXPECT_EQ(call_count(folder / "rank0.db"), "0");
  writer.flush();
  EXPECT_EQ(call_count(folder / "rank0.db"), "10");
  add_calls(writer, 5);
  EXPECT_EQ(call_count(folder / "rank0.db"), "10");
  writer.flush();
  EXPECT_EQ(call_count(folder / "rank0.db"), "15");
}

// The program that is recorded begins meanwhile, and a disk may take a second for each.
TEST(LiveWriter, BeginsAndFlushesWithoutWaitingForTheDisk) {
  const TempFolder folder;
  disk_waits = 0;
  Sqlite(folder / "other.db").run("CREATE TABLE t(x)");
  ASSERT_GT(disk_waits, 0);
  disk_waits = 0;
  TraceWriter writer(folder / "rank0.db", WriteMode::kLive);
  add_calls(writer, 10);
  writer.flush();
  EXPECT_EQ(disk_waits, 0);
}

// A recording claims its file by name first; whoever looks into the empty file must not make it fail.
TEST(LiveWriter, WaitsForAReaderOfTheEmptyFile) {
  const TempFolder folder;
  const fs::path path = folder / "rank0.db";
  write_file(path, "");
  Sqlite reader(path);
  reader.run("BEGIN");
  EXPECT_EQ(reader.value("SELECT count(*) FROM sqlite_master"), "0");  // holds a lock until the end of the transaction
  std::atomic<pid_t> tid = 0;
  std::atomic<bool> has_ended = false;
  std::optional<Error> error;
  std::thread recording([&] {
    tid = gettid();
    error = error_of([&] { TraceWriter(path, WriteMode::kLive).finish(); });
    has_ended = true;
  });
  while (!has_ended && (tid == 0 || !is_asleep(tid)))
    std::this_thread::yield();
  reader.run("COMMIT");
  recording.join();
  EXPECT_FALSE(error) << error->cause();
}

TEST(LiveWriter, TheIdentityIsThereBeforeTheEnd) {
  const TempFolder folder;
  TraceWriter writer(folder / "rank3.db", WriteMode::kLive);
  RunInfo run = full_run();
  run.complete = true;
  run.graph_level_only = false;
  writer.set_run(run);
  writer.flush();
  KeptTrace trace;
  TraceFile(folder / "rank3.db").read(trace);
  ASSERT_EQ(trace.processes.size(), 1U);
  run.complete = false;  // the recording goes on
  EXPECT_EQ(describe(trace.processes[0].run), describe(run));
}

TEST(LiveWriter, AFileCutOffBeforeItsIdentityCanBeRead) {
  const TempFolder folder;
  {
    TraceWriter writer(folder / "rank0.db", WriteMode::kLive);
    add_calls(writer, 3);
    writer.flush();
  }
  TraceFile file(folder / "rank0.db");
  EXPECT_TRUE(file.is_own());
  EXPECT_EQ(file.description(), "swinscope trace, cut off before its identity was written");
  KeptTrace trace;
  file.read(trace);
  ASSERT_EQ(trace.processes.size(), 1U);
  EXPECT_EQ(trace.processes[0].apis.size(), 3U);
  EXPECT_FALSE(trace.processes[0].run.complete);
  EXPECT_EQ(trace.processes[0].run.source, "swinscope");
}

TEST(LiveWriter, AbandonedKeepsWhatWasFlushed) {
  const TempFolder folder;
  {
    TraceWriter writer(folder / "rank0.db", WriteMode::kLive);
    add_calls(writer, 3);
    writer.flush();
    add_calls(writer, 4);
  }
  EXPECT_EQ(call_count(folder / "rank0.db"), "3");
}

TEST(LiveWriter, FinishedIsOnePlainFile) {
  const TempFolder folder;
  TraceWriter writer(folder / "rank0.db", WriteMode::kLive);
  add_calls(writer, 3);
  writer.finish();
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"rank0.db"});
  Sqlite db(folder / "rank0.db");
  EXPECT_EQ(db.value("PRAGMA journal_mode"), "delete");
  EXPECT_EQ(db.value("SELECT complete FROM SWINSCOPE_RUN"), "1");
  EXPECT_EQ(db.values("SELECT name FROM sqlite_master WHERE type = 'index' AND name LIKE 'swinscope%' ORDER BY 1"),
            (std::vector<std::string>{"swinscope_api_correlation", "swinscope_kernel_start"}));
}

// Somebody looks into the recording with another program and does not let go: the recording ends well all the same.
TEST(LiveWriter, FinishesWhileSomebodyReads) {
  const TempFolder folder;
  TraceWriter writer(folder / "rank0.db", WriteMode::kLive);
  add_calls(writer, 3);
  writer.flush();
  Sqlite reader(folder / "rank0.db");
  reader.run("BEGIN; SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME");
  add_calls(writer, 4);
  EXPECT_FALSE(error_of([&] { writer.finish(); }));
  KeptTrace trace;
  TraceFile(folder / "rank0.db").read(trace);
  ASSERT_EQ(trace.processes.size(), 1U);
  EXPECT_EQ(trace.processes[0].apis.size(), 7U);
  EXPECT_TRUE(trace.processes[0].run.complete);
}

// By the empty file a process claims its name before it knows whether it will record.
TEST(LiveWriter, TakesAnEmptyFileOnly) {
  const TempFolder folder;
  write_file(folder / "rank0.db", "");
  write_file(folder / "rank1.db", "x");
  {
    TraceWriter writer(folder / "rank0.db", WriteMode::kLive);
    add_calls(writer, 1);
    writer.finish();
  }
  EXPECT_EQ(call_count(folder / "rank0.db"), "1");
  EXPECT_TRUE(error_of([&] { TraceWriter(folder / "rank1.db", WriteMode::kLive); }));
  EXPECT_EQ(read_file(folder / "rank1.db"), "x");
}

TEST(LiveWriter, RollBackTakesBackRowsAndStrings) {
  const TempFolder folder;
  TraceWriter writer(folder / "rank0.db", WriteMode::kLive);
  const auto add = [&](const char* name) {
    ApiRecord r;
    r.name = writer.intern(name);
    writer.add(r);
  };
  add("kept");
  writer.flush();
  add("lost");
  writer.roll_back();
  add("lost");
  add("kept");
  writer.finish();
  EXPECT_EQ(Sqlite(folder / "rank0.db")
                .values("SELECT value FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId"
                        " ORDER BY CUPTI_ACTIVITY_KIND_RUNTIME.rowid"),
            (std::vector<std::string>{"kept", "lost", "kept"}));
}

// A program that names every range differently: names are forgotten, ids stay right.
TEST(LiveWriter, ManyDifferentNames) {
  const TempFolder folder;
  constexpr int kNames = 450'000;
  {
    TraceWriter writer(folder / "rank0.db", WriteMode::kLive);
    for (int i = 0; i < kNames; ++i) {
      ApiRecord r;
      r.start_ns = r.end_ns = i;
      r.name = writer.intern(std::to_string(i % (kNames / 2)));
      writer.add(r);
      if (i % 50'000 == 0) writer.flush();
    }
    writer.finish();
  }
  EXPECT_EQ(Sqlite(folder / "rank0.db")
                .value(fmt::format("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId"
                                   " WHERE value = CAST(start % {} AS TEXT)",
                                   kNames / 2)),
            std::to_string(kNames));
}

TEST(LiveWriter, TwoProcessesNeverShareAFile) {
  const TempFolder folder;
  TraceWriter writer(folder / "rank0.db", WriteMode::kLive);
  EXPECT_TRUE(error_of([&] { TraceWriter(folder / "rank0.db", WriteMode::kLive); }));
  add_calls(writer, 1);
  writer.finish();
  EXPECT_EQ(call_count(folder / "rank0.db"), "1");
}

TEST(LiveWriter, KilledLosesAtMostWhatCameAfterTheLastFlush) {
  constexpr int kBatch = 700;
  for (int round = 0; round < 5; ++round) {
    const TempFolder folder;
    const fs::path path = folder / "rank0.db";
    Child child([&](const Child::Tell& tell) {
      TraceWriter writer(path, WriteMode::kLive);
      for (std::int64_t batches = 1;; ++batches) {
        add_calls(writer, kBatch);
        writer.intern(std::string(3000, 'x') + std::to_string(batches));
        writer.flush();
        tell(batches);
      }
    });
    for (int i = 0; i < 10 * round; ++i)
      ASSERT_GT(child.hear(), 0) << "the writer has died";
    std::int64_t flushed = child.hear();
    child.kill_now();
    for (std::int64_t more = child.hear(); more > 0; more = child.hear())
      flushed = more;

    Database db = Database::open_untrusted(path);
    Statement check = db.prepare("PRAGMA integrity_check");
    ASSERT_TRUE(check.step());
    EXPECT_EQ(check.text(0), "ok");
    Statement calls = db.prepare("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME");
    ASSERT_TRUE(calls.step());
    EXPECT_GE(calls.integer(0), flushed * kBatch);
    // It was killed at some point of the batch after, which has been committed or not.
    EXPECT_LE(calls.integer(0), (flushed + 1) * kBatch);
    EXPECT_EQ(calls.integer(0) % kBatch, 0);
  }
}

TEST(LiveWriter, AFullDiskIsSaidAndWhatWasFlushedStays) {
  const TempFolder folder;
  const fs::path path = folder / "rank0.db";
  Child child([&](const Child::Tell& tell) {
    TraceWriter writer(path, WriteMode::kLive);
    add_calls(writer, 20);
    writer.flush();
    signal(SIGXFSZ, SIG_IGN);
    const rlimit small{1 << 20, 1 << 20};
    if (setrlimit(RLIMIT_FSIZE, &small) != 0) return;
    const auto error = error_of([&] {
      for (;;) {
        add_calls(writer, 1000);
        writer.flush();
      }
    });
    tell(error && std::string(error->what()) == path.string() + ": reading or writing failed" && !error->cause().empty()
             ? static_cast<std::int64_t>(error->kind())
             : 99);
  });
  EXPECT_EQ(child.hear(), static_cast<std::int64_t>(ErrorKind::kFailure));
  EXPECT_EQ(child.wait_for_end(), 0);
  EXPECT_EQ(Sqlite(path).value("PRAGMA integrity_check"), "ok");
  EXPECT_GE(std::stoi(call_count(path)), 20);
}

}  // namespace
}  // namespace swinscope::test

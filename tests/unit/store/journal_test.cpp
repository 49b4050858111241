// Files with a journal beside them: recordings that were cut off or still go on, and what somebody else put there.
#include <fmt/format.h>

#include "store/database.h"
#include "store/reader.h"
#include "store/writer.h"
#include "tests/unit/store/process.h"
#include "tests/unit/store/support.h"

namespace swinscope::test {
namespace {

// Leaves in `folder` a database whose 100 rows stand in its log only, as a killed program does.
fs::path make_cut_off(const TempFolder& folder, const std::string& more_sql = "") {
  const TempFolder workshop;
  Sqlite db(workshop / "trace.db");
  db.run("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE t(x)");
  db.run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100) INSERT INTO t SELECT i FROM n");
  db.run(more_sql);
  fs::copy_file(workshop / "trace.db", folder / "cut.db");
  fs::copy_file(workshop / "trace.db-wal", folder / "cut.db-wal");
  return folder / "cut.db";
}

std::int64_t count(Database& db) {
  Statement rows = db.prepare("SELECT count(*) FROM t");
  return rows.step() ? rows.integer(0) : -1;
}

class TempDirectory {
 public:
  explicit TempDirectory(const fs::path& path) { setenv("TMPDIR", path.c_str(), 1); }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  TempDirectory(TempDirectory&&) = delete;
  TempDirectory& operator=(TempDirectory&&) = delete;
  ~TempDirectory() {
    if (before_) {
      setenv("TMPDIR", before_->c_str(), 1);
    } else {
      unsetenv("TMPDIR");
    }
  }

 private:
  static std::optional<std::string> current() {
    const char* value = std::getenv("TMPDIR");
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  }
  std::optional<std::string> before_ = current();
};

TEST(WriteAheadLog, IsReadFromACopyAndTheOriginalStays) {
  const TempFolder folder;
  const TempFolder temporary;
  const fs::path path = make_cut_off(folder);
  const std::string file = read_file(path);
  const std::string log = read_file(path.string() + "-wal");
  {
    const TempDirectory use(temporary.path());
    Database db = Database::open_untrusted(path);
    EXPECT_EQ(count(db), 100);
    EXPECT_EQ(db.path(), path);
    EXPECT_EQ(names_in(temporary.path()).size(), 1U);
  }
  EXPECT_EQ(read_file(path), file);
  EXPECT_EQ(read_file(path.string() + "-wal"), log);
  EXPECT_EQ(names_in(folder.path()), (std::vector<std::string>{"cut.db", "cut.db-wal"}));
  EXPECT_EQ(names_in(temporary.path()), std::vector<std::string>{});
}

TEST(WriteAheadLog, TheCopyIsRemovedWhenTheFileIsRefused) {
  const TempFolder folder;
  const TempFolder temporary;
  const TempDirectory use(temporary.path());
  write_file(folder / "a.db", "no database at all");
  write_file(folder / "a.db-wal", "no log either");
  EXPECT_TRUE(error_of([&] { TraceFile(folder / "a.db"); }));
  EXPECT_EQ(names_in(temporary.path()), std::vector<std::string>{});
}

TEST(WriteAheadLog, CutInTheMiddleLosesTheLastTransactionOnly) {
  const TempFolder folder;
  const fs::path path = make_cut_off(folder, "INSERT INTO t VALUES(101)");
  const fs::path log = path.string() + "-wal";
  fs::resize_file(log, fs::file_size(log) - 1000);
  Database db = Database::open_untrusted(path);
  EXPECT_EQ(count(db), 100);
}

TEST(WriteAheadLog, ReadInAFolderThatCannotBeWritten) {
  const TempFolder folder;
  const fs::path path = make_cut_off(folder);
  for (const fs::path& file : {path, fs::path(path.string() + "-wal")})
    fs::permissions(file, fs::perms{0444});
  fs::permissions(folder.path(), fs::perms{0555});
  const TempFolder temporary;
  fs::permissions(temporary.path(), fs::perms::all);
  const TempDirectory use(temporary.path());
  const Unprivileged user;
  Database db = Database::open_untrusted(path);
  EXPECT_EQ(count(db), 100);
}

TEST(WriteAheadLog, ATemporaryFolderThatIsMissingIsSaid) {
  const TempFolder folder;
  const fs::path path = make_cut_off(folder);
  const TempDirectory use(folder / "none");
  const auto error = error_of([&] { Database::open_untrusted(path); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kFailure);
  EXPECT_NE(error->hint().find("TMPDIR"), std::string::npos);
}

// The steps that a file may cost are counted by its size, and most of a recording can stand in its log.
TEST(WriteAheadLog, CountsForTheLimitOfSteps) {
  const std::string loop =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 4000000) SELECT count(*) FROM n";
  const TempFolder folder;
  const fs::path without = make_database(folder / "small.db", "CREATE TABLE t(x)");
  EXPECT_TRUE(error_of([&] { Database::open_untrusted(without).prepare(loop).step(); }));
  const fs::path with = make_cut_off(folder, "INSERT INTO t VALUES(zeroblob(16000000))");
  EXPECT_FALSE(error_of([&] { Database::open_untrusted(with).prepare(loop).step(); }));
}

// The file that appears below a folder of temporary copies.
bool copying_has_begun(const fs::path& temporary) {
  return std::any_of(fs::directory_iterator(temporary), fs::directory_iterator(), [](const auto& copy) {
    std::error_code none;
    return fs::file_size(copy.path() / "trace.db", none) > 0 && !none;
  });
}

// While the database is copied, the recording that still goes on moves its log into it and begins the log anew. The
// first table must then not be older than the second: a and b become 2 together, b alone becomes 3.
TEST(WriteAheadLog, IsCopiedConsistentlyFromARunningRecording) {
  const TempFolder folder;
  const TempFolder temporary;
  const TempDirectory use(temporary.path());
  const fs::path path = folder / "rank0.db";
  Child writer([&](const Child::Tell& tell) {
    Sqlite db(path);
    db.run(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; CREATE TABLE a(x); CREATE TABLE b(x); CREATE TABLE filler(x);"
        "INSERT INTO a VALUES(1); INSERT INTO b VALUES(1)");
    for (int i = 0; i < 300; ++i)
      db.run("INSERT INTO filler VALUES(zeroblob(1000000))");
    db.run("PRAGMA wal_checkpoint(RESTART); UPDATE b SET x = 1");
    tell(1);
    while (!copying_has_begun(temporary.path()))
      continue;
    db.run("BEGIN; UPDATE a SET x = 2; UPDATE b SET x = 2; COMMIT; PRAGMA wal_checkpoint(RESTART); UPDATE b SET x = 3");
    tell(3);
    for (;;)
      pause();
  });
  ASSERT_EQ(writer.hear(), 1);
  Database db = Database::open_untrusted(path);
  ASSERT_EQ(writer.hear(), 3);
  Statement values = db.prepare("SELECT a.x, b.x FROM a, b");
  ASSERT_TRUE(values.step());
  const std::pair seen(values.integer(0), values.integer(1));
  EXPECT_TRUE(seen == std::pair(INT64_C(1), INT64_C(1)) || seen == std::pair(INT64_C(2), INT64_C(2)) ||
              seen == std::pair(INT64_C(2), INT64_C(3)))
      << seen.first << " " << seen.second;
}

// A database in the middle of a transaction that changed its 100 rows, with the journal that undoes it.
fs::path make_interrupted(const TempFolder& folder) {
  const TempFolder workshop;
  Sqlite db(workshop / "a.db");
  db.run("PRAGMA journal_mode=DELETE; CREATE TABLE t(x)");
  db.run(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100)"
      "INSERT INTO t SELECT zeroblob(3000) FROM n");
  db.run("PRAGMA cache_size=5; BEGIN; DELETE FROM t WHERE rowid % 2 = 0; UPDATE t SET x = 'changed'");
  fs::copy_file(workshop / "a.db", folder / "a.db");
  fs::copy_file(workshop / "a.db-journal", folder / "a.db-journal");
  return folder / "a.db";
}

TEST(RollbackJournal, IsPlayedBackInACopy) {
  const TempFolder folder;
  const fs::path path = make_interrupted(folder);
  const std::string file = read_file(path);
  const std::string journal = read_file(path.string() + "-journal");
  {
    Database db = Database::open_untrusted(path);
    EXPECT_EQ(count(db), 100);
    Statement changed = db.prepare("SELECT count(*) FROM t WHERE x = 'changed'");
    ASSERT_TRUE(changed.step());
    EXPECT_EQ(changed.integer(0), 0);
  }
  EXPECT_EQ(read_file(path), file);
  EXPECT_EQ(read_file(path.string() + "-journal"), journal);
}

// Its bytes would be read, and played into what is shown.
TEST(RollbackJournal, ThatIsALinkIsNotFollowed) {
  const TempFolder folder;
  const fs::path path = make_interrupted(folder);
  fs::rename(path.string() + "-journal", folder / "elsewhere");
  fs::create_symlink(folder / "elsewhere", path.string() + "-journal");
  const auto error = error_of([&] { Database::open_untrusted(path); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
  EXPECT_EQ(error->cause(), "its journal a.db-journal is a link");
}

// The end of a journal can name the journal of a transaction over several files, and SQLite deletes the file of that
// name when it has played the journal back. A file from anywhere must not choose which file that is.
TEST(RollbackJournal, CannotDeleteOtherFiles) {
  const TempFolder folder;
  const fs::path path = make_interrupted(folder);
  const fs::path victim = folder / "precious.txt";
  write_file(victim, "precious");
  std::string journal = read_file(path.string() + "-journal");
  const auto append_number = [&](std::uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8)
      journal += static_cast<char>((number >> static_cast<unsigned>(shift)) & 0xFFU);
  };
  std::uint32_t sum = 0;
  for (const char c : victim.string())
    sum += static_cast<std::uint32_t>(c);
  append_number(0x40000000U / 4096U + 1);  // the page that no journal holds
  journal += victim.string();
  append_number(static_cast<std::uint32_t>(victim.string().size()));
  append_number(sum);
  journal += "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  write_file(path.string() + "-journal", journal);

  const auto error = error_of([&] {
    Database db = Database::open_untrusted(path);
    count(db);
  });
  EXPECT_TRUE(fs::exists(victim));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
  EXPECT_NE(error->cause().find("journal"), std::string::npos);
}

}  // namespace
}  // namespace swinscope::test

// Conversions: a file under its final name is whole, and nothing else is left behind.
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "store/reader.h"
#include "store/writer.h"
#include "tests/unit/store/process.h"
#include "tests/unit/store/support.h"

namespace swinscope::test {
namespace {

void add_call(TraceWriter& writer) {
  ApiRecord r;
  r.name = writer.intern("cudaLaunchKernel");
  writer.add(r);
}

TEST(ImportWriter, AbandonedLeavesNoFile) {
  const TempFolder folder;
  {
    TraceWriter writer(folder / "part.db", WriteMode::kImport);
    add_call(writer);
    writer.flush();
    EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"part.db"});
  }
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{});
}

TEST(ImportWriter, AbandonedNeverRemovesAFileThatItDidNotMake) {
  const TempFolder folder;
  write_file(folder / "part.db", "precious");
  EXPECT_TRUE(error_of([&] { TraceWriter(folder / "part.db", WriteMode::kImport); }));
  EXPECT_EQ(read_file(folder / "part.db"), "precious");
}

TEST(ImportWriter, AppearsUnderItsFinalName) {
  const TempFolder folder;
  {
    TraceWriter writer(folder / "part.db", WriteMode::kImport);
    add_call(writer);
    writer.finish_as(folder / "rank0.db", false);
  }
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"rank0.db"});
  EXPECT_EQ(Sqlite(folder / "rank0.db").value("PRAGMA integrity_check"), "ok");
}

TEST(ImportWriter, FinishAsRefusesAnExistingName) {
  const TempFolder folder;
  write_file(folder / "rank0.db", "precious");
  {
    TraceWriter writer(folder / "part.db", WriteMode::kImport);
    add_call(writer);
    const auto error = error_of([&] { writer.finish_as(folder / "rank0.db", false); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->what(), (folder / "rank0.db").string() + ": cannot be written");
    EXPECT_EQ(error->cause(), "File exists");
    EXPECT_NE(error->hint().find("--force"), std::string::npos);
  }
  EXPECT_EQ(read_file(folder / "rank0.db"), "precious");
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"rank0.db"});
}

TEST(ImportWriter, FinishAsReplacesWhenTold) {
  const TempFolder folder;
  write_file(folder / "rank0.db", "old");
  {
    TraceWriter writer(folder / "part.db", WriteMode::kImport);
    add_call(writer);
    writer.finish_as(folder / "rank0.db", true);
  }
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"rank0.db"});
  EXPECT_EQ(Sqlite(folder / "rank0.db").value("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME"), "1");
}

TEST(ImportWriter, FinishAsIntoAMissingFolderLeavesNothing) {
  const TempFolder folder;
  {
    TraceWriter writer(folder / "part.db", WriteMode::kImport);
    EXPECT_TRUE(error_of([&] { writer.finish_as(folder / "none" / "rank0.db", true); }));
  }
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{});
}

// Writes until it fails; tells the kind of the error, 99 for an error that does not say what failed. Leaves `path`
// alone otherwise: what remains in the folder is for the caller to see.
void write_until_full(const fs::path& path, const Child::Tell& tell) {
  const auto error = error_of([&] {
    TraceWriter writer(path, WriteMode::kImport);
    for (;;)
      add_call(writer);
  });
  const bool clear = error && std::string(error->what()) == path.string() + ": reading or writing failed" &&
                     !error->cause().empty() && error->hint().find("free space") != std::string::npos;
  tell(clear ? static_cast<std::int64_t>(error->kind()) : 99);
}

class FullDisk : public testing::TestWithParam<rlim_t> {};

TEST_P(FullDisk, IsSaidAndNothingIsLeft) {
  const TempFolder folder;
  Child child([&](const Child::Tell& tell) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit small{GetParam(), GetParam()};
    if (setrlimit(RLIMIT_FSIZE, &small) == 0) write_until_full(folder / "part.db", tell);
  });
  EXPECT_EQ(child.hear(), static_cast<std::int64_t>(ErrorKind::kFailure));
  EXPECT_EQ(child.wait_for_end(), 0);
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{});
}

// Full while the empty file is made, while its schema is written, while rows are.
INSTANTIATE_TEST_SUITE_P(Limits, FullDisk, testing::Values(0, 4096, 100'000, 1'000'000));

TEST(FullFileSystem, IsSaidAndNothingIsLeft) {
  const TempFolder folder;
  Child child([&](const Child::Tell& tell) {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=512k") != 0) {
      return;
    }
    write_until_full(folder / "part.db", tell);
    tell(static_cast<std::int64_t>(names_in(folder.path()).size()));
  });
  const std::int64_t kind = child.hear();
  if (kind == -1) GTEST_SKIP() << "mounting a small file system is not permitted here";
  EXPECT_EQ(kind, static_cast<std::int64_t>(ErrorKind::kFailure));
  EXPECT_EQ(child.hear(), 0);
}

}  // namespace
}  // namespace swinscope::test

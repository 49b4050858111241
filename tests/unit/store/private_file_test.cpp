#include "store/private_file.h"

#include <thread>

#include <gmock/gmock.h>

#include "store/shell.h"
#include "tests/unit/store/support.h"

namespace swinscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

mode_t mode_of(const test::fs::path& path) {
  struct stat info = {};
  EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777U;
}

class PrivateFile : public ::testing::Test {
 protected:
  PrivateFile() : umask_(umask(0)) {}  // the program must not depend on the user's
  ~PrivateFile() override { umask(umask_); }

  test::TempFolder temp_;

 private:
  mode_t umask_;
};

TEST_F(PrivateFile, FoldersAreTheirOwnersAlone) {
  EXPECT_TRUE(make_private_folder(temp_ / "a/b/c"));
  EXPECT_EQ(mode_of(temp_ / "a"), 0700U);
  EXPECT_EQ(mode_of(temp_ / "a/b/c"), 0700U);
  EXPECT_FALSE(make_private_folder(temp_ / "a/b/c"));
  EXPECT_FALSE(make_private_folder(temp_ / "a/b/d/"));  // made, though its last part is empty
  EXPECT_EQ(mode_of(temp_ / "a/b/d"), 0700U);
  // One that is there keeps the mode that its owner gave it.
  test::fs::permissions(temp_ / "a", test::fs::perms(0755));
  EXPECT_FALSE(make_private_folder(temp_ / "a"));
  EXPECT_EQ(mode_of(temp_ / "a"), 0755U);
}

TEST_F(PrivateFile, AFolderThatCannotBeMadeSaysWhy) {
  test::write_file(temp_ / "file", "x");
  for (const char* name : {"file", "file/run"}) {
    const auto error = test::error_of([&] { make_private_folder(temp_ / name); });
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(error->kind(), ErrorKind::kFailure);
    EXPECT_EQ(error->cause(), "Not a directory");
  }
}

TEST_F(PrivateFile, OfManyWhoMakeAFolderOneHasIt) {
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&] { made += make_new_folder(temp_ / "run") ? 1 : 0; });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(made, 1);
}

TEST_F(PrivateFile, ReplacingKeepsNothingOfTheOldMode) {
  test::write_file(temp_ / "run.json", "old");
  test::fs::permissions(temp_ / "run.json", test::fs::perms(0666));
  replace_private_file(temp_ / "run.json", "new");
  EXPECT_EQ(test::read_file(temp_ / "run.json"), "new");
  EXPECT_EQ(mode_of(temp_ / "run.json"), 0600U);
  EXPECT_THAT(test::names_in(temp_.path()), ElementsAre("run.json"));
  EXPECT_TRUE(test::error_of([&] { replace_private_file(temp_ / "none/run.json", "x"); }));
}

// In a folder that somebody else prepared.
TEST_F(PrivateFile, LinksAreNotFollowed) {
  test::write_file(temp_ / "victim", "precious");
  for (const char* name : {"run.json", "rank0.db"})
    test::fs::create_symlink(temp_ / "victim", temp_ / name);
  replace_private_file(temp_ / "run.json", "new");
  EXPECT_EQ(create_private_file(temp_ / "rank0.db"), -1);
  EXPECT_EQ(errno, EEXIST);
  EXPECT_EQ(test::read_file(temp_ / "victim"), "precious");
  EXPECT_EQ(test::read_file(temp_ / "run.json"), "new");
}

TEST(PathArgument, IsOneWordAndNoOption) {
  EXPECT_EQ(path_argument("runs/h200"), "runs/h200");
  EXPECT_EQ(path_argument("a b"), "'a b'");
  EXPECT_EQ(path_argument("it's"), "'it'\\''s'");
  EXPECT_EQ(path_argument("-dash2"), "./-dash2");
  EXPECT_EQ(path_argument("~x"), "'~x'");
  EXPECT_EQ(path_argument(""), "''");
}

}  // namespace
}  // namespace swinscope

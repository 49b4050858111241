#include "store/small_file.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "store/error.h"
#include "tests/unit/store/support.h"

namespace swinscope::test {
namespace {

class SmallFile : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& content) {
    std::filesystem::path path = folder_ / "file";
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  static std::string cause_of(const std::filesystem::path& path) {
    try {
      read_small_file(path, "try another");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      EXPECT_EQ(error.hint(), "try another");
      EXPECT_THAT(error.what(), testing::StartsWith(path.string()));
      return error.cause();
    }
    return "read";
  }

  TempFolder folder_;
};

TEST_F(SmallFile, IsReadAsItIs) {
  const std::string content("a\0b\n", 4);
  EXPECT_EQ(read_small_file(file(content), {}), content);
  EXPECT_EQ(read_small_file(file({}), {}), "");
}

TEST_F(SmallFile, AsLargeAsItMayBe) {
  EXPECT_EQ(read_small_file(file(std::string(kMostSmallFileBytes, ' ')), {}).size(), kMostSmallFileBytes);
  EXPECT_EQ(cause_of(file(std::string(kMostSmallFileBytes + 1, ' '))), "it has more than 16 MiB");
}

TEST_F(SmallFile, WhatIsNoFileIsNeitherWaitedForNorRead) {
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(cause_of(pipe), "it is no regular file");
  EXPECT_EQ(cause_of("/dev/zero"), "it is no regular file");
  EXPECT_EQ(cause_of(folder_ / "."), "it is no regular file");
  EXPECT_EQ(cause_of(folder_ / "missing"), "No such file or directory");
}

}  // namespace
}  // namespace swinscope::test

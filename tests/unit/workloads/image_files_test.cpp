// Which files are found, and that reading goes on behind a damaged one.
#include "workloads/images/image_files.h"

#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/workloads/jpeg_files.h"
#include "tests/unit/workloads/subprocess.h"
#include "workloads/error.h"

namespace swinscope {
namespace {

using test::gradient;
using test::write_jpeg;
using testing::HasSubstr;

class ImageFiles : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::permissions(folder_.path(), std::filesystem::perms::owner_all); }
  std::filesystem::path at(const std::string& name) const { return folder_.path() / name; }
  std::string error_of(const std::string& name) const {
    try {
      find_jpeg_files(at(name));
    } catch (const WorkloadError& error) {
      EXPECT_EQ(error.kind(), WorkloadErrorKind::kInput);
      return std::string(error.what()) + "; " + error.cause();
    }
    return "no error";
  }

  test::TemporaryFolder folder_;
};

TEST_F(ImageFiles, FoldersAreSearchedByName) {
  std::filesystem::create_directories(at("b"));
  for (const char* name : {"z.JPG", "b/a.jpeg", "a.jpg", "notes.txt"})
    std::ofstream(at(name)).flush();
  std::filesystem::create_directories(at("folder.jpg"));
  std::filesystem::create_symlink(at("a.jpg"), at("link.jpg"));
  std::filesystem::create_directory_symlink(folder_.path(), at("b/loop"));
  const std::vector<std::filesystem::path> expected = {at("a.jpg"), at("b/a.jpeg"), at("link.jpg"), at("z.JPG")};
  EXPECT_EQ(find_jpeg_files(folder_.path()).files, expected);
  EXPECT_EQ(find_jpeg_files(at("notes.txt")).files, std::vector{at("notes.txt")});
}

TEST_F(ImageFiles, NothingToReadIsAnErrorThatSaysWhy) {
  std::filesystem::create_directories(at("none"));
  EXPECT_THAT(error_of("none"), HasSubstr("no JPEG files; there are no .jpg"));
  EXPECT_THAT(error_of("nowhere"), HasSubstr("nowhere: cannot be read; No such file"));
  EXPECT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_THAT(error_of("pipe"), HasSubstr("neither a file nor a folder"));
}

TEST_F(ImageFiles, AFolderThatCannotBeReadIsNamed) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  std::filesystem::create_directories(at("locked"));
  std::filesystem::permissions(at("locked"), std::filesystem::perms::none);
  EXPECT_THAT(error_of("locked"), HasSubstr("Permission denied"));
  write_jpeg(at("a.jpg"), gradient(8, 8));
  const FoundFiles found = find_jpeg_files(folder_.path());
  EXPECT_EQ(found.files.size(), 1U);
  ASSERT_EQ(found.skipped.size(), 1U);
  EXPECT_EQ(found.skipped[0].path, at("locked"));
  EXPECT_EQ(found.skipped[0].reason, "Permission denied");
  std::filesystem::permissions(at("locked"), std::filesystem::perms::owner_all);
}

TEST_F(ImageFiles, TheReaderSkipsWhatItCannotReadAndGoesOn) {
  for (const char* name : {"a.jpg", "c.jpg", "d.jpg"})
    write_jpeg(at(name), gradient(50, 50));
  std::ofstream(at("b.jpg")) << "damaged";
  std::ofstream(at("cut.jpg")).flush();
  ImageReader reader(folder_.path(), 32);
  std::vector<float> images(std::size_t{2} * 3 * 32 * 32, std::nanf(""));
  const std::vector<std::filesystem::path> first = {at("a.jpg"), at("c.jpg")};
  EXPECT_EQ(reader.next(2, images), first);
  for (const float value : images)
    ASSERT_TRUE(std::isfinite(value));
  EXPECT_EQ(reader.next(2, images), std::vector{at("d.jpg")});
  EXPECT_TRUE(reader.next(2, images).empty());
  ASSERT_EQ(reader.skipped().size(), 2U);
  EXPECT_EQ(reader.skipped()[0].path, at("b.jpg"));
  EXPECT_THAT(reader.skipped()[0].reason, HasSubstr("Not a JPEG"));
  EXPECT_THAT(reader.skipped()[1].reason, HasSubstr("empty"));
}

}  // namespace
}  // namespace swinscope

#include "kernels/matmul_cache.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace swinscope::cuda {
namespace {

class MatmulCache : public testing::Test {
 protected:
  MatmulCache() { std::filesystem::remove_all(folder_); }
  ~MatmulCache() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("swinscope_matmul_cache_" + std::to_string(getpid()));
  std::filesystem::path file_ = folder_ / "new" / "matmul.txt";
};

TEST_F(MatmulCache, ReadsWhatItWrote) {
  const AlgorithmTable table = {{"49,48,128", {1, 2, 3, 0xffffffffffffffffU, 5, 6, 7, 8}}, {"1,1,1", {}}};
  EXPECT_TRUE(add_algorithms(file_, table));
  EXPECT_EQ(read_algorithms(file_), table);
  // Nothing temporary stays behind.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file_.parent_path()), {}), 1);
}

TEST_F(MatmulCache, WhatAnotherProcessAddedStays) {
  EXPECT_TRUE(add_algorithms(file_, {{"1,1,1", {1}}, {"2,2,2", {2}}}));
  EXPECT_TRUE(add_algorithms(file_, {{"2,2,2", {20}}, {"3,3,3", {3}}}));
  const AlgorithmTable expected = {{"1,1,1", {1}}, {"2,2,2", {20}}, {"3,3,3", {3}}};
  EXPECT_EQ(read_algorithms(file_), expected);
}

TEST_F(MatmulCache, AMissingFileIsAnEmptyTable) { EXPECT_TRUE(read_algorithms(file_).empty()); }

TEST_F(MatmulCache, DamagedLinesAreLeftOut) {
  std::filesystem::create_directories(file_.parent_path());
  std::ofstream(file_) << "short 1 2 3\nwords 1 2 3 4 5 6 7 no\nlong 1 2 3 4 5 6 7 8 9\n\ngood 1 2 3 4 5 6 7 a\n";
  const AlgorithmTable expected = {{"good", {1, 2, 3, 4, 5, 6, 7, 10}}};
  EXPECT_EQ(read_algorithms(file_), expected);
}

TEST_F(MatmulCache, AFolderThatCannotBeMadeIsNoFailure) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "new") << "a file";
  EXPECT_FALSE(add_algorithms(file_, {{"1", {}}}));
}

}  // namespace
}  // namespace swinscope::cuda

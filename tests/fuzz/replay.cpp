// Runs a fuzz target on the files of its corpus (SWINSCOPE_CORPUS). A fault ends the program, as it does under
// libFuzzer.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::uint8_t> bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Corpus, Replay) {
  const char* folder = std::getenv("SWINSCOPE_CORPUS");
  if (folder == nullptr) GTEST_SKIP() << "SWINSCOPE_CORPUS names no folder";
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().string());
    // A vector of exactly this size, so that a read behind it is seen.
    const std::vector<std::uint8_t> bytes = bytes_of(entry.path());
    EXPECT_EQ(LLVMFuzzerTestOneInput(bytes.data(), bytes.size()), 0);
    ++inputs;
  }
  EXPECT_GT(inputs, 0);
}

TEST(Corpus, NoBytesAtAll) { EXPECT_EQ(LLVMFuzzerTestOneInput(nullptr, 0), 0); }

}  // namespace

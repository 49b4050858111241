// Files that were cut off, or of which a part was overwritten: what can be read is read.
#include <fmt/format.h>

#include "store/reader.h"
#include "tests/unit/store/support.h"

namespace swinscope::test {
namespace {

constexpr int kRows = 20'000;

class ReaderDamage : public testing::Test {
 protected:
  ReaderDamage() : path_(folder_ / "a.sqlite") {
    make_database(path_,
                  fmt::format("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, globalPid);"
                              "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {})"
                              "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 1000, i * 1000 + 500, 0, 5 FROM n",
                              kRows - 1));
  }

  struct Outcome {
    std::vector<std::int64_t> starts_ns;
    std::vector<std::string> warnings;
    bool damaged = false;
  };
  Outcome read() const {
    TraceFile file(path_);
    KeptTrace trace;
    file.read(trace);
    Outcome outcome{{}, file.warnings(), file.damaged()};
    for (const KernelRecord& kernel : trace.processes.at(0).kernels)
      outcome.starts_ns.push_back(kernel.start_ns);
    std::ranges::sort(outcome.starts_ns);
    return outcome;
  }
  void rewrite(const std::function<void(std::string&)>& change) const {
    std::string bytes = read_file(path_);
    change(bytes);
    write_file(path_, bytes);
  }

  TempFolder folder_;
  fs::path path_;
};

TEST_F(ReaderDamage, AWholeFileHasNone) {
  const Outcome outcome = read();
  EXPECT_EQ(outcome.starts_ns.size(), static_cast<std::size_t>(kRows));
  EXPECT_FALSE(outcome.damaged);
  EXPECT_EQ(outcome.warnings, std::vector<std::string>{});
}

TEST_F(ReaderDamage, OfACutFileWhatIsThereIsRead) {
  rewrite([](std::string& bytes) { bytes.resize(bytes.size() * 9 / 10 / 4096 * 4096); });
  const Outcome outcome = read();
  EXPECT_TRUE(outcome.damaged);
  EXPECT_GT(outcome.starts_ns.size(), static_cast<std::size_t>(kRows) * 8 / 10);
  EXPECT_LT(outcome.starts_ns.size(), static_cast<std::size_t>(kRows));
  EXPECT_EQ(outcome.warnings, std::vector<std::string>{
                                  fmt::format("{}: the SQLite file is damaged; {} rows of CUPTI_ACTIVITY_KIND_KERNEL "
                                              "could be read, the others are lost",
                                              path_.string(), outcome.starts_ns.size())});
}

TEST_F(ReaderDamage, WhatStandsBehindADamagedPageIsRead) {
  rewrite([](std::string& bytes) { bytes.replace(bytes.size() / 2 / 4096 * 4096, 4096, 4096, '\0'); });
  const Outcome outcome = read();
  EXPECT_TRUE(outcome.damaged);
  EXPECT_LT(outcome.starts_ns.size(), static_cast<std::size_t>(kRows));
  EXPECT_GT(outcome.starts_ns.size(), static_cast<std::size_t>(kRows) * 95 / 100);
  EXPECT_EQ(outcome.starts_ns.front(), 0);
  EXPECT_EQ(outcome.starts_ns.back(), (kRows - 1) * std::int64_t{1000});
  EXPECT_EQ(std::ranges::adjacent_find(outcome.starts_ns), outcome.starts_ns.end());  // none twice
}

TEST_F(ReaderDamage, AFileWithoutItsFirstPageIsDamagedInput) {
  rewrite([](std::string& bytes) { bytes.replace(100, 3000, 3000, '\xFF'); });
  const auto error = error_of([&] { read(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
}

}  // namespace
}  // namespace swinscope::test

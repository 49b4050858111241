#include "collector/base/identity.h"

#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/base/clock.h"
#include "collector/base/drop_note.h"
#include "collector/base/proc_files.h"
#include "tests/unit/store/support.h"

namespace swinscope {
namespace {

using ::testing::ElementsAre;

TEST(Identity, RanksOfTheLaunchers) {
  const auto rank = [](const std::vector<std::string>& environment) {
    const RankIdentity identity = rank_from(environment);
    return std::vector<int>{identity.rank, identity.world_size, identity.is_given ? 1 : 0};
  };
  EXPECT_THAT(rank({"RANK=3", "WORLD_SIZE=8", "LOCAL_RANK=1"}), ElementsAre(3, 8, 1));
  EXPECT_THAT(rank({"OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=2"}), ElementsAre(2, 4, 1));
  EXPECT_THAT(rank({"PMIX_RANK=5"}), ElementsAre(5, 0, 1));
  EXPECT_THAT(rank({"SLURM_PROCID=7", "SLURM_NTASKS=16"}), ElementsAre(7, 16, 1));
  // torchrun below srun: the inner launcher counts.
  EXPECT_THAT(rank({"SLURM_PROCID=0", "SLURM_NTASKS=2", "RANK=5", "WORLD_SIZE=16"}), ElementsAre(5, 16, 1));
  EXPECT_THAT(rank({"RANK=", "SLURM_PROCID=1"}), ElementsAre(1, 0, 1));
  EXPECT_THAT(rank({"RANK=x1"}), ElementsAre(0, 0, 0));
  EXPECT_THAT(rank({"RANK=-1"}), ElementsAre(0, 0, 0));
  EXPECT_THAT(rank({"RANKING=3", "MYRANK=2"}), ElementsAre(0, 0, 0));
  EXPECT_THAT(rank({}), ElementsAre(0, 0, 0));
}

TEST(Identity, FilesAreTakenInOrder) {
  test::TempFolder folder;
  const auto claim = [&](std::int32_t rank) {
    return claim_trace_file(folder.path(), rank, "host", 77).filename().string();
  };
  EXPECT_EQ(claim(2), "rank2.db");
  EXPECT_EQ(claim(2), "rank2.host.77.0.db");
  EXPECT_EQ(claim(2), "rank2.host.77.1.db");
  EXPECT_EQ(claim(0), "rank0.db");
  EXPECT_EQ(claim(kNoRank), "record.db");
  EXPECT_EQ(claim(kNoRank), "record.host.77.0.db");
  EXPECT_EQ(test::fs::file_size(folder / "rank0.db"), 0U);
}

TEST(Identity, TwoProcessesNeverGetTheSameFile) {
  test::TempFolder folder;
  constexpr int kClaims = 50;
  std::vector<std::vector<std::string>> names(4);
  std::vector<std::thread> threads;
  threads.reserve(names.size());
  for (auto& own : names) {
    threads.emplace_back([&] {
      for (int i = 0; i < kClaims; ++i)
        own.push_back(claim_trace_file(folder.path(), 0, "h", 1).string());
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  std::set<std::string> all;
  for (const auto& own : names)
    all.insert(own.begin(), own.end());
  EXPECT_EQ(all.size(), 4U * kClaims);
}

TEST(Identity, AFolderThatIsNotThere) {
  const auto error = test::error_of([] { claim_trace_file("/nonexistent/folder", 0, "h", 1); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), ::testing::HasSubstr("/nonexistent/folder/rank0.db: cannot be created"));
}

TEST(DropNote, IsReadAsItWasWritten) {
  test::TempFolder folder;
  const auto trace = folder / "rank0.db";
  EXPECT_TRUE(DropNote::read(trace).empty());
  DropNote note(trace);
  EXPECT_EQ(test::fs::file_size(DropNote::path_for(trace)), 4096U);
  EXPECT_TRUE(DropNote::read(trace).empty());
  const std::vector<DropInfo> drops = {{"NVTX range", 12, "the buffer was full: really"},
                                       {"thread CPU sample", 3, "no space"}};
  note.write(
      {{"NVTX range", 1, "a longer reason that is replaced by a shorter one later on, with all the rest of the text"}});
  note.write(drops);
  EXPECT_EQ(DropNote::read(trace), drops);
  note.remove();
  EXPECT_TRUE(test::names_in(folder.path()).empty());
  note.write(drops);  // nothing happens
  EXPECT_TRUE(test::names_in(folder.path()).empty());
}

TEST(DropNote, GarbageIsNoLoss) {
  test::TempFolder folder;
  test::write_file(DropNote::path_for(folder / "x.db"), "no tabs here\n\tonly\ttabs\t\nwhat\tnumber?\twhy\n");
  EXPECT_TRUE(DropNote::read(folder / "x.db").empty());
}

TEST(Clock, TheOffsetTravelsAsTextOnOneHost) {
  const std::int64_t offset_ns = measure_utc_offset_ns();
  EXPECT_EQ(utc_offset_from(utc_offset_text(offset_ns - 12'345).c_str()), offset_ns - 12'345);
  // Of another boot, or no such text: measured anew, which is near.
  constexpr std::int64_t kNearNs = 60'000'000'000;
  for (const std::string& text : {std::string("other-boot-id:123"), std::string("123"), std::string(), std::string(":"),
                                  utc_offset_text(1).substr(0, 20)}) {
    EXPECT_NEAR(static_cast<double>(utc_offset_from(text.c_str())), static_cast<double>(offset_ns), kNearNs) << text;
  }
  EXPECT_NEAR(static_cast<double>(utc_offset_from(nullptr)), static_cast<double>(offset_ns), kNearNs);
}

TEST(ProcFiles, Texts) {
  EXPECT_EQ(shell_text({"python", "a b.py", "--x=1", "", "it's"}), "python 'a b.py' --x=1 '' 'it'\\''s'");
  EXPECT_THAT(nul_separated(std::string_view("a\0b c\0\0", 7)), ElementsAre("a", "b c", ""));
  EXPECT_THAT(words_of(" one\ttwo  three\n"), ElementsAre("one", "two", "three"));
  EXPECT_EQ(parse_integer("42"), 42);
  EXPECT_EQ(parse_integer("42 "), std::nullopt);
  EXPECT_EQ(read_small_file("/nonexistent"), "");
}

}  // namespace
}  // namespace swinscope

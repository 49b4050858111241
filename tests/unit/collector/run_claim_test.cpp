// Which recorders may record into a folder together, and that none takes another's place.
#include "collector/launcher/run_claim.h"

#include <set>
#include <thread>

#include <gmock/gmock.h>

#include "collector/base/clock.h"
#include "collector/launcher/run_folder.h"
#include "tests/unit/store/support.h"

namespace swinscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::int64_t kSecond = 1'000'000'000;

// ---- the rule ----

RecorderId recorder_on(const std::string& host) {
  RecorderId recorder;
  recorder.host = host;
  recorder.pid = 7;
  return recorder;
}

JobPlace rank_of(std::int32_t rank, std::int32_t world_size, const std::string& job = "", bool is_unique = false) {
  JobPlace place;
  place.rank = rank;
  place.world_size = world_size;
  place.job = job;
  place.is_unique = is_unique;
  return place;
}

// From 100 s to 200 s.
RunPiece ended(const JobPlace& place, const std::string& host = "here") {
  RunPiece piece;
  piece.is_recording = true;
  piece.recorder = recorder_on(host);
  piece.place = place;
  piece.start_utc_ns = 100 * kSecond;
  piece.end_utc_ns = 200 * kSecond;
  return piece;
}

bool joins_at(
    std::int64_t start_s, const JobPlace& place, const std::vector<RunPiece>& pieces,
    const std::function<bool(const RunPiece&)>& alive = [](const RunPiece&) { return false; }) {
  return joins(pieces, recorder_on("here"), place, start_s * kSecond, alive);
}

TEST(Joins, WhatIsAliveOrWasWhenThisBegan) {
  EXPECT_FALSE(joins_at(300, {}, {}));
  EXPECT_FALSE(joins_at(300, {}, {ended({})}));
  EXPECT_TRUE(joins_at(199, {}, {ended({})}));
  // The clock of another host does not tell.
  EXPECT_FALSE(joins_at(199, {}, {ended({}, "elsewhere")}));
  EXPECT_TRUE(joins_at(300, {}, {ended({})}, [](const RunPiece&) { return true; }));
  RunPiece import = ended({});
  import.is_recording = false;
  EXPECT_FALSE(joins_at(199, {}, {import}));
}

TEST(Joins, RanksOfOneJobByItsName) {
  const auto slurm = [](std::int32_t rank, const char* step) { return rank_of(rank, 4, step, true); };
  // However long it takes until the last rank begins.
  EXPECT_TRUE(joins_at(90'000, slurm(1, "slurm 8.0"), {ended(slurm(0, "slurm 8.0"))}));
  EXPECT_FALSE(joins_at(300, slurm(1, "slurm 8.1"), {ended(slurm(0, "slurm 8.0"))}));
  EXPECT_FALSE(joins_at(300, rank_of(1, 8, "slurm 8.0", true), {ended(slurm(0, "slurm 8.0"))}));
  EXPECT_FALSE(joins_at(300, {}, {ended(slurm(0, "slurm 8.0"))}));
}

TEST(Joins, RanksWithoutANameByWorldSizeAndTime) {
  EXPECT_TRUE(joins_at(300, rank_of(1, 2), {ended(rank_of(0, 2))}));
  EXPECT_FALSE(joins_at(300, rank_of(1, 4), {ended(rank_of(0, 2))}));
  EXPECT_FALSE(joins_at(300, rank_of(1, 0), {ended(rank_of(0, 0))}));
  EXPECT_FALSE(joins_at(701, rank_of(1, 2), {ended(rank_of(0, 2))})) << "ten minutes later";
  // torchrun calls every job without a name "none".
  EXPECT_TRUE(joins_at(300, rank_of(1, 2, "torchrun none h:1"), {ended(rank_of(0, 2, "torchrun none h:1"))}));
  EXPECT_FALSE(joins_at(701, rank_of(1, 2, "torchrun none h:1"), {ended(rank_of(0, 2, "torchrun none h:1"))}));
}

TEST(Joins, AnEarlierRunOfTheSameJobIsAnotherRun) {
  const std::vector<RunPiece> both = {ended(rank_of(0, 2)), ended(rank_of(1, 2))};
  EXPECT_FALSE(joins_at(300, rank_of(0, 2), both));
  EXPECT_FALSE(joins_at(300, rank_of(1, 2), both));
  // Unless the launcher has restarted the rank.
  JobPlace again = rank_of(1, 2);
  again.restarts = 1;
  EXPECT_TRUE(joins_at(300, again, both));
}

TEST(JobPlace, IsWhatTheLauncherSays) {
  using Variables = std::vector<std::pair<std::string, std::string>>;
  const auto place_of = [](const Variables& variables) {
    const auto lookup = [](const char* name, const void* context) -> const char* {
      for (const auto& [key, value] : *static_cast<const Variables*>(context)) {
        if (key == name) return value.c_str();
      }
      return nullptr;
    };
    const JobPlace place = job_place_from(lookup, &variables);
    return place.rank ? std::to_string(*place.rank) + "/" + std::to_string(place.world_size) + " " + place.job +
                            (place.is_unique ? "!" : "") + (place.restarts > 0 ? " again" : "")
                      : "no rank " + place.job;
  };
  EXPECT_EQ(place_of({}), "no rank ");
  EXPECT_EQ(place_of({{"SLURM_JOB_ID", "8"}, {"SLURM_STEP_ID", "0"}}), "no rank ");
  EXPECT_EQ(place_of({{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "8"}, {"SLURM_STEP_ID", "0"}}),
            "3/4 slurm 8.0!");
  EXPECT_EQ(place_of({{"OMPI_COMM_WORLD_RANK", "1"},
                      {"OMPI_COMM_WORLD_SIZE", "2"},
                      {"PMIX_NAMESPACE", "900"},
                      {"SLURM_PROCID", "0"},
                      {"SLURM_JOB_ID", "8"},
                      {"SLURM_STEP_ID", "0"}}),
            "1/2 pmix 900!");
  EXPECT_EQ(place_of({{"RANK", "1"},
                      {"WORLD_SIZE", "2"},
                      {"MASTER_ADDR", "h"},
                      {"MASTER_PORT", "5"},
                      {"TORCHELASTIC_RUN_ID", "none"},
                      {"TORCHELASTIC_RESTART_COUNT", "2"}}),
            "1/2 torchrun none h:5 again");
  EXPECT_EQ(place_of({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "h"}, {"MASTER_PORT", "5"}}), "1/2 h:5");
}

// ---- the folder ----

class Claim : public ::testing::Test {
 protected:
  static std::string text(const RecorderId& recorder, const JobPlace& place = {},
                          std::optional<std::int64_t> end_utc_ns = std::nullopt) {
    RunDescription run;
    run.recorder = recorder;
    run.place = place;
    run.window = "whole";
    run.start_utc_ns = clock_ns(CLOCK_REALTIME);
    run.end_utc_ns = end_utc_ns;
    return run_json(run);
  }
  RunClaim claim(const JobPlace& place = {}, bool force = false) const {
    const RecorderId self = this_recorder();
    return {folder_, self, place, text(self, place), force};
  }
  // As a recorder left it that began long ago.
  void leave(const std::string& name, const RecorderId& recorder, const JobPlace& place,
             std::optional<std::int64_t> end_utc_ns) {
    make_private_folder_of_test();
    test::write_file(folder_ / name, text(recorder, place, end_utc_ns));
  }
  void make_private_folder_of_test() const { test::fs::create_directories(folder_); }
  void touch(const std::string& name, std::int64_t utc_ns) const {
    const timespec time{utc_ns / kSecond, utc_ns % kSecond};
    const std::array<timespec, 2> times = {time, time};
    ASSERT_EQ(utimensat(AT_FDCWD, (folder_ / name).c_str(), times.data(), 0), 0);
  }

  test::TempFolder temp_;
  const test::fs::path folder_ = temp_ / "run";
};

TEST_F(Claim, TheFirstHasRunJsonAndWhatItSays) {
  const RunClaim first = claim(rank_of(2, 4, "slurm 8.0", true));
  EXPECT_EQ(first.file(), folder_ / "run.json");
  EXPECT_THAT(first.others(), SizeIs(0));
  EXPECT_THAT(test::names_in(folder_), ElementsAre("run.json"));
  struct stat info = {};
  ASSERT_EQ(stat(folder_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
  ASSERT_EQ(stat(first.file().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  const RunPiece piece = read_run_piece(first.file());
  EXPECT_TRUE(piece.is_recording);
  EXPECT_EQ(piece.recorder.mark(), this_recorder().mark());
  EXPECT_EQ(piece.recorder.boot, this_recorder().boot);
  EXPECT_EQ(piece.place.rank, 2);
  EXPECT_EQ(piece.place.world_size, 4);
  EXPECT_EQ(piece.place.job, "slurm 8.0");
  EXPECT_TRUE(piece.place.is_unique);
  EXPECT_EQ(piece.window, "whole");
  EXPECT_FALSE(piece.end_utc_ns);
  EXPECT_TRUE(piece.is_alive(0));
}

TEST_F(Claim, OfManyAtOnceEachHasAFileOfItsOwn) {
  constexpr int kRecorders = 16;
  std::atomic<int> ready = 0;
  std::vector<test::fs::path> files(kRecorders);
  std::vector<std::thread> threads;
  for (int i = 0; i < kRecorders; ++i) {
    threads.emplace_back([&, i] {
      ++ready;
      while (ready < kRecorders)
        std::this_thread::yield();
      files[static_cast<std::size_t>(i)] = claim().file();
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_THAT((std::set<test::fs::path>(files.begin(), files.end())), SizeIs(kRecorders));
  EXPECT_THAT(test::names_in(folder_), SizeIs(kRecorders)) << "nothing unfinished is left";
  EXPECT_THAT(read_run_pieces(folder_), SizeIs(kRecorders));
}

TEST_F(Claim, AnEarlierRunIsRefusedOrReplacedAndNothingElseIsTouched) {
  leave("run.json", this_recorder(), {}, 1);
  leave("run.other.5.0.json", recorder_on("other"), {}, 1);
  test::write_file(folder_ / "run.mine.json", "{\"traceEvents\": []}");
  for (const char* name : {"rank0.db", "rank0.host.5.0.db", "rank1.db-wal", "record.db", ".run.json.5.0.tmp",
                           "ranking.txt", "model.db", "notes"}) {
    test::write_file(folder_ / name, "x");
  }
  const auto refused = test::error_of([&] { claim(); });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->kind(), ErrorKind::kUsage);
  EXPECT_THAT(refused->what(), HasSubstr("already holds a run"));
  EXPECT_THAT(test::names_in(folder_), SizeIs(11));
  claim({}, true);
  EXPECT_THAT(test::names_in(folder_), ElementsAre("model.db", "notes", "ranking.txt", "run.json", "run.mine.json"));
}

TEST_F(Claim, ForceNeverTouchesALivingRecording) {
  const RunClaim first = claim();
  test::write_file(folder_ / "rank0.db", "x");
  const RunClaim second = claim({}, true);
  EXPECT_THAT(second.others(), SizeIs(1));
  EXPECT_EQ(test::names_in(folder_).size(), 3U);
  EXPECT_TRUE(first.has_living_others());
}

// Its process cannot be seen from here: the time of its file tells.
TEST_F(Claim, ARecorderOnAnotherHostIsAliveWhileItTouchesItsFile) {
  leave("run.json", recorder_on("elsewhere"), {}, std::nullopt);
  const std::int64_t now_ns = clock_ns(CLOCK_REALTIME);
  touch("run.json", now_ns - kLeaseNs - kSecond);
  EXPECT_TRUE(test::error_of([&] { claim(); })) << "it was killed";
  touch("run.json", now_ns - kBeatNs);
  EXPECT_THAT(claim({}, true).others(), SizeIs(1));
}

TEST_F(Claim, ARecorderThatWasKilledHereIsNotAlive) {
  RecorderId killed = this_recorder();
  ++killed.start_ticks;  // another process has its number by now
  leave("run.json", killed, {}, std::nullopt);
  EXPECT_TRUE(test::error_of([&] { claim(); }));
  EXPECT_THAT(claim({}, true).others(), SizeIs(0));
}

TEST_F(Claim, BeatsRenewTheFile) {
  RunClaim first = claim();
  touch("run.json", kSecond);
  first.beat(5);
  struct stat info = {};
  ASSERT_EQ(stat(first.file().c_str(), &info), 0);
  EXPECT_GT(info.st_mtim.tv_sec, 1);
  touch("run.json", kSecond);
  first.beat(5 + kBeatNs - 1);
  ASSERT_EQ(stat(first.file().c_str(), &info), 0);
  EXPECT_EQ(info.st_mtim.tv_sec, 1) << "not yet";
}

TEST_F(Claim, WithdrawnItLeavesNothing) {
  claim().withdraw();
  EXPECT_FALSE(test::fs::exists(folder_));
  make_private_folder_of_test();
  test::write_file(folder_ / "notes", "x");
  claim().withdraw();
  EXPECT_THAT(test::names_in(folder_), ElementsAre("notes"));
}

TEST_F(Claim, AFolderThatCannotBeWrittenIsSaid) {
  test::write_file(temp_ / "run", "a file");
  const auto error = test::error_of([&] { claim(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kFailure);
}

}  // namespace
}  // namespace swinscope

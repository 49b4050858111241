// Finding ranks: what launchers say, meeting in a folder, and noticing who has gone. Ranks are threads here.
#include "workloads/rendezvous.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/workloads/subprocess.h"
#include "workloads/error.h"
#include "workloads/rank_watch.h"

namespace swinscope {
namespace {

using testing::HasSubstr;

Environment environment_of(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

TEST(RankInfo, WithoutALauncherThereIsOneRank) {
  const RankInfo info = discover_rank(environment_of({}));
  EXPECT_EQ(info.rank, 0);
  EXPECT_EQ(info.size, 1);
  EXPECT_EQ(info.launcher, "");
}

TEST(RankInfo, ReadsTorchrunOpenMpiAndSlurm) {
  RankInfo info = discover_rank(environment_of({{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}}));
  EXPECT_EQ(std::tie(info.rank, info.size, info.local_rank), std::make_tuple(5, 8, 1));
  EXPECT_EQ(info.launcher, "torchrun");
  info = discover_rank(environment_of(
      {{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}}));
  EXPECT_EQ(std::tie(info.rank, info.size, info.local_rank), std::make_tuple(2, 4, 0));
  info = discover_rank(environment_of({{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}, {"SLURM_LOCALID", "3"}}));
  EXPECT_EQ(std::tie(info.rank, info.size, info.local_rank), std::make_tuple(3, 4, 3));
}

TEST(RankInfo, TheInnerLauncherWins) {
  const RankInfo info =
      discover_rank(environment_of({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}));
  EXPECT_EQ(info.rank, 1);
  EXPECT_EQ(info.size, 2);
  EXPECT_EQ(info.local_rank, 1);
}

TEST(RankInfo, RefusesHalfAndNonsense) {
  const std::vector<std::map<std::string, std::string>> bad = {
      {{"RANK", "1"}},
      {{"WORLD_SIZE", "2"}},
      {{"RANK", "2"}, {"WORLD_SIZE", "2"}},
      {{"RANK", "-1"}, {"WORLD_SIZE", "2"}},
      {{"RANK", "one"}, {"WORLD_SIZE", "2"}},
      {{"RANK", ""}, {"WORLD_SIZE", "2"}},
      {{"RANK", "0"}, {"WORLD_SIZE", "99999999999"}},
      {{"OMPI_COMM_WORLD_SIZE", "2"}},
  };
  for (const auto& variables : bad) {
    try {
      discover_rank(environment_of(variables));
      ADD_FAILURE() << variables.begin()->first << " was accepted";
    } catch (const WorkloadError& error) {
      EXPECT_EQ(error.kind(), WorkloadErrorKind::kUsage);
    }
  }
}

TEST(LaunchKey, TellsJobsApartAndIsAFileName) {
  const std::string first =
      launch_key(environment_of({{"MASTER_PORT", "29500"}, {"TORCHELASTIC_RUN_ID", "../../etc"}}));
  EXPECT_EQ(first, launch_key(environment_of({{"MASTER_PORT", "29500"}, {"TORCHELASTIC_RUN_ID", "../../etc"}})));
  EXPECT_NE(first, launch_key(environment_of({{"MASTER_PORT", "29501"}, {"TORCHELASTIC_RUN_ID", "../../etc"}})));
  EXPECT_EQ(first.find('/'), std::string::npos);
  EXPECT_EQ(launch_key(environment_of({})), launch_key(environment_of({})));
}

class Rendezvous : public testing::Test {
 protected:
  RendezvousOptions options(std::chrono::milliseconds patience = std::chrono::seconds(60)) const {
    RendezvousOptions result;
    result.folder = folder_.path() / "ranks";
    result.patience = patience;
    return result;
  }

  std::future<RankMeeting> join(int rank, int size, const RankConfiguration& configuration = {{"model", "a"}}) const {
    return std::async(std::launch::async, [=, this] {
      return meet_ranks({rank, size, rank, "test"}, configuration, options());
    });
  }

  // A process that has ended: a number that is free again, with a start time.
  static ProcessIdentity ended_process() {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    siginfo_t info = {};
    ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);  // a zombie keeps its identity
    const ProcessIdentity identity = identity_of(child);
    EXPECT_FALSE(is_running(identity)) << "a zombie does not run";
    ::waitpid(child, nullptr, 0);
    return identity;
  }

  test::TemporaryFolder folder_;
};

template <typename Future>
std::string failure_of(Future future, WorkloadErrorKind kind) {
  try {
    future.get();
  } catch (const WorkloadError& error) {
    EXPECT_EQ(error.kind(), kind);
    return format_error(error);
  }
  return "no failure";
}

TEST_F(Rendezvous, RanksMeetInAnyOrder) {
  auto second = join(1, 3);
  auto third = join(2, 3);
  auto first = join(0, 3);
  const RankMeeting meeting = third.get();
  EXPECT_EQ(first.get().folder, meeting.folder);
  EXPECT_EQ(second.get().folder, meeting.folder);
  ASSERT_EQ(meeting.cards.size(), 3U);
  for (int rank = 0; rank < 3; ++rank)
    EXPECT_EQ(meeting.cards[static_cast<std::size_t>(rank)].rank, rank);
  EXPECT_TRUE(meeting.one_machine());
  EXPECT_EQ(meeting.ranks_sharing_cpus(), 3);
  EXPECT_EQ(meeting.own().rank, 2);
}

// In the folder for everybody somebody else may have been there first.
TEST_F(Rendezvous, AFolderForEverybodyMustBeOnesOwn) {
  RendezvousOptions shared = options();
  shared.temporary = true;
  std::filesystem::create_directory(folder_.path() / "elsewhere");
  std::filesystem::create_directory_symlink(folder_.path() / "elsewhere", shared.folder);
  const auto meet = [&] {
    return std::async(std::launch::async, [&] { return meet_ranks({0, 1, 0, "test"}, {}, shared); });
  };
  EXPECT_THAT(failure_of(meet(), WorkloadErrorKind::kFailure), HasSubstr("the ranks do not meet there"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "elsewhere"));
  std::filesystem::remove(shared.folder);
  std::filesystem::create_directory(shared.folder);
  std::filesystem::permissions(shared.folder, std::filesystem::perms::all);
  EXPECT_EQ(meet().get().cards.size(), 1U);
  struct stat info = {};
  ASSERT_EQ(::stat(shared.folder.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
}

TEST_F(Rendezvous, DisagreementNamesTheRankAndWhat) {
  auto first = join(0, 3);
  auto second = join(1, 3, {{"model", "b"}, {"steps", "7"}});
  auto third = join(2, 3);
  for (auto* rank : {&first, &second, &third}) {
    const std::string text = failure_of(std::move(*rank), WorkloadErrorKind::kUsage);
    EXPECT_THAT(text, HasSubstr("rank 1 has model b instead of a, steps 7 instead of (none)"));
  }
}

TEST_F(Rendezvous, TwoRanksWithOneGpuAreRefused) {
  const auto join_with = [this](int rank, const std::string& gpu) {
    return std::async(std::launch::async, [=, this] {
      return meet_ranks({rank, 3, rank, "test", {0, gpu}}, {}, options());
    });
  };
  std::vector<std::future<RankMeeting>> ranks;
  ranks.push_back(join_with(0, "GPU-a"));
  ranks.push_back(join_with(1, "GPU-b"));
  ranks.push_back(join_with(2, "GPU-a"));
  for (auto& rank : ranks) {
    const std::string text = failure_of(std::move(rank), WorkloadErrorKind::kUsage);
    EXPECT_THAT(text, HasSubstr("rank 2 of 3 (host "));
    EXPECT_THAT(text, HasSubstr("GPU 0) and rank 0 have the same GPU"));
  }
}

TEST_F(Rendezvous, ADifferentNumberOfRanksIsADisagreement) {
  auto first = join(0, 2);
  auto second = join(1, 4);
  EXPECT_THAT(failure_of(std::move(first), WorkloadErrorKind::kUsage),
              HasSubstr("rank 1 has number of ranks 4 instead of 2"));
  EXPECT_THAT(failure_of(std::move(second), WorkloadErrorKind::kUsage),
              HasSubstr("rank 1 has number of ranks 4 instead of 2"));
}

TEST_F(Rendezvous, WhoDoesNotComeIsNamed) {
  const std::chrono::milliseconds patience{200};
  try {
    meet_ranks({0, 4, 0, "test"}, {}, options(patience));
    FAIL() << "the meeting took place";
  } catch (const WorkloadError& error) {
    EXPECT_EQ(error.kind(), WorkloadErrorKind::kFailure);
    EXPECT_THAT(error.what(), HasSubstr("in vain for rank 1, 2, 3"));
    EXPECT_THAT(error.hint(), HasSubstr("--run-dir"));
  }
  EXPECT_THROW(meet_ranks({1, 2, 1, "test"}, {}, options(patience)), WorkloadError);
}

TEST_F(Rendezvous, TwoProcessesWithOneRankAreRefused) {
  auto first = join(0, 3);
  auto one = join(1, 3);
  auto other = join(1, 3);
  // Which of the two comes first is open. The other is refused while the meeting still waits for rank 2.
  const auto has_ended = [](const std::future<RankMeeting>& rank) {
    return rank.wait_for(std::chrono::milliseconds(1)) == std::future_status::ready;
  };
  while (!has_ended(one) && !has_ended(other)) {
  }
  if (has_ended(one)) std::swap(one, other);
  EXPECT_THAT(failure_of(std::move(other), WorkloadErrorKind::kUsage), HasSubstr("two processes claim to be rank 1"));
  auto third = join(2, 3);
  const RankMeeting meeting = first.get();
  EXPECT_EQ(one.get().folder, meeting.folder);
  EXPECT_EQ(third.get().folder, meeting.folder);
}

TEST_F(Rendezvous, WhatADeadRunLeftIsNotTakenForALiveOne) {
  RankCard dead = make_card({0, 2, 0, ""}, {{"model", "a"}});
  dead.process = ended_process();
  std::filesystem::create_directories(options().folder / "session-old");
  write_file_atomically(options().folder / "session-old" / "rank0", to_text(dead));
  write_file_atomically(options().folder / "current", "session-old\n1\n" + to_text(dead));
  auto second = join(1, 2);
  auto first = join(0, 2);
  EXPECT_EQ(second.get().folder, first.get().folder);
  EXPECT_FALSE(std::filesystem::exists(options().folder / "session-old")) << "rank 0 cleans up";
}

TEST_F(Rendezvous, AnInvitationFromAnotherMachineMustMove) {
  RankCard elsewhere = make_card({0, 2, 0, ""}, {{"model", "a"}});
  elsewhere.machine = "another";
  std::filesystem::create_directories(options().folder / "session-far");
  write_file_atomically(options().folder / "session-far" / "rank0", to_text(elsewhere));
  write_file_atomically(options().folder / "current", "session-far\n1\n" + to_text(elsewhere));
  EXPECT_THROW(meet_ranks({1, 2, 1, "test"}, {{"model", "a"}}, options(std::chrono::milliseconds(200))), WorkloadError);
  auto second = join(1, 2);
  std::uint64_t beat = 1;
  while (second.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
    write_file_atomically(options().folder / "current",
                          "session-far\n" + std::to_string(++beat) + "\n" + to_text(elsewhere));
  }
  EXPECT_EQ(second.get().folder, options().folder / "session-far");
}

TEST_F(Rendezvous, ADeadRankEndsTheMeeting) {
  std::filesystem::create_directories(options().folder);
  auto first = join(0, 3);
  std::optional<std::string> invitation;
  while (!invitation)
    invitation = read_small_file(options().folder / "current");
  RankCard dead = make_card({1, 3, 0, ""}, {{"model", "a"}});
  dead.process = ended_process();
  const std::string session = invitation->substr(0, invitation->find('\n'));
  ASSERT_TRUE(write_new_file(options().folder / session / "rank1", to_text(dead)));
  EXPECT_THAT(failure_of(std::move(first), WorkloadErrorKind::kFailure), HasSubstr("rank 1 of 3"));
}

// A meeting of this process as rank 0 with made-up others.
class Watch : public Rendezvous {
 protected:
  RankMeeting meeting(const std::vector<RankCard>& others) const {
    RankMeeting result;
    result.info = {0, static_cast<int>(others.size()) + 1, 0, "test"};
    result.options = options();
    result.folder = options().folder / "session-1";
    result.cards = {make_card({0, result.info.size, 0, ""}, {})};
    result.cards.insert(result.cards.end(), others.begin(), others.end());
    std::filesystem::create_directories(result.folder);
    return result;
  }
};

TEST_F(Watch, NoticesADeadProcessAndCallsBack) {
  RankCard dead = make_card({1, 2, 0, ""}, {});
  dead.process = ended_process();
  std::promise<void> called;
  WatchOptions watch_options;
  watch_options.on_failure = [&called] { called.set_value(); };
  RankWatch watch(meeting({dead}), watch_options);
  called.get_future().wait();
  EXPECT_EQ(watch.failure(std::chrono::seconds(60)).value_or(""), describe(dead) + " died");
}

TEST_F(Watch, NamesTheCauseAndNotTheMessenger) {
  RankCard messenger = make_card({1, 3, 0, ""}, {});
  messenger.process = ended_process();
  const RankCard alive = make_card({2, 3, 0, ""}, {});
  const RankMeeting ranks = meeting({messenger, alive});
  write_file_atomically(ranks.rank_file(1, ".failed"), "rank 7 did it");
  RankWatch watch(ranks, {});
  EXPECT_EQ(watch.failure(std::chrono::seconds(60)).value_or(""), "rank 7 did it");
}

TEST_F(Watch, WhoLeftInOrderIsNoFailure) {
  RankCard done = make_card({1, 2, 0, ""}, {});
  done.process = ended_process();
  const RankMeeting ranks = meeting({done});
  write_file_atomically(ranks.rank_file(1, ".done"), "");
  {
    RankWatch watch(ranks, {});
    EXPECT_FALSE(watch.failure(std::chrono::milliseconds(100)).has_value());
    watch.leave(std::chrono::seconds(60));
  }
  EXPECT_FALSE(std::filesystem::exists(ranks.folder)) << "the last one cleans up";
}

TEST_F(Watch, ASilentRankOnAnotherMachineIsDead) {
  RankCard silent = make_card({1, 2, 0, ""}, {});
  silent.machine = "another";
  WatchOptions watch_options;
  watch_options.silence = std::chrono::milliseconds(300);
  const RankMeeting ranks = meeting({silent});
  RankWatch watch(ranks, watch_options);
  EXPECT_THAT(watch.failure(std::chrono::seconds(60)).value_or(""), HasSubstr(describe(silent) + " has been silent"));
  EXPECT_TRUE(read_small_file(ranks.rank_file(0, ".beat")).has_value()) << "this rank beats for the other machine";
}

// As after SIGSTOP: the process is there, and says nothing.
TEST_F(Watch, ASilentRankOnThisMachineIsStopped) {
  const RankCard silent = make_card({1, 2, 0, ""}, {});
  WatchOptions watch_options;
  watch_options.silence = std::chrono::milliseconds(300);
  RankWatch watch(meeting({silent}), watch_options);
  EXPECT_THAT(watch.failure(std::chrono::seconds(60)).value_or(""), HasSubstr(describe(silent) + " has been silent"));
}

// Two others that beat; what they have come to stands in their files. Time goes on only where the test says so.
class Standstill : public Watch {
 protected:
  static constexpr std::chrono::milliseconds kStandstill{500};
  static constexpr std::chrono::milliseconds kRound{200};

  Standstill() : cards_({make_card({1, 3, 0, ""}, {}), make_card({2, 3, 0, ""}, {})}), ranks_(meeting(cards_)) {}

  // What the watch finds in the end, `own` steps into this rank's work. The others are at `progress`, and come on by a
  // step a round for `moving_rounds`.
  std::string watch_with(const std::vector<int>& progress, int own, int moving_rounds) {
    WatchOptions options;
    options.standstill = kStandstill;
    options.now = [this] { return std::chrono::steady_clock::time_point(std::chrono::milliseconds(now_ms_)); };
    RankWatch watch(ranks_, options);
    for (int i = 0; i < own; ++i)
      watch.advance();
    std::optional<std::string> failure;
    for (rounds_ = 0; !failure; ++rounds_) {
      const int more = std::min(rounds_, moving_rounds);
      for (int rank : {1, 2}) {
        write_file_atomically(
            ranks_.rank_file(rank, ".beat"),
            std::to_string(rounds_) + " " + std::to_string(progress[static_cast<std::size_t>(rank - 1)] + more));
      }
      failure = after_a_look(watch);
      now_ms_ += kRound.count();
    }
    return *failure;
  }

  // One whole look of the watch lies within this call.
  std::optional<std::string> after_a_look(RankWatch& watch) const {
    std::string last = own_beat();
    std::optional<std::string> failure;
    for (int looks = 0; looks < 2 && !failure;) {
      failure = watch.failure(std::chrono::milliseconds(1));
      const std::string beat = own_beat();
      if (beat != last) ++looks;
      last = beat;
    }
    return failure;
  }

  std::string own_beat() const { return read_small_file(ranks_.rank_file(0, ".beat")).value_or(""); }

  std::vector<RankCard> cards_;
  RankMeeting ranks_;
  int rounds_ = 0;
  std::atomic<std::int64_t> now_ms_ = 0;
};

TEST_F(Standstill, TheOneBehindHangs) {
  EXPECT_THAT(watch_with({7, 4}, 7, 0), HasSubstr(describe(cards_[1]) + " hangs"));
  EXPECT_TRUE(read_small_file(ranks_.rank_file(0, ".failed")).has_value()) << "the others are told";
}

TEST_F(Standstill, NobodyIsAccusedWhereNobodyIsBehind) {
  EXPECT_THAT(watch_with({5, 5}, 5, 0), HasSubstr("no rank has come on"));
}

// This rank is behind, but the others come on, for four times as long as a standstill may last.
TEST_F(Standstill, WhileOneComesOnNobodyHangs) {
  constexpr int kMoving = 4 * kStandstill / kRound;
  EXPECT_THAT(watch_with({1, 1}, 1, kMoving), HasSubstr("is behind the others"));
  EXPECT_GT(rounds_, kMoving);
}

// A first step may take minutes.
TEST_F(Standstill, NobodyHangsBeforeTheFirstStep) {
  WatchOptions options;
  options.standstill = std::chrono::milliseconds(1);
  for (int rank : {1, 2})
    write_file_atomically(ranks_.rank_file(rank, ".beat"), "1 0");
  RankWatch watch(ranks_, options);
  EXPECT_FALSE(watch.failure(std::chrono::seconds(1)).has_value());
}

TEST_F(Watch, AProgramThatDoesNotAskIsGivenUp) {
  RankCard dead = make_card({1, 2, 0, ""}, {});
  dead.process = ended_process();
  std::promise<std::string> given_up;
  WatchOptions watch_options;
  watch_options.grace = std::chrono::milliseconds(10);
  watch_options.on_stuck = [&given_up](const std::string& failure) { given_up.set_value(failure); };
  RankWatch watch(meeting({dead}), watch_options);
  EXPECT_THAT(given_up.get_future().get(), HasSubstr("rank 1 of 2"));
}

}  // namespace
}  // namespace swinscope

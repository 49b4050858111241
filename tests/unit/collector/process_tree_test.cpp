// CPU accounting of processes that come and go, from samples that are made up.
#include "collector/sampling/process_tree.h"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/base/clock.h"

namespace swinscope {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kPeriod = 100 * kMs;
constexpr pid_t kLauncher = 10;

ProcessStat stat(pid_t pid, pid_t parent, std::int64_t cpu_ms, std::int64_t children_ms = 0,
                 const std::string& name = "p") {
  ProcessStat s;
  s.pid = pid;
  s.parent = parent;
  s.state = 'R';
  s.start_ticks = static_cast<std::uint64_t>(pid) * 100;
  s.cpu_ns = cpu_ms * kMs;
  s.children_ns = children_ms * kMs;
  s.rss_bytes = std::int64_t{1000} * pid;
  s.name = name;
  return s;
}

struct Tree : ProcessTree {
  std::int64_t now_ns = 0;
  std::vector<std::size_t> see(const std::vector<ProcessStat>& stats) { return sample(now_ns += kPeriod, stats); }
  const TreeProcess& of(pid_t pid) const {
    return *std::find_if(processes().begin(), processes().end(),
                         [&](const TreeProcess& p) { return p.stat.pid == pid; });
  }
  std::int64_t total_ms() const {
    std::int64_t sum = 0;
    for (const TreeProcess& p : processes())
      sum += p.own_ns + p.unseen_ns;
    return sum / kMs;
  }
};

TEST(ProcessTree, ALivingTreeIsAsSeen) {
  Tree tree;
  EXPECT_THAT(tree.see({stat(20, kLauncher, 5), stat(21, 20, 7)}), ::testing::ElementsAre(0U, 1U));
  EXPECT_TRUE(tree.see({stat(21, 20, 17), stat(20, kLauncher, 6)}).empty());
  tree.finish();
  EXPECT_EQ(tree.of(20).own_ns, 6 * kMs);
  EXPECT_EQ(tree.of(21).own_ns, 17 * kMs);
  EXPECT_EQ(tree.of(21).parent, 0U);
  EXPECT_EQ(tree.of(20).parent, TreeProcess::kNone);
  EXPECT_TRUE(tree.of(21).is_alive());
}

TEST(ProcessTree, TheLastPartOfAChildComesFromItsParentsSum) {
  Tree tree;
  tree.see({stat(20, kLauncher, 5), stat(21, 20, 200)});
  tree.see({stat(20, kLauncher, 6, 260)});  // the child went on for 60 ms and was waited for
  tree.reaped(20, 266 * kMs, tree.now_ns + kPeriod);
  tree.finish();
  EXPECT_EQ(tree.of(21).own_ns, 260 * kMs);
  EXPECT_EQ(tree.of(20).own_ns, 6 * kMs);
  EXPECT_EQ(tree.of(20).unseen_ns, 0);
}

TEST(ProcessTree, ChildrenThatNobodySawAreCountedWithTheirParent) {
  Tree tree;
  tree.see({stat(20, kLauncher, 5)});
  tree.see({stat(20, kLauncher, 5, 900)});
  tree.reaped(20, 910 * kMs, tree.now_ns);
  tree.finish();
  EXPECT_EQ(tree.of(20).own_ns, 10 * kMs);
  EXPECT_EQ(tree.of(20).unseen_ns, 900 * kMs);
}

TEST(ProcessTree, KnownChildrenGetAtMostTheTimeNobodySawOfTheRest) {
  Tree tree;
  tree.see({stat(20, kLauncher, 0), stat(21, 20, 300), stat(22, 20, 400)});
  tree.see({stat(20, kLauncher, 0, 2000)});
  tree.finish();
  EXPECT_EQ(tree.of(21).own_ns, 400 * kMs);
  EXPECT_EQ(tree.of(22).own_ns, 500 * kMs);
  EXPECT_EQ(tree.of(20).unseen_ns, 1100 * kMs);
  EXPECT_EQ(tree.total_ms(), 2000);
}

TEST(ProcessTree, TheRestIsSharedByTheTimeNobodySaw) {
  Tree tree;
  tree.see({stat(20, kLauncher, 0), stat(21, 20, 10), stat(22, 20, 10), stat(23, 20, 10)});
  ProcessStat ended = stat(23, 20, 60);
  ended.state = 'Z';  // its time is final
  tree.see({stat(20, kLauncher, 0), stat(22, 20, 50), ended});
  tree.now_ns += kPeriod;  // a late sample: nobody saw 21 for one period, and 22 for two
  tree.see({stat(20, kLauncher, 0, 270)});
  tree.finish();
  EXPECT_EQ(tree.of(21).own_ns, 60 * kMs);
  EXPECT_EQ(tree.of(22).own_ns, 150 * kMs);
  EXPECT_EQ(tree.of(23).own_ns, 60 * kMs);
  EXPECT_EQ(tree.of(20).unseen_ns, 0);
}

TEST(ProcessTree, GrandchildrenAreCountedOnce) {
  Tree tree;
  tree.see({stat(20, kLauncher, 1), stat(21, 20, 10), stat(22, 21, 100)});
  tree.see({stat(20, kLauncher, 1), stat(21, 20, 10, 100)});  // 22 has ended, 21 waited for it
  tree.see({stat(20, kLauncher, 1, 115)});                    // then 21 ended too
  tree.reaped(20, 116 * kMs, tree.now_ns);
  tree.finish();
  EXPECT_EQ(tree.of(22).own_ns, 100 * kMs);
  EXPECT_EQ(tree.of(21).own_ns, 15 * kMs);
  EXPECT_EQ(tree.total_ms(), 116);
}

TEST(ProcessTree, AllAtOnce) {
  Tree tree;
  tree.see({stat(20, kLauncher, 1), stat(21, 20, 10), stat(22, 21, 100)});
  tree.reaped(20, 130 * kMs, tree.now_ns + kPeriod);
  tree.see({});
  tree.finish();
  EXPECT_EQ(tree.total_ms(), 130);
}

TEST(ProcessTree, TheLastLookAtAnEndedProcessTellsItsTimeFromItsChildrens) {
  Tree tree;
  tree.see({stat(20, kLauncher, 1), stat(21, 20, 10)});
  tree.last_look(stat(20, kLauncher, 4, 90));
  tree.last_look(stat(99, kLauncher, 50));  // nobody saw it before
  tree.reaped(20, 94 * kMs, tree.now_ns + kPeriod);
  tree.see({});
  tree.finish();
  EXPECT_EQ(tree.of(20).own_ns, 4 * kMs);
  EXPECT_EQ(tree.of(21).own_ns, 90 * kMs);
  EXPECT_EQ(tree.processes().size(), 2U);
}

TEST(ProcessTree, WhatNobodyWaitedForIsAsLastSeen) {
  Tree tree;
  tree.see({stat(20, kLauncher, 1), stat(21, 20, 50)});
  tree.see({stat(20, kLauncher, 2, 0)});  // SIGCHLD is ignored: the sum stays 0
  tree.reaped(20, 3 * kMs, tree.now_ns);
  tree.finish();
  EXPECT_EQ(tree.of(21).own_ns, 50 * kMs);
  EXPECT_EQ(tree.total_ms(), 52);
}

TEST(ProcessTree, OrphansAreExactAndNotCountedTwice) {
  Tree tree;
  tree.see({stat(20, kLauncher, 1), stat(21, 20, 50)});
  tree.reaped(20, 2 * kMs, tree.now_ns + 1);
  tree.see({stat(21, kLauncher, 70)});
  tree.reaped(21, 95 * kMs, tree.now_ns + 1);
  tree.finish();
  EXPECT_EQ(tree.of(21).own_ns, 95 * kMs);
  EXPECT_EQ(tree.of(21).parent, 0U);  // it is still the command's
  EXPECT_EQ(tree.total_ms(), 97);
}

TEST(ProcessTree, AnOrphanThatWasNeverSeen) {
  Tree tree;
  tree.see({stat(20, kLauncher, 1)});
  tree.reaped(33, 40 * kMs, tree.now_ns);
  tree.reaped(20, 1 * kMs, tree.now_ns);
  tree.finish();
  EXPECT_EQ(tree.of(33).stat.name, "(short-lived)");
  EXPECT_EQ(tree.total_ms(), 41);
}

TEST(ProcessTree, AnIdThatIsUsedAgainIsAnotherProcess) {
  Tree tree;
  tree.see({stat(20, kLauncher, 1), stat(21, 20, 50)});
  ProcessStat reused = stat(21, 20, 3, 0, "other");
  reused.start_ticks += 5;
  EXPECT_EQ(tree.see({stat(20, kLauncher, 1, 60), reused}).size(), 1U);
  tree.finish();
  ASSERT_EQ(tree.processes().size(), 3U);
  EXPECT_EQ(tree.processes()[1].own_ns, 60 * kMs);
  EXPECT_FALSE(tree.processes()[1].is_alive());
  EXPECT_EQ(tree.processes()[2].own_ns, 3 * kMs);
}

TEST(ProcessTree, ExecIsNoticedByTheName) {
  Tree tree;
  tree.see({stat(20, kLauncher, 1, 0, "sh")});
  EXPECT_THAT(tree.see({stat(20, kLauncher, 1, 0, "python")}), ::testing::ElementsAre(0U));
}

TEST(ProcessTree, RanksAreInherited) {
  Tree tree;
  tree.see({stat(20, kLauncher, 1, 0, "torchrun"), stat(21, 20, 1), stat(22, 20, 1), stat(31, 21, 1), stat(32, 22, 1)});
  tree.processes()[1].rank = 0;
  tree.processes()[2].rank = 1;
  tree.assign_ranks({{32, 7}});
  EXPECT_EQ(tree.of(20).rank, kNoRank);
  EXPECT_EQ(tree.of(31).rank, 0);
  EXPECT_EQ(tree.of(22).rank, 1);
  EXPECT_EQ(tree.of(32).rank, 7);
}

TEST(ProcessTree, WithoutRanksTheCommandIsRankZero) {
  Tree tree;
  tree.see({stat(21, 20, 1), stat(20, kLauncher, 1)});
  tree.assign_ranks({});
  EXPECT_EQ(tree.of(21).rank, 0);
}

TEST(ProcessStatText, NamesMayHoldAnything) {
  const std::string rest =
      " S 7 1 1 0 -1 4194560 1 0 0 0 250 50 30 20 20 0 3 0 123456 99999999 25 18446744073709551615\n";
  const auto parsed = parse_process_stat("42 (a ) (b) S 9)" + rest);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->pid, 42);
  EXPECT_EQ(parsed->parent, 7);
  EXPECT_EQ(parsed->state, 'S');
  EXPECT_EQ(parsed->name, "a ) (b) S 9");
  EXPECT_EQ(parsed->start_ticks, 123456U);
  EXPECT_EQ(parsed->cpu_ns, 300 * 1'000'000'000LL / sysconf(_SC_CLK_TCK));
  EXPECT_EQ(parsed->children_ns, 50 * 1'000'000'000LL / sysconf(_SC_CLK_TCK));
  EXPECT_EQ(parsed->rss_bytes, 25 * sysconf(_SC_PAGESIZE));
  for (const char* text : {"", "42", "42 (a)", "42 (a) S", "x (a) S 7 1 1", "42 )a( S 7"})
    EXPECT_FALSE(parse_process_stat(text)) << text;
}

TEST(ProcessStatText, ThisProcess) {
  const auto self = read_process_stat(getpid());
  ASSERT_TRUE(self);
  EXPECT_EQ(self->parent, getppid());
  EXPECT_GT(self->rss_bytes, 0);
  const std::int64_t start_ns = monotonic_start_ns(self->start_ticks);
  EXPECT_LE(start_ns, monotonic_ns());
  EXPECT_GT(start_ns, monotonic_ns() - 3'600'000'000'000);
  EXPECT_FALSE(read_process_stat(-5));
}

TEST(ProcessScanner, FindsChildrenAndGrandchildrenOnly) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const pid_t grandchild = fork();
    if (grandchild != 0) {
      // The pid tells that the grandchild is there.
      if (write(ends[1], &grandchild, sizeof(grandchild)) < 0) _exit(1);
    }
    pause();
    _exit(0);
  }
  pid_t grandchild = 0;
  ASSERT_EQ(read(ends[0], &grandchild, sizeof(grandchild)), static_cast<ssize_t>(sizeof(grandchild)));
  ProcessScanner scanner(getpid());
  for (int i = 0; i < 2; ++i) {
    std::vector<pid_t> found;
    for (const ProcessStat& process : scanner.scan())
      found.push_back(process.pid);
    EXPECT_THAT(found, ::testing::UnorderedElementsAre(child, grandchild));
  }
  kill(child, SIGKILL);
  kill(grandchild, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace swinscope

// A host that reads again and again what a kernel writes into its memory: no call shows that it waits.
#include "advisor/spin_waits.h"

#include <fmt/format.h>

#include "advisor/critical_path.h"
#include "advisor/replay.h"
#include "tests/unit/advisor/replayed.h"

namespace swinscope::test {
namespace {

class SpinWaits : public testing::Test {
 protected:
  SpinWaits() : rank_(hand_.add_rank()) {}

  // Launches a kernel of 1000 that says something, and so long after its end one of 100.
  void cycle(std::int64_t off) {
    const std::int64_t begin = 2'000 * cycles_;
    rank_.launch("notify", begin, begin + 5, begin + 1'005);
    const std::int64_t next = begin + 1'005 + off;
    const std::int64_t start = std::max(next + 5, begin + 1'006);
    rank_.launch(fmt::format("work{}", cycles_++), next, start, start + 100);
  }
  Replayed replayed() {
    rank_.step(0, 2'000 * cycles_);
    return Replayed(hand_.build());
  }
  // The calls that wait for what they have not launched, or launched themselves.
  static std::int64_t waiting(const Replayed& run) {
    return std::ranges::count_if(run.graph.ranks[0].calls, [](const CallNode& call) { return call.waits.size() > 0; });
  }

  HandTrace hand_;
  HandRank& rank_;
  std::int64_t cycles_ = 0;
};

// It goes on 20 before the end, when it has read what it needs.
TEST_F(SpinWaits, TheHostGoesOnWithTheKernel) {
  for (int i = 0; i < 3; ++i)
    cycle(-20);
  Replayed run = replayed();
  EXPECT_EQ(run.step(), run.traced_step());
  EXPECT_EQ(run.call_at(4'985), Times(4'985, 4'987));
  EXPECT_EQ(run.at("work2"), Times(5'006, 5'106));
  EXPECT_EQ(waiting(run), 3);
  EXPECT_EQ(run.of_call(0).waited_for, run.op("notify"));
  EXPECT_EQ(run.of_call(985).by, run.call(0));
  run.last("notify", 400);
  run.again();
  EXPECT_EQ(run.at("notify"), Times(5, 405));
  EXPECT_EQ(run.call_at(985), Times(385, 387));
  EXPECT_EQ(run.at("work0"), Times(406, 506));
}

// The GPU decides, not the host: 1000 of each 2000 are the kernel's.
TEST_F(SpinWaits, TheKernelIsOnThePath) {
  for (int i = 0; i < 3; ++i)
    cycle(10);
  const Replayed run = replayed();
  const CriticalPath path = find_critical_path(run.graph, run.times, run.facts);
  std::int64_t of_notify = 0;
  for (const PathPiece& piece : path.pieces)
    if (piece.op == run.op("notify") && piece.cause != PathCause::kDelay) of_notify += piece.time.length() / 1'000;
  EXPECT_EQ(of_notify, 1'000);
}

TEST_F(SpinWaits, OnceIsNoRule) {
  cycle(-20);
  Replayed run = replayed();
  EXPECT_EQ(waiting(run), 0);
  run.last("notify", 400);
  run.again();
  EXPECT_EQ(run.call_at(985), Times(985, 987));
}

// A twentieth of the pause is near, and 100 at most.
TEST_F(SpinWaits, APauseThatEndsElsewhereIsTheHosts) {
  for (const std::int64_t off : {60, 200, 400})
    cycle(off);
  EXPECT_EQ(waiting(replayed()), 0);
}

TEST_F(SpinWaits, OneOfFourMayBeOtherwise) {
  for (const std::int64_t off : {-20, 300, -10, 0})
    cycle(off);
  EXPECT_EQ(waiting(replayed()), 3);
}

// It launches on while the kernel runs: now and then it pauses for something else.
TEST_F(SpinWaits, AHostThatRunsAheadWaitsForNothing) {
  for (const std::int64_t off : {-20, -990, -20, -990})
    cycle(off);
  EXPECT_EQ(waiting(replayed()), 0);
}

}  // namespace
}  // namespace swinscope::test

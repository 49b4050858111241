// Ranks that stay aware of each other: when one dies or fails, the others learn it, end, and name it.
//
//   <session>/rank3.beat     a counter that moves while the process runs, and how far it has come
//   <session>/rank3.failed   why rank 3 ended, so that others name the cause and not the messenger
//   <session>/rank3.done     rank 3 left in order
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "workloads/rendezvous.h"

namespace swinscope {

struct WatchOptions {
  // A rank that is silent for so long counts as dead: stopped, or on a machine that cannot be reached. (A process of
  // this machine that has ended is seen at once.)
  std::chrono::milliseconds silence = std::chrono::seconds(15);
  // When no rank has come on for so long, the one that is furthest back hangs. 0: never. Counts once all have come on.
  std::chrono::milliseconds standstill = std::chrono::minutes(5);
  // How long after a failure the program may go on before it is given up.
  std::chrono::milliseconds grace = std::chrono::seconds(10);
  // What has gone wrong on this rank without a call that could say so. Asked all the time; where an answer stays for
  // `explain` and no other rank turns out to be its cause, this rank has failed.
  std::function<std::optional<std::string>()> trouble = [] { return std::nullopt; };
  std::chrono::milliseconds explain = std::chrono::seconds(2);
  // Both are called from the watching thread, at most once: when a rank failed (wake whoever waits for it), and when
  // the program still has not asked for the failure after the grace time.
  std::function<void()> on_failure = [] {};
  std::function<void(const std::string& failure)> on_stuck = [](const std::string&) {};
  // What `silence`, `standstill` and `explain` are measured by.
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

class RankWatch {
 public:
  RankWatch(RankMeeting meeting, WatchOptions options);
  // Stops watching. Whoever ends without leave() or report() looks dead to the others. The last rank removes the
  // session's files.
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;
  RankWatch(RankWatch&&) = delete;
  RankWatch& operator=(RankWatch&&) = delete;

  // Who failed first, such as "rank 2 of 4 (host n1, process 4711) died", once that is known; waits at most `patience`.
  std::optional<std::string> failure(std::chrono::milliseconds patience);

  // From any thread: see Communicator::advance().
  void advance() noexcept { ++progress_; }

  // Tells the other ranks why this one ends. After it, leave() does nothing.
  void report(const std::string& reason);
  // In order: this rank has done its last operation. Waits until the others have too (or have ended, or `patience` is
  // over), so that connections may then be closed: one that closes earlier breaks operations that others still finish.
  void leave(std::chrono::milliseconds patience);

 private:
  struct Beat {
    std::string last;
    std::chrono::steady_clock::time_point moved;
    std::uint64_t progress = 0;
  };

  void run();
  bool beat();
  std::optional<std::string> look();
  std::optional<std::string> look_at_own();
  std::optional<std::string> is_dead(const RankCard& card);
  std::optional<std::string> look_for_standstill();
  bool has_ended(const RankCard& card) const;
  bool all_have_ended() const;

  RankMeeting meeting_;
  WatchOptions options_;
  std::uint64_t beats_ = 0;
  std::atomic<std::uint64_t> progress_ = 0;
  std::uint64_t all_progress_ = 0;  // of all ranks together, as last seen; watching thread only, as the next
  std::chrono::steady_clock::time_point came_on_;
  std::map<int, Beat> seen_;  // watching thread only, as the next
  std::optional<std::chrono::steady_clock::time_point> troubled_since_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  bool asked_ = false;
  bool reported_ = false;
  std::optional<std::string> failure_;
  std::thread thread_;
};

}  // namespace swinscope

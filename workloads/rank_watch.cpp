#include "workloads/rank_watch.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "workloads/error.h"

namespace swinscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kInterval{250};
constexpr std::chrono::milliseconds kLeavePoll{2};
constexpr std::chrono::seconds kForgiven{5};

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

}  // namespace

RankWatch::RankWatch(RankMeeting meeting, WatchOptions options)
    : meeting_(std::move(meeting)),
      options_(std::move(options)),
      came_on_(options_.now()),
      thread_([this] { run(); }) {}

RankWatch::~RankWatch() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
  if (!all_have_ended()) return;
  std::error_code ignored;  // another rank may be removing it too
  std::filesystem::remove_all(meeting_.folder, ignored);
  if (meeting_.options.temporary) std::filesystem::remove(meeting_.options.folder, ignored);
}

bool RankWatch::all_have_ended() const {
  return std::ranges::all_of(meeting_.cards, [this](const RankCard& card) { return has_ended(card); });
}

// Also when the session is gone: the last rank to end removes it.
bool RankWatch::has_ended(const RankCard& card) const {
  if (!is_there(meeting_.folder)) return true;
  if (is_there(meeting_.rank_file(card.rank, ".done")) || is_there(meeting_.rank_file(card.rank, ".failed")))
    return true;
  return card.rank != meeting_.info.rank && card.machine == meeting_.own().machine && !is_running(card.process);
}

void RankWatch::run() {
  Clock::time_point last = options_.now();
  std::unique_lock lock(mutex_);
  while (!stop_ && !failure_) {
    lock.unlock();
    // Whoever was stopped itself, as with Ctrl+Z, has not seen the others move meanwhile; and where this rank's own
    // beat finds no room on the disk, the others' may not either.
    if (!beat() || options_.now() - last > kForgiven) {
      seen_.clear();
      came_on_ = options_.now();
    }
    last = options_.now();
    std::optional<std::string> found = look();
    if (!found) found = look_at_own();
    if (!found) found = look_for_standstill();
    lock.lock();
    failure_ = std::move(found);
    if (!failure_) changed_.wait_for(lock, kInterval, [this] { return stop_; });
  }
  if (!failure_) return;
  changed_.notify_all();
  lock.unlock();
  options_.on_failure();
  lock.lock();
  if (!changed_.wait_for(lock, options_.grace, [this] { return stop_ || asked_; })) options_.on_stuck(*failure_);
}

bool RankWatch::beat() {
  try {
    write_file_atomically(meeting_.rank_file(meeting_.info.rank, ".beat"),
                          fmt::format("{} {}", ++beats_, progress_.load()));
    return true;
  } catch (const WorkloadError&) {
    return false;
  }
}

// Why the rank counts as dead: its process is gone, or its heartbeat has been silent for too long. Nothing while it
// lives.
std::optional<std::string> RankWatch::is_dead(const RankCard& card) {
  if (card.machine == meeting_.own().machine && !is_running(card.process)) return "died";
  Beat& beat = seen_.try_emplace(card.rank, Beat{{}, options_.now()}).first->second;
  const std::string now = read_small_file(meeting_.rank_file(card.rank, ".beat")).value_or(beat.last);
  if (now != beat.last) {
    const std::size_t space = now.find(' ');
    const std::uint64_t progress = space == std::string::npos ? 0 : std::strtoull(now.c_str() + space, nullptr, 10);
    beat = {now, options_.now(), progress};
  }
  if (options_.now() - beat.moved <= options_.silence) return std::nullopt;
  return fmt::format("has been silent for {} s: is it stopped?",
                     std::chrono::duration_cast<std::chrono::seconds>(options_.silence).count());
}

// Ranks wait for each other, so that in the end all stand still: behind is the one that the others wait for.
std::optional<std::string> RankWatch::look_for_standstill() {
  std::uint64_t all = progress_;
  int last = meeting_.info.rank;
  std::uint64_t least = progress_;
  std::uint64_t most = progress_;
  for (const auto& [rank, beat] : seen_) {
    all += beat.progress;
    most = std::max(most, beat.progress);
    if (beat.progress >= least) continue;
    least = beat.progress;
    last = rank;
  }
  if (all != all_progress_ || least == 0) {
    all_progress_ = all;
    came_on_ = options_.now();
  }
  if (options_.standstill.count() == 0 || options_.now() - came_on_ < options_.standstill) return std::nullopt;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options_.standstill).count();
  const RankCard& card = meeting_.cards[static_cast<std::size_t>(last)];
  const std::string reason =
      least < most
          ? fmt::format("{} hangs: no rank has come on for {} s, and it is behind the others", describe(card), seconds)
          : fmt::format("no rank has come on for {} s, and none is behind: is a GPU or the network stuck?", seconds);
  report(reason);
  return reason;
}

// A rank that died without a word is the cause; one that failed says the cause in its file, be it its own or another's.
std::optional<std::string> RankWatch::look() {
  std::optional<std::string> reported;
  for (const RankCard& card : meeting_.cards) {
    if (card.rank == meeting_.info.rank || is_there(meeting_.rank_file(card.rank, ".done"))) continue;
    if (const auto reason = read_small_file(meeting_.rank_file(card.rank, ".failed"))) {
      if (!reported) reported = reason;
    } else if (const auto dead = is_dead(card); dead && is_there(meeting_.folder) &&
                                                !is_there(meeting_.rank_file(card.rank, ".done")) &&
                                                !is_there(meeting_.rank_file(card.rank, ".failed"))) {
      // Looked at again after the process was seen gone: it may have written its last word in between.
      return fmt::format("{} {}", describe(card), *dead);
    }
  }
  return reported;
}

// A connection that breaks may be the work of a rank that has just died, which is seen a moment later.
std::optional<std::string> RankWatch::look_at_own() {
  const std::optional<std::string> trouble = options_.trouble();
  if (!trouble) {
    troubled_since_.reset();
    return std::nullopt;
  }
  if (!troubled_since_) troubled_since_ = options_.now();
  if (options_.now() - *troubled_since_ < options_.explain) return std::nullopt;
  const std::string reason = fmt::format("{} failed: {}", describe(meeting_.own()), *trouble);
  report(reason);
  return reason;
}

std::optional<std::string> RankWatch::failure(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  asked_ = true;
  changed_.notify_all();
  changed_.wait_for(lock, patience, [this] { return failure_.has_value(); });
  return failure_;
}

void RankWatch::report(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(reported_, true)) return;
  }
  write_file_atomically(meeting_.rank_file(meeting_.info.rank, ".failed"), reason);
}

void RankWatch::leave(std::chrono::milliseconds patience) {
  {
    const std::lock_guard lock(mutex_);
    if (reported_) return;
  }
  write_file_atomically(meeting_.rank_file(meeting_.info.rank, ".done"), "");
  const Clock::time_point deadline = Clock::now() + patience;
  while (!all_have_ended() && Clock::now() < deadline)
    std::this_thread::sleep_for(kLeavePoll);
}

}  // namespace swinscope

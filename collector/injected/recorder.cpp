#include "collector/injected/recorder.h"

#include <cerrno>
#include <utility>

#include <pthread.h>
#include <unistd.h>

#include "collector/base/clock.h"
#include "collector/base/unsignalled_thread.h"
#include "collector/sampling/last_thread.h"

namespace swinscope {
namespace {

constexpr std::int64_t kMaxForkWaitNs = 2'000'000'000;
constexpr std::int64_t kPauseNs = 5'000'000;  // a busy process fills its buffers in a hundred milliseconds

timespec to_timespec(std::int64_t ns) { return {ns / 1'000'000'000, ns % 1'000'000'000}; }

}  // namespace

Recorder::Recorder(const SegmentView& segment, RecordingOptions options) : recording_(segment, std::move(options)) {
  sem_init(&wake_, 0, 0);
  sem_init(&started_, 0, 0);
  sem_init(&finished_, 0, 0);
  start_thread();
}

Recorder::~Recorder() {
  stop_.store(true, std::memory_order_release);
  sem_post(&wake_);
  if (thread_.joinable()) thread_.join();
  sem_destroy(&wake_);
  sem_destroy(&started_);
  sem_destroy(&finished_);
}

void Recorder::start_thread() {
  thread_ = start_unsignalled([this] { run_guarded(); });
  // A fork in the middle of the thread's start would copy the locks that the start holds; from here on there is the
  // gate.
  while (sem_wait(&started_) != 0 && errno == EINTR) {
  }
}

bool Recorder::finish(std::int64_t timeout_ns) {
  stop_.store(true, std::memory_order_release);
  sem_post(&wake_);
  const timespec until = to_timespec(monotonic_ns() + timeout_ns);
  int code = 0;
  do {
    code = sem_clockwait(&finished_, CLOCK_MONOTONIC, &until);
  } while (code != 0 && errno == EINTR);
  if (code != 0) return false;
  // As the last thread of the program it is itself the one that ends the process.
  const bool is_last = thread_.get_id() == std::this_thread::get_id();
  if (thread_.joinable() && !is_last) thread_.join();
  return true;
}

bool Recorder::stop_for_fork() {
  forks_waiting_.fetch_add(1);
  const std::int64_t until_ns = monotonic_ns() + kMaxForkWaitNs;
  while (!gate_.try_lock()) {
    if (monotonic_ns() >= until_ns) {
      forks_waiting_.fetch_sub(1);
      return false;
    }
    usleep(100);
  }
  return true;
}

void Recorder::resume_after_fork() {
  gate_.unlock();
  forks_waiting_.fetch_sub(1);
}

// No memory: the file stays as after a kill, and the program runs on.
void Recorder::run_guarded() {
  pthread_setname_np(pthread_self(), "swinscope");
  const OurThread counted;
  try {
    run();
  } catch (...) {
    sem_post(&started_);
  }
  sem_post(&finished_);
}

void Recorder::run() {
  {
    const std::lock_guard lock(gate_);
    sem_post(&started_);
    recording_.work();
  }
  while (!stop_.load(std::memory_order_acquire)) {
    while (forks_waiting_.load() != 0)
      usleep(100);
    bool has_more = false;
    {
      const std::lock_guard lock(gate_);
      has_more = recording_.work();
    }
    if (has_more) continue;
    // A program whose main thread has left by pthread_exit ends with its last thread; this one is none of its own.
    if (is_only_ours_left()) break;
    pause();
  }
  const std::lock_guard lock(gate_);
  recording_.finish(true);
}

void Recorder::pause() {
  const timespec until = to_timespec(monotonic_ns() + kPauseNs);
  while (sem_clockwait(&wake_, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR) {
  }
}

}  // namespace swinscope

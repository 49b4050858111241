#include "collector/cupti/cuda_recorder.h"

#include <algorithm>
#include <cerrno>

#include <pthread.h>
#include <unistd.h>

#include "collector/base/clock.h"
#include "collector/base/unsignalled_thread.h"
#include "collector/sampling/last_thread.h"
#include "collector/segment/record_stream.h"

namespace swinscope {
namespace {

constexpr std::int64_t kFirstFlushNs = 20'000'000;
constexpr std::int64_t kFlushNs = 200'000'000;
constexpr std::int64_t kPauseNs = 5'000'000;
// Nothing was read for so long: nobody reads any more.
constexpr std::int64_t kPatienceNs = 5'000'000'000;

timespec to_timespec(std::int64_t ns) { return {ns / 1'000'000'000, ns % 1'000'000'000}; }

}  // namespace

CudaRecorder::CudaRecorder(const SegmentView& segment, std::uint64_t global_pid)
    : segment_(segment), cuda_(global_pid, segment.header().start_ns) {
  sem_init(&wake_, 0, 0);
  sem_init(&finished_, 0, 0);
  start_thread();
}

void CudaRecorder::start_thread() {
  thread_ = start_unsignalled([this] { run_guarded(); });
}

void CudaRecorder::stop(std::int64_t timeout_ns) {
  if (!cuda_.is_recording()) return;
  cuda_.stop();
  const std::int64_t until_ns = monotonic_ns() + timeout_ns;
  while (!cuda_.is_drained() && monotonic_ns() < until_ns) {
    sem_post(&wake_);
    usleep(500);
  }
}

bool CudaRecorder::finish(std::int64_t timeout_ns) {
  stop_.store(true, std::memory_order_release);
  sem_post(&wake_);
  const timespec until = to_timespec(monotonic_ns() + timeout_ns);
  int code = 0;
  do {
    code = sem_clockwait(&finished_, CLOCK_MONOTONIC, &until);
  } while (code != 0 && errno == EINTR);
  return code == 0;
}

// No memory, no lane: CUDA is recorded no further, and the program runs on.
void CudaRecorder::run_guarded() {
  pthread_setname_np(pthread_self(), "swinscope");
  const OurThread counted;
  try {
    ThreadBuffer* lane = ThreadBuffers(segment_).acquire(static_cast<std::uint32_t>(gettid()));
    if (lane != nullptr) run(*lane);
  } catch (...) {
    cuda_.close();
  }
  sem_post(&finished_);
}

void CudaRecorder::run(ThreadBuffer& lane) {
  RecordStream to(lane, [&](bool is_first) { return wait_for_room(lane, is_first); });
  std::int64_t period_ns = kFirstFlushNs;
  std::int64_t next_flush_ns = monotonic_ns() + period_ns;
  const auto tell = [&] {
    RunInfo facts;
    cuda_.describe(facts);
    if (to.lost() > 0) facts.drops.push_back({"CUDA record", to.lost(), "nobody read the process's buffers any more"});
    to.set_facts(facts);
  };
  while (!stop_.load(std::memory_order_acquire) && !is_only_ours_left()) {
    while (monotonic_ns() < next_flush_ns && !cuda_.poll(to)) {
    }
    if (segment_.header().is_full.load(std::memory_order_acquire) != 0) cuda_.close();
    if (monotonic_ns() >= next_flush_ns) {
      cuda_.before_flush(to);
      cuda_.flushed();
      tell();
      period_ns = std::min(2 * period_ns, kFlushNs);
      next_flush_ns = monotonic_ns() + period_ns;
    }
    const timespec until = to_timespec(std::min(next_flush_ns, monotonic_ns() + kPauseNs));
    while (sem_clockwait(&wake_, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR) {
    }
  }
  cuda_.finish(to);
  cuda_.flushed();
  tell();
}

// Waits again only when something was read since it gave up.
bool CudaRecorder::wait_for_room(const ThreadBuffer& lane, bool is_first) {
  if (segment_.header().is_closed.load(std::memory_order_acquire) != 0) return false;
  const std::uint32_t freed = lane.freed.load(std::memory_order_relaxed);
  const std::int64_t now_ns = monotonic_ns();
  if (freed == freed_ && has_given_up_) return false;
  if (freed != freed_ || is_first) freed_since_ns_ = now_ns;
  freed_ = freed;
  has_given_up_ = now_ns - freed_since_ns_ > kPatienceNs;
  if (!has_given_up_) usleep(500);
  return !has_given_up_;
}

}  // namespace swinscope

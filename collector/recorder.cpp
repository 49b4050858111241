#include "collector/recorder.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <utility>

#include <pthread.h>
#include <unistd.h>

#include "collector/clock.h"
#include "collector/environment.h"
#include "collector/nvtx_source.h"
#include "collector/proc_files.h"
#include "store/error.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

// The first commits come early, so that little is lost of processes that end soon, and without a word.
constexpr std::int64_t kFirstFlushNs = 20'000'000;
constexpr std::int64_t kMaxForkWaitNs = 2'000'000'000;

timespec to_timespec(std::int64_t ns) { return {ns / 1'000'000'000, ns % 1'000'000'000}; }

std::int64_t period_of(double hz) { return hz > 0 ? static_cast<std::int64_t>(1e9 / hz) : 0; }

std::string reason_of(const std::exception& error) {
  const auto* own = dynamic_cast<const Error*>(&error);
  return own != nullptr && !own->cause().empty() ? own->cause() : error.what();
}

// What the collector says of itself changes all the time; that is written along with the rest, and at the end.
bool is_same(const RunInfo& a, const RunInfo& b) {
  return a.threads == b.threads && a.drops == b.drops && a.gpus == b.gpus && a.contexts == b.contexts &&
         a.streams == b.streams && a.collector.size() == b.collector.size();
}

}  // namespace

Recorder::Recorder(RecorderOptions options, NvtxRegistry& registry)
    : options_(std::move(options)),
      start_ns_(monotonic_ns()),
      global_pid_(make_global_pid(static_cast<std::uint64_t>(getpid()))),
      buffers_(options_.ring_bytes),
      flush_period_ns_(kFirstFlushNs) {
  sources_.push_back(std::make_unique<NvtxSource>(buffers_, registry, global_pid_, start_ns_));
  auto cuda = std::make_unique<CuptiSource>(global_pid_, start_ns_);
  cuda_ = cuda.get();
  sources_.push_back(std::move(cuda));
  auto thread_cpu = std::make_unique<ThreadCpuSource>(global_pid_, start_ns_, period_of(options_.sample_hz));
  thread_cpu_ = thread_cpu.get();
  sources_.push_back(std::move(thread_cpu));
  sem_init(&wake_, 0, 0);
  sem_init(&started_, 0, 0);
  sem_init(&finished_, 0, 0);
  claim_file();
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
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  // A fork in the middle of the thread's start would copy the locks that the start holds; from here on there is the
  // gate.
  while (sem_wait(&started_) != 0 && errno == EINTR) {
  }
}

void Recorder::wake() {
  if (!wake_pending_.exchange(true, std::memory_order_relaxed)) sem_post(&wake_);
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
  thread_.join();
  return true;
}

void Recorder::stop_cuda(std::int64_t timeout_ns) {
  if (!cuda_->is_recording()) return;
  cuda_->stop();
  const std::int64_t until_ns = monotonic_ns() + timeout_ns;
  while (!cuda_->is_drained() && monotonic_ns() < until_ns) {
    wake();
    usleep(500);
  }
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

void Recorder::run() {
  pthread_setname_np(pthread_self(), "swinscope");
  {
    const std::lock_guard lock(gate_);
    sem_post(&started_);
    open_file();
  }
  while (!stop_.load(std::memory_order_acquire)) {
    wait();
    wake_pending_.store(false, std::memory_order_relaxed);
    poll_sources();
    if (monotonic_ns() >= next_flush_ns_) {
      const std::lock_guard lock(gate_);
      flush();
    }
  }
  {
    const std::lock_guard lock(gate_);
    finish_file();
  }
  sem_post(&finished_);
}

template <typename Action>
bool Recorder::attempt(Action action) {
  try {
    action();
    return true;
  } catch (const std::exception& error) {
    failed(reason_of(error));
  }
  return false;
}

void Recorder::claim_file() {
  run_.source = "swinscope";
  run_.rank = options_.identity.rank;
  run_.world_size = options_.identity.world_size;
  run_.global_pid = global_pid_;
  run_.host = host_name();
  attempt([&] { path_ = claim_trace_file(options_.folder, run_.rank, run_.host, pid_of(global_pid_)); });
}

void Recorder::open_file() {
  run_.command = replace_invalid_utf8(shell_text(nul_separated(read_small_file("/proc/self/cmdline"))));
  run_.utc_epoch_ns = start_ns_ + options_.utc_offset_ns;
  run_.processes.push_back({global_pid_, replace_invalid_utf8(read_line_of("/proc/self/comm"))});
  next_flush_ns_ = monotonic_ns() + flush_period_ns_;
  if (path_.empty()) return;
  attempt([&] {
    note_ = std::make_unique<DropNote>(path_);
    writer_ = std::make_unique<TraceWriter>(path_, WriteMode::kLive);
    update_run(false);
    writer_->flush();
    run_.environment = describe_environment();
    update_run(false);
  });
}

void Recorder::wait() {
  const timespec until = to_timespec(std::min(next_flush_ns_, thread_cpu_->next_sample_ns()));
  while (sem_clockwait(&wake_, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR) {
  }
}

// Takes what has come, until the sources are empty or it is time to commit. The gate is passed for each piece, so that
// a fork waits for milliseconds only.
void Recorder::poll_sources() {
  for (const auto& source : sources_) {
    bool empty = false;
    while (!empty && monotonic_ns() < next_flush_ns_) {
      while (forks_waiting_.load() != 0)
        usleep(100);
      const std::lock_guard lock(gate_);
      if (writer_ == nullptr || needs_roll_back_ || is_full_) return;
      empty = !attempt([&] { empty = source->poll(*writer_); }) || empty;
    }
  }
}

void Recorder::flush() {
  writer_cpu_ns_ = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  flush_period_ns_ = std::min(2 * flush_period_ns_, options_.flush_period_ns);
  next_flush_ns_ = monotonic_ns() + flush_period_ns_;
  const bool had_failed = needs_roll_back_;
  if (writer_ != nullptr && needs_roll_back_) {
    needs_roll_back_ = !attempt([&] { writer_->roll_back(); });
    said_.reset();
  }
  if (writer_ == nullptr || needs_roll_back_ || is_full_) {
    discard();
  } else {
    const bool written = attempt([&] {
      for (const auto& source : sources_)
        source->before_flush(*writer_);
      if (!said_ || !is_same(describe(), *said_)) update_run(false);
      writer_->flush();
    });
    if (written) {
      for (const auto& source : sources_)
        source->flushed();
      check_size();
    } else if (had_failed) {
      discard();  // not even the description of the run fits: nothing is polled meanwhile, and the buffers are full
    }
  }
  if (note_ != nullptr) note_->write(describe().drops);
}

// What is in the file stays whole and is finished in the end; what comes later is counted.
void Recorder::check_size() {
  if (options_.max_bytes <= 0) return;
  std::int64_t bytes = 0;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code none;
    const auto size = std::filesystem::file_size(path_.string() + suffix, none);
    if (!none) bytes += static_cast<std::int64_t>(size);
  }
  if (bytes < options_.max_bytes) return;
  is_full_ = true;
  failure_ = "the file has reached the size of --max-size";
  cuda_->close();
}

void Recorder::failed(const std::string& reason) {
  failure_ = reason;
  needs_roll_back_ = true;
  for (const auto& source : sources_)
    source->lost(reason);
}

void Recorder::discard() {
  for (const auto& source : sources_)
    source->discard(failure_);
}

RunInfo Recorder::describe() const {
  RunInfo run = run_;
  for (const auto& source : sources_)
    source->describe(run);
  run.collector.push_back({"writer.cpu_ns", std::to_string(writer_cpu_ns_)});
  return run;
}

void Recorder::update_run(bool complete) {
  RunInfo now = describe();
  now.complete = complete;
  writer_->set_run(now);
  said_ = std::move(now);
}

void Recorder::finish_file() {
  writer_cpu_ns_ = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  if (writer_ != nullptr && needs_roll_back_) needs_roll_back_ = !attempt([&] { writer_->roll_back(); });
  bool done = false;
  if (writer_ != nullptr && !needs_roll_back_) {
    done = attempt([&] {
      if (is_full_) discard();
      for (const auto& source : sources_) {
        if (!is_full_) source->finish(*writer_);
      }
      update_run(true);
      writer_->finish();
    });
  } else {
    discard();
  }
  if (note_ == nullptr) return;
  if (done) {
    note_->remove();
  } else {
    note_->write(describe().drops);
  }
}

}  // namespace swinscope

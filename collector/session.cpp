#include "collector/session.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include <pthread.h>
#include <unistd.h>

#include "collector/capture_window.h"
#include "collector/clock.h"
#include "collector/nvtx_emitter.h"
#include "collector/recorder.h"
#include "collector/trace_options.h"

namespace swinscope {
namespace {

constexpr std::int64_t kMaxFinishNs = 30'000'000'000;
constexpr std::int64_t kMaxDrainNs = 10'000'000'000;
constexpr double kDefaultSampleHz = 10;
constexpr double kMaxSampleHz = 1000;

enum class Phase : std::uint8_t { kIdle, kRecording, kOver };

struct State {
  NvtxRegistry registry;
  std::mutex mutex;  // guards changes of phase and recorder
  std::atomic<Phase> phase = Phase::kIdle;
  std::atomic<Recorder*> recorder = nullptr;
  std::atomic<std::uint8_t> generation = 0;
  std::unique_ptr<RangeWindow> window;  // set by the first recording
  std::atomic<bool> watches_ranges = false;
  bool is_prepared = false;  // handlers and key are registered
  bool has_key = false;
  pthread_key_t key = 0;
  // Recordings that are over, or the parent's: never destroyed, but not leaked either.
  std::vector<Recorder*> past;
  // Between the handlers of a fork.
  Recorder* forking = nullptr;
  bool fork_is_safe = false;
};

// Never destroyed: threads and destructors of the program may emit events to the very end.
State& state() {
  static auto* const instance = new State;
  return *instance;
}

struct ThreadSlot {
  Recorder* recorder;
  ThreadBuffer* buffer;
  std::uint32_t refusals;
};
thread_local ThreadSlot this_thread = {};

void thread_ends(void* buffer) {
  ThreadBuffers::abandon(*static_cast<ThreadBuffer*>(buffer));
  this_thread = {};
}

void before_fork() {
  State& s = state();
  s.mutex.lock();
  s.forking = s.recorder.load();
  s.fork_is_safe = s.forking == nullptr || s.forking->stop_for_fork();
  s.registry.lock_for_fork();  // after the recorder, whose thread asks the registry while it must not be stopped
}

void after_fork_in_parent() {
  State& s = state();
  if (s.forking != nullptr && s.fork_is_safe) s.forking->resume_after_fork();
  s.registry.unlock_after_fork();
  s.mutex.unlock();
}

// The parent's recorder, its file and its database handle are left alone: they are not the child's to close.
void after_fork_in_child() {
  State& s = state();
  if (s.forking != nullptr) {
    s.past.push_back(s.forking);
    CuptiSource::forget_in_child();
    s.recorder.store(nullptr);
    s.phase.store(s.fork_is_safe ? Phase::kIdle : Phase::kOver);
    s.generation.fetch_add(1);
    if (s.has_key) pthread_setspecific(s.key, nullptr);
    this_thread = {};
  }
  s.registry.unlock_after_fork();
  s.mutex.unlock();
}

void prepare(State& s) {
  if (s.is_prepared) return;
  s.is_prepared = true;
  pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
  // Without a key the buffers of ended threads are not used again.
  s.has_key = pthread_key_create(&s.key, &thread_ends) == 0;
}

double sample_hz() {
  const char* text = std::getenv("SWINSCOPE_SAMPLE_HZ");
  if (text == nullptr) return kDefaultSampleHz;
  char* end = nullptr;
  const double hz = std::strtod(text, &end);
  return end != text && *end == '\0' && hz >= 0 && hz <= kMaxSampleHz ? hz : kDefaultSampleHz;
}

// 0: no limit.
std::int64_t max_bytes() {
  const char* text = std::getenv("SWINSCOPE_MAX_BYTES");
  return text == nullptr ? 0 : std::strtoll(text, nullptr, 10);
}

Recorder* begin() noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.phase.load() != Phase::kIdle) return s.recorder.load();
  const char* folder = std::getenv("SWINSCOPE_OUT");
  if (folder == nullptr || *folder == '\0') {
    s.phase.store(Phase::kOver);
    return nullptr;
  }
  try {
    prepare(s);
    RecorderOptions options;
    options.folder = folder;
    options.identity = rank_from_environment();
    options.utc_offset_ns = utc_offset_from(std::getenv("SWINSCOPE_CLOCK"));
    options.sample_hz = sample_hz();
    options.max_bytes = max_bytes();
    if (s.window == nullptr) s.window = std::make_unique<RangeWindow>(window_from_environment());
    s.watches_ranges.store(s.window->watches_ranges());
    s.recorder.store(new Recorder(std::move(options), s.registry));
    s.phase.store(Phase::kRecording);
  } catch (...) {
    s.phase.store(Phase::kOver);  // no thread, no memory: the program runs on unrecorded
  }
  return s.recorder.load();
}

// After the handlers of atexit and the static objects of the program, so that their events are in.
__attribute__((destructor)) void end_with_process() {
  State& s = state();
  Recorder* recorder = nullptr;
  {
    const std::lock_guard lock(s.mutex);
    recorder = s.recorder.exchange(nullptr);
    s.phase.store(Phase::kOver);
    if (recorder != nullptr) s.past.push_back(recorder);
  }
  // The recorder stays: other threads may be on their way into its buffers.
  if (recorder != nullptr) recorder->finish(kMaxFinishNs);
}

// Before the destructors of libraries: CUPTI and the driver are gone by then.
void end_cuda() {
  Recorder* recorder = state().recorder.load(std::memory_order_acquire);
  if (recorder != nullptr) recorder->stop_cuda(kMaxDrainNs);
}

Recorder* current() noexcept {
  State& s = state();
  Recorder* recorder = s.recorder.load(std::memory_order_acquire);
  if (recorder != nullptr) return recorder;
  return s.phase.load(std::memory_order_acquire) == Phase::kIdle ? begin() : nullptr;
}

ThreadBuffer* enter(Recorder* recorder) noexcept {
  // Asking again costs a walk over all buffers: not at every event.
  constexpr std::uint32_t kEventsPerTry = 64;
  if (this_thread.recorder == recorder && this_thread.refusals++ % kEventsPerTry != 0) {
    recorder->buffers().refuse();
    return nullptr;
  }
  this_thread.recorder = recorder;
  this_thread.buffer = recorder->buffers().acquire(static_cast<std::uint32_t>(gettid()));
  if (this_thread.buffer != nullptr && state().has_key) pthread_setspecific(state().key, this_thread.buffer);
  return this_thread.buffer;
}

}  // namespace

bool ensure_session() noexcept { return current() != nullptr; }

void begin_cuda() noexcept {
  const TraceOptions options = trace_options_from_environment();
  Recorder* recorder = current();
  if (recorder == nullptr) return;
  const char* folder = std::getenv("SWINSCOPE_OUT");
  try {
    recorder->cuda().set_trigger_file(std::string(folder == nullptr ? "" : folder) + "/" + kTriggerFile);
  } catch (...) {
    return;  // no memory
  }
  recorder->cuda().begin(&open_cupti, options, window_from_environment(),
                         [](std::uint64_t node, std::uint64_t original) {
                           ThreadBuffer* buffer = session_buffer();
                           if (buffer != nullptr) Emitter(*buffer, session_registry()).graph_node(node, original);
                         });
  if (options.cuda) std::atexit(&end_cuda);
}

bool session_watches_ranges() noexcept { return state().watches_ranges.load(std::memory_order_relaxed); }

namespace {

void move(RangeWindow::Move move) noexcept {
  Recorder* recorder = state().recorder.load(std::memory_order_acquire);
  if (recorder == nullptr) return;
  if (move == RangeWindow::Move::kOpen) recorder->cuda().open(true);
  if (move == RangeWindow::Move::kClose) recorder->cuda().close(true);
}

}  // namespace

void session_range_begins(std::uint32_t domain, int level, const EventDetails& details) noexcept {
  try {
    std::string registered;
    if (details.string != 0) registered = state().registry.string_text(details.string);
    const std::string_view name = details.string != 0       ? std::string_view(registered)
                                  : details.text != nullptr ? std::string_view(details.text)
                                                            : std::string_view();
    move(state().window->pushed(static_cast<std::uint32_t>(gettid()), domain, level, name));
  } catch (...) {
    return;  // no memory: the range opens nothing
  }
}

void session_range_popped(std::uint32_t domain, int level) noexcept {
  move(state().window->popped(static_cast<std::uint32_t>(gettid()), domain, level));
}

NvtxRegistry& session_registry() noexcept { return state().registry; }

ThreadBuffer* session_buffer() noexcept {
  Recorder* recorder = current();
  if (recorder == nullptr) return nullptr;
  if (this_thread.recorder == recorder && this_thread.buffer != nullptr) return this_thread.buffer;
  return enter(recorder);
}

void session_written(ThreadBuffer& buffer) noexcept {
  if (!buffer.ring.is_half_full()) return;
  Recorder* recorder = state().recorder.load(std::memory_order_acquire);
  if (recorder != nullptr) recorder->wake();
}

std::uint8_t session_generation() noexcept { return state().generation.load(std::memory_order_relaxed); }

void session_drop(DropKind kind) noexcept {
  ThreadBuffer* buffer = session_buffer();
  if (buffer != nullptr) buffer->drop(kind);
}

}  // namespace swinscope

#include "collector/injected/session.h"

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <new>
#include <string>
#include <utility>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "collector/base/capture_window.h"
#include "collector/base/clock.h"
#include "collector/base/collector_settings.h"
#include "collector/base/environment.h"
#include "collector/base/keep_errno.h"
#include "collector/base/not_cancelled.h"
#include "collector/cupti/cuda_recorder.h"
#include "collector/injected/loading.h"
#include "collector/injected/process_state.h"
#include "collector/injected/recorder.h"
#include "collector/injected/session_segment.h"
#include "collector/nvtx/nvtx_emitter.h"

namespace swinscope {
namespace {

constexpr std::int64_t kMaxFinishNs = 30'000'000'000;
constexpr std::int64_t kMaxDrainNs = 10'000'000'000;

// The same in a process and its forked children, or taken along by them.
struct Inherited {
  std::atomic<bool> is_prepared = false;
  SessionFolders folders;
  NvtxRegistry registry;
  SegmentView last_segment;  // of this process, or of the one that it was forked from
  std::atomic<std::uint32_t> marks = 0;
  std::uint8_t generation = 0;
  bool has_key = false;
  pthread_key_t key = 0;
  Recorder* forking = nullptr;  // between the handlers of a fork
  bool fork_is_safe = false;
};

// Never destroyed: threads and destructors of the program may emit events to the very end.
Inherited& inherited() {
  alignas(Inherited) static std::byte memory[sizeof(Inherited)];
  static auto* const instance = new (memory) Inherited;
  return *instance;
}

struct ThreadSlot {
  std::uint32_t mark;
  std::uint32_t refusals;
  ThreadBuffer* buffer;
  std::uint32_t mark_while_loading;
  bool is_beginning;
};
thread_local ThreadSlot this_thread = {};

// The value is a parent's where the thread was forked; the slot tells.
void thread_ends(void* /*buffer*/) {
  const ProcessState* p = process_state();
  if (p != nullptr && this_thread.mark != 0 && this_thread.mark == p->mark.load() && this_thread.buffer != nullptr)
    p->buffers.abandon(*this_thread.buffer);
  this_thread = {};
}

// Where a thread of ours uses SQLite: the child is to find SQLite's memory in order.
void before_fork() {
  Inherited& i = inherited();
  const ProcessState* p = process_state();
  i.forking = p == nullptr ? nullptr : p->recorder;
  i.fork_is_safe = i.forking == nullptr || i.forking->stop_for_fork();
}
void after_fork_in_parent() {
  Inherited& i = inherited();
  if (i.forking != nullptr && i.fork_is_safe) i.forking->resume_after_fork();
}
void after_fork_in_child() {
  if (inherited().fork_is_safe) return;
  if (ProcessState* p = process_state()) p->phase.store(Phase::kOver);
}

void prepare(Inherited& i) {
  if (i.is_prepared.exchange(true)) return;
  remember_folders(i.folders);
  // Without a key the lanes of ended threads are not used again.
  i.has_key = pthread_key_create(&i.key, &thread_ends) == 0;
}

void record_from_within(ProcessState& p, const Inherited& i, const CollectorSettings& settings) {
  static const bool has_handlers = pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child) == 0;
  if (!has_handlers) throw std::bad_alloc();
  RecordingOptions options;
  options.folder = i.folders.out.data();
  options.utc_offset_ns = utc_offset_from(settings.clock.empty() ? nullptr : settings.clock.c_str());
  options.sample_hz = settings.sample_hz;
  options.max_bytes = settings.max_bytes;
  options.rotates = settings.rotates;
  options.environment = machine_environment();
  p.recorder = new Recorder(p.segment, std::move(options));
}

// Whether `record` is on this host, and in this file system.
bool can_reach(const char* folder) { return *folder != '\0' && (access(folder, F_OK) == 0 || errno != ENOENT); }

void begin_in(ProcessState& p, Inherited& i) {
  const bool is_outside = can_reach(i.folders.rings.data());
  Segment segment = is_outside ? make_segment(i.folders) : make_private_segment();
  if (!segment.is_valid()) {
    if (is_outside) tell_why(i.folders, errno);
    return;
  }
  segment.keep();
  p.segment = segment.view();
  p.buffers = ThreadBuffers(p.segment);
  const bool is_fork = static_cast<bool>(i.last_segment);
  i.registry.move_to(p.segment);
  i.last_segment = p.segment;
  p.generation = i.generation++;
  describe_process(p.segment, !is_fork);
  if (!can_throw()) {
    p.mark.store(is_outside ? i.marks.fetch_add(1) + 1 : 0, std::memory_order_release);
    return;  // what needs no memory goes on
  }
  const CollectorSettings settings = CollectorSettings::from_environment();
  if (RangeWindow(settings.window).watches_ranges()) p.window = new RangeWindow(settings.window);
  if (!is_outside) record_from_within(p, i, settings);
  p.mark.store(i.marks.fetch_add(1) + 1, std::memory_order_release);
}

// After a daemon was left behind: nobody records its children any more.
bool is_left_behind(const Inherited& i) {
  return i.last_segment && i.last_segment.header().is_closed.load(std::memory_order_acquire) != 0;
}

void begin(ProcessState& p) noexcept {
  Phase idle = Phase::kIdle;
  if (!p.phase.compare_exchange_strong(idle, Phase::kBeginning)) return;
  const KeepErrno keep;
  const NotCancelled whole;
  this_thread.is_beginning = true;
  Inherited& i = inherited();
  prepare(i);
  try {
    if (i.folders.out[0] != '\0' && !is_left_behind(i)) begin_in(p, i);
  } catch (...) {
    p.mark.store(0);  // no thread, no memory: the program runs on unrecorded
  }
  this_thread.is_beginning = false;
  p.phase.store(p.mark.load() != 0 ? Phase::kRecording : Phase::kOver, std::memory_order_release);
}

// The state of a process that records, or null. Another thread that begins is waited for, not for ever: its process may
// be out of order.
ProcessState* current() noexcept {
  constexpr int kMaxYields = 100'000;
  ProcessState* p = process_state();
  if (p == nullptr || this_thread.is_beginning) return nullptr;
  for (int i = 0; i < kMaxYields; ++i) {
    switch (p->phase.load(std::memory_order_acquire)) {
      case Phase::kIdle:
        begin(*p);
        break;
      case Phase::kBeginning:
        sched_yield();
        break;
      case Phase::kRecording:
        return p;
      case Phase::kOver:
        return p->mark.load(std::memory_order_acquire) != 0 ? p : nullptr;
    }
  }
  return nullptr;
}

// Asking again costs a look at all lanes: not at every event.
ThreadBuffer* enter(const ProcessState& p, std::uint32_t mark) noexcept {
  constexpr std::uint32_t kEventsPerTry = 64;
  if (this_thread.mark == mark && this_thread.refusals++ % kEventsPerTry != 0) return nullptr;
  const KeepErrno keep;
  const NotCancelled whole;
  if (this_thread.mark != mark) this_thread.refusals = 1;
  this_thread.mark = mark;
  this_thread.buffer = p.buffers.acquire(static_cast<std::uint32_t>(gettid()));
  if (this_thread.buffer != nullptr && inherited().has_key) pthread_setspecific(inherited().key, this_thread.buffer);
  return this_thread.buffer;
}

ThreadBuffer* find_buffer(ProcessState*& p) noexcept {
  p = process_state();
  std::uint32_t mark = p == nullptr ? 0 : p->mark.load(std::memory_order_acquire);
  if (mark != 0 && this_thread.mark == mark && this_thread.buffer != nullptr) return this_thread.buffer;
  loading_ends();
  if (this_thread.mark_while_loading != 0) this_thread.mark = std::exchange(this_thread.mark_while_loading, 0);
  p = current();
  if (p == nullptr) return nullptr;
  mark = p->mark.load(std::memory_order_acquire);
  if (mark != 0 && this_thread.mark == mark && this_thread.buffer != nullptr) return this_thread.buffer;
  return mark == 0 ? nullptr : enter(*p, mark);
}

// After the handlers of atexit and the static objects of the program, so that their events are in.
__attribute__((destructor)) void end_with_process() {
  ProcessState* p = process_state();
  if (p == nullptr || p->phase.load() != Phase::kRecording) return;
  if (CudaRecorder* cuda = p->cuda.load()) cuda->finish(kMaxFinishNs);
  // Other threads may be on their way into their lanes: those stay.
  p->segment.header().has_ended.store(1, std::memory_order_release);
  if (p->recorder != nullptr) p->recorder->finish(kMaxFinishNs);
}

// Before the destructors of libraries: CUPTI and the driver are gone by then.
void end_cuda() {
  const ProcessState* p = process_state();
  CudaRecorder* cuda = p == nullptr ? nullptr : p->cuda.load();
  if (cuda != nullptr) cuda->stop(kMaxDrainNs);
}

void forget_cuda_in_child() { CuptiSource::forget_in_child(); }

void move(RangeWindow::Move move) noexcept {
  const ProcessState* p = process_state();
  CudaRecorder* cuda = p == nullptr ? nullptr : p->cuda.load(std::memory_order_acquire);
  if (cuda == nullptr) return;
  const NotCancelled whole;
  if (move == RangeWindow::Move::kOpen) cuda->cuda().open(true);
  if (move == RangeWindow::Move::kClose) cuda->cuda().close(true);
}

}  // namespace

bool ensure_session() noexcept { return current() != nullptr; }

bool can_throw() noexcept {
  constexpr std::size_t kBytes = 1024;
  const KeepErrno keep;
  void* memory = std::malloc(kBytes);
  std::free(memory);
  return memory != nullptr;
}

// The next event takes the long way, which ends it.
void session_is_loading() noexcept {
  loading_begins();
  if (this_thread.mark != 0) this_thread.mark_while_loading = std::exchange(this_thread.mark, 0);
}

void begin_cuda() noexcept {
  const NotCancelled whole;
  ProcessState* p = current();
  if (p == nullptr || p->cuda.load() != nullptr || !can_throw()) return;
  try {
    const CollectorSettings settings = CollectorSettings::from_environment();
    auto* cuda = new CudaRecorder(p->segment, make_global_pid(p->segment.header().pid));
    cuda->cuda().set_trigger_file(std::string(inherited().folders.out.data()) + "/" + kTriggerFile);
    cuda->cuda().begin(&open_cupti, settings.trace, settings.window, [](std::uint64_t node, std::uint64_t original) {
      ThreadBuffer* buffer = session_buffer(DropKind::kGraphNode);
      if (buffer != nullptr) Emitter(*buffer, inherited().registry).graph_node(node, original);
    });
    p->cuda.store(cuda, std::memory_order_release);
    pthread_atfork(nullptr, nullptr, &forget_cuda_in_child);
    if (settings.trace.cuda) std::atexit(&end_cuda);
  } catch (...) {
    return;  // no memory, no thread
  }
}

bool session_watches_ranges() noexcept {
  const ProcessState* p = process_state();
  return p != nullptr && p->window != nullptr;
}

void session_range_begins(std::uint32_t domain, int level, const EventDetails& details) noexcept {
  const ProcessState* p = process_state();
  if (p == nullptr || p->window == nullptr) return;
  const std::string_view name = details.string != 0       ? inherited().registry.string_text(details.string)
                                : details.text != nullptr ? std::string_view(details.text)
                                                          : std::string_view();
  try {
    move(p->window->pushed(static_cast<std::uint32_t>(gettid()), domain, level, name));
  } catch (...) {
    return;  // no memory: the range opens nothing
  }
}

void session_range_popped(std::uint32_t domain, int level) noexcept {
  const ProcessState* p = process_state();
  if (p != nullptr && p->window != nullptr)
    move(p->window->popped(static_cast<std::uint32_t>(gettid()), domain, level));
}

const NvtxRegistry& recorded_registry() noexcept { return inherited().registry; }

NvtxRegistry* session_registry() noexcept {
  loading_ends();
  return current() == nullptr ? nullptr : &inherited().registry;
}

ThreadBuffer* session_buffer() noexcept {
  ProcessState* p = nullptr;
  return find_buffer(p);
}

ThreadBuffer* session_buffer(DropKind kind) noexcept {
  ProcessState* p = nullptr;
  ThreadBuffer* buffer = find_buffer(p);
  if (buffer == nullptr && p != nullptr && p->mark.load() != 0) p->buffers.refuse(kind);
  return buffer;
}

std::uint8_t session_generation() noexcept {
  const ProcessState* p = process_state();
  return p == nullptr ? 0 : p->generation;
}

void session_drop(DropKind kind) noexcept {
  ThreadBuffer* buffer = session_buffer(kind);
  if (buffer != nullptr) buffer->drop(kind);
}

}  // namespace swinscope

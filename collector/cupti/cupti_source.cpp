#include "collector/cupti/cupti_source.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "collector/base/clock.h"

namespace swinscope {
namespace {

using cupti::Kind;

// CUPTI's callbacks for buffers carry no user data, and there is one CUPTI in a process.
std::atomic<CuptiSource*> active = nullptr;

// Nodes that this thread has made since it last made an executable graph: it may be capturing one.
thread_local int nodes_of_open_graph = 0;

std::uint64_t clock_for_cupti() { return static_cast<std::uint64_t>(monotonic_ns()); }

}  // namespace

CuptiSource::CuptiSource(std::uint64_t global_pid, std::int64_t start_ns, Limits limits)
    : limits_(limits), start_ns_(start_ns), decoder_(global_pid, start_ns, windows_) {}

CuptiSource::~CuptiSource() {
  CuptiSource* self = this;
  active.compare_exchange_strong(self, nullptr);
}

void CuptiSource::forget_in_child() noexcept { active.store(nullptr); }

void CuptiSource::begin(OpenFunction open_cupti, const TraceOptions& options, const WindowOptions& window,
                        GraphNodeFunction graph_node) noexcept {
  const std::lock_guard lock(control_);
  if (state_.load() != State::kNotBegun) return;
  try {
    open_cupti_ = std::move(open_cupti);
    options_ = options;
    window_ = window;
    graph_node_ = graph_node;
    if (!options.cuda) return state_.store(State::kLeftOut, std::memory_order_release);
    state_.store(State::kWaiting, std::memory_order_release);
    if (window.kind == WindowKind::kArmed) return;
    if (claim()) fail(window.kind == WindowKind::kWhole ? enable(true) : watch());
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

void CuptiSource::open(bool waits) noexcept {
  if (is_open()) return;
  const std::lock_guard lock(control_);
  const State state = state_.load();
  if (is_open() || is_over_.load() || (state != State::kWaiting && state != State::kRecording)) return;
  try {
    if (!claim()) return;
    wait_for_gpu(waits);
    fail(enable(false));
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

// What is on its way still comes.
void CuptiSource::close(bool waits) noexcept {
  if (!is_open()) return;
  const std::lock_guard lock(control_);
  if (!is_open() || !is_recording()) return;
  wait_for_gpu(waits);
  // Before another replay: times of a graph's nodes that CUPTI still holds by then become those of that replay.
  api_->flush(cupti::kFlushReady);
  for (const Kind kind : kinds())
    api_->enable(kind, false);
  if (window_.kind == WindowKind::kWhole) {  // opened early
    enable_calls(cupti::kRuntimeDomain, true, false);
    enable_calls(cupti::kDriverDomain, true, false);
  } else {
    api_->enable(Kind::kRuntime, false);
    api_->enable(Kind::kDriver, false);
  }
  windows_.closed(monotonic_ns());
  is_open_.store(false, std::memory_order_release);
}

void CuptiSource::wait_for_gpu(bool waits) {
  if (waits && nodes_of_open_graph == 0) api_->wait_for_gpu();
}

// Claims CUPTI before anything else: registering callbacks would take the buffers of another tool without a word.
bool CuptiSource::claim() {
  if (state_.load() == State::kRecording) return true;
  OpenedCupti cupti = open_cupti_();
  api_ = std::move(cupti.api);
  std::string problem = std::move(cupti.problem);
  if (api_ != nullptr) {
    version_ = fmt::format("{} ({})", cupti_version_text(api_->version()), cupti.path);
    buffers_ = std::make_unique<CuptiBuffers>(limits_.buffers, limits_.max_buffer_bytes);
    constexpr std::size_t kFirstBytes = std::size_t{64} << 10U;
    buffers_->set_bytes(kFirstBytes);
    problem = subscribe();
  }
  if (problem.empty()) {
    state_.store(State::kRecording, std::memory_order_release);
    return true;
  }
  fail(std::move(problem));
  return false;
}

void CuptiSource::fail(std::string problem) {
  if (problem.empty()) return;
  problem_ = std::move(problem);
  active.store(nullptr);
  is_open_.store(false);
  state_.store(State::kFailed, std::memory_order_release);
}

// Returns what went wrong, or nothing.
std::string CuptiSource::subscribe() {
  std::string holder;
  cupti::Result result = api_->subscribe(&on_callback, this, holder);
  if (result == cupti::kMultipleSubscribers) {
    return fmt::format("{} holds CUPTI, and only one tool can",
                       holder.empty() ? std::string("another tool") : "\"" + holder + "\"");
  }
  if (result == cupti::kSuccess) {
    active.store(this);
    std::uint8_t yes = 1;
    api_->set_attribute(cupti::kBuffersComeZeroed, sizeof(yes), &yes);
    api_->use_system_thread_ids();
    result = api_->register_clock(&clock_for_cupti);
  }
  if (result == cupti::kSuccess) result = api_->register_buffers(&buffer_requested, &buffer_completed);
  return result == cupti::kSuccess ? std::string() : fmt::format("CUPTI refused: {}", api_->error_text(result));
}

std::vector<Kind> CuptiSource::kinds_of_facts() { return {Kind::kDevice, Kind::kContext, Kind::kStream}; }

std::vector<Kind> CuptiSource::kinds() const {
  std::vector<Kind> kinds = {Kind::kConcurrentKernel, Kind::kMemcpy, Kind::kPeerCopy, Kind::kMemset};
  if (options_.sync) kinds.insert(kinds.end(), {Kind::kSynchronization, Kind::kCudaEvent});
  if (options_.memory) kinds.insert(kinds.end(), {Kind::kMemory, Kind::kMemoryPool});
  if (options_.overhead) kinds.push_back(Kind::kOverhead);
  if (options_.graph_level) kinds.push_back(Kind::kGraphTrace);
  return kinds;
}

// Returns what went wrong, or nothing. CUPTI takes single functions only while no context exists (`is_early`); later
// all are switched on, and those that are not wanted off again.
std::string CuptiSource::enable(bool is_early) {
  std::vector<Kind> wanted = kinds_of_facts();
  for (const Kind kind : kinds())
    wanted.push_back(kind);
  if (options_.sync) api_->leave_out_queries();
  if (!is_early) wanted.insert(wanted.end(), {Kind::kRuntime, Kind::kDriver});
  for (const Kind kind : wanted) {
    const cupti::Result result = api_->enable(kind, true);
    if (result != cupti::kSuccess) return fmt::format("CUPTI refused: {}", api_->error_text(result));
  }
  enable_calls(cupti::kRuntimeDomain, is_early, is_early);
  enable_calls(cupti::kDriverDomain, is_early, is_early);
  watch_graphs();
  opened_ns_.store(monotonic_ns());
  windows_.opened(opened_ns_.load());
  is_open_.store(true, std::memory_order_release);
  return {};
}

// Until the window opens. Returns what went wrong, or nothing. A graph that is captured now may be replayed then.
std::string CuptiSource::watch() {
  for (const Kind kind : kinds_of_facts()) {
    const cupti::Result result = api_->enable(kind, true);
    if (result != cupti::kSuccess) return fmt::format("CUPTI refused: {}", api_->error_text(result));
  }
  watch_graphs();
  if (window_.kind == WindowKind::kProfilerApi) watch_profiler_calls();
  return {};
}

void CuptiSource::watch_graphs() {
  if (options_.graph_level) return;
  for (const std::uint32_t callback : {cupti::kGraphNodeCreated, cupti::kGraphNodeCloned, cupti::kGraphExecCreated})
    api_->enable_callback(cupti::kResourceDomain, callback, true);
}

template <typename Function>
void CuptiSource::for_each_call(std::uint32_t domain, Function function) {
  constexpr std::uint32_t kMaxGap = 256;
  std::uint32_t gap = 0;
  for (std::uint32_t callback = 1; gap < kMaxGap; ++callback) {
    const char* name = api_->callback_name(domain, callback);
    gap = name == nullptr ? gap + 1 : 0;
    if (name != nullptr) function(callback, std::string_view(name));
  }
}

// One by one: PyTorch makes thirteen runtime calls for each kernel, and each that is recorded costs the program time.
void CuptiSource::enable_calls(std::uint32_t domain, bool wanted, bool on) {
  for_each_call(domain, [&](std::uint32_t callback, std::string_view name) {
    if (is_traced_call(name, options_) == wanted) api_->enable_call(domain, callback, on);
  });
}

void CuptiSource::watch_profiler_calls() {
  for_each_call(cupti::kDriverDomain, [&](std::uint32_t callback, std::string_view name) {
    if (name == "cuProfilerStart") profiler_start_ = callback;
    if (name == "cuProfilerStop") profiler_stop_ = callback;
  });
  api_->enable_callback(cupti::kDriverDomain, profiler_start_, true);
  api_->enable_callback(cupti::kDriverDomain, profiler_stop_, true);
}

// The writer's look at what opens and closes a window beside the program's own calls.
void CuptiSource::watch_window() {
  if (state_.load(std::memory_order_acquire) == State::kNotBegun) return;
  if (window_.kind == WindowKind::kArmed) {
    if (access(trigger_file_.c_str(), F_OK) == 0) {
      open();
    } else {
      close();
    }
  }
  if (window_.duration_ns > 0 && is_open() && monotonic_ns() - opened_ns_.load() >= window_.duration_ns) {
    is_over_.store(true);
    close();
  }
}

// Without the lock: a thread that is in open() must not keep the program from ending.
void CuptiSource::stop() noexcept {
  if (state_.load(std::memory_order_acquire) != State::kRecording) return;
  api_->flush(cupti::kFlushForced);
  state_.store(State::kStopped, std::memory_order_release);
}

void CuptiSource::buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  CuptiSource* source = active.load(std::memory_order_acquire);
  *max_records = 0;
  *bytes = 0;
  *buffer = source == nullptr ? nullptr : source->buffers_->request(*bytes);
}

void CuptiSource::buffer_completed(void* /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer,
                                   std::size_t /*bytes*/, std::size_t valid_bytes) {
  CuptiSource* source = active.load(std::memory_order_acquire);
  if (source != nullptr && buffer != nullptr) source->buffers_->complete(buffer, valid_bytes);
}

void CuptiSource::on_callback(void* user_data, std::uint32_t domain, std::uint32_t callback, const void* data) {
  if (data == nullptr) return;
  auto* source = static_cast<CuptiSource*>(user_data);
  if (domain == cupti::kDriverDomain) {
    const bool is_enter = *static_cast<const std::uint32_t*>(data) == cupti::kCallEnter;
    if (callback == source->profiler_start_ && is_enter) source->open();
    if (callback == source->profiler_stop_ && !is_enter) source->close();
    return;
  }
  if (domain != cupti::kResourceDomain) return;
  if (callback == cupti::kGraphExecCreated) {
    nodes_of_open_graph = 0;
    return;
  }
  const auto* graph = static_cast<const cupti::GraphData*>(static_cast<const cupti::ResourceData*>(data)->descriptor);
  if (graph == nullptr || source->graph_node_ == nullptr) return;
  const std::uint64_t node = source->api_->node_id(graph->node);
  const bool is_copy = callback == cupti::kGraphNodeCloned && graph->original_node != nullptr;
  nodes_of_open_graph += is_copy ? 0 : 1;
  if (node != 0) source->graph_node_(node, is_copy ? source->api_->node_id(graph->original_node) : 0);
}

bool CuptiSource::take_one(CudaSink& to) {
  const auto full = buffers_->take();
  if (!full) return false;
  const auto release = [&](const std::uint8_t*) { buffers_->release(*full); };
  const std::unique_ptr<std::uint8_t, decltype(release)> back(full->data, release);  // whatever the writer throws
  bytes_ += full->valid_bytes;
  decoder_.add_buffer(to, *api_, full->data, full->valid_bytes);
  return true;
}

// As many as there are buffers at most: a program may fill them as fast as they are emptied.
void CuptiSource::take_all(CudaSink& to) {
  for (std::size_t left = limits_.buffers; left > 0 && take_one(to); --left) {
  }
}

bool CuptiSource::poll(CudaSink& to) { return !is_claimed() || !take_one(to); }

// Buffers in which everything is complete are handed over though they are not full, so that a kill loses little.
void CuptiSource::before_flush(CudaSink& to) {
  watch_window();
  if (!is_recording()) return;
  flush([&] { take_all(to); });
  take_all(to);
  count_dropped();
  adapt_buffers();
}

// `meanwhile` empties the buffers that CUPTI hands over.
template <typename Meanwhile>
void CuptiSource::flush(Meanwhile meanwhile) {
  if (flusher_ == nullptr) flusher_ = std::make_unique<CuptiFlusher>(*api_);
  const std::int64_t before_ns = monotonic_ns();
  flusher_->flush(meanwhile);
  flush_ns_ += monotonic_ns() - before_ns;
  flush_cpu_ns_ = flusher_->cpu_ns();
}

void CuptiSource::adapt_buffers() {
  const std::int64_t now_ns = monotonic_ns();
  const std::int64_t passed_ns = now_ns - last_adapted_ns_;
  const double rate =
      static_cast<double>(bytes_ - bytes_since_) / static_cast<double>(std::max<std::int64_t>(passed_ns, 1));
  last_adapted_ns_ = now_ns;
  bytes_since_ = bytes_;
  const auto wanted = static_cast<std::size_t>(rate * static_cast<double>(limits_.fill_ns));
  buffers_->set_bytes(std::clamp(wanted, limits_.min_buffer_bytes, limits_.max_buffer_bytes));
}

void CuptiSource::count_dropped() { dropped_ += static_cast<std::int64_t>(api_->dropped_records()); }

void CuptiSource::discard(const std::string& reason) {
  if (!is_claimed()) return;
  const auto discard_all = [&] {
    while (const auto full = buffers_->take()) {
      decoder_.discard_buffer(*api_, full->data, full->valid_bytes, reason);
      buffers_->release(*full);
    }
  };
  if (is_recording()) flush(discard_all);
  discard_all();
}

void CuptiSource::finish(CudaSink& to) {
  if (!is_claimed()) return;
  flusher_.reset();
  while (take_one(to)) {
  }
}

void CuptiSource::describe(RunInfo& run) {
  const State state = state_.load(std::memory_order_acquire);
  if (state == State::kNotBegun) return;
  if (state == State::kLeftOut) {
    run.collector.push_back({"cuda.activity", "left out: --trace " + trace_list(options_)});
    return;
  }
  const bool is_whole = window_.kind == WindowKind::kWhole;
  const bool has_opened = opened_ns_.load() != 0;
  if (state == State::kWaiting || (!is_whole && !has_opened && state != State::kFailed)) {
    run.collector.push_back({"cuda.activity", "not recorded: the window did not open: " + window_text(window_)});
    return;
  }
  const std::string what = trace_list(options_) + (is_whole ? "" : " in the window " + window_text(window_));
  const bool records = state != State::kFailed;
  run.graph_level_only = records && options_.graph_level;
  run.collector.push_back({"cuda.activity", records ? "recorded: " + what : "not recorded: " + problem_});
  if (!version_.empty()) run.collector.push_back({"cuda.cupti", version_});
  if (!records) return;
  if (!is_whole || window_.duration_ns > 0) {
    for (const WindowInfo& window : windows_.all(monotonic_ns()))
      run.windows.push_back({window.start_ns - start_ns_, window.end_ns - start_ns_});
  }
  decoder_.facts().describe(run);
  if (run.gpus.empty() && !is_whole) {
    if (devices_.empty()) devices_ = api_->devices();
    run.gpus = devices_;
  }
  run.collector.push_back({"cuda.records", std::to_string(decoder_.records())});
  run.collector.push_back({"cuda.bytes", std::to_string(bytes_)});
  run.collector.push_back({"cuda.flush_ns", std::to_string(flush_ns_)});
  run.collector.push_back({"cuda.flush_cpu_ns", std::to_string(flush_cpu_ns_)});
  run.collector.push_back({"cuda.buffers_high_water_bytes", std::to_string(buffers_->high_water_bytes())});
  const std::vector<DropInfo>& drops = decoder_.drops().all();
  run.drops.insert(run.drops.end(), drops.begin(), drops.end());
  if (dropped_ > 0) {
    run.drops.push_back(
        {"CUDA record", dropped_, "CUPTI had no buffer: they came faster than the file could take them"});
  }
}

}  // namespace swinscope

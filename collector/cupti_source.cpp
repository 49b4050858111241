#include "collector/cupti_source.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "collector/clock.h"

namespace swinscope {
namespace {

using cupti::Kind;

// CUPTI's callbacks for buffers carry no user data, and there is one CUPTI in a process.
std::atomic<CuptiSource*> active = nullptr;

std::uint64_t clock_for_cupti() { return static_cast<std::uint64_t>(monotonic_ns()); }

}  // namespace

CuptiSource::CuptiSource(std::uint64_t global_pid, std::int64_t start_ns, Limits limits)
    : limits_(limits), decoder_(global_pid, start_ns) {}

CuptiSource::~CuptiSource() {
  CuptiSource* self = this;
  active.compare_exchange_strong(self, nullptr);
}

void CuptiSource::forget_in_child() noexcept { active.store(nullptr); }

void CuptiSource::begin(OpenedCupti cupti, const TraceOptions& options, GraphNodeFunction graph_node) noexcept {
  if (state_.load() != State::kNotBegun) return;
  State state = State::kFailed;
  try {
    options_ = options;
    graph_node_ = graph_node;
    api_ = std::move(cupti.api);
    problem_ = std::move(cupti.problem);
    if (api_ != nullptr) {
      version_ = fmt::format("{} ({})", cupti_version_text(api_->version()), cupti.path);
      buffers_ = std::make_unique<CuptiBuffers>(limits_.buffers, limits_.max_buffer_bytes);
      constexpr std::size_t kFirstBytes = std::size_t{64} << 10U;
      buffers_->set_bytes(kFirstBytes);
      problem_ = enable(options);
    }
    if (problem_.empty()) state = State::kRecording;
  } catch (const std::exception& error) {
    problem_ = error.what();
  }
  state_.store(state, std::memory_order_release);
}

// Returns what went wrong, or nothing. Claims CUPTI before anything else: registering callbacks would take the buffers
// of another tool without a word.
std::string CuptiSource::enable(const TraceOptions& options) {
  std::string holder;
  cupti::Result result = api_->subscribe(&resource_callback, this, holder);
  if (result == cupti::kMultipleSubscribers) {
    return fmt::format("{} holds CUPTI, and only one tool can",
                       holder.empty() ? std::string("another tool") : "\"" + holder + "\"");
  }
  if (result != cupti::kSuccess) return fmt::format("CUPTI refused: {}", api_->error_text(result));

  active.store(this);
  std::uint8_t yes = 1;
  api_->set_attribute(cupti::kBuffersComeZeroed, sizeof(yes), &yes);
  api_->use_system_thread_ids();
  result = api_->register_clock(&clock_for_cupti);
  if (result == cupti::kSuccess) result = api_->register_buffers(&buffer_requested, &buffer_completed);
  std::vector<Kind> kinds = {Kind::kDevice, Kind::kContext,  Kind::kConcurrentKernel,
                             Kind::kMemcpy, Kind::kPeerCopy, Kind::kMemset};
  if (options.sync) kinds.push_back(Kind::kSynchronization);
  if (options.overhead) kinds.push_back(Kind::kOverhead);
  if (options.graph_level) kinds.push_back(Kind::kGraphTrace);
  for (const Kind kind : kinds) {
    if (result == cupti::kSuccess) result = api_->enable(kind, true);
  }
  if (result != cupti::kSuccess) {
    active.store(nullptr);
    return fmt::format("CUPTI refused: {}", api_->error_text(result));
  }
  enable_calls(cupti::kRuntimeDomain, options);
  enable_calls(cupti::kDriverDomain, options);
  if (!options.graph_level) {
    api_->enable_callback(cupti::kResourceDomain, cupti::kGraphNodeCreated, true);
    api_->enable_callback(cupti::kResourceDomain, cupti::kGraphNodeCloned, true);
  }
  return {};
}

// One by one: PyTorch makes thirteen runtime calls for each kernel, and each call that is recorded costs the program
// time.
void CuptiSource::enable_calls(std::uint32_t domain, const TraceOptions& options) {
  constexpr std::uint32_t kMaxGap = 256;
  std::uint32_t gap = 0;
  for (std::uint32_t callback = 1; gap < kMaxGap; ++callback) {
    const char* name = api_->callback_name(domain, callback);
    gap = name == nullptr ? gap + 1 : 0;
    if (name != nullptr && (options.all_calls || is_traced_call(name))) api_->enable_call(domain, callback, true);
  }
}

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

void CuptiSource::resource_callback(void* user_data, std::uint32_t domain, std::uint32_t callback, const void* data) {
  if (domain != cupti::kResourceDomain || data == nullptr) return;
  auto* source = static_cast<CuptiSource*>(user_data);
  const auto* graph = static_cast<const cupti::GraphData*>(static_cast<const cupti::ResourceData*>(data)->descriptor);
  if (graph == nullptr || source->graph_node_ == nullptr) return;
  const std::uint64_t node = source->api_->node_id(graph->node);
  const bool is_copy = callback == cupti::kGraphNodeCloned && graph->original_node != nullptr;
  if (node != 0) source->graph_node_(node, is_copy ? source->api_->node_id(graph->original_node) : 0);
}

bool CuptiSource::take_one(TraceWriter& to) {
  if (buffers_ == nullptr) return false;
  const auto full = buffers_->take();
  if (!full) return false;
  struct Release {
    CuptiBuffers& buffers;
    const CuptiBuffers::Full& full;
    ~Release() { buffers.release(full); }
  } const release{*buffers_, *full};
  bytes_ += full->valid_bytes;
  decoder_.add_buffer(to, *api_, full->data, full->valid_bytes);
  return true;
}

bool CuptiSource::poll(TraceWriter& to) {
  if (state_.load(std::memory_order_acquire) == State::kNotBegun) return true;
  return !take_one(to);
}

// Buffers in which everything is complete are handed over though they are not full, so that a kill loses little.
void CuptiSource::before_flush(TraceWriter& to) {
  if (!is_recording()) return;
  const std::int64_t before_ns = monotonic_ns();
  api_->flush(cupti::kFlushReady);
  flush_ns_ += monotonic_ns() - before_ns;
  // A program that fills buffers faster than they are written must not keep the commit waiting.
  for (std::size_t left = limits_.buffers; left > 0 && take_one(to); --left) {
  }
  count_dropped();
  adapt_buffers();
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
  if (buffers_ == nullptr || state_.load(std::memory_order_acquire) == State::kNotBegun) return;
  if (is_recording()) api_->flush(cupti::kFlushReady);
  while (const auto full = buffers_->take()) {
    decoder_.discard_buffer(*api_, full->data, full->valid_bytes, reason);
    buffers_->release(*full);
  }
}

void CuptiSource::finish(TraceWriter& to) {
  if (state_.load(std::memory_order_acquire) == State::kNotBegun) return;
  while (take_one(to)) {
  }
}

void CuptiSource::describe(RunInfo& run) {
  const State state = state_.load(std::memory_order_acquire);
  if (state == State::kNotBegun) return;
  const bool records = state != State::kFailed;
  run.graph_level_only = records && options_.graph_level;
  run.collector.push_back(
      {"cuda.activity", records ? "recorded: " + trace_list(options_) : "not recorded: " + problem_});
  if (!version_.empty()) run.collector.push_back({"cuda.cupti", version_});
  if (!records) return;
  run.gpus = decoder_.gpus();
  run.collector.push_back({"cuda.records", std::to_string(decoder_.records())});
  run.collector.push_back({"cuda.bytes", std::to_string(bytes_)});
  run.collector.push_back({"cuda.flush_ns", std::to_string(flush_ns_)});
  run.collector.push_back({"cuda.buffers_high_water_bytes", std::to_string(buffers_->high_water_bytes())});
  const std::vector<DropInfo>& drops = decoder_.drops().all();
  run.drops.insert(run.drops.end(), drops.begin(), drops.end());
  if (dropped_ > 0) {
    run.drops.push_back(
        {"CUDA record", dropped_, "CUPTI had no buffer: they came faster than the file could take them"});
  }
}

}  // namespace swinscope

// CUDA activity as a source of records: claims CUPTI, enables what is to be recorded, and empties its buffers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "collector/base/capture_window.h"
#include "collector/base/source.h"
#include "collector/base/trace_options.h"
#include "collector/cupti/cupti_api.h"
#include "collector/cupti/cupti_buffers.h"
#include "collector/cupti/cupti_decoder.h"
#include "collector/cupti/cupti_flusher.h"
#include "collector/cupti/recorded_windows.h"
#include "collector/segment/cuda_sink.h"

namespace swinscope {

// A node of a CUDA graph came into being on the calling thread, as the copy of another one or (original 0) not.
using GraphNodeFunction = void (*)(std::uint64_t node, std::uint64_t original);

class CuptiSource {
 public:
  struct Limits {
    std::size_t buffers = 256;
    std::size_t max_buffer_bytes = std::size_t{256} << 10U;
    std::size_t min_buffer_bytes = std::size_t{16} << 10U;
    // A buffer is to fill in about this time: CUPTI hands out full ones, and keeps one that has a kernel under way.
    std::int64_t fill_ns = 100'000'000;
  };

  CuptiSource(std::uint64_t global_pid, std::int64_t start_ns) : CuptiSource(global_pid, start_ns, Limits()) {}
  CuptiSource(std::uint64_t global_pid, std::int64_t start_ns, Limits limits);
  CuptiSource(const CuptiSource&) = delete;
  CuptiSource& operator=(const CuptiSource&) = delete;
  CuptiSource(CuptiSource&&) = delete;
  CuptiSource& operator=(CuptiSource&&) = delete;
  ~CuptiSource();

  // In the thread that makes the first CUDA call, before a context exists; once. Recording begins at once, unless the
  // window opens later: until then CUPTI tells only of devices, contexts, streams and nodes of CUDA graphs, and of the
  // calls that open it; where nobody knows whether it ever opens (armed), or CUDA is not asked for, CUPTI is left
  // alone. What goes wrong, or was left out, is in the file's facts. `open_cupti` may be called on any thread,
  // `graph_node` is on the program's.
  using OpenFunction = std::function<OpenedCupti()>;
  void begin(OpenFunction open_cupti, const TraceOptions& options, const WindowOptions& window,
             GraphNodeFunction graph_node) noexcept;
  // Opens and closes the window; from any thread, as often as they come. `waits`: until what the thread has launched is
  // done, so that the window has whole steps; never while it captures a graph.
  void open(bool waits = false) noexcept;
  void close(bool waits = false) noexcept;
  bool is_open() const { return is_open_.load(std::memory_order_acquire); }
  // While this file exists, an armed recording is open. Before begin().
  void set_trigger_file(std::string path) { trigger_file_ = std::move(path); }
  // The program ends: has CUPTI hand over everything. After this only the writer's calls come.
  void stop() noexcept;
  // Everything handed over so far has been written.
  bool is_drained() const { return !is_claimed() || buffers_->completed() == 0; }
  bool is_recording() const { return state_.load(std::memory_order_acquire) == State::kRecording; }
  // In a forked child the parent's CUPTI must not be touched.
  static void forget_in_child() noexcept;

  // As of a Source (source.h), for the one thread that takes the records.
  bool poll(CudaSink& to);
  void before_flush(CudaSink& to);
  void flushed() { decoder_.flushed(); }
  void lost(const std::string& reason) { decoder_.lost(reason); }
  void discard(const std::string& reason);
  void finish(CudaSink& to);
  void describe(RunInfo& run);

 private:
  // kWaiting: CUPTI is not claimed yet.
  enum class State : std::uint8_t { kNotBegun, kLeftOut, kWaiting, kRecording, kStopped, kFailed };

  // From here on api_ and buffers_ stay as they are.
  bool is_claimed() const {
    const State state = state_.load(std::memory_order_acquire);
    return state == State::kRecording || state == State::kStopped;
  }
  bool claim();
  std::string subscribe();
  std::string enable(bool is_early);
  void fail(std::string problem);
  template <typename Function>
  void for_each_call(std::uint32_t domain, Function function);
  // Switches those that are wanted, or those that are not.
  void enable_calls(std::uint32_t domain, bool wanted, bool on);
  void watch_profiler_calls();
  void watch_graphs();
  std::string watch();
  void wait_for_gpu(bool waits);
  static std::vector<cupti::Kind> kinds_of_facts();
  std::vector<cupti::Kind> kinds() const;  // of activity
  void watch_window();
  bool take_one(CudaSink& to);
  void take_all(CudaSink& to);
  template <typename Meanwhile>
  void flush(Meanwhile meanwhile);
  void adapt_buffers();
  void count_dropped();

  static void buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records);
  static void buffer_completed(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes,
                               std::size_t valid_bytes);
  static void on_callback(void* user_data, std::uint32_t domain, std::uint32_t callback, const void* data);

  Limits limits_;
  std::int64_t start_ns_;
  std::atomic<State> state_ = State::kNotBegun;
  std::unique_ptr<CuptiApi> api_;
  std::unique_ptr<CuptiBuffers> buffers_;
  TraceOptions options_;
  WindowOptions window_;
  OpenFunction open_cupti_;
  GraphNodeFunction graph_node_ = nullptr;
  std::string trigger_file_;
  std::uint32_t profiler_start_ = 0;
  std::uint32_t profiler_stop_ = 0;
  std::mutex control_;  // of claiming, opening and closing
  std::atomic<bool> is_open_ = false;
  std::atomic<bool> is_over_ = false;  // the duration has passed
  std::atomic<std::int64_t> opened_ns_ = 0;
  std::string version_;
  std::string problem_;
  std::vector<GpuInfo> devices_;  // where CUPTI was claimed too late for its records of them
  RecordedWindows windows_;
  CuptiDecoder decoder_;

  // The writer thread's.
  std::unique_ptr<CuptiFlusher> flusher_;
  std::int64_t last_adapted_ns_ = 0;
  std::uint64_t bytes_since_ = 0;
  std::uint64_t bytes_ = 0;
  std::int64_t flush_ns_ = 0;
  std::int64_t flush_cpu_ns_ = 0;
  std::int64_t dropped_ = 0;
};

}  // namespace swinscope

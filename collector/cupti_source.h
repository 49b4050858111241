// CUDA activity as a source of the recorder: claims CUPTI, enables what is to be recorded, and empties its buffers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collector/cupti_api.h"
#include "collector/cupti_buffers.h"
#include "collector/cupti_decoder.h"
#include "collector/source.h"
#include "collector/trace_options.h"

namespace swinscope {

// A node of a CUDA graph came into being on the calling thread, as the copy of another one or (original 0) not.
using GraphNodeFunction = void (*)(std::uint64_t node, std::uint64_t original);

class CuptiSource : public Source {
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
  ~CuptiSource() override;

  // In the thread that makes the first CUDA call, before a context exists; once. What goes wrong is in the file's
  // facts. `graph_node` is called on the program's threads.
  void begin(OpenedCupti cupti, const TraceOptions& options, GraphNodeFunction graph_node) noexcept;
  // The program ends: has CUPTI hand over everything. After this only the writer's calls come.
  void stop() noexcept;
  // Everything handed over so far has been written.
  bool is_drained() const { return buffers_ == nullptr || buffers_->completed() == 0; }
  bool is_recording() const { return state_.load(std::memory_order_acquire) == State::kRecording; }
  // In a forked child the parent's CUPTI must not be touched.
  static void forget_in_child() noexcept;

  bool poll(TraceWriter& to) override;
  void before_flush(TraceWriter& to) override;
  void flushed() override { decoder_.flushed(); }
  void lost(const std::string& reason) override { decoder_.lost(reason); }
  void discard(const std::string& reason) override;
  void finish(TraceWriter& to) override;
  void describe(RunInfo& run) override;

 private:
  enum class State : std::uint8_t { kNotBegun, kRecording, kStopped, kFailed };

  std::string enable(const TraceOptions& options);
  void enable_calls(std::uint32_t domain, const TraceOptions& options);
  bool take_one(TraceWriter& to);
  void adapt_buffers();
  void count_dropped();

  static void buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records);
  static void buffer_completed(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes,
                               std::size_t valid_bytes);
  static void resource_callback(void* user_data, std::uint32_t domain, std::uint32_t callback, const void* data);

  Limits limits_;
  std::atomic<State> state_ = State::kNotBegun;
  std::unique_ptr<CuptiApi> api_;
  std::unique_ptr<CuptiBuffers> buffers_;
  TraceOptions options_;
  GraphNodeFunction graph_node_ = nullptr;
  std::string version_;
  std::string problem_;
  CuptiDecoder decoder_;

  // The writer thread's.
  std::int64_t last_adapted_ns_ = 0;
  std::uint64_t bytes_since_ = 0;
  std::uint64_t bytes_ = 0;
  std::int64_t flush_ns_ = 0;
  std::int64_t dropped_ = 0;
};

}  // namespace swinscope

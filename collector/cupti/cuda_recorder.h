// CUDA activity of this process on its way into the segment: one thread that empties CUPTI's buffers, decodes them and
// writes the records into a lane of its own. The only thread of the library in a program under `record`, and only in
// one that uses CUDA.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include <semaphore.h>

#include "collector/cupti/cupti_source.h"
#include "collector/segment/segment.h"
#include "collector/segment/thread_buffers.h"

namespace swinscope {

class CudaRecorder {
 public:
  // Throws std::system_error when no thread can be started. Recording begins with cuda().begin().
  CudaRecorder(const SegmentView& segment, std::uint64_t global_pid);
  CudaRecorder(const CudaRecorder&) = delete;
  CudaRecorder& operator=(const CudaRecorder&) = delete;
  CudaRecorder(CudaRecorder&&) = delete;
  CudaRecorder& operator=(CudaRecorder&&) = delete;
  ~CudaRecorder() = delete;  // callbacks of CUPTI may come to the very end

  CuptiSource& cuda() { return cuda_; }
  // Before the driver is gone: takes what CUPTI has, and waits until it is on its way or the time is over.
  void stop(std::int64_t timeout_ns);
  // The end: the thread writes what is left. False when it took longer.
  bool finish(std::int64_t timeout_ns);

 private:
  void start_thread();
  void run_guarded();
  void run(ThreadBuffer& lane);
  bool wait_for_room(const ThreadBuffer& lane, bool is_first);

  SegmentView segment_;
  CuptiSource cuda_;
  std::atomic<bool> stop_ = false;
  sem_t wake_{};
  sem_t finished_{};
  std::uint32_t freed_ = 0;  // as last seen, and when that changed
  std::int64_t freed_since_ns_ = 0;
  bool has_given_up_ = false;
  std::thread thread_;
};

}  // namespace swinscope

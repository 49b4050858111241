// A thread that has CUPTI hand over the records that are complete. It waits for CUPTI then: of a graph that is replayed
// fast for longer than the buffers last, so that the writer has to empty them meanwhile.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <semaphore>
#include <thread>

#include "collector/cupti/cupti_api.h"

namespace swinscope {

class CuptiFlusher {
 public:
  // The thread has the signal mask of the one that constructs it. Throws std::system_error.
  explicit CuptiFlusher(CuptiApi& api);
  CuptiFlusher(const CuptiFlusher&) = delete;
  CuptiFlusher& operator=(const CuptiFlusher&) = delete;
  CuptiFlusher(CuptiFlusher&&) = delete;
  CuptiFlusher& operator=(CuptiFlusher&&) = delete;
  ~CuptiFlusher();

  // Returns when the flush is done, so that a fork that the caller holds up never finds one under way; `meanwhile()` is
  // called until then, and what it throws is passed on afterwards.
  template <typename Meanwhile>
  void flush(Meanwhile meanwhile) {
    wanted_.release();
    try {
      while (!done_.try_acquire_for(kLook))
        meanwhile();
    } catch (...) {
      done_.acquire();
      throw;
    }
  }

  // The thread's so far, for the caller of flush().
  std::int64_t cpu_ns() const { return cpu_ns_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::chrono::milliseconds kLook{1};

  void run();

  CuptiApi& api_;
  std::atomic<bool> stop_ = false;
  std::atomic<std::int64_t> cpu_ns_ = 0;
  std::binary_semaphore wanted_{0};
  std::binary_semaphore done_{0};
  std::thread thread_;
};

}  // namespace swinscope

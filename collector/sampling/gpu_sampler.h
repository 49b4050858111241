// Samples the GPUs of the machine from the launcher, on a thread of its own: NVML takes milliseconds, now and then
// more, and the launcher has signals to pass on. The program is not touched.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "collector/sampling/nvml.h"

namespace swinscope {

struct GpuSample {
  std::int64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::size_t gpu = 0;
  std::vector<GpuReading> readings;
};

class GpuSampler {
 public:
  // Starts at once.
  GpuSampler(std::unique_ptr<Nvml> nvml, std::int64_t period_ns);
  GpuSampler(const GpuSampler&) = delete;
  GpuSampler& operator=(const GpuSampler&) = delete;
  GpuSampler(GpuSampler&&) = delete;
  GpuSampler& operator=(GpuSampler&&) = delete;
  // Stops; samples that were not taken are gone.
  ~GpuSampler();

  const std::vector<GpuIdentity>& gpus() const { return gpus_; }
  // The samples since the last call. At most kMaxWaiting wait: those that come when nobody takes them are counted.
  std::vector<GpuSample> take();
  std::int64_t dropped();

 private:
  static constexpr std::size_t kMaxWaiting = 100'000;
  void run();

  std::unique_ptr<Nvml> nvml_;
  std::vector<GpuIdentity> gpus_;
  std::int64_t period_ns_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::vector<GpuSample> waiting_;
  std::int64_t dropped_ = 0;
  std::thread thread_;
};

}  // namespace swinscope

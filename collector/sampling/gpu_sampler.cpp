#include "collector/sampling/gpu_sampler.h"

#include <chrono>
#include <utility>

#include "collector/base/clock.h"
#include "collector/base/unsignalled_thread.h"

namespace swinscope {

GpuSampler::GpuSampler(std::unique_ptr<Nvml> nvml, std::int64_t period_ns)
    : nvml_(std::move(nvml)), gpus_(nvml_->gpus()), period_ns_(period_ns) {
  thread_ = start_unsignalled([this] { run(); });
}

GpuSampler::~GpuSampler() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::vector<GpuSample> GpuSampler::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, {});
}

std::int64_t GpuSampler::dropped() {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

void GpuSampler::run() {
  auto next = std::chrono::steady_clock::now();
  while (true) {
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      GpuSample sample;
      sample.gpu = gpu;
      sample.readings = nvml_->read(gpu);
      sample.time_ns = monotonic_ns();
      const std::lock_guard lock(mutex_);
      if (waiting_.size() < kMaxWaiting) {
        waiting_.push_back(std::move(sample));
      } else {
        ++dropped_;
      }
    }
    next += std::chrono::nanoseconds(period_ns_);
    std::unique_lock lock(mutex_);
    if (wake_.wait_until(lock, next, [this] { return stop_; })) return;
    next = std::max(next, std::chrono::steady_clock::now() - std::chrono::nanoseconds(period_ns_));
  }
}

}  // namespace swinscope

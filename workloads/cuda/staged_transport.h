// Operations of ranks on host memory over the connection between their GPUs: few and small ones, each of which waits.
#pragma once

#include <atomic>
#include <memory>

#include "kernels/device.h"
#include "workloads/rank_transport.h"

namespace swinscope {

class StagedTransport : public RankTransport {
 public:
  explicit StagedTransport(std::unique_ptr<DeviceTransport> device);
  ~StagedTransport() override;
  StagedTransport(const StagedTransport&) = delete;
  StagedTransport& operator=(const StagedTransport&) = delete;
  StagedTransport(StagedTransport&&) = delete;
  StagedTransport& operator=(StagedTransport&&) = delete;

  void all_reduce_sum(float* values, std::size_t count) override;
  void all_reduce_sum(double* values, std::size_t count) override;
  void broadcast(void* bytes, std::size_t count, int root) override;
  void barrier() override;
  void abort() noexcept override;
  DeviceTransport* device() override { return device_.get(); }

 private:
  void* stage(const void* host, std::size_t bytes);
  void fetch(void* host, std::size_t bytes);

  std::unique_ptr<DeviceTransport> device_;
  cuda::OwnedStream stream_;
  cuda::DeviceBuffer staging_;
  std::atomic<bool> aborted_ = false;
};

}  // namespace swinscope

#include "workloads/cuda/staged_transport.h"

#include <stdexcept>
#include <utility>

namespace swinscope {

StagedTransport::StagedTransport(std::unique_ptr<DeviceTransport> device) : device_(std::move(device)) {}
StagedTransport::~StagedTransport() = default;

void StagedTransport::all_reduce_sum(float* values, std::size_t count) {
  const std::size_t bytes = count * sizeof(float);
  device_->all_reduce_sum(stage(values, bytes), static_cast<std::int64_t>(count), ReduceType::kFp32, stream_.get());
  fetch(values, bytes);
}

void StagedTransport::all_reduce_sum(double* values, std::size_t count) {
  const std::size_t bytes = count * sizeof(double);
  device_->all_reduce_sum(stage(values, bytes), static_cast<std::int64_t>(count), ReduceType::kFp64, stream_.get());
  fetch(values, bytes);
}

void StagedTransport::broadcast(void* bytes, std::size_t count, int root) {
  device_->broadcast(stage(bytes, count), static_cast<std::int64_t>(count), root, stream_.get());
  fetch(bytes, count);
}

// Nobody has the sum before all have given their part.
void StagedTransport::barrier() {
  float present = 1.0F;
  all_reduce_sum(&present, 1);
}

void StagedTransport::abort() noexcept {
  aborted_ = true;
  device_->abort();
}

void* StagedTransport::stage(const void* host, std::size_t bytes) {
  const auto wanted = static_cast<std::int64_t>(bytes);
  if (staging_.bytes() < wanted) staging_ = cuda::DeviceBuffer(wanted);
  cuda::copy_to_device(staging_.data(), host, wanted, stream_.get());
  return staging_.data();
}

void StagedTransport::fetch(void* host, std::size_t bytes) {
  cuda::copy_to_host(host, staging_.data(), static_cast<std::int64_t>(bytes), stream_.get());
  if (aborted_) throw std::runtime_error("the connection between the GPUs has been ended");
}

}  // namespace swinscope

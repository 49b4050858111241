// Collective operations between the GPUs of data-parallel ranks, enqueued on a stream.
#pragma once

#include <cstdint>
#include <memory>

#include "workloads/rank_transport.h"

namespace swinscope {

class DeviceCommunicator {
 public:
  DeviceCommunicator() = default;
  DeviceCommunicator(const DeviceCommunicator&) = delete;
  DeviceCommunicator& operator=(const DeviceCommunicator&) = delete;
  DeviceCommunicator(DeviceCommunicator&&) = delete;
  DeviceCommunicator& operator=(DeviceCommunicator&&) = delete;
  virtual ~DeviceCommunicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // As those of DeviceTransport, but what they throw names the rank that failed.
  virtual void all_reduce_sum(void* values, std::int64_t count, ReduceType type, cuda::Stream stream) = 0;
  virtual void broadcast(void* data, std::int64_t bytes, int root, cuda::Stream stream) = 0;
  virtual std::shared_ptr<void> allocate(std::int64_t bytes) = 0;
  virtual void all_to_all(const void* parts, void* received, std::int64_t count, ReduceType type,
                          cuda::Stream stream) = 0;
  virtual void all_gather(void* parts, std::int64_t count, ReduceType type, cuda::Stream stream) = 0;
  // To be asked after each wait for the device: when a rank has failed, the device's work ended without its results.
  // Throws WorkloadError (kFailure) naming that rank.
  virtual void require_all() = 0;
};

}  // namespace swinscope

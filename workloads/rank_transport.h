// What carries collective operations between ranks: Gloo between processors, NCCL between GPUs. Both live in modules
// that are opened at run time; what a module and the program agree on stands here and in its own header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "kernels/device.h"

namespace swinscope {

enum class ReduceType : std::uint8_t { kFp32, kFp16, kBf16, kFp64, kInt64 };

constexpr std::int64_t reduce_bytes(ReduceType type) {
  if (type == ReduceType::kFp64 || type == ReduceType::kInt64) return 8;
  return type == ReduceType::kFp32 ? 4 : 2;
}

// Operations on device memory, in stream order; they may be captured into a graph. All ranks enqueue the same ones in
// the same order. What a stream holds when the transport breaks ends without a useful result: trouble() and the watch
// over the ranks say so.
class DeviceTransport {
 public:
  DeviceTransport() = default;
  DeviceTransport(const DeviceTransport&) = delete;
  DeviceTransport& operator=(const DeviceTransport&) = delete;
  DeviceTransport(DeviceTransport&&) = delete;
  DeviceTransport& operator=(DeviceTransport&&) = delete;
  // What captured its operations must be gone before.
  virtual ~DeviceTransport() = default;

  // The sum over the ranks, in place; the same bits on every rank. Throws std::runtime_error where it cannot be
  // enqueued.
  virtual void all_reduce_sum(void* values, std::int64_t count, ReduceType type, cuda::Stream stream) = 0;
  virtual void broadcast(void* data, std::int64_t bytes, int root, cuda::Stream stream) = 0;

  // Memory on which the next two work, for all ranks to take alike and in the same order. It must be gone before the
  // transport. Throws std::runtime_error where the GPUs cannot have such memory.
  virtual std::shared_ptr<void> allocate(std::int64_t bytes) = 0;
  // Both are made by the GPUs' copy engines alone, so that kernels keep all multiprocessors. `parts` holds `count`
  // elements for each rank, by rank; what all ranks hold for this one arrives in `received`, by rank.
  virtual void all_to_all(const void* parts, void* received, std::int64_t count, ReduceType type,
                          cuda::Stream stream) = 0;
  // Each rank's own part, of `count` elements, goes to that place on all ranks.
  virtual void all_gather(void* parts, std::int64_t count, ReduceType type, cuda::Stream stream) = 0;

  // From any thread: what went wrong on its own, without a call of ours.
  virtual std::optional<std::string> trouble() noexcept = 0;
  // From any thread: ends what is under way and makes later operations throw. Does not wait.
  virtual void abort() noexcept = 0;
};

// Operations on host memory. All throw std::exception when a connection breaks or abort() is called.
class RankTransport {
 public:
  RankTransport() = default;
  RankTransport(const RankTransport&) = delete;
  RankTransport& operator=(const RankTransport&) = delete;
  RankTransport(RankTransport&&) = delete;
  RankTransport& operator=(RankTransport&&) = delete;
  virtual ~RankTransport() = default;
  virtual void all_reduce_sum(float* values, std::size_t count) = 0;
  virtual void all_reduce_sum(double* values, std::size_t count) = 0;
  virtual void broadcast(void* bytes, std::size_t count, int root) = 0;
  virtual void barrier() = 0;
  // From any thread: makes the operation in progress, and all later ones, throw.
  virtual void abort() noexcept = 0;
  // The connection between GPUs underneath; null between processors.
  virtual DeviceTransport* device() { return nullptr; }
};

}  // namespace swinscope

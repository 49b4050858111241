// Sums a step's gradients over the GPUs of all ranks while its backward pass runs: each bucket on a stream of its own
// as soon as it is final, in the captured graph as outside of one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/convert.h"
#include "kernels/device.h"
#include "workloads/annotate.h"
#include "workloads/cuda/gradient_buckets.h"
#include "workloads/device_communicator.h"

namespace swinscope {

// Of what is summed. With a 16-bit type the gradients are rounded into a buffer of their own, where their sums then
// are.
struct ReducedGradients {
  float* gradients = nullptr;  // flat
  void* rounded = nullptr;     // flat, of that type; null with fp32
  ElementType type = ElementType::kFp32;
  // Each rank adds up its part of a bucket, and copies carry the parts there and back
  // (DeviceCommunicator::all_to_all()), instead of NCCL's kernels. What is summed then lies in memory of
  // DeviceCommunicator::allocate(), with room for padded_gradients() elements.
  bool by_copies = false;

  void* sums() const { return rounded == nullptr ? gradients : rounded; }
};

class DeviceReducer {
 public:
  // `bucket_bytes` of what travels. The communicator must outlive the reducer, and the reducer the graphs.
  DeviceReducer(DeviceCommunicator& communicator, std::span<const GradientMark> marks,
                const ReducedGradients& gradients, std::int64_t bucket_bytes);

  // The three of a backward pass on `stream`, in this order. What `stream` has done before begin() is there for what
  // the caller enqueues on communication_stream() next.
  void begin(cuda::Stream stream);
  // So many steps of the backward pass are enqueued.
  void passed(std::size_t steps, cuda::Stream stream);
  // What `stream` does next finds the sums. All steps must have passed.
  void finish(cuda::Stream stream);

  cuda::Stream communication_stream() const { return stream_.get(); }
  std::span<const GradientBucket> buckets() const { return buckets_; }

 private:
  void fork(cuda::Stream stream);
  void reduce(std::size_t bucket);
  void sum(void* values, std::int64_t count);

  DeviceCommunicator& communicator_;
  std::vector<GradientBucket> buckets_;
  ReducedGradients gradients_;
  std::shared_ptr<void> parts_;  // by copies: of one bucket, what all ranks have of this rank's part
  std::vector<RangeName> names_;
  std::vector<OperationPayload> payloads_;
  std::size_t next_ = 0;
  cuda::OwnedStream stream_{true};
  cuda::Event forked_, joined_;
};

}  // namespace swinscope

#include "workloads/cuda/device_reducer.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/check.h"
#include "kernels/sum_parts.h"

namespace swinscope {
namespace {

ReduceType reduce_type(ElementType type) {
  switch (type) {
    case ElementType::kFp16:
      return ReduceType::kFp16;
    case ElementType::kBf16:
      return ReduceType::kBf16;
    case ElementType::kFp32:
      break;
  }
  return ReduceType::kFp32;
}

Precision precision_of_type(ElementType type) {
  if (type == ElementType::kFp32) return Precision::kFp32;
  return type == ElementType::kFp16 ? Precision::kFp16 : Precision::kBf16;
}

}  // namespace

DeviceReducer::DeviceReducer(DeviceCommunicator& communicator, std::span<const GradientMark> marks,
                             const ReducedGradients& gradients, std::int64_t bucket_bytes)
    : communicator_(communicator),
      buckets_(plan_buckets(marks, bucket_bytes / element_bytes(gradients.type),
                            gradients.by_copies ? gradients_together(communicator.size(), gradients.type) : 1)),
      gradients_(gradients) {
  require((gradients.rounded == nullptr) == (gradients.type == ElementType::kFp32), "DeviceReducer",
          "16-bit sums need a buffer of their own");
  std::int64_t largest = 0;
  for (const GradientBucket& bucket : buckets_) {
    const std::int64_t count = bucket.end - bucket.begin;
    const std::int64_t bytes = count * element_bytes(gradients.type);
    largest = std::max(largest, bytes);
    names_.emplace_back(fmt::format("allreduce.bucket{}", names_.size() + 1));
    payloads_.push_back(make_payload({0, bytes, bytes}, OperationClass::kCommunication,
                                     precision_of_type(gradients.type), {count}, {count}));
  }
  if (gradients.by_copies) parts_ = communicator.allocate(largest);
}

void DeviceReducer::begin(cuda::Stream stream) {
  next_ = 0;
  fork(stream);
}

void DeviceReducer::passed(std::size_t steps, cuda::Stream stream) {
  if (next_ == buckets_.size() || buckets_[next_].after > steps) return;
  fork(stream);
  for (; next_ < buckets_.size() && buckets_[next_].after <= steps; ++next_)
    reduce(next_);
}

void DeviceReducer::finish(cuda::Stream stream) {
  require(next_ == buckets_.size(), "DeviceReducer", "the backward pass has not ended");
  joined_.record(stream_.get());
  joined_.hold(stream);
}

void DeviceReducer::fork(cuda::Stream stream) {
  forked_.record(stream);
  forked_.hold(stream_.get());
}

void DeviceReducer::reduce(std::size_t bucket) {
  const auto& [begin, end, after] = buckets_[bucket];
  const OperationRange range(names_[bucket], payloads_[bucket]);
  void* values = gradients_.gradients + begin;
  if (gradients_.rounded != nullptr) {
    void* const rounded = static_cast<char*>(gradients_.rounded) + begin * element_bytes(gradients_.type);
    cuda::convert(end - begin, ElementType::kFp32, values, gradients_.type, rounded, stream_.get());
    values = rounded;
  }
  sum(values, end - begin);
}

void DeviceReducer::sum(void* values, std::int64_t count) {
  const ReduceType type = reduce_type(gradients_.type);
  if (parts_ == nullptr) return communicator_.all_reduce_sum(values, count, type, stream_.get());
  const std::int64_t part = count / communicator_.size();
  void* const own = static_cast<char*>(values) + communicator_.rank() * part * element_bytes(gradients_.type);
  communicator_.all_to_all(values, parts_.get(), part, type, stream_.get());
  cuda::sum_parts(gradients_.type, parts_.get(), communicator_.size(), part, own, stream_.get());
  communicator_.all_gather(values, part, type, stream_.get());
}

}  // namespace swinscope

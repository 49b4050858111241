#include "workloads/cuda/answer_counts.h"

#include <span>

namespace swinscope {

AnswerCounts::AnswerCounts(int classes, std::int64_t pixels)
    : confusion_(classes), labels_(static_cast<std::size_t>(pixels)), answers_(labels_.size()) {}

void AnswerCounts::add(const void* labels, const void* answers, cuda::Stream stream) {
  const auto bytes = static_cast<std::int64_t>(labels_.size());
  cuda::copy_to_host(labels_.data(), labels, bytes, stream);
  cuda::copy_to_host(answers_.data(), answers, bytes, stream);
  confusion_.add(labels_, answers_);
}

void AnswerCounts::finish(DeviceCommunicator* ranks, cuda::Stream stream, Evaluation& result) {
  const std::span<double> counts = confusion_.counts();
  if (ranks != nullptr) {
    const cuda::DeviceBuffer sums(static_cast<std::int64_t>(counts.size_bytes()));
    cuda::copy_to_device(sums.data(), counts.data(), sums.bytes(), stream);
    ranks->all_reduce_sum(sums.data(), static_cast<std::int64_t>(counts.size()), ReduceType::kFp64, stream);
    cuda::copy_to_host(counts.data(), sums.data(), sums.bytes(), stream);
    ranks->require_all();
  }
  result.accuracy = confusion_.pixel_accuracy();
  result.mean_iou = confusion_.mean_iou();
  result.iou = confusion_.iou();
}

}  // namespace swinscope

// How the pixels of evaluated batches were answered, counted on the host.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device.h"
#include "workloads/confusion.h"
#include "workloads/device_communicator.h"
#include "workloads/evaluator.h"

namespace swinscope {

class AnswerCounts {
 public:
  // `pixels`: of a batch.
  AnswerCounts(int classes, std::int64_t pixels);

  // Both [pixels], uint8, in device memory. Waits for the stream.
  void add(const void* labels, const void* answers, cuda::Stream stream);
  // Accuracy and IoU, over all ranks (null: this one alone).
  void finish(DeviceCommunicator* ranks, cuda::Stream stream, Evaluation& result);

 private:
  Confusion confusion_;
  std::vector<std::uint8_t> labels_, answers_;
};

}  // namespace swinscope

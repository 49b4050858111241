// The gradient of a weight where both operands have 8 bits: dw = dy^T x in e4m3, each with a scale in memory
// (delayed_scale.h), summed over the rows in fp32. Of compute capability 9.0.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/delayed_scale.h"
#include "kernels/device.h"

namespace swinscope::cuda {

struct ByteWeightGradientShape {
  std::int64_t rows = 0;     // that are summed over
  std::int64_t outputs = 0;  // a multiple of 16, as inputs
  std::int64_t inputs = 0;
  bool accumulate = false;        // the gradient is added to, else overwritten
  int spare_multiprocessors = 0;  // that it leaves to others
};

struct ByteWeightGradientTensors {
  const void* dy = nullptr;  // [rows, outputs]
  const void* x = nullptr;   // [rows, inputs]
  const DelayedScale* dy_scale = nullptr;
  const DelayedScale* x_scale = nullptr;
  float* dweight = nullptr;  // [outputs, inputs]
  void* workspace = nullptr;
};

// Of any such shape on any GPU.
std::int64_t byte_weight_gradient_workspace_bytes(const ByteWeightGradientShape& shape);

// Made once for a shape and addresses: how the copy engine finds the operands.
class ByteWeightGradient {
 public:
  ByteWeightGradient(const ByteWeightGradientShape& shape, const ByteWeightGradientTensors& tensors);
  // Two kernels; the same bits every time.
  void run(Stream stream) const;

 private:
  struct Launch;
  std::shared_ptr<const Launch> launch_;
};

}  // namespace swinscope::cuda

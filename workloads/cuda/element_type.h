// From a model's precision to the element type of its activations on the device; TF32 stores fp32, FP8 fp16 but what
// products read.
#pragma once

#include "kernels/device.h"
#include "workloads/annotate.h"

namespace swinscope {

// How a model of this precision stores its activations.
constexpr ElementType element_type_of(Precision precision) {
  if (precision == Precision::kFp16 || precision == Precision::kFp8) return ElementType::kFp16;
  return precision == Precision::kBf16 ? ElementType::kBf16 : ElementType::kFp32;
}

}  // namespace swinscope

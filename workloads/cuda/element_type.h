// From a model's precision to the element type of its activations on the device; TF32 stores fp32, FP8 and INT8 fp16
// but what products read.
#pragma once

#include "kernels/byte_format.h"
#include "kernels/device.h"
#include "workloads/annotate.h"

namespace swinscope {

// What products within its blocks may read.
constexpr ByteFormat byte_format_of(Precision precision) {
  if (precision == Precision::kInt8) return ByteFormat::kInt8;
  return precision == Precision::kFp8 ? ByteFormat::kE4m3 : ByteFormat::kNone;
}

// What all but those products have.
constexpr Precision precision_around(Precision precision) {
  return byte_format_of(precision) == ByteFormat::kNone ? precision : Precision::kFp16;
}

// How a model of this precision stores its activations.
constexpr ElementType element_type_of(Precision precision) {
  if (precision == Precision::kFp16 || byte_format_of(precision) != ByteFormat::kNone) return ElementType::kFp16;
  return precision == Precision::kBf16 ? ElementType::kBf16 : ElementType::kFp32;
}

}  // namespace swinscope

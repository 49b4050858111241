// A tensor of a model's graph: its name, its extents, how its elements are stored, and whose memory it lies in.
// Feature maps are [batch, height, width, channels] throughout; operations on tokens take their rows.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/byte_format.h"
#include "kernels/device.h"

namespace swinscope {

enum class DataType : std::uint8_t { kFp64, kFp32, kFp16, kBf16, kE4m3, kInt8 };

constexpr std::int64_t data_bytes(DataType type) {
  if (type == DataType::kFp64) return 8;
  if (type == DataType::kE4m3 || type == DataType::kInt8) return 1;
  return type == DataType::kFp32 ? 4 : 2;
}

constexpr ElementType element_type_of(DataType type) {
  if (type == DataType::kFp16) return ElementType::kFp16;
  return type == DataType::kBf16 ? ElementType::kBf16 : ElementType::kFp32;
}

constexpr ByteFormat byte_format_of(DataType type) {
  if (data_bytes(type) > 1) return ByteFormat::kNone;
  return type == DataType::kInt8 ? ByteFormat::kInt8 : ByteFormat::kE4m3;
}
// Of 8 bits.
constexpr DataType data_type_of(ByteFormat format) {
  return format == ByteFormat::kInt8 ? DataType::kInt8 : DataType::kE4m3;
}

enum class TensorRole : std::uint8_t {
  kInput,       // belongs to the caller: images, scales of stochastic depth, gradients of the outputs
  kParameter,   // is trained
  kGradient,    // of a parameter: added to
  kBuffer,      // running statistics
  kConstant,    // follows from parameters and buffers alone: made when they have changed
  kActivation,  // lives from the op that makes it to the last one that reads it
  kOutput,      // an activation that stays until the next pass
};

// The place of a tensor in its graph.
using TensorId = int;
inline constexpr TensorId kNoTensor = -1;

struct GraphTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  DataType type = DataType::kFp32;
  TensorRole role = TensorRole::kActivation;
  bool decays = false;            // parameters: weight decay applies
  std::int64_t stored_bytes = 0;  // where a kernel wants another form than elements side by side; else 0
  // Channels of a wider tensor, from `first` on, rows as far apart as that one's.
  TensorId whole = kNoTensor;
  std::int64_t first = 0;
  float scale = 1.0F;  // activations in 8 bits: what an element is multiplied by
  // Training in 8 bits: the place of its scale among kByteScales; of a weight's factors that of its other operand's.
  int scale_slot = -1;

  std::int64_t count() const {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  }
  std::int64_t bytes() const { return stored_bytes > 0 ? stored_bytes : count() * data_bytes(type); }
  std::int64_t channels() const { return shape.back(); }
  std::int64_t rows() const { return count() / channels(); }
};

}  // namespace swinscope

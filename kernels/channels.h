// Copies a map into a slice of the channels of another one, or out of it: concatenation by channels and its gradient,
// on the CPU. Device kernels write into slices themselves, by a row stride.
#pragma once

#include <cstdint>

#include "kernels/cost.h"

namespace swinscope {

// A slice of the channels of a map: row r begins at r * stride. Concatenating maps by channels is copying each into its
// slice; the gradients of the parts are the slices of the whole's.
struct ChannelSlice {
  std::int64_t rows = 0;
  std::int64_t channels = 0;
  std::int64_t from_stride = 0;  // elements from one row to the next
  std::int64_t to_stride = 0;
};

OperationCost copy_channels_cost(const ChannelSlice& slice, bool accumulates, std::int64_t element_bytes);

namespace cpu {

// to = from, or to += from where `accumulate`. The two must not overlap. Throws std::invalid_argument for a stride
// shorter than a row.
template <typename T>
void copy_channels(const ChannelSlice& slice, const T* from, bool accumulate, T* to);

}  // namespace cpu
}  // namespace swinscope

// The addition in an all-reduce by copies: the ranks' values of one part lie beside each other on one GPU.
#pragma once

#include <cstdint>

#include "kernels/device.h"

namespace swinscope::cuda {

// out[i] = sum over r of parts[r * count + i], r = 0 to ranks - 1 in this order, in fp32, rounded to nearest once.
// `parts` and `out` are aligned to 16 bytes, `count` elements are a multiple of 16 bytes; `out` is none of the parts.
void sum_parts(ElementType type, const void* parts, int ranks, std::int64_t count, void* out, Stream stream);

}  // namespace swinscope::cuda

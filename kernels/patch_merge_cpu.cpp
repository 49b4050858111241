#include <algorithm>

#include "kernels/parallel.h"
#include "kernels/patch_merge.h"

namespace swinscope {
namespace {

// Calls body(row of x or -1 for padding, channel group of y) for the four tokens of every merged token.
template <typename Body>
void for_merged_tokens(const PatchMergeShape& s, const Body& body) {
  cpu::parallel_for(s.batch * s.merged_height(), [&](std::int64_t task) {
    const std::int64_t image = task / s.merged_height();
    const std::int64_t top = task % s.merged_height() * 2;
    for (std::int64_t column = 0; column < s.merged_width(); ++column) {
      for (std::int64_t group = 0; group < 4; ++group) {
        const std::int64_t y = top + group % 2;
        const std::int64_t x = column * 2 + group / 2;
        const bool inside = y < s.height && x < s.width;
        body(inside ? (image * s.height + y) * s.width + x : -1, (task * s.merged_width() + column) * 4 + group);
      }
    }
  });
}

}  // namespace

OperationCost patch_merge_forward_cost(const PatchMergeShape& shape, std::int64_t element_bytes) {
  return {0, shape.batch * shape.height * shape.width * shape.channels * element_bytes,
          shape.merged_tokens() * 4 * shape.channels * element_bytes};
}

OperationCost patch_merge_backward_cost(const PatchMergeShape& shape, std::int64_t element_bytes) {
  const std::int64_t bytes = shape.batch * shape.height * shape.width * shape.channels * element_bytes;
  return {0, bytes, bytes};
}

namespace cpu {

template <typename T>
void patch_merge_forward(const PatchMergeShape& shape, const T* x, T* y) {
  for_merged_tokens(shape, [&](std::int64_t token, std::int64_t group) {
    T* target = y + group * shape.channels;
    if (token < 0) {
      std::fill_n(target, shape.channels, T{0});
    } else {
      std::copy_n(x + token * shape.channels, shape.channels, target);
    }
  });
}

template <typename T>
void patch_merge_backward(const PatchMergeShape& shape, const T* dy, T* dx) {
  for_merged_tokens(shape, [&](std::int64_t token, std::int64_t group) {
    if (token >= 0) std::copy_n(dy + group * shape.channels, shape.channels, dx + token * shape.channels);
  });
}

template void patch_merge_forward<float>(const PatchMergeShape&, const float*, float*);
template void patch_merge_forward<double>(const PatchMergeShape&, const double*, double*);
template void patch_merge_backward<float>(const PatchMergeShape&, const float*, float*);
template void patch_merge_backward<double>(const PatchMergeShape&, const double*, double*);

}  // namespace cpu
}  // namespace swinscope

// Where the channels of a merged token stand in the map that it is gathered from (patch_merge.h).
#pragma once

#include <cstdint>

#include "kernels/patch_merge.h"

namespace swinscope::cuda {

struct MergePlace {
  int height = 0;  // of the map
  int width = 0;
  int merged_height = 0;
  int merged_width = 0;

  static MergePlace of(const PatchMergeShape& shape) {
    return {static_cast<int>(shape.height), static_cast<int>(shape.width), static_cast<int>(shape.merged_height()),
            static_cast<int>(shape.merged_width())};
  }

  // Vector `vector` of the `vectors` of a merged token stands at this vector of the map. Negative: padding.
  __device__ std::int64_t operator()(int row, int vector, int vectors) const {
    const int quarter = vectors / 4;
    const int part = vector / quarter;
    const int y = row / merged_width % merged_height * 2 + part % 2;
    const int x = row % merged_width * 2 + part / 2;
    if (y >= height || x >= width) return -1;
    return (std::int64_t{row / (merged_width * merged_height) * height + y} * width + x) * quarter + vector % quarter;
  }
};

}  // namespace swinscope::cuda

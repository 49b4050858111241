// The limits of shapes that the device's pixel losses take, forward and backward: extents, 1 to 255 classes.
#pragma once

#include "kernels/bilinear_axis.cuh"
#include "kernels/check.h"
#include "kernels/upsample_loss.h"

namespace swinscope::cuda {

inline void check_pixel_loss(const UpsampleShape& s) {
  for (const std::int64_t extent : {s.height, s.width, s.out_height, s.out_width})
    require(extent > 0 && extent <= kLargestResizeExtent, "upsample_loss", "extent out of range");
  require(s.channels > 0 && s.channels <= kIgnoredLabel, "upsample_loss", "classes outside [1, 255]");
  require(s.batch >= 0, "upsample_loss", "batch out of range");
}

}  // namespace swinscope::cuda

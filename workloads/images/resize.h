// Resizing pictures as Pillow does (src/libImaging/Resample.c): what timm and torchvision feed to models, to the bit.
#pragma once

#include "workloads/images/rgb_image.h"

namespace swinscope {

// Cuts `part` out of the image, resizes it to width x height, and gives the window of that, which alone is computed.
// Bicubic (Keys 1981, a = -1/2), its support widened by the scale where it shrinks; columns first, rounded to 8 bits
// between the two passes; weights in fixed point with 22 fractional bits. `part` lies in the image, `window` in
// width x height; none is empty.
RgbImage resize(const RgbImage& image, const Box& part, int width, int height, const Box& window);

}  // namespace swinscope

// Writing JPEG pictures with libjpeg.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/images/rgb_image.h"

namespace swinscope {

// Baseline, 4:2:0; quality from 1 to 100. The same picture gives the same bytes with the same libjpeg.
std::vector<std::uint8_t> encode_jpeg(const RgbImage& image, int quality);

}  // namespace swinscope

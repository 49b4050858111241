// Masks that give each pixel of a picture a label, as PNG files of 8 bits or less a pixel: what a pixel holds is its
// label, whether the file calls that a grey level or the number of a colour in its palette.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "workloads/images/jpeg_decoder.h"

namespace swinscope {

struct LabelMask {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> labels;  // [height, width]
};

// Throws WorkloadError (kInput) whose cause says what is wrong: libpng's words, a file of colours or of 16 bits, or a
// mask of more than `most_pixels`. `name` is for messages.
LabelMask decode_mask(std::span<const std::uint8_t> png, const std::string& name,
                      std::int64_t most_pixels = kMostPixels);

// As grey levels. The same mask gives the same bytes with the same libpng and zlib.
std::vector<std::uint8_t> encode_mask(const LabelMask& mask);

}  // namespace swinscope

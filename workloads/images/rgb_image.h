// A picture in memory.
#pragma once

#include <cstdint>
#include <vector>

namespace swinscope {

struct RgbImage {
  static constexpr int kChannels = 3;

  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;  // [height, width, 3]
};

// Some of an image's pixels.
struct Box {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

}  // namespace swinscope

// Pictures, and JPEG files of them in the forms that cameras and programs write.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs it before
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include <jpeglib.h>

#include "workloads/images/rgb_image.h"

namespace swinscope::test {

// Red grows with x, green with y, blue is constant.
inline RgbImage gradient(int width, int height) {
  RgbImage image{width, height, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image.pixels.push_back(static_cast<std::uint8_t>(255 * x / std::max(1, width - 1)));
      image.pixels.push_back(static_cast<std::uint8_t>(255 * y / std::max(1, height - 1)));
      image.pixels.push_back(128);
    }
  }
  return image;
}

enum class JpegForm : std::uint8_t { kBaseline, kProgressive, kGrey };

inline std::vector<std::uint8_t> jpeg_of(const RgbImage& image, JpegForm form = JpegForm::kBaseline) {
  jpeg_error_mgr errors{};
  jpeg_compress_struct info{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = static_cast<JDIMENSION>(image.width);
  info.image_height = static_cast<JDIMENSION>(image.height);
  info.input_components = RgbImage::kChannels;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  if (form == JpegForm::kGrey) jpeg_set_colorspace(&info, JCS_GRAYSCALE);
  jpeg_set_quality(&info, 95, TRUE);
  if (form == JpegForm::kProgressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    // libjpeg does not write to it.
    auto* row = const_cast<JSAMPROW>(image.pixels.data() + std::size_t{info.next_scanline} * info.image_width * 3);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::vector<std::uint8_t> result(bytes, bytes + size);
  std::free(bytes);
  return result;
}

inline void write_bytes(const std::filesystem::path& file, const std::vector<std::uint8_t>& bytes) {
  std::ofstream out(file, std::ios::binary);
  std::ranges::copy(bytes, std::ostreambuf_iterator<char>(out));
}

inline void write_jpeg(const std::filesystem::path& file, const RgbImage& image) { write_bytes(file, jpeg_of(image)); }

}  // namespace swinscope::test

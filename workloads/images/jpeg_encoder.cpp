#include "workloads/images/jpeg_encoder.h"

#include <cstdio>  // jpeglib.h needs it before
#include <cstdlib>
#include <memory>

#include <jpeglib.h>

namespace swinscope {

// libjpeg's own error handler ends the program. Nothing can fail here but an allocation: the settings are ours and the
// bytes go to memory.
std::vector<std::uint8_t> encode_jpeg(const RgbImage& image, int quality) {
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
  jpeg_set_quality(&info, quality, TRUE);
  jpeg_start_compress(&info, TRUE);
  const std::size_t row_bytes = std::size_t{info.image_width} * RgbImage::kChannels;
  while (info.next_scanline < info.image_height) {
    // libjpeg does not write to it.
    auto* row = const_cast<JSAMPROW>(image.pixels.data() + info.next_scanline * row_bytes);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  const std::unique_ptr<unsigned char, void (*)(void*)> owner(bytes, std::free);
  return {bytes, bytes + size};
}

}  // namespace swinscope

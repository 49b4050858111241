// PNG files of a mask in the forms that programs write, with libpng's own writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <png.h>

namespace swinscope::test {

struct PngForm {
  int colours = PNG_COLOR_TYPE_GRAY;
  int bits = 8;
  bool interlaced = false;
};

// `packed`: the rows as the file holds them before compression, one after the other.
inline std::vector<std::uint8_t> png_of(int width, int height, std::vector<std::uint8_t> packed, const PngForm& form) {
  std::vector<std::uint8_t> bytes;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &bytes,
      [](png_structp to, png_bytep data, std::size_t count) {
        auto* const out = static_cast<std::vector<std::uint8_t>*>(png_get_io_ptr(to));
        out->insert(out->end(), data, data + count);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), form.bits, form.colours,
               form.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (form.colours == PNG_COLOR_TYPE_PALETTE) {
    std::vector<png_color> palette(std::size_t{1} << form.bits, png_color{200, 100, 50});
    png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
  }
  png_write_info(png, info);
  const int passes = png_set_interlace_handling(png);
  const std::size_t row_bytes = png_get_rowbytes(png, info);
  for (int pass = 0; pass < passes; ++pass) {
    for (int y = 0; y < height; ++y)
      png_write_row(png, packed.data() + static_cast<std::size_t>(y) * row_bytes);
  }
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

}  // namespace swinscope::test

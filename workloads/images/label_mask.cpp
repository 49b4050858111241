#include "workloads/images/label_mask.h"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <stdexcept>

#include <fmt/format.h>
#include <png.h>

#include "workloads/error.h"

namespace swinscope {
namespace {

constexpr int kMostBits = 8;

// Within the functions that call setjmp nothing with a destructor is made, since libpng jumps over it. False: an error,
// see the message.
class MaskReader {
 public:
  MaskReader(std::span<const std::uint8_t> bytes, std::int64_t most_pixels)
      : bytes_(bytes),
        most_pixels_(most_pixels),
        png_(png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning)),
        info_(png_ == nullptr ? nullptr : png_create_info_struct(png_)) {}
  ~MaskReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  MaskReader(const MaskReader&) = delete;
  MaskReader& operator=(const MaskReader&) = delete;
  MaskReader(MaskReader&&) = delete;
  MaskReader& operator=(MaskReader&&) = delete;

  bool read_header() {
    if (info_ == nullptr) return fail("out of memory");
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, this, on_read);
    png_read_info(png_, info_);
    const std::int64_t pixels = std::int64_t{png_get_image_width(png_, info_)} * png_get_image_height(png_, info_);
    if (pixels > most_pixels_) return fail("it claims more pixels than any photograph has");
    const int colours = png_get_color_type(png_, info_);
    if (colours != PNG_COLOR_TYPE_GRAY && colours != PNG_COLOR_TYPE_PALETTE) {
      return fail("it holds colours; a mask holds a grey level or a palette's number for each pixel");
    }
    if (png_get_bit_depth(png_, info_) > kMostBits) return fail("it has 16 bits a pixel; a mask has at most 8");
    png_set_packing(png_);  // a byte a pixel, its value as it is
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }
  bool read_rows(png_bytepp rows) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_image(png_, rows);
    png_read_end(png_, nullptr);
    return true;
  }

  int width() const { return static_cast<int>(png_get_image_width(png_, info_)); }
  int height() const { return static_cast<int>(png_get_image_height(png_, info_)); }
  const char* message() const { return message_.data(); }

 private:
  bool fail(const char* message) {
    std::snprintf(message_.data(), message_.size(), "%s", message);
    return false;
  }
  [[noreturn]] static void on_error(png_structp png, png_const_charp message) {
    auto* const reader = static_cast<MaskReader*>(png_get_error_ptr(png));
    reader->fail(message);
    png_longjmp(png, 1);
  }
  static void on_warning(png_structp /*png*/, png_const_charp /*message*/) {}  // of chunks that carry no pixel
  static void on_read(png_structp png, png_bytep to, std::size_t count) {
    auto* const reader = static_cast<MaskReader*>(png_get_io_ptr(png));
    if (count > reader->bytes_.size() - reader->at_) png_error(png, "the file ends too early");
    std::copy_n(reader->bytes_.data() + reader->at_, count, to);
    reader->at_ += count;
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  std::int64_t most_pixels_;
  std::array<char, 200> message_{};
  png_structp png_;
  png_infop info_;
};

}  // namespace

LabelMask decode_mask(std::span<const std::uint8_t> png, const std::string& name, std::int64_t most_pixels) {
  MaskReader reader(png, most_pixels);
  const auto check = [&](bool done) {
    if (done) return;
    throw WorkloadError(WorkloadErrorKind::kInput, fmt::format("{}: not a readable mask", name), reader.message(), {});
  };
  check(reader.read_header());
  LabelMask mask{reader.width(), reader.height(), {}};
  const auto width = static_cast<std::size_t>(mask.width);
  mask.labels.resize(width * static_cast<std::size_t>(mask.height));
  std::vector<png_bytep> rows(static_cast<std::size_t>(mask.height));
  for (std::size_t y = 0; y < rows.size(); ++y)
    rows[y] = mask.labels.data() + y * width;
  check(reader.read_rows(rows.data()));
  return mask;
}

std::vector<std::uint8_t> encode_mask(const LabelMask& mask) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(mask.width);
  image.height = static_cast<png_uint_32>(mask.height);
  image.format = PNG_FORMAT_GRAY;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<std::uint8_t> bytes(size);
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, mask.labels.data(), 0, nullptr) == 0) {
    throw std::runtime_error(fmt::format("encode_mask: {}", image.message));
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace swinscope

#include "workloads/images/jpeg_decoder.h"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>  // jpeglib.h needs it before
#include <utility>
#include <vector>

#include <fmt/format.h>
// jerror.h numbers its messages by the version that jpeglib.h says.
// clang-format off
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include "workloads/error.h"

namespace swinscope {
namespace {

constexpr int kCmykChannels = 4;
constexpr int kLargestReduction = 8;
// A progressive file may hold any number of scans, each of which goes over the whole picture. Encoders write about ten.
constexpr int kMostScans = 200;
// For the coefficients of a progressive picture, which libjpeg keeps until the last scan: 2 bytes a sample.
constexpr long kMostCoefficientBytes = 2L * RgbImage::kChannels * kMostPixels;

struct ErrorManager {
  jpeg_error_mgr base;  // first: libjpeg hands out its address
  std::jmp_buf jump;
  std::array<char, JMSG_LENGTH_MAX> message;
};

ErrorManager& manager_of(j_common_ptr info) { return *reinterpret_cast<ErrorManager*>(info->err); }

[[noreturn]] void on_error(j_common_ptr info) {
  ErrorManager& errors = manager_of(info);
  info->err->format_message(info, errors.message.data());
  std::longjmp(errors.jump, 1);
}

// Warnings (levels below 0) are damage that libjpeg paints over, but for these, which cost no pixel.
bool is_harmless(int warning) {
  return warning == JWRN_EXTRANEOUS_DATA || warning == JWRN_ADOBE_XFORM || warning == JWRN_JFIF_MAJOR ||
         warning == JWRN_TOO_MUCH_DATA;
}

void on_message(j_common_ptr info, int level) {
  if (level < 0 && !is_harmless(info->err->msg_code)) on_error(info);
}

void on_progress(j_common_ptr info) {
  const auto* const decompress = reinterpret_cast<j_decompress_ptr>(info);
  if (decompress->input_scan_number <= kMostScans) return;
  ErrorManager& errors = manager_of(info);
  std::snprintf(errors.message.data(), errors.message.size(), "it has more than %d scans", kMostScans);
  std::longjmp(errors.jump, 1);
}

// Adobe's programs store CMYK inverted, and others do as they do.
void cmyk_to_rgb(const std::uint8_t* cmyk, int width, std::uint8_t* rgb) {
  for (int x = 0; x < width; ++x, cmyk += kCmykChannels, rgb += RgbImage::kChannels) {
    for (int channel = 0; channel < RgbImage::kChannels; ++channel)
      rgb[channel] = static_cast<std::uint8_t>((cmyk[channel] * cmyk[3] + 127) / 255);
  }
}

}  // namespace

// Within the functions that call setjmp nothing with a destructor is made, since libjpeg jumps over it. False: an
// error, see the message.
struct JpegDecoder::State {
  State(std::span<const std::uint8_t> source, std::string source_name) : bytes(source), name(std::move(source_name)) {
    info.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = on_error;
    errors.base.emit_message = on_message;
    progress.progress_monitor = on_progress;
  }
  ~State() { jpeg_destroy_decompress(&info); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;

  bool read_header() {
    if (setjmp(errors.jump) != 0) return false;
    jpeg_create_decompress(&info);
    info.progress = &progress;
    info.mem->max_memory_to_use = kMostCoefficientBytes;
    jpeg_mem_src(&info, bytes.data(), bytes.size());
    jpeg_read_header(&info, TRUE);
    return true;
  }
  bool start(int reduction) {
    if (setjmp(errors.jump) != 0) return false;
    const bool cmyk = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
    info.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
    info.scale_num = 1;
    info.scale_denom = static_cast<unsigned>(reduction);
    jpeg_start_decompress(&info);
    return true;
  }
  bool read_pixels(std::uint8_t* pixels, std::uint8_t* cmyk_row) {
    if (setjmp(errors.jump) != 0) return false;
    while (info.output_scanline < info.output_height) {
      std::uint8_t* const row = pixels + std::size_t{info.output_scanline} * info.output_width * RgbImage::kChannels;
      JSAMPROW target = info.out_color_space == JCS_CMYK ? cmyk_row : row;
      jpeg_read_scanlines(&info, &target, 1);
      if (target != row) cmyk_to_rgb(target, static_cast<int>(info.output_width), row);
    }
    jpeg_finish_decompress(&info);
    return true;
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw WorkloadError(WorkloadErrorKind::kInput, fmt::format("{}: not a readable JPEG file", name), why, {});
  }
  void check(bool done) const {
    if (!done) refuse(errors.message.data());
  }

  std::span<const std::uint8_t> bytes;
  std::string name;
  ErrorManager errors{};
  jpeg_progress_mgr progress{};
  jpeg_decompress_struct info{};
};

JpegDecoder::JpegDecoder(std::span<const std::uint8_t> bytes, std::string name, std::int64_t most_pixels)
    : state_(std::make_unique<State>(bytes, std::move(name))) {
  if (bytes.empty()) state_->refuse("the file is empty");
  state_->check(state_->read_header());
  const std::int64_t pixels = std::int64_t{width()} * height();
  if (pixels > most_pixels) state_->refuse(fmt::format("it claims {} x {} pixels", width(), height()));
}

JpegDecoder::~JpegDecoder() = default;

int JpegDecoder::width() const { return static_cast<int>(state_->info.image_width); }
int JpegDecoder::height() const { return static_cast<int>(state_->info.image_height); }

RgbImage JpegDecoder::decode(int reduction) {
  State& state = *state_;
  state.check(state.start(reduction));
  RgbImage image;
  image.width = static_cast<int>(state.info.output_width);
  image.height = static_cast<int>(state.info.output_height);
  const auto width = static_cast<std::size_t>(image.width);
  image.pixels.resize(width * static_cast<std::size_t>(image.height) * RgbImage::kChannels);
  std::vector<std::uint8_t> row(width * kCmykChannels);
  state.check(state.read_pixels(image.pixels.data(), row.data()));
  return image;
}

int reduction_for(int length, int least) {
  int reduction = 1;
  while (reduction < kLargestReduction && length / (2 * reduction) >= least)
    reduction *= 2;
  return reduction;
}

}  // namespace swinscope

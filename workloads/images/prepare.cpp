#include "workloads/images/prepare.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "workloads/hash_stream.h"
#include "workloads/images/jpeg_decoder.h"
#include "workloads/images/resize.h"

namespace swinscope {
namespace {

constexpr std::size_t kChannels = RgbImage::kChannels;
constexpr double kCropShare = 0.9;
constexpr int kLeastShrinking = 2;  // what is left to the bicubic kernel after a reduced decoding
constexpr std::array<float, kChannels> kMean = {0.485F, 0.456F, 0.406F};
constexpr std::array<float, kChannels> kDeviation = {0.229F, 0.224F, 0.225F};

using ByteTable = std::array<std::array<float, 256>, kChannels>;

// In fp32 throughout, as torchvision computes it.
ByteTable make_table() {
  ByteTable table{};
  for (std::size_t channel = 0; channel < kChannels; ++channel) {
    for (std::size_t value = 0; value < table[channel].size(); ++value)
      table[channel][value] = (static_cast<float>(value) / 255.0F - kMean[channel]) / kDeviation[channel];
  }
  return table;
}

int resized_side(int size) { return static_cast<int>(std::floor(size / kCropShare)); }

// Python's round(): halves to even.
int middle(int extent, int size) { return static_cast<int>(std::nearbyint((extent - size) / 2.0)); }

}  // namespace

void normalize(const RgbImage& image, bool mirrored, std::span<float> prepared) {
  static const ByteTable table = make_table();
  const auto width = static_cast<std::size_t>(image.width);
  const auto height = static_cast<std::size_t>(image.height);
  for (std::size_t channel = 0; channel < kChannels; ++channel) {
    float* row = prepared.data() + channel * width * height;
    const std::uint8_t* pixel = image.pixels.data() + channel;
    for (std::size_t y = 0; y < height; ++y, row += width) {
      for (std::size_t x = 0; x < width; ++x, pixel += kChannels)
        row[mirrored ? width - 1 - x : x] = table[channel][*pixel];
    }
  }
}

void prepare_for_evaluation(const RgbImage& image, int size, std::span<float> prepared) {
  const int shorter = std::min(image.width, image.height);
  const int target = resized_side(size);
  const auto resized = [&](int extent) { return static_cast<int>(std::int64_t{target} * extent / shorter); };
  const int width = resized(image.width);
  const int height = resized(image.height);
  const Box window{middle(width, size), middle(height, size), size, size};
  normalize(resize(image, {0, 0, image.width, image.height}, width, height, window), false, prepared);
}

void prepare_for_evaluation(std::span<const std::uint8_t> jpeg, const std::string& name, int size,
                            std::span<float> prepared) {
  JpegDecoder decoder(jpeg, name);
  const int reduction =
      reduction_for(std::min(decoder.width(), decoder.height()), kLeastShrinking * resized_side(size));
  prepare_for_evaluation(decoder.decode(reduction), size, prepared);
}

RandomCrop draw_crop(int width, int height, const CropDraw& draw) {
  constexpr std::uint64_t kTries = 10;
  constexpr std::uint64_t kDrawsOfATry = 4;
  const double log_ratio = std::log(4.0 / 3.0);
  const HashStream stream(fmt::format("data.crop.{}", draw.sample), draw.seed);
  RandomCrop crop;
  crop.mirrored = stream.unit(0) < 0.5;
  const double area = static_cast<double>(width) * height;
  for (std::uint64_t attempt = 0; attempt < kTries; ++attempt) {
    const std::uint64_t at = 1 + attempt * kDrawsOfATry;
    const double share = draw.least_area + (1.0 - draw.least_area) * stream.unit(at);
    const double ratio = std::exp(log_ratio * (2.0 * stream.unit(at + 1) - 1.0));
    const int w = static_cast<int>(std::lround(std::sqrt(area * share * ratio)));
    const int h = static_cast<int>(std::lround(std::sqrt(area * share / ratio)));
    if (w < 1 || h < 1 || w > width || h > height) continue;
    crop.box = {static_cast<int>(stream.unit(at + 2) * (width - w + 1)),
                static_cast<int>(stream.unit(at + 3) * (height - h + 1)), w, h};
    return crop;
  }
  const int w = std::min(width, static_cast<int>(std::lround(height * 4.0 / 3.0)));
  const int h = std::min(height, static_cast<int>(std::lround(width * 4.0 / 3.0)));
  crop.box = {(width - w) / 2, (height - h) / 2, w, h};
  return crop;
}

void prepare_for_training(std::span<const std::uint8_t> jpeg, const std::string& name, int size, const CropDraw& draw,
                          std::span<float> prepared) {
  JpegDecoder decoder(jpeg, name);
  const RandomCrop crop = draw_crop(decoder.width(), decoder.height(), draw);
  const int reduction = reduction_for(std::min(crop.box.width, crop.box.height), size);
  const RgbImage image = decoder.decode(reduction);
  Box box;
  box.x = crop.box.x / reduction;
  box.y = crop.box.y / reduction;
  box.width = std::clamp(crop.box.width / reduction, 1, image.width - box.x);
  box.height = std::clamp(crop.box.height / reduction, 1, image.height - box.y);
  normalize(resize(image, box, size, size, {0, 0, size, size}), crop.mirrored, prepared);
}

}  // namespace swinscope

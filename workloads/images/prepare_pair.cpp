#include "workloads/images/prepare_pair.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "workloads/hash_stream.h"
#include "workloads/images/prepare.h"
#include "workloads/images/resize.h"

namespace swinscope {
namespace {

constexpr std::uint8_t kIgnored = 255;
constexpr std::array<std::uint8_t, RgbImage::kChannels> kMeanBytes = {124, 116, 104};  // becomes about 0
constexpr double kMostOfOneClass = 0.75;
constexpr std::uint64_t kTries = 10;

// A size x size window on the resized pair.
struct Window {
  int width = 0;  // of the resized pair
  int height = 0;
  int x = 0;
  int y = 0;
};

// What is cut off is rounded down: nothing is negative. (std::lround is a call for each value.)
std::uint8_t to_byte(double value) {
  constexpr double kHalf = 0.5;
  return static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0) + kHalf);
}

// The labels within the window, those outside of the pair ignored.
void cut_labels(const LabelMask& mask, const Window& window, int size, bool mirrored, std::span<std::uint8_t> labels) {
  // The source pixel whose area holds the middle of this one.
  const auto source = [](int at, int extent, int scaled_extent) {
    return static_cast<std::size_t>((2 * std::int64_t{at} + 1) * extent / (2 * std::int64_t{scaled_extent}));
  };
  const auto rows = static_cast<std::size_t>(std::min(size, window.height - window.y));
  std::vector<std::size_t> columns(static_cast<std::size_t>(std::min(size, window.width - window.x)));
  for (std::size_t column = 0; column < columns.size(); ++column)
    columns[column] = source(window.x + static_cast<int>(column), mask.width, window.width);
  const auto side = static_cast<std::size_t>(size);
  std::ranges::fill(labels, kIgnored);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t first =
        source(window.y + static_cast<int>(row), mask.height, window.height) * static_cast<std::size_t>(mask.width);
    const auto to = labels.subspan(row * side, side);
    for (std::size_t column = 0; column < columns.size(); ++column)
      to[mirrored ? side - 1 - column : column] = mask.labels[first + columns[column]];
  }
}

double largest_share(std::span<const std::uint8_t> labels) {
  std::array<std::int64_t, kIgnored> counts{};
  std::int64_t counted = 0;
  for (const std::uint8_t label : labels) {
    if (label == kIgnored) continue;
    ++counts[label];
    ++counted;
  }
  return counted == 0 ? 1.0 : static_cast<double>(*std::ranges::max_element(counts)) / static_cast<double>(counted);
}

// The picture within the window, grey outside.
RgbImage cut_pixels(const RgbImage& image, const Window& window, int size) {
  const Box box{window.x, window.y, std::min(size, window.width - window.x), std::min(size, window.height - window.y)};
  RgbImage part = resize(image, {0, 0, image.width, image.height}, window.width, window.height, box);
  if (part.width == size && part.height == size) return part;
  RgbImage whole{size, size, {}};
  const std::size_t pixels = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  for (std::size_t i = 0; i < pixels; ++i)
    whole.pixels.insert(whole.pixels.end(), kMeanBytes.begin(), kMeanBytes.end());
  const std::size_t row_bytes = static_cast<std::size_t>(part.width) * RgbImage::kChannels;
  for (int y = 0; y < part.height; ++y) {
    const auto row = static_cast<std::size_t>(y);
    std::copy_n(
        part.pixels.begin() + static_cast<std::ptrdiff_t>(row * row_bytes), row_bytes,
        whole.pixels.begin() + static_cast<std::ptrdiff_t>(row * static_cast<std::size_t>(size) * RgbImage::kChannels));
  }
  return whole;
}

Window scaled(const RgbImage& image, double factor) {
  const auto side = [factor](int extent) { return std::max(1, static_cast<int>(std::lround(extent * factor))); };
  return {side(image.width), side(image.height), 0, 0};
}

Window fitted(const RgbImage& image, int size) {
  return scaled(image, static_cast<double>(size) / std::max(image.width, image.height));
}

using Pixel = std::array<double, RgbImage::kChannels>;

// The colour turned around the grey axis; a rotation of all colours keeps their grey level (the YIQ plane).
Pixel turned(const Pixel& p, double cosine, double sine) {
  const double y = 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2];
  const double i = 0.596 * p[0] - 0.274 * p[1] - 0.322 * p[2];
  const double q = 0.211 * p[0] - 0.523 * p[1] + 0.312 * p[2];
  const double ri = cosine * i - sine * q;
  const double rq = sine * i + cosine * q;
  return {y + 0.956 * ri + 0.621 * rq, y - 0.272 * ri - 0.647 * rq, y - 1.106 * ri + 1.703 * rq};
}

}  // namespace

void distort_colours(RgbImage& image, const PairDraw& draw) {
  constexpr double kBrightness = 32.0;
  constexpr double kFactor = 0.5;
  constexpr double kHue = 18.0 * 3.14159265358979323846 / 180.0;
  const HashStream stream(fmt::format("data.colours.{}", draw.sample), draw.seed);
  // One in two; then between -1 and 1.
  const auto move = [&stream](std::uint64_t which) {
    return stream.unit(2 * which) < 0.5 ? 0.0 : 2.0 * stream.unit(2 * which + 1) - 1.0;
  };
  const double brightness = kBrightness * move(0);
  const double contrast = 1.0 + kFactor * move(1);
  const double saturation = 1.0 + kFactor * move(2);
  const double hue = kHue * move(3);
  const double cosine = std::cos(hue);
  const double sine = std::sin(hue);
  for (std::size_t at = 0; at + 2 < image.pixels.size(); at += RgbImage::kChannels) {
    Pixel pixel;
    for (std::size_t c = 0; c < pixel.size(); ++c)
      pixel[c] = (image.pixels[at + c] + brightness) * contrast;
    const double grey = 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2];
    for (double& value : pixel)
      value = grey + (value - grey) * saturation;
    if (hue != 0.0) pixel = turned(pixel, cosine, sine);
    for (std::size_t c = 0; c < pixel.size(); ++c)
      image.pixels[at + c] = to_byte(pixel[c]);
  }
}

void prepare_pair_for_training(const RgbImage& image, const LabelMask& mask, int size, const PairDraw& draw,
                               std::span<float> prepared, std::span<std::uint8_t> labels) {
  const HashStream stream(fmt::format("data.pair.{}", draw.sample), draw.seed);
  const double fitting = static_cast<double>(size) / std::min(image.width, image.height);
  const bool mirrored = stream.unit(0) < 0.5;
  Window window = scaled(image, fitting * (0.5 + 1.5 * stream.unit(1)));
  for (std::uint64_t attempt = 0; attempt < kTries; ++attempt) {
    const auto place = [&](int extent, std::uint64_t at) {
      return static_cast<int>(stream.unit(at) * (std::max(0, extent - size) + 1));
    };
    window.x = place(window.width, 2 + 2 * attempt);
    window.y = place(window.height, 3 + 2 * attempt);
    cut_labels(mask, window, size, mirrored, labels);
    if (largest_share(labels) < kMostOfOneClass) break;
  }
  RgbImage part = cut_pixels(image, window, size);
  distort_colours(part, draw);
  normalize(part, mirrored, prepared);
}

void prepare_pair_for_evaluation(const RgbImage& image, const LabelMask& mask, int size, std::span<float> prepared,
                                 std::span<std::uint8_t> labels) {
  cut_labels(mask, fitted(image, size), size, false, labels);
  prepare_scene(image, size, prepared);
}

void prepare_scene(const RgbImage& image, int size, std::span<float> prepared) {
  normalize(cut_pixels(image, fitted(image, size), size), false, prepared);
}

}  // namespace swinscope

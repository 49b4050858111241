#include "workloads/images/resize.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace swinscope {
namespace {

constexpr int kChannels = RgbImage::kChannels;
constexpr double kSupport = 2.0;  // of the bicubic kernel, in pixels of the coarser picture
constexpr int kFractionBits = 22;
constexpr std::int32_t kHalf = std::int32_t{1} << (kFractionBits - 1);

double cubic(double x) {
  x = std::abs(x);
  if (x < 1.0) return (1.5 * x - 2.5) * x * x + 1.0;
  return x < kSupport ? ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0 : 0.0;
}

std::uint8_t to_byte(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kFractionBits, std::int32_t{0}, std::int32_t{255}));
}

// The pixels `first`, `first` + 1, ... along one axis and their weights.
struct Taps {
  int first = 0;
  std::vector<std::int32_t> weights;
  int end() const { return first + static_cast<int>(weights.size()); }
};

// Of the values begin ... begin + count - 1 when `length` pixels become `resized`.
std::vector<Taps> taps_for(int length, int resized, int begin, int count) {
  const double scale = static_cast<double>(length) / resized;
  const double widening = std::max(scale, 1.0);
  const double support = kSupport * widening;
  std::vector<Taps> all;
  std::vector<double> weights;
  for (int i = begin; i < begin + count; ++i) {
    const double centre = (i + 0.5) * scale;
    Taps taps;
    taps.first = std::max(0, static_cast<int>(std::floor(centre - support + 0.5)));
    const int end = std::min(length, static_cast<int>(std::floor(centre + support + 0.5)));
    weights.clear();
    double sum = 0.0;
    for (int at = taps.first; at < end; ++at) {
      weights.push_back(cubic((at - centre + 0.5) / widening));
      sum += weights.back();
    }
    for (const double weight : weights)
      taps.weights.push_back(static_cast<std::int32_t>(std::lround(weight / sum * (1 << kFractionBits))));
    all.push_back(std::move(taps));
  }
  return all;
}

// row: the pixels of one row of the part.
void resize_row(const std::uint8_t* row, std::span<const Taps> columns, std::uint8_t* resized) {
  for (const Taps& taps : columns) {
    std::int32_t red = kHalf;
    std::int32_t green = kHalf;
    std::int32_t blue = kHalf;
    const std::uint8_t* pixel = row + static_cast<std::ptrdiff_t>(taps.first) * kChannels;
    for (const std::int32_t weight : taps.weights) {
      red += pixel[0] * weight;
      green += pixel[1] * weight;
      blue += pixel[2] * weight;
      pixel += kChannels;
    }
    *resized++ = to_byte(red);
    *resized++ = to_byte(green);
    *resized++ = to_byte(blue);
  }
}

}  // namespace

RgbImage resize(const RgbImage& image, const Box& part, int width, int height, const Box& window) {
  const std::vector<Taps> columns = taps_for(part.width, width, window.x, window.width);
  const std::vector<Taps> rows = taps_for(part.height, height, window.y, window.height);
  // Only the rows that the window needs.
  const int first_row = rows.front().first;
  const int end_row = rows.back().end();
  const auto row_bytes = static_cast<std::size_t>(window.width) * kChannels;
  std::vector<std::uint8_t> narrow(static_cast<std::size_t>(end_row - first_row) * row_bytes);
  for (int y = first_row; y < end_row; ++y) {
    const std::size_t start =
        static_cast<std::size_t>(part.y + y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(part.x);
    resize_row(image.pixels.data() + start * kChannels, columns,
               narrow.data() + static_cast<std::size_t>(y - first_row) * row_bytes);
  }
  RgbImage result{window.width, window.height, std::vector<std::uint8_t>(rows.size() * row_bytes)};
  std::vector<std::int32_t> sums(row_bytes);
  for (std::size_t y = 0; y < rows.size(); ++y) {
    std::ranges::fill(sums, kHalf);
    const std::uint8_t* source = narrow.data() + static_cast<std::size_t>(rows[y].first - first_row) * row_bytes;
    for (const std::int32_t weight : rows[y].weights) {
      for (std::size_t i = 0; i < row_bytes; ++i)
        sums[i] += source[i] * weight;
      source += row_bytes;
    }
    std::ranges::transform(sums, result.pixels.begin() + static_cast<std::ptrdiff_t>(y * row_bytes), to_byte);
  }
  return result;
}

}  // namespace swinscope

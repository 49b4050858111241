#include "workloads/synthetic_data.h"

#include <cmath>
#include <numbers>
#include <string>

#include "kernels/parallel.h"
#include "workloads/redraw.h"

namespace swinscope {
namespace {

constexpr double kNoise = 1.7320508075688772;   // uniform within +-half of this: standard deviation 0.5
constexpr double kSignal = 1.2247448713915890;  // a sine of this amplitude has variance 0.75
constexpr double kSlowest = 2.0;                // cycles per image
constexpr double kFastest = 8.0;

}  // namespace

SyntheticData::SyntheticData(const SwinConfig& config, std::int64_t size, std::uint64_t seed)
    : image_size_(config.image_size), size_(size), seed_(seed), classes_(static_cast<std::size_t>(config.classes)) {
  const HashStream stream("synthetic.classes", seed);
  std::uint64_t at = 0;
  for (Grating& grating : classes_) {
    const double angle = 2.0 * std::numbers::pi * stream.unit(at++);
    const double cycles = kSlowest + (kFastest - kSlowest) * stream.unit(at++);
    grating.horizontal = cycles * std::cos(angle);
    grating.vertical = cycles * std::sin(angle);
    for (double& colour : grating.colours)
      colour = stream.unit(at++) < 0.5 ? -1.0 : 1.0;
  }
}

std::int32_t SyntheticData::label(std::int64_t number) const {
  const HashStream stream("synthetic.label", seed_);
  return static_cast<std::int32_t>(stream.bits(static_cast<std::uint64_t>(number % size_)) % classes_.size());
}

template <typename T>
void SyntheticData::draw(std::int64_t number, T* image) const {
  const Grating& grating = classes_[static_cast<std::size_t>(label(number))];
  const HashStream stream("synthetic.image." + std::to_string(number % size_), seed_);
  const double phase = 2.0 * std::numbers::pi * stream.unit(0);
  const double step = 2.0 * std::numbers::pi / static_cast<double>(image_size_);
  // cos(a + b) = cos a cos b - sin a sin b: trigonometry for each row and column, not for each pixel.
  std::vector<double> column_cos(static_cast<std::size_t>(image_size_));
  std::vector<double> column_sin(column_cos.size());
  for (std::size_t x = 0; x < column_cos.size(); ++x) {
    column_cos[x] = std::cos(step * grating.horizontal * static_cast<double>(x));
    column_sin[x] = std::sin(step * grating.horizontal * static_cast<double>(x));
  }
  std::uint64_t at = 1;
  for (const double colour : grating.colours) {
    for (std::int64_t y = 0; y < image_size_; ++y) {
      const double angle = step * grating.vertical * static_cast<double>(y) + phase;
      const double row_cos = kSignal * colour * std::cos(angle);
      const double row_sin = kSignal * colour * std::sin(angle);
      for (std::size_t x = 0; x < column_cos.size(); ++x) {
        const double noise = kNoise * (stream.unit(at++) - 0.5);
        *image++ = static_cast<T>(row_cos * column_cos[x] - row_sin * column_sin[x] + noise);
      }
    }
  }
}

template <typename T>
void SyntheticData::fill(std::int64_t first, std::span<T> images, std::span<std::int32_t> labels) const {
  const std::int64_t elements = kImageChannels * image_size_ * image_size_;
  cpu::parallel_for(static_cast<std::int64_t>(labels.size()), [&](std::int64_t i) {
    labels[static_cast<std::size_t>(i)] = label(first + i);
    draw(first + i, images.data() + i * elements);
  });
}

template void SyntheticData::fill<float>(std::int64_t, std::span<float>, std::span<std::int32_t>) const;
template void SyntheticData::fill<double>(std::int64_t, std::span<double>, std::span<std::int32_t>) const;

}  // namespace swinscope

#include <algorithm>
#include <cmath>

#include "kernels/bilinear_pixel.h"
#include "kernels/check.h"
#include "kernels/parallel.h"
#include "kernels/upsample_loss.h"

namespace swinscope {

OperationCost upsample_loss_forward_cost(const UpsampleShape& s, std::int64_t element_bytes) {
  return {0, s.pixels() * s.channels * element_bytes + s.out_pixels(), s.out_pixels() * element_bytes};
}

OperationCost upsample_loss_backward_cost(const UpsampleShape& s, std::int64_t element_bytes) {
  const std::int64_t logits = s.pixels() * s.channels;
  return {0, (logits + s.out_pixels()) * element_bytes + s.out_pixels(), logits * element_bytes};
}

OperationCost upsample_argmax_cost(const UpsampleShape& s, std::int64_t element_bytes) {
  return {0, s.pixels() * s.channels * element_bytes, s.out_pixels()};
}

namespace cpu {
namespace {

void check(const UpsampleShape& s) {
  require(s.batch >= 0 && s.height > 0 && s.width > 0 && s.out_height > 0 && s.out_width > 0, "upsample_loss",
          "extent out of range");
  require(s.channels > 0 && s.channels <= kIgnoredLabel, "upsample_loss", "classes outside [1, 255]");
}

void check_labels(const UpsampleShape& s, const std::uint8_t* labels) {
  require(std::all_of(labels, labels + s.out_pixels(),
                      [&](std::uint8_t label) { return label == kIgnoredLabel || label < s.channels; }),
          "upsample_loss", "label not below the number of classes");
}

// Calls visit(pixel, z) for every pixel of one row of the resized logits, with the logits of the pixel: `z` has room
// for them.
template <typename T, typename Visit>
void for_pixels_of_row(const UpsampleShape& s, const T* logits, std::int64_t out_row, T* z, const Visit& visit) {
  const T* const image = logits + out_row / s.out_height * s.height * s.width * s.channels;
  const BilinearSource row = bilinear_source(s.height, s.out_height, out_row % s.out_height);
  for (std::int64_t column = 0; column < s.out_width; ++column) {
    const BilinearPixel<T> pixel(image, s.width, s.channels, row, bilinear_source(s.width, s.out_width, column));
    for (std::int64_t c = 0; c < s.channels; ++c)
      z[c] = pixel[c];
    visit(column, z);
  }
}

template <typename T>
double log_sum_exp(const T* z, std::int64_t count, double largest) {
  double sum = 0.0;
  for (std::int64_t c = 0; c < count; ++c)
    sum += std::exp(static_cast<double>(z[c]) - largest);
  return largest + std::log(sum);
}

}  // namespace

template <typename T>
PixelLoss upsample_loss_forward(const UpsampleShape& s, const T* logits, const std::uint8_t* labels, T* lse,
                                PixelLoss* rows) {
  check(s);
  check_labels(s, labels);
  parallel_for(s.batch * s.out_height, [&](std::int64_t out_row) {
    PixelLoss row;
    for_pixels_of_row(s, logits, out_row, thread_scratch<T>(s.channels), [&](std::int64_t column, const T* z) {
      const T* const largest = std::max_element(z, z + s.channels);
      const double pixel_lse = log_sum_exp(z, s.channels, static_cast<double>(*largest));
      const std::int64_t at = out_row * s.out_width + column;
      lse[at] = static_cast<T>(pixel_lse);
      if (labels[at] == kIgnoredLabel) return;
      row.sum += pixel_lse - static_cast<double>(z[labels[at]]);
      ++row.count;
      if (largest - z == labels[at]) ++row.correct;
    });
    rows[out_row] = row;
  });
  PixelLoss total;
  for (std::int64_t out_row = 0; out_row < s.batch * s.out_height; ++out_row)
    total += rows[out_row];
  return total;
}

// A task owns a row of the small map and visits the rows of pixels that read it: two tasks visit each pixel.
template <typename T>
void upsample_loss_backward(const UpsampleShape& s, const T* logits, const std::uint8_t* labels, const T* lse,
                            double pixel_scale, T* dlogits) {
  check(s);
  check_labels(s, labels);
  parallel_for(s.batch * s.height, [&](std::int64_t task) {
    const std::int64_t image = task / s.height;
    const std::int64_t count = s.width * s.channels;
    auto* const sum = thread_scratch<double>(count + s.channels);  // the logits of a pixel behind the sums
    std::fill_n(sum, count, 0.0);
    const BilinearReaders readers = bilinear_readers(s.height, s.out_height, task % s.height);
    for (std::int64_t i = readers.begin; i < readers.end; ++i) {
      const double down = bilinear_source(s.height, s.out_height, i).weight_of(task % s.height) * pixel_scale;
      const std::int64_t out_row = image * s.out_height + i;
      for_pixels_of_row(s, logits, out_row, reinterpret_cast<T*>(sum + count), [&](std::int64_t column, const T* z) {
        const std::int64_t at = out_row * s.out_width + column;
        if (labels[at] == kIgnoredLabel) return;
        const BilinearSource source = bilinear_source(s.width, s.out_width, column);
        double* const low = sum + source.low * s.channels;
        double* const high = sum + source.high * s.channels;
        for (std::int64_t c = 0; c < s.channels; ++c) {
          const double probability = std::exp(static_cast<double>(z[c]) - static_cast<double>(lse[at]));
          const double gradient = down * (probability - (c == labels[at] ? 1.0 : 0.0));
          low[c] += (1.0 - source.weight) * gradient;
          high[c] += source.weight * gradient;
        }
      });
    }
    for (std::int64_t i = 0; i < count; ++i)
      dlogits[task * count + i] = static_cast<T>(sum[i]);
  });
}

template <typename T>
void upsample_argmax(const UpsampleShape& s, const T* logits, std::uint8_t* classes) {
  check(s);
  parallel_for(s.batch * s.out_height, [&](std::int64_t out_row) {
    for_pixels_of_row(s, logits, out_row, thread_scratch<T>(s.channels), [&](std::int64_t column, const T* z) {
      classes[out_row * s.out_width + column] = static_cast<std::uint8_t>(std::max_element(z, z + s.channels) - z);
    });
  });
}

template PixelLoss upsample_loss_forward<float>(const UpsampleShape&, const float*, const std::uint8_t*, float*,
                                                PixelLoss*);
template PixelLoss upsample_loss_forward<double>(const UpsampleShape&, const double*, const std::uint8_t*, double*,
                                                 PixelLoss*);
template void upsample_loss_backward<float>(const UpsampleShape&, const float*, const std::uint8_t*, const float*,
                                            double, float*);
template void upsample_loss_backward<double>(const UpsampleShape&, const double*, const std::uint8_t*, const double*,
                                             double, double*);
template void upsample_argmax<float>(const UpsampleShape&, const float*, std::uint8_t*);
template void upsample_argmax<double>(const UpsampleShape&, const double*, std::uint8_t*);

}  // namespace cpu
}  // namespace swinscope

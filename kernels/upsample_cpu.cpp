#include <algorithm>

#include "kernels/bilinear_pixel.h"
#include "kernels/check.h"
#include "kernels/parallel.h"
#include "kernels/upsample.h"

namespace swinscope {
namespace {

void check(const UpsampleShape& s) {
  require(s.batch >= 0 && s.height > 0 && s.width > 0 && s.out_height > 0 && s.out_width > 0 && s.channels > 0,
          "upsample", "extent out of range");
}

}  // namespace

OperationCost upsample_forward_cost(const UpsampleShape& s, bool accumulates, std::int64_t element_bytes) {
  const std::int64_t y = s.out_pixels() * s.channels;
  return {0, (s.pixels() * s.channels + (accumulates ? y : 0)) * element_bytes, y * element_bytes};
}

OperationCost upsample_backward_cost(const UpsampleShape& s, bool accumulates, std::int64_t element_bytes) {
  const std::int64_t dx = s.pixels() * s.channels;
  return {0, (s.out_pixels() * s.channels + (accumulates ? dx : 0)) * element_bytes, dx * element_bytes};
}

namespace cpu {

template <typename T>
void upsample_forward(const UpsampleShape& s, const T* x, bool accumulate, T* y) {
  check(s);
  parallel_for(s.batch * s.out_height, [&](std::int64_t task) {
    const BilinearSource row = bilinear_source(s.height, s.out_height, task % s.out_height);
    const T* const image = x + task / s.out_height * s.height * s.width * s.channels;
    for (std::int64_t column = 0; column < s.out_width; ++column) {
      const BilinearPixel<T> pixel(image, s.width, s.channels, row, bilinear_source(s.width, s.out_width, column));
      T* const out = y + (task * s.out_width + column) * s.channels;
      for (std::int64_t c = 0; c < s.channels; ++c)
        out[c] = accumulate ? out[c] + pixel[c] : pixel[c];
    }
  });
}

template <typename T>
void upsample_backward(const UpsampleShape& s, const T* dy, bool accumulate, T* dx) {
  check(s);
  parallel_for(s.batch * s.height, [&](std::int64_t task) {
    const std::int64_t row = task % s.height;
    const T* const image = dy + task / s.height * s.out_height * s.out_width * s.channels;
    const BilinearReaders rows = bilinear_readers(s.height, s.out_height, row);
    auto* const sum = thread_scratch<double>(s.channels);
    for (std::int64_t column = 0; column < s.width; ++column) {
      const BilinearReaders columns = bilinear_readers(s.width, s.out_width, column);
      std::fill_n(sum, s.channels, 0.0);
      for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        const double down = bilinear_source(s.height, s.out_height, i).weight_of(row);
        for (std::int64_t j = columns.begin; j < columns.end; ++j) {
          const double weight = down * bilinear_source(s.width, s.out_width, j).weight_of(column);
          const T* const out = image + (i * s.out_width + j) * s.channels;
          for (std::int64_t c = 0; c < s.channels; ++c)
            sum[c] += weight * static_cast<double>(out[c]);
        }
      }
      T* const in = dx + (task * s.width + column) * s.channels;
      for (std::int64_t c = 0; c < s.channels; ++c)
        in[c] = accumulate ? in[c] + static_cast<T>(sum[c]) : static_cast<T>(sum[c]);
    }
  });
}

template void upsample_forward<float>(const UpsampleShape&, const float*, bool, float*);
template void upsample_forward<double>(const UpsampleShape&, const double*, bool, double*);
template void upsample_backward<float>(const UpsampleShape&, const float*, bool, float*);
template void upsample_backward<double>(const UpsampleShape&, const double*, bool, double*);

}  // namespace cpu
}  // namespace swinscope

// Window attention step by step as the reference implementations do it: roll, pad, partition, attend,
// reverse, crop, roll back, with copies at every step and no index arithmetic shared with the kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/window_attention.h"
#include "tests/unit/kernels/support.h"

namespace swinscope::test {

// [height, width] of rows of `channels` values: one image.
struct Map {
  std::int64_t height;
  std::int64_t width;
  std::int64_t channels;
  std::vector<double> values;

  double& at(std::int64_t y, std::int64_t x, std::int64_t c) { return values[to_size((y * width + x) * channels + c)]; }
  double at(std::int64_t y, std::int64_t x, std::int64_t c) const {
    return values[to_size((y * width + x) * channels + c)];
  }
};

inline Map make_map(std::int64_t height, std::int64_t width, std::int64_t channels) {
  return {height, width, channels, std::vector<double>(to_size(height * width * channels))};
}

// out[y][x] = in[y + dy][x + dx], cyclically.
inline Map roll(const Map& in, std::int64_t dy, std::int64_t dx) {
  Map out = in;
  for (std::int64_t y = 0; y < in.height; ++y) {
    for (std::int64_t x = 0; x < in.width; ++x) {
      for (std::int64_t c = 0; c < in.channels; ++c) {
        out.at(y, x, c) =
            in.at(((y + dy) % in.height + in.height) % in.height, ((x + dx) % in.width + in.width) % in.width, c);
      }
    }
  }
  return out;
}

// Grows or crops below and to the right; new places are `fill`, one value a channel.
inline Map resize(const Map& in, std::int64_t height, std::int64_t width, const std::vector<double>& fill) {
  Map out = make_map(height, width, in.channels);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      for (std::int64_t c = 0; c < in.channels; ++c) {
        out.at(y, x, c) = y < in.height && x < in.width ? in.at(y, x, c) : fill[to_size(c)];
      }
    }
  }
  return out;
}

// Paints the 3 x 3 regions as nested slices [0:-w], [-w:-s], [-s:], a later slice over an earlier one. A
// shift of 0 makes the last slice the whole extent.
inline Map region_map(std::int64_t height, std::int64_t width, Extent2 window, Extent2 shift) {
  struct Slice {
    std::int64_t begin, end;
  };
  const auto slices = [](std::int64_t extent, std::int64_t w, std::int64_t s) {
    return std::vector<Slice>{
        {0, extent - w}, {extent - w, s == 0 ? 0 : extent - s}, {s == 0 ? 0 : extent - s, extent}};
  };
  Map regions = make_map(height, width, 1);
  double id = 0.0;
  for (const Slice& rows : slices(height, window.height, shift.height)) {
    for (const Slice& columns : slices(width, window.width, shift.width)) {
      for (std::int64_t y = rows.begin; y < rows.end; ++y) {
        for (std::int64_t x = columns.begin; x < columns.end; ++x)
          regions.at(y, x, 0) = id;
      }
      id += 1.0;
    }
  }
  return regions;
}

// The windows of a map, row by row, each a list of token rows.
inline std::vector<Map> partition(const Map& in, Extent2 window) {
  std::vector<Map> windows;
  for (std::int64_t top = 0; top < in.height; top += window.height) {
    for (std::int64_t left = 0; left < in.width; left += window.width) {
      Map part = make_map(window.height, window.width, in.channels);
      for (std::int64_t y = 0; y < window.height; ++y) {
        for (std::int64_t x = 0; x < window.width; ++x) {
          for (std::int64_t c = 0; c < in.channels; ++c)
            part.at(y, x, c) = in.at(top + y, left + x, c);
        }
      }
      windows.push_back(part);
    }
  }
  return windows;
}

inline Map reverse_partition(const std::vector<Map>& windows, std::int64_t height, std::int64_t width) {
  const Map& first = windows.front();
  Map out = make_map(height, width, first.channels);
  std::size_t index = 0;
  for (std::int64_t top = 0; top < height; top += first.height) {
    for (std::int64_t left = 0; left < width; left += first.width, ++index) {
      for (std::int64_t y = 0; y < first.height; ++y) {
        for (std::int64_t x = 0; x < first.width; ++x) {
          for (std::int64_t c = 0; c < first.channels; ++c) {
            out.at(top + y, left + x, c) = windows[index].at(y, x, c);
          }
        }
      }
    }
  }
  return out;
}

struct ReferenceAttention {
  std::vector<double> out;  // [tokens, channels]
  std::vector<double> lse;  // [tokens, heads]
};

// One head of one window: output and LSE rows are written into `out` (channels + heads values a token).
inline void attend(const WindowAttentionShape& shape, const WindowAttentionInputs<double>& inputs, const Map& qkv,
                   const Map& regions, std::int64_t head, Map& out) {
  const std::int64_t width = qkv.width;
  const std::int64_t tokens = qkv.height * width;
  const std::int64_t channels = shape.channels();
  const auto value = [&](std::int64_t token, std::int64_t part, std::int64_t c) {
    return qkv.at(token / width, token % width, part * channels + head * shape.head_dim + c);
  };
  const auto product = [&](std::int64_t a, std::int64_t part_a, std::int64_t b, std::int64_t part_b) {
    double sum = 0.0;
    for (std::int64_t c = 0; c < shape.head_dim; ++c)
      sum += value(a, part_a, c) * value(b, part_b, c);
    return sum;
  };
  for (std::int64_t i = 0; i < tokens; ++i) {
    std::vector<double> score(to_size(tokens));
    for (std::int64_t j = 0; j < tokens; ++j) {
      double s = product(i, 0, j, 1);
      if (shape.score == AttentionScore::kScaledDot) {
        s *= std::pow(static_cast<double>(shape.head_dim), -0.5);
      } else {
        s /= std::max(std::sqrt(product(i, 0, i, 0)), 1e-12) * std::max(std::sqrt(product(j, 1, j, 1)), 1e-12);
        s *= std::exp(std::min(inputs.logit_scale[head], std::log(1.0 / 0.01)));
      }
      const std::int64_t dy = i / width - j / width + qkv.height - 1;
      const std::int64_t dx = i % width - j % width + width - 1;
      s += inputs.bias_table[(dy * (2 * width - 1) + dx) * shape.heads + head];
      if (regions.at(i / width, i % width, 0) != regions.at(j / width, j % width, 0)) s -= 100.0;
      score[to_size(j)] = s;
    }
    const double largest = *std::max_element(score.begin(), score.end());
    double sum = 0.0;
    for (const double s : score)
      sum += std::exp(s - largest);
    for (std::int64_t c = 0; c < shape.head_dim; ++c) {
      double o = 0.0;
      for (std::int64_t j = 0; j < tokens; ++j)
        o += std::exp(score[to_size(j)] - largest) / sum * value(j, 2, c);
      out.at(i / width, i % width, head * shape.head_dim + c) = o;
    }
    out.at(i / width, i % width, channels + head) = largest + std::log(sum);
  }
}

inline ReferenceAttention reference_attention(const WindowAttentionShape& shape,
                                              const WindowAttentionInputs<double>& inputs) {
  const WindowGrid& grid = shape.grid;
  const std::int64_t channels = shape.channels();
  const Extent2 windows = grid.windows();
  const std::int64_t height = windows.height * grid.window.height;
  const std::int64_t width = windows.width * grid.window.width;
  std::vector<double> pad(to_size(3 * channels), 0.0);
  if (inputs.pad_qkv != nullptr) std::copy_n(inputs.pad_qkv, 3 * channels, pad.begin());
  const auto regions = partition(region_map(height, width, grid.window, grid.shift), grid.window);
  ReferenceAttention result;
  for (std::int64_t b = 0; b < grid.batch; ++b) {
    Map image = make_map(grid.map.height, grid.map.width, 3 * channels);
    std::copy_n(inputs.qkv + b * grid.map.area() * 3 * channels, image.values.size(), image.values.begin());
    const auto parts =
        partition(resize(roll(image, grid.shift.height, grid.shift.width), height, width, pad), grid.window);
    std::vector<Map> outs;
    for (std::size_t w = 0; w < parts.size(); ++w) {
      outs.push_back(make_map(grid.window.height, grid.window.width, channels + shape.heads));
      for (std::int64_t head = 0; head < shape.heads; ++head) {
        attend(shape, inputs, parts[w], regions[w], head, outs.back());
      }
    }
    const Map whole = roll(resize(reverse_partition(outs, height, width), grid.map.height, grid.map.width, {}),
                           -grid.shift.height, -grid.shift.width);
    for (std::int64_t token = 0; token < grid.map.area(); ++token) {
      const auto row = whole.values.begin() + token * (channels + shape.heads);
      result.out.insert(result.out.end(), row, row + channels);
      result.lse.insert(result.lse.end(), row + channels, row + channels + shape.heads);
    }
  }
  return result;
}

}  // namespace swinscope::test

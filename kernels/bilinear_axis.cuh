// The weights of bilinear.h in 32 bits and fp32, for kernels. (Compiled for the host, too: its test needs no GPU.)
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

namespace swinscope::cuda {

// Extents beyond this many pixels would overflow the coordinates.
constexpr std::int64_t kLargestResizeExtent = 1 << 14;

// One axis of a resize from `from` to `to` pixels.
struct BilinearAxis {
  int from;
  int to;
  float unit;  // of a coordinate in pixels of the input: 1 / (2 to)

  static BilinearAxis of(std::int64_t from, std::int64_t to) {
    return {static_cast<int>(from), static_cast<int>(to), 1.0F / static_cast<float>(2 * to)};
  }

  struct Place {
    int low;
    int high;
    float weight;  // of high; low has the rest
  };

  __device__ int coordinate(int output) const {
    const int exact = (2 * output + 1) * from - to;
    return exact > 0 ? exact : 0;
  }
  __device__ Place place(int output) const {
    const int at = coordinate(output);
    const int low = at / (2 * to);
    return {low, low + 1 < from ? low + 1 : low, static_cast<float>(at - low * 2 * to) * unit};
  }
  // Of `input` for one of its readers.
  __device__ float weight_of(int output, int input) const {
    const int distance = coordinate(output) - input * 2 * to;
    if (distance >= 0) return input == from - 1 ? 1.0F : 1.0F - static_cast<float>(distance) * unit;
    return 1.0F + static_cast<float>(distance) * unit;
  }

  // The outputs that read an input: [begin, end).
  __device__ int first_reader(int input) const { return input == 0 ? 0 : first_from(input - 1); }
  __device__ int readers_end(int input) const { return input == from - 1 ? to : first_from(input + 1); }
  // The first output whose low input is `edge` or lies behind it.
  __device__ int first_from(int edge) const {
    const int numerator = (2 * edge + 1) * to - from;
    if (numerator <= 0) return 0;
    const int first = (numerator + 2 * from - 1) / (2 * from);
    return first < to ? first : to;
  }
};

}  // namespace swinscope::cuda

// Shared by both gathers of taps (tap_fusion.h): how a map's rows, columns and channels are divided among blocks and
// threads, and the limits of shapes.
#pragma once

#include "kernels/bilinear_axis.cuh"
#include "kernels/check.h"
#include "kernels/shared_memory.cuh"
#include "kernels/tap_fusion.h"

namespace swinscope::cuda {

constexpr int kTapSide = 3;
constexpr int kTapCount = kTapSide * kTapSide;
constexpr int kTapThreads = 256;

struct TapGrid {
  BilinearAxis rows;
  BilinearAxis columns;
  int outputs;
  int channel_blocks;  // for the channels of a pixel
  int rows_each;       // of a block
  int row_shares;      // blocks for the rows of an image

  // rows: of the map that blocks share.
  static TapGrid of(const TapFusionShape& s, std::int64_t channels_each, std::int64_t rows, std::int64_t rows_each) {
    for (const std::int64_t extent : {s.height, s.width, s.out_height, s.out_width})
      require(extent > 0 && extent <= kLargestResizeExtent, "tap_fusion", "extent out of range");
    require(s.height <= s.out_height && s.width <= s.out_width, "tap_fusion", "the map is not the smaller one");
    require(s.batch >= 0 && s.outputs > 0 && s.outputs <= (1 << 13), "tap_fusion", "batch or outputs out of range");
    const std::int64_t shares = (rows + rows_each - 1) / rows_each;
    require(s.batch * shares < (1 << 16), "tap_fusion", "batch or height out of range");
    return {BilinearAxis::of(s.height, s.out_height),
            BilinearAxis::of(s.width, s.out_width),
            static_cast<int>(s.outputs),
            static_cast<int>((s.outputs + channels_each - 1) / channels_each),
            static_cast<int>(rows_each),
            static_cast<int>(shares)};
  }
};

// What a thread has: a piece of kLength channels of one column, of kPieces that its block has of a column.
template <int kPieces, int kLength>
struct TapPlace {
  static constexpr int kColumns = kTapThreads / kPieces;

  int image;
  int first_row;  // of the block
  int end_row;
  int first_column;
  int column;
  int channel;
  int in_column;  // the first of its channels, counted from the block's

  // rows: the same.
  __device__ static TapPlace of(const TapGrid& g, int rows) {
    const int thread = static_cast<int>(threadIdx.x);
    TapPlace p{};
    p.image = static_cast<int>(blockIdx.y) / g.row_shares;
    p.first_row = static_cast<int>(blockIdx.y) % g.row_shares * g.rows_each;
    p.end_row = min(p.first_row + g.rows_each, rows);
    p.first_column = static_cast<int>(blockIdx.x) / g.channel_blocks * kColumns;
    p.column = p.first_column + thread / kPieces;
    p.in_column = thread % kPieces * kLength;
    p.channel = static_cast<int>(blockIdx.x) % g.channel_blocks * kPieces * kLength + p.in_column;
    return p;
  }
};

}  // namespace swinscope::cuda

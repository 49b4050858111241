// Taps gathered: a block walks down the rows of the map and has each row of taps in shared memory once, where the
// threads of neighbouring columns find what they share, while the next two rows are on their way.
#include "kernels/async_copy.cuh"
#include "kernels/channel_piece.cuh"
#include "kernels/tap_gather.cuh"

namespace swinscope::cuda {
namespace {

constexpr int kPieces = 8;                       // of neighbouring channels, 16 bytes each, that a block has
constexpr int kColumns = kTapThreads / kPieces;  // of the output
constexpr int kRowsDown = 32;                    // likewise: a block walks down them
constexpr int kStages = 3;                       // rows of taps in shared memory, two of them on their way
constexpr int kAhead = 4;                        // pixels of y that a thread has on their way

// A row of taps, of the small map's columns and the channels that a block needs, in a ring of kStages.
template <typename T, int kLength>
struct TapTile {
  static constexpr int kChannels = kPieces * kLength;

  const T* from;  // of the image, at the first of the columns and the thread's channels
  std::int64_t row_stride;
  int outputs;
  int count;  // taps of a row
  T* ring;    // at the thread's channels
  bool exists;

  __device__ T* stage(int item) const { return ring + item % kStages * count * kChannels; }
  __device__ void request(int row, int item, int items) const {
    if (exists && item < items) {
      const T* const pixels = from + row * row_stride;
      T* const to = stage(item);
      for (int i = static_cast<int>(threadIdx.x) / kPieces; i < count; i += kColumns)
        copy_async<kLength * sizeof(T)>(to + i * kChannels, pixels + i * outputs);
    }
    copies_commit();  // an empty group, too: groups are counted
  }
};

// Where an output column finds the columns that the three taps of a row of the kernel take.
template <int kChannels>
struct TapColumns {
  int low[kTapSide];  // in elements of the tile; negative: outside the image, which is zeros
  int high[kTapSide];
  float weight[kTapSide];

  __device__ static TapColumns of(const BilinearAxis& columns, int column, int first) {
    TapColumns result;
#pragma unroll
    for (int tap = 0; tap < kTapSide; ++tap) {
      const int shifted = column + tap - kTapSide / 2;
      const auto place = columns.place(shifted);
      const bool inside = shifted >= 0 && shifted < columns.to;
      result.low[tap] = inside ? (place.low - first) * kTapCount * kChannels : -1;
      result.high[tap] = (place.high - first) * kTapCount * kChannels;
      result.weight[tap] = place.weight;
    }
    return result;
  }
};

// What each row of the kernel takes from one row of the map.
template <int kLength>
struct TapRow {
  ChannelFloats<kLength> of[kTapSide];
};

template <typename T, int kLength, int kChannels>
__device__ TapRow<kLength> take_row(const TapColumns<kChannels>& columns, const T* tile) {
  TapRow<kLength> row{};
#pragma unroll
  for (int tap = 0; tap < kTapSide; ++tap) {
    if (columns.low[tap] < 0) continue;
#pragma unroll
    for (int tap_row = 0; tap_row < kTapSide; ++tap_row) {
      const T* const here = tile + (tap_row * kTapSide + tap) * kChannels;
      add_scaled(1.0F - columns.weight[tap], load_channels<kLength>(here + columns.low[tap]), row.of[tap_row]);
      add_scaled(columns.weight[tap], load_channels<kLength>(here + columns.high[tap]), row.of[tap_row]);
    }
  }
  return row;
}

// A thread's column of y. A row of the enlarged taps belongs to three outputs, above, here and below: it is added to
// the sums of two, and completes the one above.
template <typename T, int kLength>
struct OutputColumn {
  using Piece = ChannelPiece<T, kLength>;

  T* to;  // its first row in the image
  std::int64_t stride;
  int first_row;  // of the block; further up are others'
  Piece before[kAhead];
  ChannelFloats<kLength> above{};
  ChannelFloats<kLength> here{};

  __device__ void request(int read, int end) {
#pragma unroll
    for (int e = 0; e < kAhead; ++e) {
      if (read + e < end && read + e > first_row)
        before[e] = *reinterpret_cast<const Piece*>(to + (read + e - 1) * stride);
    }
  }
  __device__ void finish(int row, const Piece& piece) const {
    ChannelFloats<kLength> sum = above;
#pragma unroll
    for (int e = 0; e < kLength; ++e)
      sum.values[e] += to_float(piece.values[e]);
    store_channels<kLength>(to + row * stride, sum);
  }
  __device__ void add(int read, float weight, const TapRow<kLength>& upper, const TapRow<kLength>& lower,
                      const Piece& piece) {
    add_scaled(1.0F, between(upper.of[2], lower.of[2], weight), above);
    if (read > first_row) finish(read - 1, piece);
    above = here;
    add_scaled(1.0F, between(upper.of[1], lower.of[1], weight), above);
    here = between(upper.of[0], lower.of[0], weight);
  }
};

template <typename T, int kLength>
__device__ TapTile<T, kLength> tile_of(const TapGrid& g, const TapPlace<kPieces, kLength>& p, int first_low,
                                       const T* taps, T* ring) {
  const int last_high = g.columns.place(min(p.first_column + kColumns, g.columns.to - 1)).high;
  const std::int64_t row_stride = std::int64_t{g.columns.from} * kTapCount * g.outputs;
  const std::int64_t first = p.image * g.rows.from * row_stride + std::int64_t{first_low} * kTapCount * g.outputs;
  return {taps + first + p.channel, row_stride,           g.outputs, (last_high - first_low + 1) * kTapCount,
          ring + p.in_column,       p.channel < g.outputs};
}

template <typename T, int kLength>
__global__ __launch_bounds__(kTapThreads, 2) void tap_gather_kernel(const TapGrid g, const T* taps, T* y) {
  extern __shared__ __align__(16) unsigned char shared[];
  const auto p = TapPlace<kPieces, kLength>::of(g, g.rows.to);
  const bool exists = p.column < g.columns.to && p.channel < g.outputs;
  // Of the enlarged taps; an output takes them from the row above to the row below.
  const int first_read = max(p.first_row - 1, 0);
  const int end_read = min(p.end_row + 1, g.rows.to);
  const int top = g.rows.place(first_read).low;
  const int items = g.rows.place(end_read - 1).low - top + 2;

  const int first_low = g.columns.place(max(p.first_column - 1, 0)).low;
  const auto tile = tile_of<T, kLength>(g, p, first_low, taps, reinterpret_cast<T*>(shared));
  const auto request = [&](int item) { tile.request(min(top + item, g.rows.from - 1), item, items); };
  const auto columns = TapColumns<TapTile<T, kLength>::kChannels>::of(g.columns, p.column, first_low);
  const std::int64_t stride = std::int64_t{g.columns.to} * g.outputs;
  OutputColumn<T, kLength> out{
      y + p.image * g.rows.to * stride + std::int64_t{p.column} * g.outputs + p.channel, stride, p.first_row, {}};
  TapRow<kLength> upper{};
  TapRow<kLength> lower{};
  for (int item = 0; item < kStages - 1; ++item)
    request(item);
  int end = first_read;
  for (int item = 0; item < items; ++item) {
    // The rows of the output that lie between this row of taps and the one above: none above the first.
    const int low = top + item - 1;
    const int begin = end;
    if (item > 0) end = low == g.rows.from - 1 ? end_read : min(end_read, g.rows.first_from(low + 1));
    if (exists) out.request(begin, end);
    copies_wait<kStages - 2>();
    __syncthreads();  // this row is there, and nobody reads the one whose place the next takes
    request(item + kStages - 1);
    if (!exists) continue;
    upper = lower;
    lower = take_row<T, kLength>(columns, tile.stage(item));
    for (int read = begin; read < end; read += kAhead) {
      if (read > begin) out.request(read, end);
#pragma unroll
      for (int e = 0; e < kAhead; ++e) {
        if (read + e >= end) break;
        const int distance = g.rows.coordinate(read + e) - low * 2 * g.rows.to;
        out.add(read + e, static_cast<float>(distance) * g.rows.unit, upper, lower, out.before[e]);
      }
    }
  }
  // Below the last row there is nothing that would complete it.
  if (exists && p.end_row == g.rows.to)
    out.finish(p.end_row - 1, *reinterpret_cast<const ChannelPiece<T, kLength>*>(out.to + (p.end_row - 1) * stride));
}

}  // namespace

void tap_fusion_gather(const TapFusionShape& s, ElementType type, const void* taps, void* y, Stream stream) {
  with_channel_pieces(type, {s.outputs}, [&]<typename T, int kLength>() {
    using Tile = TapTile<T, kLength>;
    const TapGrid g = TapGrid::of(s, Tile::kChannels, s.out_height, kRowsDown);
    if (s.batch == 0) return;
    // Of neighbouring outputs, each at most a column of the map from the next.
    const std::int64_t span = std::min(s.width, (kColumns + 1) * s.width / s.out_width + 3);
    const std::int64_t bytes = kStages * span * kTapCount * Tile::kChannels * std::int64_t{sizeof(T)};
    allow_shared(tap_gather_kernel<T, kLength>, bytes);
    const dim3 grid(blocks_for(s.out_width, kColumns) * static_cast<unsigned>(g.channel_blocks),
                    static_cast<unsigned>(s.batch * g.row_shares));
    tap_gather_kernel<T, kLength><<<grid, kTapThreads, static_cast<std::size_t>(bytes), stream>>>(
        g, static_cast<const T*>(taps), static_cast<T*>(y));
  });
  SWINSCOPE_CUDA_LAUNCHED("tap_gather_kernel");
}

}  // namespace swinscope::cuda

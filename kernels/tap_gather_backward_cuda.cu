// The gradient of gathered taps. A block has some columns of the map and walks down the rows of dy, each of which it
// has in shared memory once, while the next three are on their way. A thread has a column and a piece of channels: it
// sums what its column gets of a row of dy, once for the three rows of the kernel, and adds it to the two rows of the
// map that the row lies between. No atomics: every sum has an order that depends on the shape alone.
#include <algorithm>

#include "kernels/async_copy.cuh"
#include "kernels/channel_piece.cuh"
#include "kernels/tap_gather.cuh"

namespace swinscope::cuda {
namespace {

constexpr int kPieces = 16;                      // of neighbouring channels that a block has
constexpr int kColumns = kTapThreads / kPieces;  // of the map
constexpr int kStages = 4;                       // pieces of rows of dy in shared memory, three of them on their way
constexpr int kMostPixels = 136;  // of dy in such a piece: of rows enlarged 8 times it is all that a block needs
constexpr int kReadsEach = 32;    // rows of dy that a block walks down, and those that blocks share

// The weights of a column of the map for the outputs that read it, counted from the first: a tent of height 1, flat
// beyond the centres of the outermost columns.
struct Tent {
  int first;
  float count;
  float at_first;  // columns of the map from the centre
  float step;
  float lowest;
  float highest;

  __device__ static Tent of(const BilinearAxis& axis, int column) {
    const int first = axis.first_reader(column);
    const int distance = (2 * first + 1) * axis.from - axis.to - column * 2 * axis.to;
    return {first,
            static_cast<float>(axis.readers_end(column) - first),
            static_cast<float>(distance) * axis.unit,
            static_cast<float>(2 * axis.from) * axis.unit,
            column == 0 ? 0.0F : -1.0F,
            column == axis.from - 1 ? 0.0F : 1.0F};
  }
  // reader: not negative; 0 beyond the last.
  __device__ float weight(float reader) const {
    const float distance = fmaf(reader, step, at_first);
    return reader < count ? 1.0F - fabsf(fminf(fmaxf(distance, lowest), highest)) : 0.0F;
  }
};

// What the three taps of a row of the kernel get.
template <int kLength>
struct TapSums {
  ChannelFloats<kLength> of[kTapSide];
};

// Adds the pixels [begin, end) of a row of dy; tile: the one of `first`, at the thread's channels.
template <int kStride, typename T, int kLength>
__device__ void add_pixels(const Tent& tent, int begin, int end, int first, const T* tile, TapSums<kLength>& sums) {
  auto reader = static_cast<float>(begin - tent.first);
  float before = reader >= 1.0F ? tent.weight(reader - 1.0F) : 0.0F;
  float here = reader >= 0.0F ? tent.weight(reader) : 0.0F;
#pragma unroll 2
  for (int pixel = begin; pixel < end; ++pixel) {
    const auto gradient = load_channels<kLength>(tile + (pixel - first) * kStride);
    reader += 1.0F;
    const float behind = tent.weight(reader);
    add_scaled(before, gradient, sums.of[0]);
    add_scaled(here, gradient, sums.of[1]);
    add_scaled(behind, gradient, sums.of[2]);
    before = here;
    here = behind;
  }
}

// For one row of the kernel: the sums of the two rows of the map between which the walk down dy is.
template <typename T, int kLength>
struct RowSums {
  int low;
  TapSums<kLength> upper{};
  TapSums<kLength> lower{};

  // To the row behind. to: of the first row of the map, which the block has up to end_row.
  __device__ void step(T* to, std::int64_t row_stride, int outputs, int first_row, int end_row) {
    if (low >= first_row && low < end_row) {
#pragma unroll
      for (int tap = 0; tap < kTapSide; ++tap)
        store_channels<kLength>(to + low * row_stride + tap * outputs, upper.of[tap]);
    }
    upper = lower;
    lower = {};
    ++low;
  }
  __device__ void add(float weight, const TapSums<kLength>& row) {
#pragma unroll
    for (int tap = 0; tap < kTapSide; ++tap) {
      add_scaled(1.0F - weight, row.of[tap], upper.of[tap]);
      add_scaled(weight, row.of[tap], lower.of[tap]);
    }
  }
};

// The part of dy that a block reads, in pieces of rows, and the ring they go through.
template <typename T, int kLength>
struct GradientTile {
  static constexpr int kChannels = kPieces * kLength;

  const T* from;  // of the image, at the thread's channels
  std::int64_t row_stride;
  int outputs;
  int first;  // pixel of a row
  int end;
  int pixels;  // of a piece
  int end_row;
  T* ring;  // at the thread's channels
  bool exists;
  int row;    // of the piece that is requested next
  int pixel;  // its first
  int item = 0;

  __device__ T* stage(int of) const { return ring + of % kStages * pixels * kChannels; }
  __device__ void request() {
    if (exists && row < end_row) {
      const T* const pixels_of_row = from + row * row_stride;
      const int count = min(pixels, end - pixel);
      T* const to = stage(item);
      for (int i = static_cast<int>(threadIdx.x) / kPieces; i < count; i += kColumns)
        copy_async<kLength * sizeof(T)>(to + i * kChannels, pixels_of_row + std::int64_t{pixel + i} * outputs);
    }
    copies_commit();  // an empty group, too: groups are counted
    ++item;
    pixel += pixels;
    if (pixel < end) return;
    pixel = first;
    ++row;
  }
};

template <typename T, int kLength>
__device__ GradientTile<T, kLength> tile_of(const TapGrid& g, const TapPlace<kPieces, kLength>& p, int pixels,
                                            const T* dy, T* ring) {
  const int end_column = min(p.first_column + kColumns, g.columns.from);
  GradientTile<T, kLength> tile{};
  tile.row_stride = std::int64_t{g.columns.to} * g.outputs;
  tile.from = dy + p.image * g.rows.to * tile.row_stride + p.channel;
  tile.outputs = g.outputs;
  tile.first = tile.pixel = max(g.columns.first_reader(p.first_column) - 1, 0);
  tile.end = min(g.columns.readers_end(end_column - 1) + 1, g.columns.to);
  tile.pixels = pixels;
  tile.ring = ring + p.in_column;
  tile.exists = p.channel < g.outputs;
  return tile;
}

template <typename T, int kLength>
__global__ __launch_bounds__(kTapThreads, 2) void tap_gather_backward_kernel(const TapGrid g, int pixels, const T* dy,
                                                                             T* dtaps) {
  extern __shared__ __align__(16) unsigned char shared[];
  const auto p = TapPlace<kPieces, kLength>::of(g, g.rows.from);
  // Of the enlarged taps; an output takes them from the row above to the row below.
  const int first_read = g.rows.first_reader(p.first_row);
  const int end_read = g.rows.readers_end(p.end_row - 1);
  const bool exists = p.column < g.columns.from && p.channel < g.outputs;
  const Tent tent = Tent::of(g.columns, min(p.column, g.columns.from - 1));
  auto tile = tile_of<T, kLength>(g, p, pixels, dy, reinterpret_cast<T*>(shared));
  tile.row = max(first_read - 1, 0);
  tile.end_row = min(end_read + 1, g.rows.to);

  const std::int64_t row_stride = std::int64_t{g.columns.from} * kTapCount * g.outputs;
  T* const to = dtaps + p.image * g.rows.from * row_stride + std::int64_t{p.column} * kTapCount * g.outputs + p.channel;
  RowSums<T, kLength> sums[kTapSide];
#pragma unroll
  for (int tap_row = 0; tap_row < kTapSide; ++tap_row)
    sums[tap_row].low = p.first_row - 1;
  const auto step = [&](int tap_row) {
    sums[tap_row].step(to + tap_row * kTapSide * g.outputs, row_stride, g.outputs, p.first_row, p.end_row);
  };
  int item = 0;
  int row = tile.row;
  for (int ahead = 0; ahead < kStages - 1; ++ahead)
    tile.request();
  for (; row < tile.end_row; ++row) {
    TapSums<kLength> of_row{};
    for (int first = tile.first; first < tile.end; first += pixels, ++item) {
      copies_wait<kStages - 2>();
      __syncthreads();  // this piece is there, and nobody reads the one whose place the next takes
      tile.request();
      const int begin = max(max(tent.first - 1, 0), first);
      const int end = min(min(tent.first + static_cast<int>(tent.count) + 1, g.columns.to), first + pixels);
      if (exists) add_pixels<decltype(tile)::kChannels>(tent, begin, end, first, tile.stage(item), of_row);
    }
    if (!exists) continue;
#pragma unroll
    for (int tap_row = 0; tap_row < kTapSide; ++tap_row) {
      const int read = row + tap_row - kTapSide / 2;
      if (read < first_read || read >= end_read) continue;
      const int at = g.rows.coordinate(read);
      while (at >= (sums[tap_row].low + 1) * 2 * g.rows.to)
        step(tap_row);
      // Below the centre of the last row there is no lower one.
      const int distance = sums[tap_row].low == g.rows.from - 1 ? 0 : at - sums[tap_row].low * 2 * g.rows.to;
      sums[tap_row].add(static_cast<float>(distance) * g.rows.unit, of_row);
    }
  }
  if (!exists) return;
#pragma unroll
  for (int tap_row = 0; tap_row < kTapSide; ++tap_row) {
    while (sums[tap_row].low < p.end_row)
      step(tap_row);
  }
}

}  // namespace

void tap_fusion_gather_backward(const TapFusionShape& s, ElementType type, const void* dy, void* dtaps, Stream stream) {
  with_element_type(type, [&]<typename T>() {
    // Twenty-one sums of eight channels would leave room for few threads.
    const auto launch = [&]<int kLength>() {
      constexpr std::int64_t kChannels = GradientTile<T, kLength>::kChannels;
      const std::int64_t rows_each =
          std::max<std::int64_t>(1, kReadsEach * s.height / std::max<std::int64_t>(s.out_height, 1));
      const TapGrid g = TapGrid::of(s, kChannels, s.height, rows_each);
      if (s.batch == 0) return;
      const std::int64_t readers = ((kColumns + 1) * s.out_width + s.width - 1) / s.width + 3;
      const std::int64_t pixels = std::min({readers, s.out_width, std::int64_t{kMostPixels}});
      const std::int64_t bytes = kStages * pixels * kChannels * std::int64_t{sizeof(T)};
      allow_shared(tap_gather_backward_kernel<T, kLength>, bytes);
      const dim3 grid(blocks_for(s.width, kColumns) * static_cast<unsigned>(g.channel_blocks),
                      static_cast<unsigned>(s.batch * g.row_shares));
      tap_gather_backward_kernel<T, kLength><<<grid, kTapThreads, static_cast<std::size_t>(bytes), stream>>>(
          g, static_cast<int>(pixels), static_cast<const T*>(dy), static_cast<T*>(dtaps));
    };
    if (s.outputs % 4 == 0) {
      launch.template operator()<4>();
    } else {
      launch.template operator()<1>();
    }
  });
  SWINSCOPE_CUDA_LAUNCHED("tap_gather_backward_kernel");
}

}  // namespace swinscope::cuda

// Operations that move rows or reduce over them without products: patches, merging, window copies, pooling.
#include <limits>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/device_math.cuh"
#include "kernels/early_launch.cuh"
#include "kernels/patch_embed.h"
#include "kernels/patch_merge.h"
#include "kernels/pool.h"
#include "kernels/window.h"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 256;

struct PatchGrid {
  int width, patches_x, patches_y, channels;
  int count;  // of patches, of one channel each
};

// One thread for each patch of a channel: four rows of four pixels, which are 16 neighbours in the patch's column.
template <typename T>
__global__ __launch_bounds__(kThreads) void columns_kernel(const PatchGrid grid, const T* image, T* columns) {
  struct alignas(4 * sizeof(T)) Run {
    T pixels[4];
  };
  struct alignas(16) Patch {
    Run rows[4];
  };
  let_next_begin();
  wait_for_previous();
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (i >= grid.count) return;
  const int x = i % grid.patches_x;
  const int row = i / grid.patches_x;
  const int y = row % grid.patches_y;
  const int plane = row / grid.patches_y;  // over batch and channel
  const int channel = plane % grid.channels;
  const int batch = plane / grid.channels;
  const T* const from = image + (std::int64_t{row} * 4 * grid.patches_x + x) * 4;
  Patch patch;
#pragma unroll
  for (int r = 0; r < 4; ++r)
    patch.rows[r] = *reinterpret_cast<const Run*>(from + r * grid.width);
  const std::int64_t token = (std::int64_t{batch} * grid.patches_y + y) * grid.patches_x + x;
  *reinterpret_cast<Patch*>(columns + (token * grid.channels + channel) * 16) = patch;
}

// Copies rows of `vectors_per_row` vectors; `source(row)` is the row to take, negative for zeros.
template <typename T, typename Source>
__global__ void copy_rows_kernel(std::int64_t vectors, int vectors_per_row, Source source, const T* x, T* y) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= vectors) return;
  const std::int64_t row = source(i / vectors_per_row);
  Vector<T> v{};
  if (row >= 0) v = load_vector(x + (row * vectors_per_row + i % vectors_per_row) * Vector<T>::kLength);
  store_vector(y + i * Vector<T>::kLength, v);
}

// A merged token consists of four rows of the map, in the order (0,0), (1,0), (0,1), (1,1).
struct MergeSource {
  std::int64_t height, width, merged_height, merged_width;
  __device__ std::int64_t operator()(std::int64_t row) const {
    const std::int64_t token = row / 4;
    const std::int64_t y = token / merged_width % merged_height * 2 + row % 2;
    const std::int64_t x = token % merged_width * 2 + row % 4 / 2;
    if (y >= height || x >= width) return -1;
    return (token / (merged_width * merged_height) * height + y) * width + x;
  }
};

// And back: which of the merged tokens' four rows a row of the map stands in.
struct UnmergeSource {
  std::int64_t height, width, merged_height, merged_width;
  __device__ std::int64_t operator()(std::int64_t row) const {
    const std::int64_t x = row % width;
    const std::int64_t y = row / width % height;
    const std::int64_t token = (row / (width * height) * merged_height + y / 2) * merged_width + x / 2;
    return token * 4 + x % 2 * 2 + y % 2;
  }
};

struct RollSource {
  std::int64_t height, width, dy, dx;  // 0 <= dy < height, 0 <= dx < width
  __device__ std::int64_t operator()(std::int64_t row) const {
    const std::int64_t y = row / width % height;
    const std::int64_t x = row % width;
    return (row / (width * height) * height + (y + dy) % height) * width + (x + dx) % width;
  }
};

struct PartitionSource {
  WindowGrid rolled;  // without a shift
  __device__ std::int64_t operator()(std::int64_t row) const {
    return window_token(rolled, row / rolled.window_tokens(), row % rolled.window_tokens());
  }
};

struct ReverseSource {
  WindowGrid grid;
  __device__ std::int64_t operator()(std::int64_t row) const {
    const Extent2 windows = grid.windows();
    const std::int64_t x = row % grid.map.width;
    const std::int64_t y = row / grid.map.width % grid.map.height;
    const std::int64_t window =
        (row / grid.map.area() * windows.height + y / grid.window.height) * windows.width + x / grid.window.width;
    return window * grid.window_tokens() + y % grid.window.height * grid.window.width + x % grid.window.width;
  }
};

template <typename Source>
void copy_rows(std::int64_t rows, std::int64_t channels, ElementType type, const Source& source, const void* x, void* y,
               Stream stream) {
  require(channels % 8 == 0, "copy_rows", "the number of channels must be a multiple of 8");
  if (rows == 0) return;
  with_element_type(type, [&]<typename T>() {
    const std::int64_t per_row = channels / Vector<T>::kLength;
    copy_rows_kernel<T, Source><<<blocks_for(rows * per_row, kThreads), kThreads, 0, stream>>>(
        rows * per_row, static_cast<int>(per_row), source, static_cast<const T*>(x), static_cast<T*>(y));
  });
  SWINSCOPE_CUDA_LAUNCHED("copy_rows_kernel");
}

constexpr int kPoolChannels = 8;  // vectors of a block
constexpr int kPoolRows = 32;     // tokens at a time

// A block sums kPoolChannels vectors of channels over all tokens of one image.
template <typename T>
__global__ void pool_kernel(PoolShape shape, const T* x, T* y) {
  constexpr int kLength = Vector<T>::kLength;
  __shared__ float sums[kPoolRows][kPoolChannels * kLength];
  const int vector = static_cast<int>(threadIdx.x) % kPoolChannels;
  const int first = static_cast<int>(threadIdx.x) / kPoolChannels;
  const std::int64_t channel = (std::int64_t{blockIdx.x} * kPoolChannels + vector) * kLength;
  float sum[kLength] = {};
  let_next_begin();
  wait_for_previous();
  if (channel < shape.channels) {
    for (std::int64_t token = first; token < shape.tokens; token += kPoolRows) {
      const Vector<T> v = load_vector(x + (blockIdx.y * shape.tokens + token) * shape.channels + channel);
#pragma unroll
      for (int e = 0; e < kLength; ++e)
        sum[e] += to_float(v.values[e]);
    }
  }
#pragma unroll
  for (int e = 0; e < kLength; ++e)
    sums[first][vector * kLength + e] = sum[e];
  __syncthreads();
  const int mine = static_cast<int>(threadIdx.x);
  const std::int64_t out = std::int64_t{blockIdx.x} * kPoolChannels * kLength + mine;
  if (mine >= kPoolChannels * kLength || out >= shape.channels) return;
  // By halves: one sum after another would leave several times the rounding of all that was added before.
  float parts[kPoolRows];
#pragma unroll
  for (int row = 0; row < kPoolRows; ++row)
    parts[row] = sums[row][mine];
#pragma unroll
  for (int half = kPoolRows / 2; half > 0; half /= 2) {
#pragma unroll
    for (int row = 0; row < half; ++row)
      parts[row] += parts[row + half];
  }
  y[blockIdx.y * shape.channels + out] = from_float<T>(parts[0] / static_cast<float>(shape.tokens));
}

template <typename T>
__global__ void pool_backward_kernel(std::int64_t vectors, int vectors_per_row, std::int64_t tokens, float factor,
                                     const T* dy, T* dx) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= vectors) return;
  const std::int64_t row = i / vectors_per_row / tokens;
  Vector<T> v = load_vector(dy + (row * vectors_per_row + i % vectors_per_row) * Vector<T>::kLength);
#pragma unroll
  for (T& value : v.values)
    value = from_float<T>(to_float(value) * factor);
  store_vector(dx + i * Vector<T>::kLength, v);
}

}  // namespace

void patch_columns(const PatchEmbedShape& shape, ElementType type, const void* image, void* columns, Stream stream) {
  require(shape.patch == 4 && shape.height % 4 == 0 && shape.width % 4 == 0, "patch_columns",
          "patches of 4 x 4 pixels that divide the image");
  const std::int64_t patches = shape.column_elements() / 16;
  require(patches <= std::numeric_limits<int>::max() - kThreads, "patch_columns", "too many patches");
  if (patches == 0) return;
  const PatchGrid grid{static_cast<int>(shape.width), static_cast<int>(shape.width / 4),
                       static_cast<int>(shape.height / 4), static_cast<int>(shape.channels), static_cast<int>(patches)};
  with_element_type(type, [&]<typename T>() {
    launch_early(columns_kernel<T>, {dim3(blocks_for(patches, kThreads)), dim3(kThreads)}, stream, grid,
                 static_cast<const T*>(image), static_cast<T*>(columns));
  });
}

void patch_merge_forward(const PatchMergeShape& shape, ElementType type, const void* x, void* y, Stream stream) {
  const MergeSource source{shape.height, shape.width, shape.merged_height(), shape.merged_width()};
  copy_rows(4 * shape.merged_tokens(), shape.channels, type, source, x, y, stream);
}

void patch_merge_backward(const PatchMergeShape& shape, ElementType type, const void* dy, void* dx, Stream stream) {
  const UnmergeSource source{shape.height, shape.width, shape.merged_height(), shape.merged_width()};
  copy_rows(shape.batch * shape.height * shape.width, shape.channels, type, source, dy, dx, stream);
}

void window_roll(const WindowGrid& grid, std::int64_t channels, ElementType type, bool forward, const void* x, void* y,
                 Stream stream) {
  const auto place = [forward](std::int64_t shift, std::int64_t extent) {
    return forward ? shift % extent : (extent - shift % extent) % extent;
  };
  const RollSource source{grid.map.height, grid.map.width, place(grid.shift.height, grid.map.height),
                          place(grid.shift.width, grid.map.width)};
  copy_rows(grid.tokens(), channels, type, source, x, y, stream);
}

void window_partition(const WindowGrid& grid, std::int64_t channels, ElementType type, const void* x, void* y,
                      Stream stream) {
  const PartitionSource source{{grid.batch, grid.map, grid.window, {0, 0}}};
  copy_rows(grid.window_count() * grid.window_tokens(), channels, type, source, x, y, stream);
}

void window_reverse(const WindowGrid& grid, std::int64_t channels, ElementType type, const void* x, void* y,
                    Stream stream) {
  copy_rows(grid.tokens(), channels, type, ReverseSource{grid}, x, y, stream);
}

void pool_forward(const PoolShape& shape, ElementType type, const void* x, void* y, Stream stream) {
  require(shape.channels % 8 == 0 && shape.tokens > 0, "pool", "tokens, and a multiple of 8 channels, are needed");
  if (shape.batch == 0) return;
  with_element_type(type, [&]<typename T>() {
    const dim3 grid(blocks_for(shape.channels, kPoolChannels * Vector<T>::kLength), static_cast<unsigned>(shape.batch));
    launch_early(pool_kernel<T>, {grid, dim3(kPoolChannels * kPoolRows)}, stream, shape, static_cast<const T*>(x),
                 static_cast<T*>(y));
  });
}

void pool_backward(const PoolShape& shape, ElementType type, const void* dy, void* dx, Stream stream) {
  require(shape.channels % 8 == 0 && shape.tokens > 0, "pool", "tokens, and a multiple of 8 channels, are needed");
  if (shape.batch == 0) return;
  with_element_type(type, [&]<typename T>() {
    const std::int64_t per_row = shape.channels / Vector<T>::kLength;
    const std::int64_t vectors = shape.batch * shape.tokens * per_row;
    pool_backward_kernel<T><<<blocks_for(vectors, kThreads), kThreads, 0, stream>>>(
        vectors, static_cast<int>(per_row), shape.tokens, 1.0F / static_cast<float>(shape.tokens),
        static_cast<const T*>(dy), static_cast<T*>(dx));
  });
  SWINSCOPE_CUDA_LAUNCHED("pool_backward_kernel");
}

}  // namespace swinscope::cuda

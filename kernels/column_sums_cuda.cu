// Gradients of biases, and what passes the same elements on the way: the scale of a residual branch, the derivative of
// GELU. Each block sums some columns over some rows; a second kernel adds up the blocks' sums.
#include <algorithm>

#include "kernels/bias.h"
#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/delayed_scale.cuh"
#include "kernels/device_math.cuh"
#include "kernels/early_launch.cuh"
#include "kernels/gelu.h"
#include "kernels/normal_distribution.cuh"
#include "kernels/partial_sums.h"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kBlocks = 1056;     // about
constexpr std::int64_t kMostVectors = 64;  // of a block's columns
constexpr std::int64_t kLeastRows = 64;    // of a block: fewer would make partial sums too many

// How rows and columns are shared out, by shape alone: the order of the sums must not depend on the GPU.
struct Shares {
  std::int64_t vectors = 0;        // of a row
  std::int64_t column_groups = 1;  // grid.x
  std::int64_t width = 1;          // vectors of a group
  std::int64_t rows_at_once = 1;
  std::int64_t rows_per_chunk = 1;
  std::int64_t chunks = 1;  // grid.y

  static Shares of(const BiasShape& shape, std::int64_t length) {
    Shares s;
    s.vectors = shape.columns / length;
    s.column_groups = (s.vectors + kMostVectors - 1) / kMostVectors;
    s.width = (s.vectors + s.column_groups - 1) / s.column_groups;
    s.rows_at_once = kThreads / s.width;
    const std::int64_t most = std::clamp<std::int64_t>(kBlocks / s.column_groups, 1, 65535);
    const std::int64_t wanted = std::clamp<std::int64_t>(shape.rows / kLeastRows, 1, most);
    const std::int64_t turns = (shape.rows + wanted * s.rows_at_once - 1) / (wanted * s.rows_at_once);
    s.rows_per_chunk = turns * s.rows_at_once;
    s.chunks = (shape.rows + s.rows_per_chunk - 1) / s.rows_per_chunk;
    return s;
  }
};

struct Places {
  std::int64_t rows;
  int vectors;
  int width;
  int rows_at_once;
  int rows_per_chunk;
  bool backwards;  // from the last chunk to the first
};

// dx = scale * dy, where there is a dx.
template <typename T>
struct ScaledRows {
  const T* dy;
  const float* sample_scale;
  std::int64_t rows_per_sample;
  T* dx;
  ByteCopy copy;  // of dx

  struct Loaded {
    Vector<T> dy;
    float scale;
  };
  __device__ Loaded load(std::int64_t row, std::int64_t vector) const {
    return {load_vector(dy + vector * Vector<T>::kLength),
            sample_scale == nullptr ? 1.0F : sample_scale[row / rows_per_sample]};
  }
  __device__ Vector<T> operator()(const Loaded& loaded, std::int64_t vector,
                                  float (&values)[Vector<T>::kLength]) const {
    Vector<T> v;
#pragma unroll
    for (int e = 0; e < Vector<T>::kLength; ++e) {
      values[e] = loaded.scale * to_float(loaded.dy.values[e]);
      v.values[e] = from_float<T>(values[e]);
    }
    if (dx != nullptr) store_vector(dx + vector * Vector<T>::kLength, v);
    return v;
  }
};

template <typename T>
struct GeluRows {
  const T* x;
  const T* dy;
  T* dx;
  T* y;
  ByteCopy copy;  // of dx

  struct Loaded {
    Vector<T> x;
    Vector<T> dy;
  };
  __device__ Loaded load(std::int64_t /*row*/, std::int64_t vector) const {
    return {load_vector(x + vector * Vector<T>::kLength), load_vector(dy + vector * Vector<T>::kLength)};
  }
  __device__ Vector<T> operator()(const Loaded& loaded, std::int64_t vector,
                                  float (&values)[Vector<T>::kLength]) const {
    const std::int64_t at = vector * Vector<T>::kLength;
    Vector<T> gradient;
    Vector<T> output;
#pragma unroll
    for (int e = 0; e < Vector<T>::kLength; ++e) {
      const float value = to_float(loaded.x.values[e]);
      const Normal normal = normal_distribution<T>(value);
      values[e] = to_float(loaded.dy.values[e]) * fmaf(value, normal.density, normal.cumulative);
      gradient.values[e] = from_float<T>(values[e]);
      output.values[e] = from_float<T>(value * normal.cumulative);
    }
    if (dx != nullptr) store_vector(dx + at, gradient);
    if (y != nullptr) store_vector(y + at, output);
    return gradient;
  }
};

// rows(rows.load(row, vector), vector, values): what a vector adds to the sums of its columns, and what is made of it;
// `vector` counts through the matrix. kBytes: the latter goes to rows.copy, too. Two rows are loaded before either is
// worked on: the compiler would not move a load before a store that could be to the same place.
template <typename T, typename Rows, bool kBytes>
__global__ __launch_bounds__(kThreads) void column_kernel(Places at, Rows rows, float* partials) {
  constexpr int kLength = Vector<T>::kLength;
  __shared__ float sums[kThreads * kLength];
  const int lane = static_cast<int>(threadIdx.x) % at.width;
  const int turn = static_cast<int>(threadIdx.x) / at.width;
  const int column = static_cast<int>(blockIdx.x) * at.width + lane;  // in vectors
  const unsigned chunk = at.backwards ? gridDim.y - 1 - blockIdx.y : blockIdx.y;
  const std::int64_t first = std::int64_t{chunk} * at.rows_per_chunk;
  const std::int64_t end = min(first + at.rows_per_chunk, at.rows);
  float sum[kLength] = {};
  let_next_begin();
  wait_for_previous();
  ByteCopyShare share(kBytes ? rows.copy : ByteCopy{});
  if (turn < at.rows_at_once && column < at.vectors) {
    const auto add = [&](const typename Rows::Loaded& loaded, std::int64_t vector) {
      float values[kLength];
      const Vector<T> made = rows(loaded, vector, values);
      if constexpr (kBytes) share.store(vector, made);
#pragma unroll
      for (int e = 0; e < kLength; ++e)
        sum[e] += values[e];
    };
    for (std::int64_t row = first + turn; row < end; row += 2 * at.rows_at_once) {
      const std::int64_t next = row + at.rows_at_once;
      const std::int64_t vector = row * at.vectors + column;
      const std::int64_t next_vector = next * at.vectors + column;
      const typename Rows::Loaded loaded = rows.load(row, vector);
      if (next < end) {
        const typename Rows::Loaded next_loaded = rows.load(next, next_vector);
        add(loaded, vector);
        add(next_loaded, next_vector);
      } else {
        add(loaded, vector);
      }
    }
  }
  if constexpr (kBytes) share.report();
  if (partials == nullptr) return;
  if (turn < at.rows_at_once) {
#pragma unroll
    for (int e = 0; e < kLength; ++e)
      sums[(turn * at.width + lane) * kLength + e] = sum[e];
  }
  __syncthreads();
  const std::int64_t columns = std::int64_t{at.vectors} * kLength;
  for (int i = static_cast<int>(threadIdx.x); i < at.width * kLength; i += kThreads) {
    const std::int64_t out = std::int64_t{blockIdx.x} * at.width * kLength + i;
    if (out >= columns) continue;
    float total = 0.0F;
    for (int row = 0; row < at.rows_at_once; ++row)
      total += sums[row * at.width * kLength + i];
    partials[chunk * columns + out] = total;
  }
}

// partials: null if no sums are wanted.
template <typename T, typename Rows>
void launch(const BiasShape& shape, const Shares& shares, const Rows& rows, void* partials, Stream stream,
            bool backwards = false) {
  const Places places{shape.rows,
                      static_cast<int>(shares.vectors),
                      static_cast<int>(shares.width),
                      static_cast<int>(shares.rows_at_once),
                      static_cast<int>(shares.rows_per_chunk),
                      backwards};
  const dim3 grid(static_cast<unsigned>(shares.column_groups), static_cast<unsigned>(shares.chunks));
  auto kernel = column_kernel<T, Rows, false>;
  if (rows.copy.bytes != nullptr) {
    require(sizeof(T) == 2, "column_sums", "8 bits are of 16-bit types");
    if constexpr (sizeof(T) == 2) kernel = column_kernel<T, Rows, true>;
  }
  launch_early(kernel, {grid, dim3(kThreads)}, stream, places, rows, static_cast<float*>(partials));
}

void add_chunks(const BiasShape& shape, const Shares& shares, const void* partials, float* sums, bool accumulate,
                Stream stream) {
  add_partial_sums(
      {shares.chunks, shape.columns, shape.columns, static_cast<const float*>(partials), {sums}, accumulate}, stream);
}

// Both element sizes: the caller knows only the shape.
std::int64_t workspace_bytes(const BiasShape& shape) {
  if (shape.rows == 0 || shape.columns == 0) return 0;
  const std::int64_t chunks = std::max(Shares::of(shape, 4).chunks, Shares::of(shape, 8).chunks);
  return chunks * shape.columns * element_bytes(ElementType::kFp32);
}

void check(const BiasShape& shape, const char* operation) {
  require(shape.columns > 0 && shape.columns % 8 == 0, operation, "columns must be a multiple of 8");
}

}  // namespace

std::int64_t bias_backward_workspace_bytes(const BiasShape& shape) { return workspace_bytes(shape); }
std::int64_t gelu_backward_workspace_bytes(const BiasShape& shape) { return workspace_bytes(shape); }

void bias_backward(const BiasShape& shape, ElementType type, const BiasGradientTensors& tensors, Stream stream) {
  check(shape, "bias_backward");
  require(tensors.sample_scale == nullptr || tensors.rows_per_sample > 0, "bias_backward",
          "a scale for each sample needs the rows of a sample");
  require(tensors.dbias != nullptr, "bias_backward", "dbias is needed");
  if (shape.rows == 0) {
    if (!tensors.accumulate) clear(tensors.dbias, shape.columns * 4, stream);
    return;
  }
  Shares shares;
  with_element_type(type, [&]<typename T>() {
    shares = Shares::of(shape, Vector<T>::kLength);
    const ScaledRows<T> rows{static_cast<const T*>(tensors.dy), tensors.sample_scale, tensors.rows_per_sample,
                             static_cast<T*>(tensors.dx), tensors.copy};
    launch<T>(shape, shares, rows, tensors.workspace, stream);
  });
  add_chunks(shape, shares, tensors.workspace, tensors.dbias, tensors.accumulate, stream);
}

void gelu_backward(const BiasShape& shape, ElementType type, const GeluGradientTensors& tensors, Stream stream) {
  check(shape, "gelu_backward");
  if (shape.rows == 0) {
    if (tensors.dbias != nullptr && !tensors.accumulate) clear(tensors.dbias, shape.columns * 4, stream);
    return;
  }
  const bool sums = tensors.dbias != nullptr;
  Shares shares;
  with_element_type(type, [&]<typename T>() {
    shares = Shares::of(shape, Vector<T>::kLength);
    const GeluRows<T> rows{static_cast<const T*>(tensors.x), static_cast<const T*>(tensors.dy),
                           static_cast<T*>(tensors.dx), static_cast<T*>(tensors.y), tensors.copy};
    launch<T>(shape, shares, rows, sums ? tensors.workspace : nullptr, stream, tensors.backwards);
  });
  if (!sums) return;
  add_chunks(shape, shares, tensors.workspace, tensors.dbias, tensors.accumulate, stream);
}

}  // namespace swinscope::cuda

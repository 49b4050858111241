// Scales from step to step, tensors rounded by a kernel of its own, and all weights of a model: a warp for each
// output's row, and tiles of 64 x 64 through shared memory for the transposed ones.
#include "kernels/byte_format.cuh"
#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/delayed_scale.cuh"
#include "kernels/delayed_scale.h"
#include "kernels/device_math.cuh"

namespace swinscope::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kRowsEach = kThreads / kWarp;
constexpr int kTile = 64;

// In the device's table.
struct Entry {
  ByteWeight weight;
  std::int64_t first_row_block;
  std::int64_t first_tile;
  std::uint32_t largest;  // bits of the weight's largest magnitude
};

__global__ void advance_kernel(int count, ByteFormat format, DelayedScale* scales) {
  const int i = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (i < count) advance(scales[i], format);
}

template <typename T>
__global__ void copy_kernel(std::int64_t vectors, const T* x, ByteCopy copy) {
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  ByteCopyShare share(copy);
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < vectors; i += step)
    share.store(i, load_vector(x + i * Vector<T>::kLength));
  share.report();
}

// The weight that has the block of that number: the last one that begins at or before it.
__device__ Entry* entry_of(Entry* table, int weights, std::int64_t Entry::*first, std::int64_t block) {
  int low = 0;
  for (int high = weights; high - low > 1;) {
    const int middle = (low + high) / 2;
    (table[middle].*first <= block ? low : high) = middle;
  }
  return table + low;
}

__global__ void clear_kernel(Entry* table, int weights) {
  const int i = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (i < weights) table[i].largest = 0;
}

__global__ __launch_bounds__(kThreads) void rows_kernel(Entry* table, int weights, ByteFormat format) {
  Entry* const entry = entry_of(table, weights, &Entry::first_row_block, blockIdx.x);
  const ByteWeight& w = entry->weight;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t row =
      (std::int64_t{blockIdx.x} - entry->first_row_block) * kRowsEach + static_cast<int>(threadIdx.x) / kWarp;
  if (row >= w.outputs) return;  // the warp
  const auto vectors = static_cast<int>(w.inputs / 8);
  const __half* const from = static_cast<const __half*>(w.weight) + row * w.inputs;
  float largest = 0.0F;
  for (int i = lane; i < vectors; i += kWarp) {
    const Vector<__half> v = load_vector(from + i * 8);
#pragma unroll
    for (int e = 0; e < 8; ++e)
      largest = fmaxf(largest, fabsf(to_float(v.values[e])));
  }
  largest = max_over(largest, kWarp);
  const float scale = byte_scale(format, largest);
  auto* const to = static_cast<uint2*>(w.bytes) + row * vectors;
  for (int i = lane; i < vectors; i += kWarp) {
    const Vector<__half> v = load_vector(from + i * 8);
    float values[8];
#pragma unroll
    for (int e = 0; e < 8; ++e)
      values[e] = to_float(v.values[e]) / scale;
    to[i] = packed(format, values, 1.0F);
  }
  if (lane != 0) return;
  w.factors[row] = scale * w.input_scale->scale;
  if (w.transposed != nullptr) atomicMax(&entry->largest, __float_as_uint(largest));
}

// A thread has 4 x 4 numbers, so that it writes words of four outputs; rows of 17 words lie two to a bank at most.
__global__ __launch_bounds__(kThreads) void transpose_kernel(Entry* table, int weights) {
  constexpr int kPiece = 4;
  constexpr int kPieces = kTile / kPiece;
  static_assert(kPieces * kPieces == kThreads);
  __shared__ std::uint32_t tile[kTile][kPieces + 1];  // [input][four outputs]
  const Entry* const entry = entry_of(table, weights, &Entry::first_tile, blockIdx.x);
  const ByteWeight& w = entry->weight;
  const std::int64_t number = std::int64_t{blockIdx.x} - entry->first_tile;
  const std::int64_t across = w.inputs / kTile;
  const std::int64_t first_output = number / across * kTile;
  const std::int64_t first_input = number % across * kTile;
  const float scale = byte_scale(ByteFormat::kE4m3, __uint_as_float(entry->largest));
  const float inverse = 1.0F / scale;
  const int thread = static_cast<int>(threadIdx.x);
  const int outputs = thread / kPieces;
  const int inputs = thread % kPieces;
  const __half* const from = static_cast<const __half*>(w.weight) + (first_output + outputs * kPiece) * w.inputs +
                             first_input + inputs * kPiece;
  float values[kPiece][kPiece];  // [output][input]
#pragma unroll
  for (int o = 0; o < kPiece; ++o) {
    const uint2 four = *reinterpret_cast<const uint2*>(from + o * w.inputs);
    const auto* const halves = reinterpret_cast<const __half*>(&four);
#pragma unroll
    for (int i = 0; i < kPiece; ++i)
      values[o][i] = to_float(halves[i]) * inverse;
  }
#pragma unroll
  for (int i = 0; i < kPiece; ++i)
    tile[inputs * kPiece + i][outputs] = pack_e4m3(values[0][i], values[1][i], values[2][i], values[3][i]);
  __syncthreads();
  const int input = thread / kPiece;
  const int piece = thread % kPiece * kPiece;
  auto* const row = static_cast<unsigned char*>(w.transposed) + (first_input + input) * w.outputs + first_output;
  const std::uint32_t* const words = &tile[input][piece];
  reinterpret_cast<uint4*>(row)[thread % kPiece] = {words[0], words[1], words[2], words[3]};
  if (first_output == 0 && piece == 0) w.transposed_factors[first_input + input] = scale * w.gradient_scale->scale;
}

}  // namespace

void advance_scales(std::int64_t count, ByteFormat format, DelayedScale* scales, Stream stream) {
  if (count == 0) return;
  advance_kernel<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(static_cast<int>(count), format, scales);
  SWINSCOPE_CUDA_LAUNCHED("advance_kernel");
}

void copy_to_bytes(std::int64_t count, ElementType type, const void* x, const ByteCopy& copy, Stream stream) {
  require(count % 8 == 0 && type != ElementType::kFp32, "copy_to_bytes", "whole vectors of 16-bit elements are needed");
  if (count == 0) return;
  constexpr std::int64_t kBlocksEach = 8;
  const std::int64_t vectors = count / 8;
  const auto blocks = static_cast<unsigned>(
      std::min<std::int64_t>(blocks_for(vectors, kThreads), kBlocksEach * device_info().multiprocessors));
  if (type == ElementType::kFp16) {
    copy_kernel<<<blocks, kThreads, 0, stream>>>(vectors, static_cast<const __half*>(x), copy);
  } else {
    copy_kernel<<<blocks, kThreads, 0, stream>>>(vectors, static_cast<const __nv_bfloat16*>(x), copy);
  }
  SWINSCOPE_CUDA_LAUNCHED("copy_kernel");
}

ByteWeights::ByteWeights(std::span<const ByteWeight> weights, ByteFormat format, Stream stream)
    : format_(format),
      weights_(static_cast<std::int64_t>(weights.size())),
      table_(static_cast<std::int64_t>(weights.size() * sizeof(Entry))) {
  std::vector<Entry> entries;
  for (const ByteWeight& weight : weights) {
    const bool whole = weight.transposed == nullptr || (weight.outputs % kTile == 0 && weight.inputs % kTile == 0);
    require(weight.outputs > 0 && weight.inputs > 0 && weight.inputs % 16 == 0 && whole, "ByteWeights",
            "inputs must be a multiple of 16, and of a transposed weight inputs and outputs of 64");
    entries.push_back({weight, row_blocks_, tiles_, 0});
    row_blocks_ += (weight.outputs + kRowsEach - 1) / kRowsEach;
    if (weight.transposed != nullptr) tiles_ += weight.outputs / kTile * (weight.inputs / kTile);
  }
  copy_to_device(table_.data(), entries.data(), table_.bytes(), stream);
  synchronize(stream);
}

void ByteWeights::run(Stream stream) const {
  if (weights_ == 0) return;
  auto* const table = static_cast<Entry*>(table_.data());
  const auto count = static_cast<int>(weights_);
  clear_kernel<<<blocks_for(weights_, kThreads), kThreads, 0, stream>>>(table, count);
  SWINSCOPE_CUDA_LAUNCHED("clear_kernel");
  rows_kernel<<<static_cast<unsigned>(row_blocks_), kThreads, 0, stream>>>(table, count, format_);
  SWINSCOPE_CUDA_LAUNCHED("rows_kernel");
  if (tiles_ == 0) return;
  transpose_kernel<<<static_cast<unsigned>(tiles_), kThreads, 0, stream>>>(table, count);
  SWINSCOPE_CUDA_LAUNCHED("transpose_kernel");
}

}  // namespace swinscope::cuda

// 64 rows of 128 columns that a warp group works on alone: in shared memory, where the copy engine brings them, and in
// registers, as its sums stand (wgmma.cuh), normalized and multiplied there.
#pragma once

#include "kernels/eviction.cuh"
#include "kernels/hopper_finish.cuh"
#include "kernels/layernorm.h"
#include "kernels/wgmma.cuh"
#include "kernels/window_attention_mma.cuh"

namespace swinscope::cuda::hopper {

constexpr int kRowColumns = 128;
constexpr int kRowSteps = kRowColumns / 16;  // of a product along them

// operand = LN(rows) gamma + beta, rounded, as warp group products read it from registers; the rows are left centred.
// gamma, beta: in shared memory. Element 4 j + 2 h + e of a thread's rows is column 8 j + 2 t + e of its upper (h = 0)
// or lower row.
template <typename T>
__device__ void normalize_rows(float (&rows)[kRowColumns / 2], const float* gamma, const float* beta,
                               std::uint32_t (&operand)[kRowSteps][4]) {
  constexpr auto kEpsilon = static_cast<float>(LayerNormShape{}.epsilon);
  constexpr float kShare = 1.0F / static_cast<float>(kRowColumns);
  const int first = 2 * (static_cast<int>(threadIdx.x) % kQuad);
  float scale[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    // Two sums, so that additions wait less for each other.
    float totals[2] = {};
#pragma unroll
    for (int i = 0; i < kRowColumns / 4; ++i)
      totals[i % 2] += rows[i / 2 * 4 + 2 * half + i % 2];
    const float mean = sum_over_quad(totals[0] + totals[1]) * kShare;
    float squares[2] = {};
#pragma unroll
    for (int i = 0; i < kRowColumns / 4; ++i) {
      float& centred = rows[i / 2 * 4 + 2 * half + i % 2];
      centred -= mean;
      squares[i % 2] = fmaf(centred, centred, squares[i % 2]);
    }
    scale[half] = rsqrtf(fmaf(sum_over_quad(squares[0] + squares[1]), kShare, kEpsilon));
  }
#pragma unroll
  for (int j = 0; j < kRowColumns / 8; ++j) {
    const auto g = *reinterpret_cast<const float2*>(gamma + 8 * j + first);
    const auto b = *reinterpret_cast<const float2*>(beta + 8 * j + first);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float* const own = rows + 4 * j + 2 * half;
      operand[j / 2][j % 2 * 2 + half] =
          pack(fmaf(own[0] * scale[half], g.x, b.x), fmaf(own[1] * scale[half], g.y, b.y), T{});
    }
  }
}

// sums += operand b^T, or = where `clear`, by 128 rows of b in shared memory, two tiles of 64 columns. Not yet waited
// for.
template <typename T>
__device__ void multiply_rows(float (&sums)[kRowColumns / 2], const std::uint32_t (&operand)[kRowSteps][4],
                              std::uint32_t b, bool clear) {
  constexpr std::uint64_t kAdvance = 16 * 2 >> 4;
#pragma unroll
  for (int i = 0; i < kRowSteps; ++i) {
    const std::uint32_t half = static_cast<std::uint32_t>(i / (kRowSteps / 2)) * kRowColumns * 128;
    WarpGroupProduct<T, kRowColumns>::add(sums, operand[i], tile_descriptor(b + half) + i % (kRowSteps / 2) * kAdvance,
                                          clear && i == 0);
  }
}

// sums = a b^T of 64 rows of a and 128 of b in shared memory, each in two tiles of 64 columns. Not yet waited for.
template <typename T>
__device__ void multiply_shared_rows(float (&sums)[kRowColumns / 2], std::uint32_t a, std::uint32_t a_half_bytes,
                                     std::uint32_t b) {
  constexpr std::uint64_t kAdvance = 16 * 2 >> 4;
#pragma unroll
  for (int i = 0; i < kRowSteps; ++i) {
    const auto half = static_cast<std::uint32_t>(i / (kRowSteps / 2));
    const std::uint64_t advance = i % (kRowSteps / 2) * kAdvance;
    WarpGroupProduct<T, kRowColumns>::add(sums, tile_descriptor(a + half * a_half_bytes) + advance,
                                          tile_descriptor(b + half * kRowColumns * 128) + advance, i == 0);
  }
}

// sums = operand b^T, where 64 columns of b at a time, its rows those of `sums`, come to the stages of a ring. kStays:
// b came once for all, else its stages are given back.
template <typename T, bool kStays, int kSteps, int kSums, typename Memory>
__device__ void multiply_by_ring(float (&sums)[kSums], const std::uint32_t (&operand)[kSteps][4], const Memory& memory,
                                 RingPlace& at) {
  constexpr std::uint64_t kAdvance = 16 * 2 >> 4;
  constexpr int kTileSteps = 4;
  const auto release = [&](int stage) {
    if constexpr (!kStays) {
      __syncwarp();
      if (threadIdx.x % kWarp == 0) barrier_arrive(memory.empty(stage));
    }
  };
  int before = 0;
#pragma unroll
  for (int tile = 0; tile < kSteps / kTileSteps; ++tile, at.advance()) {
    barrier_wait(memory.full(at.stage), kStays ? 0 : at.parity);
    products_begin();
#pragma unroll
    for (int i = 0; i < kTileSteps; ++i) {
      WarpGroupProduct<T, 2 * kSums>::add(sums, operand[tile * kTileSteps + i],
                                          tile_descriptor(memory.weights(at.stage)) + i * kAdvance,
                                          tile == 0 && i == 0);
    }
    products_commit();
    if (tile > 0) {
      products_wait<1>();
      release(before);
    }
    before = at.stage;
  }
  products_wait<0>();
  release(before);
}

// Where a thread's pieces of 64 rows are in shared memory, in swizzled tiles of 64 columns; two of them, or for load()
// as many as its steps need.
class SharedRows {
 public:
  static constexpr std::uint32_t kHalfBytes = 64 * 128;
  static constexpr std::uint32_t kBytes = 2 * kHalfBytes;

  // At `rows`, of the warp group that this thread belongs to.
  __device__ explicit SharedRows(std::uint32_t rows) {
    const std::uint32_t lane = threadIdx.x % kWarp;
    const std::uint32_t row = threadIdx.x % kGroup / kWarp * 16 + lane / kQuad;
    own_row_ = rows + row * 128;
    turn_ = row % 8 * 16;
    // Of four matrices, whose rows eight lanes each name: upper and lower rows, then those of the next 8 columns.
    matrices_ = rows + (threadIdx.x % kGroup / kWarp * 16 + lane / 8 % 2 * 8 + lane % 8) * 128;
    matrix_turn_ = lane % 8 * 16;
  }
  // Two columns from 8 j + 2 t on of the upper or lower row.
  __device__ std::uint32_t pair(int half, int j) const {
    return own_row_ + static_cast<std::uint32_t>(half) * 1024 + static_cast<std::uint32_t>(j / 8) * kHalfBytes +
           ((static_cast<std::uint32_t>(j % 8) * 16) ^ turn_) + threadIdx.x % kQuad * 4;
  }
  // Eight columns from 32 part + 8 t on.
  __device__ std::uint32_t eight(int half, int part) const {
    return own_row_ + static_cast<std::uint32_t>(half) * 1024 + static_cast<std::uint32_t>(part / 2) * kHalfBytes +
           (((static_cast<std::uint32_t>(part % 2) * 4 + threadIdx.x % kQuad) * 16) ^ turn_);
  }
  // As warp group products read them from registers, for one step of 16 columns and for all.
  __device__ void load_step(int i, std::uint32_t (&operand)[4]) const {
    const std::uint32_t column = static_cast<std::uint32_t>(i % 4) * 32 + threadIdx.x % kWarp / 16 * 16;  // in bytes
    const uint4 own =
        load_matrices(matrices_ + static_cast<std::uint32_t>(i / 4) * kHalfBytes + (column ^ matrix_turn_));
    operand[0] = own.x;
    operand[1] = own.y;
    operand[2] = own.z;
    operand[3] = own.w;
  }
  template <int kSteps>
  __device__ void load(std::uint32_t (&operand)[kSteps][4]) const {
#pragma unroll
    for (int i = 0; i < kSteps; ++i)
      load_step(i, operand[i]);
  }

 private:
  std::uint32_t own_row_, turn_, matrices_, matrix_turn_;
};

// A thread's upper and lower row of 64 as SharedRows has them, which its quad fetches together, 16 bytes a lane, and
// only their own warp reads.
template <int kColumns>
class QuadRows {
 public:
  static constexpr int kPieces = kColumns / 32;  // of a lane, every fourth of a row

  __device__ explicit QuadRows(std::uint32_t rows)
      : row_(static_cast<int>(threadIdx.x) % kGroup / kWarp * 16 + static_cast<int>(threadIdx.x) % kWarp / kQuad),
        to_(rows + static_cast<std::uint32_t>(row_) * 128 +
            (threadIdx.x % kQuad ^ static_cast<std::uint32_t>(row_) % 8) * 16) {}

  __device__ int row(int half) const { return row_ + 8 * half; }
  // Eight columns from 32 i + 8 t on.
  __device__ std::uint32_t piece(int half, int i) const {
    return (to_ ^ (static_cast<std::uint32_t>(i % 2) * 64)) + static_cast<std::uint32_t>(half) * 1024 +
           static_cast<std::uint32_t>(i / 2) * SharedRows::kHalfBytes;
  }

 private:
  int row_;
  std::uint32_t to_;
};

// operand = LN(operand) gamma + beta, rounded; gamma, beta: in shared memory.
template <typename T>
__device__ void normalize_operand(std::uint32_t (&operand)[kRowSteps][4], const float* gamma, const float* beta) {
  float rows[kRowColumns / 2];
#pragma unroll
  for (int i = 0; i < kRowColumns / 4; ++i) {
    const float2 pair = unpack(operand[i / 4][i % 4], T{});
    rows[2 * i] = pair.x;
    rows[2 * i + 1] = pair.y;
  }
  normalize_rows<T>(rows, gamma, beta, operand);
}
// The same of wider rows in shared memory, for which there are not enough registers in fp32: they are read three times.
template <typename T, int kSteps>
__device__ void load_normalized(const SharedRows& rows, const float* gamma, const float* beta,
                                std::uint32_t (&operand)[kSteps][4]) {
  constexpr auto kEpsilon = static_cast<float>(LayerNormShape{}.epsilon);
  constexpr float kShare = 1.0F / static_cast<float>(kSteps * 16);
  const int first = 2 * (static_cast<int>(threadIdx.x) % kQuad);
  // Of the upper and the lower row; two sums each, so that additions wait less for each other.
  float totals[2][2] = {};
#pragma unroll 4
  for (int i = 0; i < kSteps; ++i) {
    std::uint32_t pairs[4];
    rows.load_step(i, pairs);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float2 pair = unpack(pairs[j], T{});
      totals[j % 2][0] += pair.x;
      totals[j % 2][1] += pair.y;
    }
  }
  const float mean[2] = {sum_over_quad(totals[0][0] + totals[0][1]) * kShare,
                         sum_over_quad(totals[1][0] + totals[1][1]) * kShare};
  float squares[2][2] = {};
#pragma unroll 4
  for (int i = 0; i < kSteps; ++i) {
    std::uint32_t pairs[4];
    rows.load_step(i, pairs);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float2 pair = unpack(pairs[j], T{});
      squares[j % 2][0] = fmaf(pair.x - mean[j % 2], pair.x - mean[j % 2], squares[j % 2][0]);
      squares[j % 2][1] = fmaf(pair.y - mean[j % 2], pair.y - mean[j % 2], squares[j % 2][1]);
    }
  }
  const float scale[2] = {rsqrtf(fmaf(sum_over_quad(squares[0][0] + squares[0][1]), kShare, kEpsilon)),
                          rsqrtf(fmaf(sum_over_quad(squares[1][0] + squares[1][1]), kShare, kEpsilon))};
#pragma unroll
  for (int i = 0; i < kSteps; ++i) {
    std::uint32_t pairs[4];
    rows.load_step(i, pairs);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int column = 16 * i + j / 2 * 8 + first;
      const auto g = *reinterpret_cast<const float2*>(gamma + column);
      const auto b = *reinterpret_cast<const float2*>(beta + column);
      const float2 pair = unpack(pairs[j], T{});
      operand[i][j] = pack(fmaf((pair.x - mean[j % 2]) * scale[j % 2], g.x, b.x),
                           fmaf((pair.y - mean[j % 2]) * scale[j % 2], g.y, b.y), T{});
    }
  }
}

// 64 rows from `row` on, to SharedRows at `to`. Those beyond the last one are zeros. Rows are many here
// (narrow_block.h): more than the L2 cache holds pass by before they are read again, if they are.
__device__ inline void load_rows(std::uint32_t to, const CUtensorMap* map, int row, std::uint32_t full) {
  barrier_arrive_expecting(full, SharedRows::kBytes);
  const std::uint64_t policy = cache_policy(Eviction::kFirst);
  load_tile(to, map, 0, row, full, policy);
  load_tile(to + SharedRows::kHalfBytes, map, 64, row, full, policy);
}
// The same into the L2 cache only.
__device__ inline void prefetch_rows(const CUtensorMap* map, int row) {
  prefetch_tile(map, 0, row);
  prefetch_tile(map, 64, row);
}

// sums (+ what `add` adds to 8 columns at a time), rounded, to a thread's two rows of y; of `pitch` elements each, from
// the warp group's first column on.
template <typename T, typename Add>
__device__ void store_rows(const float (&sums)[kRowColumns / 2], T* y, int first_row, int rows, int pitch,
                           const Add& add) {
  const int thread = static_cast<int>(threadIdx.x) % kGroup;
  const int row = first_row + thread / kWarp * 16 + thread % kWarp / kQuad;
  T* const own = y + std::int64_t{row} * pitch + 8 * (thread % kQuad);
#pragma unroll
  for (int part = 0; part < kRowColumns / 32; ++part) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      Eight eight = eight_of(sums, part, half);
      add(eight, part, half);
      const uint4 packed = eight.rounded(T{});
      if (row + 8 * half < rows) *reinterpret_cast<uint4*>(own + std::int64_t{8} * half * pitch + part * 32) = packed;
    }
  }
}

// Of a parameter in shared memory: eight columns from 32 part + 8 t on.
__device__ inline void add_vector(Eight& eight, const float* vector, int part) {
  const float* const from = vector + part * 32 + 8 * (static_cast<int>(threadIdx.x) % kQuad);
  eight.add(*reinterpret_cast<const float4*>(from), *reinterpret_cast<const float4*>(from + 4));
}

// All threads of the block together; `to` is there once they have met.
template <typename T>
__device__ void share_vector(float* to, const T* from, int count) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
    to[i] = from == nullptr ? 0.0F : to_float(from[i]);
}

}  // namespace swinscope::cuda::hopper

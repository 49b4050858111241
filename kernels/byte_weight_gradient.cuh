// The kernels of byte_weight_gradient.h. What is summed over are the rows of both operands, but warp group products of
// 8 bits want it to run along the rows of theirs in shared memory. So tiles come as they lie, and are turned on the
// way: of dy into registers by the warps that multiply, of x from shared memory to shared memory by a warp group of its
// own.
//
// Turning: ldmatrix.trans hands a thread two features of two rows at a time (with g = lane / 4 and t = lane % 4
// features 2 g and 2 g + 1 of rows 2 t and 2 t + 1), and of two such words byte_perm makes four rows of one feature.
// Rows thus come in the order 0 1 8 9, 2 3 10 11, ...: in both operands alike, which changes no sum. Features of 16
// stand as g and g + 8 for 2 g and 2 g + 1, so that a thread's sums are 4 inputs that follow each other.
//
// A block has a multiprocessor for itself, and all blocks have as many steps, whichever tiles they fall into: a tile
// that several share is added up by a second kernel from what each of them leaves in the workspace, always in the same
// order.
#pragma once

#include "kernels/delayed_scale.h"
#include "kernels/early_launch.cuh"
#include "kernels/hopper_instructions.cuh"
#include "kernels/wgmma.cuh"
#include "kernels/window_attention_mma.cuh"

namespace swinscope::cuda::weight_gradient {

constexpr int kLanes = 32;
constexpr int kGroup = 128;
constexpr int kGroups = 2;  // that multiply
constexpr int kThreads = (1 + kGroups) * kGroup;
constexpr int kRows = 128;  // of a step
constexpr int kBoxFeatures = 128;
constexpr int kTileOutputs = kGroups * kBoxFeatures;
constexpr int kTileInputs = kBoxFeatures;
constexpr int kTileElements = kTileOutputs * kTileInputs;
constexpr int kDepth = 32;                         // rows of one product
constexpr int kHeight = 64;                        // outputs of one product
constexpr int kProducts = kBoxFeatures / kHeight;  // of a group at a time
constexpr int kSums = kTileInputs / 2;
constexpr int kPieces = 16;  // features that are turned together
constexpr std::uint32_t kRowBytes = 128;
constexpr std::uint32_t kBoxBytes = kRows * kRowBytes;
constexpr std::uint32_t kLoadedBytes = (kGroups + 1) * kBoxBytes;
constexpr std::uint32_t kStageBytes = kLoadedBytes + kBoxBytes;
constexpr int kStages = 3;
constexpr std::uint32_t kSharedBytes = kStages * kStageBytes + 1024;  // and what alignment takes
// No Hopper has more multiprocessors.
constexpr int kMostBlocks = 132;

struct Extents {
  int outputs, inputs;
  int tiles_in, tiles;
  int steps;  // of a tile
  int blocks;

  __host__ __device__ int total() const { return tiles * steps; }
  // Of all tiles' steps, the first one of a block.
  __device__ int first_of(int block) const { return static_cast<int>(std::int64_t{block} * total() / blocks); }
  __device__ int block_of(int step) const {
    return static_cast<int>(((std::int64_t{step} + 1) * blocks - 1) / total());
  }
  __device__ int first_output(int tile) const { return tile / tiles_in * kTileOutputs; }
  __device__ int first_input(int tile) const { return tile % tiles_in * kTileInputs; }
};

// Where four of the sums of a thread that multiplies belong in a tile: inputs that follow each other.
constexpr int kFours = kProducts * kSums / 4;
struct Four {
  int output, input;
  __device__ Four(int index, int thread)
      : output(thread / kGroup * kBoxFeatures + index / (kFours / kProducts) * kHeight +
               thread % kGroup / kLanes * kPieces + thread % kLanes / 4 * 2 + index % 2),
        input(index / 2 % (kTileInputs / kPieces) * kPieces + thread % 4 * 4) {}
};

struct Result {
  const DelayedScale* dy_scale;
  const DelayedScale* x_scale;
  float* dweight;
  float4* parts;  // [2 blocks, kFours, threads that multiply]: of a tile that a block ends, and of one that it begins
  bool accumulate;

  __device__ float factor() const { return dy_scale->scale * x_scale->scale; }
  __device__ float4* part(int block, bool begins) const {
    return parts + std::int64_t{2 * block + (begins ? 1 : 0)} * (kTileElements / 4);
  }
  __device__ void finish(const Extents& e, int tile, Four place, float4 sum, float by) const {
    const int output = e.first_output(tile) + place.output;
    const int input = e.first_input(tile) + place.input;
    if (output >= e.outputs || input >= e.inputs) return;
    auto* const at = reinterpret_cast<float4*>(dweight + std::int64_t{output} * e.inputs + input);
    float4 old{};
    if (accumulate) old = *at;
    *at = {fmaf(sum.x, by, old.x), fmaf(sum.y, by, old.y), fmaf(sum.z, by, old.z), fmaf(sum.w, by, old.w)};
  }
};

struct Memory {
  std::uint32_t stages, barriers;
  __device__ std::uint32_t dy(int stage, int group) const {
    return stages + static_cast<std::uint32_t>(stage) * kStageBytes + static_cast<std::uint32_t>(group) * kBoxBytes;
  }
  __device__ std::uint32_t x(int stage) const { return dy(stage, kGroups); }
  __device__ std::uint32_t turned(int stage) const { return dy(stage, kGroups + 1); }
  __device__ std::uint32_t full(int stage) const { return barriers + static_cast<std::uint32_t>(stage) * 8; }
  __device__ std::uint32_t ready(int stage) const { return full(kStages + stage); }
  __device__ std::uint32_t empty(int stage) const { return full(2 * kStages + stage); }
};

// Where 16 bytes of a row lie in a tile of the copy engine.
__device__ inline std::uint32_t place(int row, int chunk) {
  return static_cast<std::uint32_t>(row) * kRowBytes + (static_cast<std::uint32_t>(chunk ^ (row & 7)) << 4);
}

// 16 features of 32 rows, as words of four rows of one feature: of the even feature and of the odd one in the first 16
// rows, then in the second.
__device__ inline void turn(std::uint32_t tile, int first_row, int chunk, int lane, std::uint32_t (&words)[4]) {
  const uint4 pairs = load_matrices_transposed(tile + place(first_row + lane, chunk));
  words[0] = __byte_perm(pairs.x, pairs.y, 0x6420);
  words[1] = __byte_perm(pairs.x, pairs.y, 0x7531);
  words[2] = __byte_perm(pairs.z, pairs.w, 0x6420);
  words[3] = __byte_perm(pairs.z, pairs.w, 0x7531);
}

__device__ inline void store_matrices(std::uint32_t to, const std::uint32_t (&words)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(words[0]),
               "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

// The steps of a block, one after another.
struct Walk {
  int step, last;
  int tile, row;  // row: of kRows
  hopper::RingPlace at{kStages};

  __device__ explicit Walk(const Extents& e)
      : step(e.first_of(static_cast<int>(blockIdx.x))),
        last(e.first_of(static_cast<int>(blockIdx.x) + 1)),
        tile(step / e.steps),
        row(step % e.steps) {}
  __device__ bool more() const { return step < last; }
  __device__ void advance(const Extents& e) {
    at.advance();
    ++step;
    if (++row == e.steps) {
      row = 0;
      ++tile;
    }
  }
};

__device__ inline void load_step(const Memory& memory, const Extents& e, const Walk& walk, const CUtensorMap* dy_map,
                                 const CUtensorMap* x_map) {
  const int stage = walk.at.stage;
  const std::uint32_t full = memory.full(stage);
  hopper::barrier_arrive_expecting(full, kLoadedBytes);
  for (int group = 0; group < kGroups; ++group)
    hopper::load_tile(memory.dy(stage, group), dy_map, e.first_output(walk.tile) + group * kBoxFeatures,
                      walk.row * kRows, full);
  hopper::load_tile(memory.x(stage), x_map, e.first_input(walk.tile), walk.row * kRows, full);
}

// Turns x, a step ahead of those who multiply; its first thread has the steps behind it loaded.
__device__ inline void prepare(const Memory& memory, const Extents& e, const CUtensorMap* dy_map,
                               const CUtensorMap* x_map) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  Walk ahead(e);  // the next to be loaded
  const bool loads = threadIdx.x == 0;
  if (loads) {
    hopper::prefetch_map(dy_map);
    hopper::prefetch_map(x_map);
  }
  wait_for_previous();
  const auto load = [&] {
    if (loads && ahead.more()) load_step(memory, e, ahead, dy_map, x_map);
    ahead.advance(e);
  };
  for (int i = 0; i < kStages; ++i)
    load();
  const int row = lane % 8 + lane / 8 % 2 * 8;  // of 16, where a lane's address of the four matrices is
  int number = 0;
  for (Walk walk(e); walk.more(); walk.advance(e), ++number) {
    const int stage = walk.at.stage;
    hopper::barrier_wait(memory.full(stage), walk.at.parity);
    const std::uint32_t from = memory.x(stage);
    const std::uint32_t to = memory.turned(stage);
#pragma unroll 4
    for (int chunk = 0; chunk < kTileInputs / kPieces; ++chunk) {
      std::uint32_t words[4];
      turn(from, warp * kDepth, chunk, lane, words);
      store_matrices(to + place(chunk * kPieces + row, 2 * warp + lane / 16), words);
    }
    hopper::writes_done_for_products();
    __syncwarp();
    if (lane == 0) hopper::barrier_arrive(memory.ready(stage));
    // The stage of the step before is free once that one is multiplied.
    if (number > 0) {
      if (loads && ahead.more()) hopper::barrier_wait(memory.empty(ahead.at.stage), ahead.at.parity ^ 1U);
      load();
    }
    __syncwarp();
  }
}

// Four of a thread's sums in its registers.
__device__ inline float4 four_of(const float (&sums)[kProducts][kSums], int index) {
  const float* const even =
      &sums[index / (kFours / kProducts)][index / 2 % (kTileInputs / kPieces) * 8 + index % 2 * 2];
  const float* const odd = even + 4;
  return {even[0], odd[0], even[1], odd[1]};
}

__device__ inline void multiply(const Memory& memory, const Extents& e, const Result& result) {
  const int thread = static_cast<int>(threadIdx.x) % kGroup;
  const int group = static_cast<int>(threadIdx.x) / kGroup - 1;
  const int lane = thread % kLanes;
  const int warp = thread / kLanes;
  const auto release = [&](int stage) {
    __syncwarp();
    if (lane == 0) hopper::barrier_arrive(memory.empty(stage));
  };
  Walk walk(e);
  float sums[kProducts][kSums];
  while (walk.more()) {
    const int tile = walk.tile;
    const int begin = walk.row;
    const int end = min(e.steps, begin + walk.last - walk.step);
#pragma unroll 1
    for (int step = begin; step < end; ++step) {
      const int stage = walk.at.stage;
      hopper::barrier_wait(memory.full(stage), walk.at.parity);
      // All words before the first product: ptxas has products wait for each other where registers that one reads are
      // written while others run. Meanwhile the other group multiplies.
      std::uint32_t words[kRows / kDepth][kProducts][4];
#pragma unroll
      for (int i = 0; i < kRows / kDepth; ++i)
#pragma unroll
        for (int product = 0; product < kProducts; ++product)
          turn(memory.dy(stage, group), i * kDepth, product * (kHeight / kPieces) + warp, lane, words[i][product]);
      hopper::barrier_wait(memory.ready(stage), walk.at.parity);
      const std::uint64_t x = hopper::tile_descriptor(memory.turned(stage));
      hopper::products_begin();
#pragma unroll
      for (int i = 0; i < kRows / kDepth; ++i)
#pragma unroll
        for (int product = 0; product < kProducts; ++product)
          WarpGroupProduct<__nv_fp8_e4m3, kTileInputs>::add(sums[product], words[i][product], x + i * (kDepth >> 4),
                                                            step == begin && i == 0);
      hopper::products_commit();
      hopper::products_wait<0>();
      release(stage);
      walk.advance(e);
    }
    const int own = static_cast<int>(threadIdx.x) - kGroup;
    if (begin == 0 && end == e.steps) {
      const float factor = result.factor();
#pragma unroll
      for (int i = 0; i < kFours; ++i)
        result.finish(e, tile, Four(i, own), four_of(sums, i), factor);
    } else {
      auto* const part = result.part(static_cast<int>(blockIdx.x), begin == 0) + own;
#pragma unroll
      for (int i = 0; i < kFours; ++i)
        part[i * kGroups * kGroup] = four_of(sums, i);
    }
  }
}

__global__ __launch_bounds__(kThreads) void weight_gradient_kernel(const __grid_constant__ CUtensorMap dy_map,
                                                                   const __grid_constant__ CUtensorMap x_map,
                                                                   const Extents e, const Result result) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ unsigned char dynamic[];
  __shared__ std::uint64_t barriers[3 * kStages];
  const Memory memory{(shared_address(dynamic) + 1023U) & ~1023U, shared_address(barriers)};
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      hopper::barrier_init(memory.full(stage), 1);
      hopper::barrier_init(memory.ready(stage), kGroup / kLanes);
      hopper::barrier_init(memory.empty(stage), kGroups * kGroup / kLanes);
    }
    hopper::barrier_inits_done();
  }
  __syncthreads();
  let_next_begin();
  if (threadIdx.x < kGroup) {
    hopper::give_registers<56>();
    prepare(memory, e, &dy_map, &x_map);
  } else {
    hopper::take_registers<224>();
    wait_for_previous();
    multiply(memory, e, result);
  }
#endif
}

constexpr int kSumThreads = kGroups * kGroup;

// Tiles that several blocks have a part of: a block for every four sums of a thread that multiplied.
__global__ __launch_bounds__(kSumThreads) void sum_tiles_kernel(const Extents e, const Result result) {
  wait_for_previous();
  const int tile = static_cast<int>(blockIdx.x) / kFours;
  const int index = static_cast<int>(blockIdx.x) % kFours;
  const int first = e.block_of(tile * e.steps);
  const int last = e.block_of((tile + 1) * e.steps - 1);
  if (first == last) return;
  const auto thread = static_cast<int>(threadIdx.x);
  float4 sum{};
  for (int block = first; block <= last; ++block) {
    const float4 part = result.part(block, block == first)[index * kSumThreads + thread];
    sum.x += part.x;
    sum.y += part.y;
    sum.z += part.z;
    sum.w += part.w;
  }
  result.finish(e, tile, Four(index, thread), sum, result.factor());
}

}  // namespace swinscope::cuda::weight_gradient

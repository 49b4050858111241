// The qkv projection within window attention. A block has two windows at a time, one for each of two warp groups, whose
// rows of x stay in shared memory for all heads; the weights of one head after another, 96 rows, come by the copy
// engine and serve both. A group multiplies its 64 rows by them (wgmma), rounds q, k and v, keeps q in registers and
// puts k and v where its four warps, 16 queries each, find them. While one group computes the scores the other one has
// the tensor cores for its products.
//
// With C channels a window of 64 tokens takes 384 C (C + 43) operations and moves 256 C bytes; q, k and v, written and
// read again, would be 768 C more.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/hopper_product.cuh"
#include "kernels/narrow_attention.h"
#include "kernels/qkv_attention.h"
#include "kernels/qkv_attention_head.cuh"

namespace swinscope::cuda {
namespace {

constexpr int kGroups = 2;
constexpr int kBlockThreads = (1 + kGroups) * hopper::kGroup;
constexpr std::uint32_t kRowTileBytes = kMaxTokens * hopper::kStageRowBytes;  // x: 64 rows of 64 channels
constexpr std::uint32_t kWeightBoxBytes = kHeadDim * hopper::kStageRowBytes;
constexpr std::uint32_t kWeightBytes = 3 * kWeightBoxBytes;  // of 64 channels of a head's q, k and v
constexpr int kMostStages = 8;
constexpr int kLeastStages = 4;
static_assert(kMaxTokens == kMostAttentionTokens);
// Beside what is allocated dynamically: barriers and norms.
constexpr std::uint32_t kStaticBytes = 1024;

template <typename T>
struct QkvArguments {
  WindowGeometry geometry;
  int windows;
  int pairs, first_pair, pair_step;  // in the order in which they are taken
  int heads, heads_each;             // of a block
  int stages, row_stages;            // of weights and of x
  float scale;                       // of the scaled dot product, times log2 e
  const T* x;
  const T* qkv_bias;
  const __half* bias;
  const float* logit_scale;
  T* out;

  __device__ int channels() const { return heads * kHeadDim; }
  __device__ int depth_tiles() const { return channels() / hopper::kDepth; }
  __device__ int first_head() const { return static_cast<int>(blockIdx.y) * heads_each; }
  __device__ int last_head() const { return min(first_head() + heads_each, heads); }
};

// Shared memory and barriers. A template, because architectures whose kernel is empty then leave it out instead of
// finding functions that nothing calls.
template <typename T>
struct QkvMemory {
  std::uint32_t rows, weights, parts, barriers, window_bytes;

  __device__ QkvMemory(const QkvArguments<T>& a, std::uint32_t base, std::uint32_t all_barriers)
      : rows(base), barriers(all_barriers), window_bytes(static_cast<std::uint32_t>(a.depth_tiles()) * kRowTileBytes) {
    weights = rows + static_cast<std::uint32_t>(a.row_stages * kGroups) * window_bytes;
    parts = weights + static_cast<std::uint32_t>(a.stages) * kWeightBytes;
  }
  __device__ std::uint32_t x(int stage, int group) const {
    return rows + static_cast<std::uint32_t>(stage * kGroups + group) * window_bytes;
  }
  __device__ std::uint32_t weight(int stage) const {
    return weights + static_cast<std::uint32_t>(stage) * kWeightBytes;
  }
  __device__ std::uint32_t window_parts(int group) const {
    return parts + static_cast<std::uint32_t>(group) * kStageBytes;
  }
  // The bias of q, k and v in fp32, behind everything else.
  __device__ std::uint32_t bias() const { return window_parts(kGroups); }
  __device__ std::uint32_t full(int stage) const { return barriers + static_cast<std::uint32_t>(stage) * 8; }
  __device__ std::uint32_t empty(int stage) const { return full(kMostStages + stage); }
};

// The weights of each head, for each pair of windows again.
template <typename T>
__device__ void produce_weights(const QkvArguments<T>& a, const QkvMemory<T>& memory, const CUtensorMap* map) {
  hopper::prefetch_map(map);
  hopper::RingPlace at(a.stages);
  for (int pair = static_cast<int>(blockIdx.x); pair < a.pairs; pair += static_cast<int>(gridDim.x)) {
    for (int head = a.first_head(); head < a.last_head(); ++head) {
      for (int tile = 0; tile < a.depth_tiles(); ++tile, at.advance()) {
        hopper::barrier_wait(memory.empty(at.stage), at.parity ^ 1U);
        const std::uint32_t full = memory.full(at.stage);
        hopper::barrier_arrive_expecting(full, kWeightBytes);
#pragma unroll
        for (int part = 0; part < 3; ++part) {
          hopper::load_tile(memory.weight(at.stage) + static_cast<std::uint32_t>(part) * kWeightBoxBytes, map,
                            tile * hopper::kDepth, part * a.channels() + head * kHeadDim, full);
        }
      }
    }
  }
}

// The rows of x of one group's windows, on their way into shared memory: eight lanes a row, whose 16-byte pieces are
// permuted by the row as the copy engine would (128-byte swizzle).
template <typename T>
struct RowCopies {
  static constexpr int kLanes = 8;
  static constexpr int kRowsAtOnce = hopper::kGroup / kLanes;

  __device__ RowCopies(const QkvArguments<T>& arguments, int thread)
      : a(arguments), piece(thread % kLanes), first_slot(thread / kLanes) {}

  __device__ std::uint32_t place(int slot) const {
    return static_cast<std::uint32_t>(slot) * hopper::kStageRowBytes +
           static_cast<std::uint32_t>(piece ^ (slot % 8)) * 16;
  }
  // Rows that no window has, for good.
  __device__ void clear(std::uint32_t to) const {
    for (int slot = first_slot; slot < kMaxTokens; slot += kRowsAtOnce) {
      if (slot < a.geometry.tokens()) continue;
      for (int tile = 0; tile < a.depth_tiles(); ++tile)
        store_shared(to + place(slot) + static_cast<std::uint32_t>(tile) * kRowTileBytes, uint4{});
    }
  }
  __device__ void begin(int window, std::uint32_t to) const {
    if (window < a.windows) {
      const Window at(a.geometry, window);
#pragma unroll
      for (int i = 0; i < kMaxTokens / kRowsAtOnce; ++i) {
        const int slot = first_slot + i * kRowsAtOnce;
        if (slot >= a.geometry.tokens()) continue;
        const int row = at.row(a.geometry, Slot(a.geometry, slot));
        const T* const from = a.x + std::int64_t{max(row, 0)} * a.channels() + piece * 8;
        for (int tile = 0; tile < a.depth_tiles(); ++tile) {
          copy_async_or_zeros(to + place(slot) + static_cast<std::uint32_t>(tile) * kRowTileBytes,
                              from + tile * hopper::kDepth, row >= 0);
        }
      }
    }
    copies_commit();
  }

  const QkvArguments<T>& a;
  int piece, first_slot;
};

// 64 rows of x by the weights of a head: with the layout of wgmma.cuh, of each row columns of q, then k, then v.
template <typename T>
__device__ void project(const QkvArguments<T>& a, const QkvMemory<T>& memory, std::uint32_t x, hopper::RingPlace& at,
                        bool leads, float (&sums)[kHeadColumns / 2]) {
  constexpr std::uint64_t kAdvance = hopper::kStep * 2 >> 4;
  const auto release = [&](int stage) {
    __syncwarp();
    if (leads) hopper::barrier_arrive(memory.empty(stage));
  };
  int before = 0;
#pragma unroll 1
  for (int tile = 0; tile < a.depth_tiles(); ++tile, at.advance()) {
    hopper::barrier_wait(memory.full(at.stage), at.parity);
    const std::uint64_t rows = hopper::tile_descriptor(x + static_cast<std::uint32_t>(tile) * kRowTileBytes);
    const std::uint64_t weights = hopper::tile_descriptor(memory.weight(at.stage));
    hopper::products_begin();
#pragma unroll
    for (int step = 0; step < hopper::kDepth / hopper::kStep; ++step) {
      WarpGroupProduct<T, kHeadColumns>::add(sums, rows + step * kAdvance, weights + step * kAdvance,
                                             tile == 0 && step == 0);
    }
    hopper::products_commit();
    if (tile > 0) {
      hopper::products_wait<1>();
      release(before);
    }
    before = at.stage;
  }
  hopper::products_wait<0>();
  release(before);
}

template <typename T, int kBlocks, bool kCosine>
__device__ void attend_windows(const QkvArguments<T>& a, const QkvMemory<T>& memory, const float* qkv_bias,
                               float* k_norms, int group) {
  const int thread = static_cast<int>(threadIdx.x) % hopper::kGroup;
  const AttentionLane<kBlocks> lane(a.geometry, thread);
  const RowCopies<T> copies(a, thread);
  const int tokens = a.geometry.tokens();
  const std::uint32_t parts = memory.window_parts(group);
  const auto window_of = [&](int pair) { return kGroups * (a.first_pair + a.pair_step * pair) + group; };
  const auto group_meets = [&] { hopper::threads_meet<hopper::kGroup>(1 + group); };
  for (int stage = 0; stage < a.row_stages; ++stage)
    copies.clear(memory.x(stage, group));
  wait_for_previous();

  const int step = static_cast<int>(gridDim.x);
  int pair = static_cast<int>(blockIdx.x);
  int row_stage = 0;
  hopper::RingPlace at(a.stages);
  copies.begin(window_of(pair), memory.x(0, group));
  for (; pair < a.pairs; pair += step) {
    const std::uint32_t x = memory.x(row_stage, group);
    copies_wait<0>();
    hopper::writes_done_for_products();
    group_meets();
    const bool goes_on = pair + step < a.pairs;
    if (a.row_stages == 2) {
      row_stage ^= 1;
      if (goes_on) copies.begin(window_of(pair + step), memory.x(row_stage, group));
    }
    const int window = window_of(pair);
    Underway rows;
    if (window < a.windows) {
      const Window place(a.geometry, window);
      if (lane.upper.index < tokens) rows.upper = place.row(a.geometry, lane.upper);
      if (lane.lower.index < tokens) rows.lower = place.row(a.geometry, lane.lower);
      rows.seams = seams_of(place);
    }
    for (int head = a.first_head(); head < a.last_head(); ++head) {
      const LaneBias bias(a.bias, head, lane);
      float sums[kHeadColumns / 2];
      project(a, memory, x, at, thread % kWarp == 0, sums);
      group_meets();  // nobody reads k and v of the head before, nor x
      if (a.row_stages == 1 && goes_on && head + 1 == a.last_head()) copies.begin(window_of(pair + step), x);
      const HeadRows<T, kCosine> head_rows(sums, qkv_bias + head * kHeadDim, a.channels(), parts, lane.result_place,
                                           lane.t, lane.upper.index, k_norms);
      group_meets();
      if (lane.tile * 16 >= tokens) continue;

      const float scale = kCosine ? cosine_scale(a.logit_scale[head]) : a.scale;
      attend_head(lane, rows, head_rows, bias, scale, k_norms, parts, a.out + head * kHeadDim, a.channels());
    }
  }
}

template <typename T, int kBlocks, bool kCosine>
__global__ __launch_bounds__(kBlockThreads, 1) void qkv_attention_kernel(const __grid_constant__ CUtensorMap weight_map,
                                                                         const QkvArguments<T> a) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ unsigned char dynamic[];
  __shared__ std::uint64_t barriers[2 * kMostStages];
  __shared__ alignas(8) float k_norms[kGroups][kCosine ? kMaxTokens : 1];
  const std::uint32_t start = shared_address(dynamic);
  const std::uint32_t base = (start + 1023U) & ~1023U;
  const QkvMemory memory(a, base, shared_address(barriers));
  auto* const qkv_bias = reinterpret_cast<float*>(dynamic + (memory.bias() - start));
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < a.stages; ++stage) {
      hopper::barrier_init(memory.full(stage), 1);
      hopper::barrier_init(memory.empty(stage), kGroups * (hopper::kGroup / kWarp));
    }
    hopper::barrier_inits_done();
  }
  for (int column = static_cast<int>(threadIdx.x); column < 3 * a.channels(); column += kBlockThreads)
    qkv_bias[column] = a.qkv_bias == nullptr ? 0.0F : to_float(a.qkv_bias[column]);
  __syncthreads();
  let_next_begin();
  const int group = static_cast<int>(threadIdx.x) / hopper::kGroup - 1;
  if (group < 0) {
    hopper::give_registers<40>();
    if (threadIdx.x == 0) produce_weights(a, memory, &weight_map);
  } else {
    hopper::take_registers<232>();
    attend_windows<T, kBlocks, kCosine>(a, memory, qkv_bias, k_norms[group], group);
  }
#endif
}

// How many stages of weights and of x there is room for.
struct Rings {
  int stages = 0;
  int row_stages = 0;
  std::uint32_t bytes = 0;
};

Rings rings_for(std::int64_t channels, std::uint32_t shared_bytes) {
  const auto window = static_cast<std::uint32_t>(channels / hopper::kDepth) * kRowTileBytes;
  const std::uint32_t rest = 1024 + kGroups * kStageBytes + static_cast<std::uint32_t>(3 * channels) * 4;
  Rings best;
  for (const int row_stages : {1, 2}) {
    const std::uint32_t fixed = rest + static_cast<std::uint32_t>(row_stages * kGroups) * window;
    if (fixed >= shared_bytes) continue;
    const int stages = std::min(kMostStages, static_cast<int>((shared_bytes - fixed) / kWeightBytes));
    if (stages >= kLeastStages) best = {stages, row_stages, fixed + static_cast<std::uint32_t>(stages) * kWeightBytes};
  }
  return best;
}

std::uint32_t most_shared_bytes() {
  static const int bytes = [] {
    int device = 0;
    int found = 0;
    SWINSCOPE_CUDA(cudaGetDevice(&device));
    SWINSCOPE_CUDA(cudaDeviceGetAttribute(&found, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    return found;
  }();
  return static_cast<std::uint32_t>(bytes) - kStaticBytes;
}

template <typename T, int kBlocks, bool kCosine>
void launch(const WindowAttentionShape& shape, ElementType type, const QkvAttentionTensors& t, Stream stream) {
  const auto kernel = qkv_attention_kernel<T, kBlocks, kCosine>;
  static const bool ready = [kernel] {
    SWINSCOPE_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(most_shared_bytes())));
    return true;
  }();
  require(ready, "qkv_attention", "the kernel is not ready");
  const auto ceil_div = [](int count, int per) { return (count + per - 1) / per; };
  const Rings rings = rings_for(shape.channels(), most_shared_bytes());
  require(rings.stages > 0, "qkv_attention", "shared memory is too small");
  QkvArguments<T> a{};
  a.geometry = WindowGeometry::of(shape.grid, TokenOrder::kImage);
  a.windows = static_cast<int>(shape.grid.window_count());
  a.pairs = ceil_div(a.windows, kGroups);
  a.first_pair = t.backwards ? a.pairs - 1 : 0;
  a.pair_step = t.backwards ? -1 : 1;
  a.heads = static_cast<int>(shape.heads);
  a.stages = rings.stages;
  a.row_stages = rings.row_stages;
  a.scale = kLog2e / std::sqrt(static_cast<float>(kHeadDim));
  a.x = static_cast<const T*>(t.x);
  a.qkv_bias = static_cast<const T*>(t.qkv_bias);
  a.bias = static_cast<const __half*>(t.bias);
  a.logit_scale = t.logit_scale;
  a.out = static_cast<T*>(t.out);
  // Pairs that leave multiprocessors over share their heads among several blocks.
  const int multiprocessors = device_info().multiprocessors;
  a.heads_each = ceil_div(a.heads, std::clamp(multiprocessors / a.pairs, 1, a.heads));
  const int shares = ceil_div(a.heads, a.heads_each);
  const int turns = ceil_div(a.pairs, std::max(1, multiprocessors / shares));
  LaunchShape launch;
  launch.grid = dim3(static_cast<unsigned>(ceil_div(a.pairs, turns)), static_cast<unsigned>(shares));
  launch.block = dim3(kBlockThreads);
  launch.shared_bytes = rings.bytes;
  const hopper::TensorMap weight =
      hopper::make_row_map(type, t.weight, 3 * shape.channels(), shape.channels(), kHeadDim);
  launch_early(kernel, launch, stream, std::bit_cast<CUtensorMap>(weight), a);
}

template <typename T>
void launch_type(const WindowAttentionShape& shape, ElementType type, const QkvAttentionTensors& tensors,
                 Stream stream) {
  if (shape.score == AttentionScore::kCosine) {
    launch<T, 8, true>(shape, type, tensors, stream);
  } else {
    launch<T, 7, false>(shape, type, tensors, stream);
  }
}

}  // namespace

void qkv_attention_forward(const WindowAttentionShape& shape, ElementType type, const QkvAttentionTensors& tensors,
                           Stream stream) {
  const bool normalizes = tensors.gamma != nullptr;
  static const DeviceInfo gpu = device_info();
  require(normalizes ? normalized_qkv_attention_offered(shape, type, gpu) : qkv_attention_offered(shape, type, gpu),
          "qkv_attention", "there is no kernel for such windows here");
  require(tensors.x != nullptr && tensors.weight != nullptr && tensors.bias != nullptr && tensors.out != nullptr,
          "qkv_attention", "x, weight, bias and out are needed");
  require(shape.score != AttentionScore::kCosine || tensors.logit_scale != nullptr, "qkv_attention",
          "the cosine score needs logit_scale");
  require(shape.grid.window_count() * shape.grid.window_tokens() < std::numeric_limits<int>::max(), "qkv_attention",
          "too many windows");
  if (shape.grid.batch == 0) return;
  const bool cosine = shape.score == AttentionScore::kCosine;
  if (normalizes || (cosine && narrow_attention_offered(shape, type, gpu) && narrow_attention_pays(shape, gpu))) {
    narrow_attention_forward(shape, type, tensors, stream);
  } else if (type == ElementType::kFp16) {
    launch_type<__half>(shape, type, tensors, stream);
  } else {
    launch_type<__nv_bfloat16>(shape, type, tensors, stream);
  }
}

}  // namespace swinscope::cuda

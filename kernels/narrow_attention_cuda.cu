// Window attention, the qkv projection before it and, in V1, the normalization before that, with 128 channels. All of
// the projection's weights, 96 KB, stay in shared memory. Four warp groups, each on its own: it fetches the rows of a
// window, normalizes them in registers, from which the tensor cores take them for one head after another, rounds q, k
// and v, keeps q in registers and puts k and v where its four warps, 16 queries each, find them. While one group
// computes scores another one has the tensor cores, and each one's next window is on its way.
//
// A window of 49 tokens takes 8.4 million operations of its 64 rows and moves 25 KB; normalization, projection and
// attention apart move 100 KB.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/hopper_product.cuh"
#include "kernels/hopper_rows.cuh"
#include "kernels/narrow_attention.h"
#include "kernels/narrow_block.h"
#include "kernels/qkv_attention_head.cuh"

namespace swinscope::cuda {
namespace {

constexpr int kChannels = hopper::kRowColumns;
static_assert(kNarrowChannels == kChannels);

constexpr int kHeads = kChannels / kHeadDim;
constexpr int kGroups = 4;
constexpr int kBlockThreads = kGroups * hopper::kGroup;
// Of the weights: 64 channels of a head's q, k or v, of all three, and all channels of them.
constexpr std::uint32_t kBoxBytes = kHeadDim * hopper::kStageRowBytes;
constexpr std::uint32_t kHalfBytes = 3 * kBoxBytes;
constexpr std::uint32_t kHeadBytes = 2 * kHalfBytes;
constexpr std::uint32_t kWeightBytes = kHeads * kHeadBytes;
constexpr std::uint32_t kGroupBytes = hopper::SharedRows::kBytes + kStageBytes;
constexpr std::uint32_t kSharedBytes = kWeightBytes + kGroups * kGroupBytes + 1024;

template <typename T>
struct NarrowAttentionArguments {
  WindowGeometry geometry;
  int windows;
  int first_window, window_step;  // in the order in which they are taken
  float scale;                    // of the scaled dot product, times log2 e
  const T* x;
  const T *gamma, *beta;
  const T* qkv_bias;
  const __half* bias;
  const float* logit_scale;
  T* out;
};

// Two rows of a window's 64 that four lanes fetch together, and only their own warp reads.
template <typename T>
class OwnRows {
 public:
  // rows: as SharedRows has them. Slots that no window has are zeros for good.
  template <int kBlocks>
  __device__ OwnRows(const AttentionLane<kBlocks>& lane, int tokens, std::uint32_t rows)
      : to_(rows + static_cast<std::uint32_t>(lane.upper.index) * hopper::kStageRowBytes +
            static_cast<std::uint32_t>(lane.t ^ (lane.g % 8)) * 16),
        first_(8 * lane.t) {
    for (int half = 0; half < 2; ++half) {
      if ((half == 0 ? lane.upper : lane.lower).index < tokens) continue;
      for (int i = 0; i < kPieces; ++i)
        store_shared(place(half, i), uint4{});
    }
  }
  __device__ void begin(const T* x, const Underway& rows) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = half == 0 ? rows.upper : rows.lower;
      if (row < 0) continue;
      const T* const from = x + std::int64_t{row} * kChannels + first_;
#pragma unroll
      for (int i = 0; i < kPieces; ++i)
        copy_async(place(half, i), from + i * 32);
    }
  }

 private:
  static constexpr int kPieces = kChannels / 32;  // of 16 bytes, every fourth of a row

  __device__ std::uint32_t place(int half, int i) const {
    return (to_ ^ (static_cast<std::uint32_t>(i % 2) * 64)) + static_cast<std::uint32_t>(half) * 1024 +
           static_cast<std::uint32_t>(i / 2) * hopper::SharedRows::kHalfBytes;
  }

  std::uint32_t to_;
  int first_;
};

// sums = rows W^T of a head, whose weights are at `weights`. Not yet waited for.
template <typename T>
__device__ void project(float (&sums)[kHeadColumns / 2], const std::uint32_t (&operand)[hopper::kRowSteps][4],
                        std::uint32_t weights) {
  constexpr std::uint64_t kAdvance = hopper::kStep * 2 >> 4;
  constexpr int kSteps = hopper::kRowSteps / 2;  // in 64 channels
#pragma unroll
  for (int i = 0; i < hopper::kRowSteps; ++i) {
    const std::uint32_t half = static_cast<std::uint32_t>(i / kSteps) * kHalfBytes;
    WarpGroupProduct<T, kHeadColumns>::add(sums, operand[i],
                                           hopper::tile_descriptor(weights + half) + i % kSteps * kAdvance, i == 0);
  }
}

// kBlocks: blocks of 8 keys.
template <typename T, int kBlocks, bool kCosine>
__global__ __launch_bounds__(kBlockThreads,
                             1) void narrow_attention_kernel(const __grid_constant__ CUtensorMap weight_map,
                                                             const NarrowAttentionArguments<T> a) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ unsigned char dynamic[];
  __shared__ std::uint64_t barrier;
  __shared__ alignas(16) float gamma[kChannels];
  __shared__ alignas(16) float beta[kChannels];
  __shared__ alignas(16) float qkv_bias[3 * kChannels];
  __shared__ alignas(8) float key_norms[kGroups][kCosine ? kMaxTokens : 1];
  const std::uint32_t weights = (shared_address(dynamic) + 1023U) & ~1023U;
  const std::uint32_t weights_full = shared_address(&barrier);
  if (threadIdx.x == 0) {
    hopper::barrier_init(weights_full, 1);
    hopper::barrier_inits_done();
    // They do not depend on the kernel before.
    hopper::barrier_arrive_expecting(weights_full, kWeightBytes);
    for (int i = 0; i < 6 * kHeads; ++i) {
      const int part = i % 3;
      const int half = i / 3 % 2;
      hopper::load_tile(weights + static_cast<std::uint32_t>(i) * kBoxBytes, &weight_map, half * hopper::kDepth,
                        part * kChannels + i / 6 * kHeadDim, weights_full);
    }
  }
  if constexpr (!kCosine) {
    hopper::share_vector(gamma, a.gamma, kChannels);
    hopper::share_vector(beta, a.beta, kChannels);
  }
  hopper::share_vector(qkv_bias, a.qkv_bias, 3 * kChannels);
  __syncthreads();
  let_next_begin();

  const int group = static_cast<int>(threadIdx.x) / hopper::kGroup;
  const int tokens = a.geometry.tokens();
  const AttentionLane<kBlocks> lane(a.geometry, static_cast<int>(threadIdx.x) % hopper::kGroup);
  const std::uint32_t rows_at = weights + kWeightBytes + static_cast<std::uint32_t>(group) * kGroupBytes;
  const std::uint32_t parts = rows_at + hopper::SharedRows::kBytes;
  const hopper::SharedRows shared(rows_at);
  const OwnRows<T> own(lane, tokens, rows_at);
  const auto begin_window = [&](int window) {
    Underway rows;
    if (window < a.windows) {
      const Window at(a.geometry, a.first_window + a.window_step * window);
      if (lane.upper.index < tokens) rows.upper = at.row(a.geometry, lane.upper);
      if (lane.lower.index < tokens) rows.lower = at.row(a.geometry, lane.lower);
      rows.seams = seams_of(at);
      own.begin(a.x, rows);
    }
    copies_commit();
    return rows;
  };
  const auto group_meets = [&] { hopper::threads_meet<hopper::kGroup>(1 + group); };
  wait_for_previous();

  // All multiprocessors have a window before one of them has two.
  const int step = kGroups * static_cast<int>(gridDim.x);
  int window = group * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
  Underway next = begin_window(window);
  hopper::barrier_wait(weights_full, 0);
  for (; window < a.windows; window += step) {
    copies_wait<0>();
    __syncwarp();
    std::uint32_t operand[hopper::kRowSteps][4];
    shared.load(operand);
    __syncwarp();
    const Underway rows = next;
    next = begin_window(window + step);
    if constexpr (!kCosine) {
      float values[kChannels / 2];
#pragma unroll
      for (int i = 0; i < kChannels / 4; ++i) {
        const float2 pair = unpack(operand[i / 4][i % 4], T{});
        values[2 * i] = pair.x;
        values[2 * i + 1] = pair.y;
      }
      hopper::normalize_rows<T>(values, gamma, beta, operand);
    }
#pragma unroll 1
    for (int head = 0; head < kHeads; ++head) {
      float sums[kHeadColumns / 2];
      hopper::products_begin();
      project<T>(sums, operand, weights + static_cast<std::uint32_t>(head) * kHeadBytes);
      hopper::products_commit();
      const LaneBias bias(a.bias, head, lane);
      hopper::products_wait<0>();
      group_meets();  // nobody reads k and v of the head before
      const HeadRows<T, kCosine> head_rows(sums, qkv_bias + head * kHeadDim, kChannels, parts, lane.result_place,
                                           lane.t, lane.upper.index, key_norms[group]);
      group_meets();
      if (lane.tile * 16 >= tokens) continue;
      const float scale = kCosine ? cosine_scale(a.logit_scale[head]) : a.scale;
      attend_head(lane, rows, head_rows, bias, scale, key_norms[group], parts, a.out + head * kHeadDim, kChannels);
    }
  }
#endif
}

template <typename T, int kBlocks, bool kCosine>
void launch(const WindowAttentionShape& shape, ElementType type, const QkvAttentionTensors& t, Stream stream) {
  const auto kernel = narrow_attention_kernel<T, kBlocks, kCosine>;
  static const bool ready = [kernel] {
    SWINSCOPE_CUDA(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(kSharedBytes)));
    return true;
  }();
  require(ready, "narrow_attention", "the kernel is not ready");
  NarrowAttentionArguments<T> a{};
  a.geometry = WindowGeometry::of(shape.grid, TokenOrder::kImage);
  a.windows = static_cast<int>(shape.grid.window_count());
  a.first_window = t.backwards ? a.windows - 1 : 0;
  a.window_step = t.backwards ? -1 : 1;
  a.scale = kLog2e / std::sqrt(static_cast<float>(kHeadDim));
  a.x = static_cast<const T*>(t.x);
  a.gamma = static_cast<const T*>(t.gamma);
  a.beta = static_cast<const T*>(t.beta);
  a.qkv_bias = static_cast<const T*>(t.qkv_bias);
  a.bias = static_cast<const __half*>(t.bias);
  a.logit_scale = t.logit_scale;
  a.out = static_cast<T*>(t.out);
  LaunchShape launch;
  launch.grid = dim3(static_cast<unsigned>(std::min(a.windows, device_info().multiprocessors)));
  launch.block = dim3(kBlockThreads);
  launch.shared_bytes = kSharedBytes;
  const hopper::TensorMap weight = hopper::make_row_map(type, t.weight, 3 * kNarrowChannels, kNarrowChannels, kHeadDim);
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

bool narrow_attention_offered(const WindowAttentionShape& shape, ElementType type) {
  return attention_on_tensor_cores(shape, type) && shape.channels() == kNarrowChannels && !shape.grid.padded() &&
         (shape.score == AttentionScore::kCosine || shape.grid.window_tokens() <= 56) && hopper::offered();
}

void narrow_attention_forward(const WindowAttentionShape& shape, ElementType type, const QkvAttentionTensors& tensors,
                              Stream stream) {
  require(narrow_attention_offered(shape, type), "narrow_attention", "there is no kernel for such windows here");
  const bool normalizes = tensors.gamma != nullptr && tensors.beta != nullptr;
  require(normalizes == (shape.score == AttentionScore::kScaledDot), "narrow_attention",
          "gamma and beta are needed with the scaled dot product, and with it alone");
  if (type == ElementType::kFp16) {
    launch_type<__half>(shape, type, tensors, stream);
  } else {
    launch_type<__nv_bfloat16>(shape, type, tensors, stream);
  }
}

}  // namespace swinscope::cuda

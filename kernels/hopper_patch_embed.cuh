// Patch embedding and the normalization after it as one kernel, for 128 outputs. Four warp groups, each on its own,
// take 64 patches at a time: a patch of 4 x 4 pixels and a channel is 16 values of the product's depth, which its
// threads fetch as the tensor cores read them from registers, two pixels at a time, while the patches before are
// normalized. The weights, 12 KB, stay in shared memory.
//
// It moves 352 bytes a patch and takes 12,288 operations, so it is bound by memory: docs/kernels/fused.md.
#pragma once

#include "kernels/hopper_product.cuh"
#include "kernels/hopper_result.cuh"
#include "kernels/hopper_rows.cuh"

namespace swinscope::cuda::hopper {

constexpr int kImageChannels = 3;
constexpr int kPatch = 4;

// What hopper_result.cuh asks of a plan.
template <typename T_>
struct EmbedPlan {
  using T = T_;
  static constexpr Finish kFinish = Finish::kNormalized;
  static constexpr bool kScales = false;
  static constexpr int kColumns = kRowColumns;
  static constexpr int kSums = kColumns / 2;
  static constexpr int kGroups = 4;
  static constexpr int kThreads = kGroups * kGroup;
  // Those of a tile of 64 columns, of which the product has 48: the others are zeros.
  static constexpr std::uint32_t kWeightBytes = kColumns * kStageRowBytes;
};

// Of finish_normalized().
struct NoResidual {
  static constexpr int kAhead = kRowColumns / 32;
  template <typename Place>
  __device__ void fetch(int, const Place&) {}
  __device__ void add_to(Eight&, int, int) {}
};

// A thread's two rows of the result.
template <typename T>
struct RowPlace {
  T* y[2];
  bool there[2];
  __device__ bool has(int, int half) const { return there[half]; }
};

template <typename T>
struct EmbedArguments {
  int patches_x, patches_y, patches;
  const T* image;
  Pointers<T> pointers;
};

// The product's operand of two patches, 8 apart, of the pixels that this thread has: row t / 2 of the patch and the one
// two below it, and of each two pixels from 2 (t % 2) on. Instead of patches beyond the last one it is the last one's.
template <typename T>
__device__ void fetch_patches(const EmbedArguments<T>& a, int first, std::uint32_t (&operand)[kImageChannels][4]) {
  const int t = static_cast<int>(threadIdx.x) % kQuad;
  const std::int64_t width = std::int64_t{kPatch} * a.patches_x;
  const std::int64_t plane = width * kPatch * a.patches_y;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int patch = min(first + 8 * half, a.patches - 1);
    const int row = patch / a.patches_x;
    const int image = row / a.patches_y;
    const T* const from = a.image + image * kImageChannels * plane +
                          (std::int64_t{row - image * a.patches_y} * kPatch + t / 2) * width +
                          (patch - row * a.patches_x) * kPatch + t % 2 * 2;
#pragma unroll
    for (int channel = 0; channel < kImageChannels; ++channel) {
#pragma unroll
      for (int below = 0; below < 2; ++below) {
        operand[channel][2 * below + half] =
            __ldg(reinterpret_cast<const unsigned*>(from + channel * plane + std::int64_t{2} * below * width));
      }
    }
  }
}

template <typename P>
__global__ __launch_bounds__(P::kThreads,
                             1) void normalized_patch_embed_kernel(const __grid_constant__ CUtensorMap weight_map,
                                                                   const EmbedArguments<typename P::T> a) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using T = typename P::T;
  __shared__ alignas(1024) unsigned char weights[P::kWeightBytes];
  __shared__ std::uint64_t barrier;
  __shared__ alignas(16) float vectors[P::kGroups][ResultVectors<P>::kCount * P::kColumns];
  const std::uint32_t weights_full = shared_address(&barrier);
  if (threadIdx.x == 0) {
    barrier_init(weights_full, 1);
    barrier_inits_done();
    // They do not depend on the kernel before.
    barrier_arrive_expecting(weights_full, P::kWeightBytes);
    load_permuted_tile(shared_address(weights), &weight_map, 0, 0, weights_full);
  }
  __syncthreads();
  let_next_begin();

  const int group = static_cast<int>(threadIdx.x) / kGroup;
  const int thread = static_cast<int>(threadIdx.x) % kGroup;
  const int own_row = thread / kWarp * 16 + thread % kWarp / kQuad;
  const MomentExchange<P> alone(0, 0, 1, group);  // a warp group has whole rows
  NormalizedEnd<P> end{{vectors[group]}, alone};
  end.vectors.fetch(a.pointers, 0, group);
  wait_for_previous();

  // All multiprocessors have patches before one of them has them for two warp groups.
  const int step = P::kGroups * static_cast<int>(gridDim.x) * kGroupRows;
  int first = (group * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x)) * kGroupRows;
  std::uint32_t operand[kImageChannels][4];
  fetch_patches(a, first + own_row, operand);
  barrier_wait(weights_full, 0);
  for (; first < a.patches; first += step) {
    float sums[P::kSums];
    constexpr std::uint64_t kAdvance = kStep * 2 >> 4;
    products_begin();
#pragma unroll
    for (int channel = 0; channel < kImageChannels; ++channel) {
      WarpGroupProduct<T, P::kColumns>::add(
          sums, operand[channel], tile_descriptor(shared_address(weights)) + channel * kAdvance, channel == 0);
    }
    products_commit();
    products_wait<0>();
    fetch_patches(a, first + step + own_row, operand);
    RowPlace<T> place;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first + own_row + 8 * half;
      place.there[half] = row < a.patches;
      place.y[half] = a.pointers.y + std::int64_t{row} * P::kColumns + 8 * (thread % kQuad);
    }
    NoResidual nothing;
    finish_normalized<P>(sums, end, nothing, place, a.pointers);
  }
#endif
}

}  // namespace swinscope::cuda::hopper

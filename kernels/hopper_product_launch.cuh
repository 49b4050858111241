// Launches the GEMM for many rows: from tile size and epilogue to the template instance, its shared memory and its
// grid. Included by the sources that instantiate it, one for each type of operands, and one for what is normalized.
#pragma once

#include <array>
#include <bit>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/hopper_product.cuh"

namespace swinscope::cuda::hopper {

template <typename P>
int blocks_at_once() {
  static const int count = [] {
    const auto kernel = matmul_kernel<P>;
    SWINSCOPE_CUDA(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(P::kSharedBytes)));
    int each = 0;
    SWINSCOPE_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, P::kThreads, P::kSharedBytes));
    return std::max(1, each) * device_info().multiprocessors;
  }();
  return count;
}

// Clusters of `blocks` that the GPU holds at once, for a plan that normalizes.
template <typename P>
int clusters_at_once(int blocks) {
  static const auto counts = [] {
    std::array<int, kMostBeside + 1> found{};
    found[1] = blocks_at_once<P>();
    for (int size = 2; size <= kMostBeside; size *= 2) {
      cudaLaunchAttribute cluster{};
      cluster.id = cudaLaunchAttributeClusterDimension;
      cluster.val.clusterDim.x = static_cast<unsigned>(size);
      cluster.val.clusterDim.y = 1;
      cluster.val.clusterDim.z = 1;
      cudaLaunchConfig_t config{};
      config.gridDim = dim3(static_cast<unsigned>(size * device_info().multiprocessors));
      config.blockDim = dim3(P::kThreads);
      config.dynamicSmemBytes = P::kSharedBytes;
      config.attrs = &cluster;
      config.numAttrs = 1;
      SWINSCOPE_CUDA(cudaOccupancyMaxActiveClusters(&found.at(size), matmul_kernel<P>, &config));
    }
    return found;
  }();
  return std::max(1, counts.at(blocks));
}

template <typename P>
void launch_plan(const ProductForm& form, const ProductMaps& maps, const ProductPointers& pointers, Stream stream) {
  using T = typename P::T;
  using Y = typename P::Y;
  const auto ceil_div = [](std::int64_t count, std::int64_t per) { return static_cast<int>((count + per - 1) / per); };
  Extents extents{};
  extents.m = static_cast<int>(form.m);
  extents.n = static_cast<int>(form.n);
  extents.k = static_cast<int>(form.k);
  const int tiles_m = ceil_div(form.m, P::kRows);
  extents.tiles_n = ceil_div(form.n, P::kColumns);
  extents.tiles = extents.tiles_n * tiles_m;
  const PlanPointers<P> typed{static_cast<const T*>(pointers.bias), static_cast<const T*>(pointers.residual),
                              static_cast<Y*>(pointers.y),          static_cast<const T*>(pointers.gamma),
                              static_cast<const T*>(pointers.beta), pointers.scales,
                              1.0F / pointers.result_scale,         static_cast<unsigned char*>(pointers.bytes)};
  LaunchShape shape;
  int at_once = 0;
  if constexpr (P::kNormalizes) {
    // Blocks that normalize rows together have tiles beside each other, from the first to the last.
    shape.cluster = static_cast<unsigned>(extents.tiles_n);
    at_once = clusters_at_once<P>(extents.tiles_n) * extents.tiles_n;
  } else {
    at_once = blocks_at_once<P>();
  }
  const int blocks = std::min(extents.tiles, at_once);
  extents.first_row = pointers.backwards ? tiles_m - 1 : 0;
  extents.row_step = pointers.backwards ? -1 : 1;
  extents.stride_rows = extents.row_step * (blocks / extents.tiles_n);
  extents.stride_columns = blocks % extents.tiles_n;
  extents.late = pointers.late;
  shape.grid = dim3(static_cast<unsigned>(blocks));
  shape.block = dim3(P::kThreads);
  shape.shared_bytes = P::kSharedBytes;
  launch_early(matmul_kernel<P>, shape, stream, std::bit_cast<CUtensorMap>(maps.a), std::bit_cast<CUtensorMap>(maps.b),
               extents, typed);
}

// Of operands in 8 bits.
template <typename Operand, int kColumns, int kGroups>
void launch_bytes(const ProductForm& form, const ProductMaps& maps, const ProductPointers& pointers, Stream stream) {
  const auto launch = [&]<Finish kFinish, typename Y>() {
    launch_plan<Plan<__half, kColumns, kGroups, kFinish, Operand, Y>>(form, maps, pointers, stream);
  };
  const bool to_bytes = form.byte_result != ByteFormat::kNone;
  if (form.gelu) {
    to_bytes ? launch.template operator()<Finish::kGelu, Operand>()
             : launch.template operator()<Finish::kGelu, __half>();
  } else if (pointers.residual != nullptr) {
    launch.template operator()<Finish::kResidual, __half>();
  } else {
    to_bytes ? launch.template operator()<Finish::kPlain, Operand>()
             : launch.template operator()<Finish::kPlain, __half>();
  }
}

template <typename T, int kColumns, int kGroups>
void launch_tile(const ProductForm& form, const ProductMaps& maps, const ProductPointers& pointers, Stream stream) {
  if constexpr (sizeof(T) == 1) {
    launch_bytes<T, kColumns, kGroups>(form, maps, pointers, stream);
  } else if (form.gelu) {
    launch_plan<Plan<T, kColumns, kGroups, Finish::kGelu>>(form, maps, pointers, stream);
  } else if (pointers.residual != nullptr) {
    launch_plan<Plan<T, kColumns, kGroups, Finish::kResidual>>(form, maps, pointers, stream);
  } else {
    launch_plan<Plan<T, kColumns, kGroups, Finish::kPlain>>(form, maps, pointers, stream);
  }
}

// Whose rows are normalized.
template <typename T, Finish kFinish, typename Operand = T>
void launch_columns(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers,
                    Stream stream) {
  switch (kTileSizes[tile].columns) {
    case 256:
      return launch_plan<Plan<T, 256, 2, kFinish, Operand>>(form, maps, pointers, stream);
    case 192:
      return launch_plan<Plan<T, 192, 2, kFinish, Operand>>(form, maps, pointers, stream);
    case 128:
      return launch_plan<Plan<T, 128, 2, kFinish, Operand>>(form, maps, pointers, stream);
    default:
      require(false, "hopper::launch", "no such tile");
  }
}

template <typename T>
void launch_type(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers,
                 Stream stream) {
  if constexpr (sizeof(T) == 1) {
    constexpr Finish kBeside = std::is_same_v<T, std::int8_t> ? Finish::kNormalizedInt8 : Finish::kNormalizedE4m3;
    if (form.normalize_result && form.byte_result != ByteFormat::kNone)
      return launch_columns<__half, kBeside, T>(form, tile, maps, pointers, stream);
    if (form.normalize_result)
      return launch_columns<__half, Finish::kNormalized, T>(form, tile, maps, pointers, stream);
  }
  const Tile& size = kTileSizes[tile];
  if (size.rows == kGroupRows) {
    switch (size.columns) {
      case 32:
        return launch_tile<T, 32, 1>(form, maps, pointers, stream);
      case 64:
        return launch_tile<T, 64, 1>(form, maps, pointers, stream);
      case 96:
        return launch_tile<T, 96, 1>(form, maps, pointers, stream);
      case 128:
        return launch_tile<T, 128, 1>(form, maps, pointers, stream);
      default:
        break;
    }
  }
  switch (size.columns) {
    case 128:
      return launch_tile<T, 128, 2>(form, maps, pointers, stream);
    case 192:
      return launch_tile<T, 192, 2>(form, maps, pointers, stream);
    case 256:
      return launch_tile<T, 256, 2>(form, maps, pointers, stream);
    default:
      require(false, "hopper::launch", "no such tile");
  }
}

}  // namespace swinscope::cuda::hopper

// Launches the GEMM for few rows (hopper_split.cuh): from tile and epilogue to the instance of its kernel, and the
// cluster of blocks that share k or the weights.
#include <bit>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/hopper_split.cuh"

namespace swinscope::cuda::hopper {
namespace {

template <typename P>
void launch_plan(const ProductForm& form, const Tile& tile, const ProductMaps& maps, const ProductPointers& pointers,
                 Stream stream) {
  using T = typename P::T;
  static const bool ready = [] {
    SWINSCOPE_CUDA(cudaFuncSetAttribute(split_k_matmul_kernel<P>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(P::shared_bytes(P::kUnits))));
    return true;
  }();
  require(ready && tile.splits <= P::kUnits && P::received(tile.splits) <= P::kUnits, "hopper::launch",
          "a tile has too few sums for so many blocks");
  const int tiles_n = static_cast<int>((form.n + P::kColumns - 1) / P::kColumns);
  const SplitExtents extents{static_cast<int>(form.m),
                             static_cast<int>(form.n),
                             static_cast<int>(form.k),
                             tiles_n,
                             tile.splits,
                             std::countr_zero(static_cast<unsigned>(tile.splits)),
                             tile.shares,
                             pointers.late};
  const Pointers<T> typed{static_cast<const T*>(pointers.bias), static_cast<const T*>(pointers.residual),
                          static_cast<T*>(pointers.y)};
  LaunchShape shape;
  shape.grid = dim3(static_cast<unsigned>(split_blocks(form, tile)));
  shape.block = dim3(P::kThreads);
  shape.shared_bytes = P::shared_bytes(P::received(tile.splits));
  shape.cluster = static_cast<unsigned>(tile.splits * tile.shares);
  launch_early(split_k_matmul_kernel<P>, shape, stream, std::bit_cast<CUtensorMap>(maps.a),
               std::bit_cast<CUtensorMap>(maps.b), extents, typed);
}

template <typename T, int kColumns>
void launch_columns(const ProductForm& form, const Tile& tile, const ProductMaps& maps, const ProductPointers& pointers,
                    Stream stream) {
  if (form.gelu) {
    launch_plan<SplitPlan<T, kColumns, Finish::kGelu>>(form, tile, maps, pointers, stream);
  } else if (pointers.residual != nullptr) {
    launch_plan<SplitPlan<T, kColumns, Finish::kResidual>>(form, tile, maps, pointers, stream);
  } else {
    launch_plan<SplitPlan<T, kColumns, Finish::kPlain>>(form, tile, maps, pointers, stream);
  }
}

template <typename T>
void launch_type(const ProductForm& form, const Tile& tile, const ProductMaps& maps, const ProductPointers& pointers,
                 Stream stream) {
  switch (tile.columns) {
    case 32:
      return launch_columns<T, 32>(form, tile, maps, pointers, stream);
    case 64:
      return launch_columns<T, 64>(form, tile, maps, pointers, stream);
    case 96:
      return launch_columns<T, 96>(form, tile, maps, pointers, stream);
    case 128:
      return launch_columns<T, 128>(form, tile, maps, pointers, stream);
    default:
      require(false, "hopper::launch", "no such tile");
  }
}

}  // namespace

void launch_split(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers,
                  Stream stream) {
  const Tile& size = kTileSizes[tile];
  if (form.type == ElementType::kFp16) return launch_type<__half>(form, size, maps, pointers, stream);
  launch_type<__nv_bfloat16>(form, size, maps, pointers, stream);
}

}  // namespace swinscope::cuda::hopper

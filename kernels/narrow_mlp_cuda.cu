#include <algorithm>
#include <bit>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/hopper_mlp.cuh"
#include "kernels/narrow_mlp.h"

namespace swinscope::cuda {
namespace {

constexpr int kSquareTile = 2;  // of hopper::kTileSizes: boxes of 128 rows on both sides
static_assert(hopper::kTileSizes[kSquareTile].rows == 128 && hopper::kTileSizes[kSquareTile].columns == 128);

template <typename P>
void launch(const NarrowMlpShape& shape, const NarrowMlpTensors& t, Stream stream) {
  using T = typename P::T;
  static const bool ready = [] {
    SWINSCOPE_CUDA(cudaFuncSetAttribute(hopper::mlp_kernel<P>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(P::kSharedBytes)));
    return true;
  }();
  require(ready, "narrow_mlp", "the kernel is not ready");
  hopper::ProductForm second;
  second.m = shape.rows;
  second.n = P::kColumns;
  second.k = P::kHidden;
  second.type = shape.type;
  const hopper::TensorMap x = hopper::make_row_map(shape.type, t.x, shape.rows, P::kColumns, P::kRows);
  const hopper::TensorMap weight1 = hopper::make_row_map(shape.type, t.weight1, P::kHidden, P::kColumns, P::kPiece);
  const hopper::TensorMap weight2 = hopper::make_maps(second, kSquareTile, t.x, t.weight2).b;
  const int tiles = static_cast<int>((shape.rows + P::kRows - 1) / P::kRows);
  const hopper::Pointers<T> pointers{static_cast<const T*>(t.bias2), static_cast<const T*>(t.residual),
                                     static_cast<T*>(t.y),           nullptr,
                                     static_cast<const T*>(t.gamma), static_cast<const T*>(t.beta)};
  LaunchShape launch;
  launch.grid = dim3(static_cast<unsigned>(std::min(tiles, device_info().multiprocessors)));
  launch.block = dim3(P::kThreads);
  launch.shared_bytes = P::kSharedBytes;
  launch_early(hopper::mlp_kernel<P>, launch, stream, std::bit_cast<CUtensorMap>(x),
               std::bit_cast<CUtensorMap>(weight1), std::bit_cast<CUtensorMap>(weight2), static_cast<int>(shape.rows),
               tiles, static_cast<const T*>(t.bias1), pointers);
}

}  // namespace

bool narrow_mlp_offered(ElementType type) { return type != ElementType::kFp32 && hopper::offered(); }

bool narrow_mlp_pays(std::int64_t rows) { return rows / hopper::kMlpRows >= device_info().multiprocessors / 2; }

void narrow_mlp_forward(const NarrowMlpShape& shape, const NarrowMlpTensors& tensors, Stream stream) {
  require(narrow_mlp_offered(shape.type), "narrow_mlp", "16-bit types and compute capability 9.0 only");
  require(tensors.residual != nullptr, "narrow_mlp", "there must be a residual");
  if (shape.rows == 0) return;
  if (shape.type == ElementType::kFp16) {
    if (shape.normalize_result) return launch<hopper::MlpPlan<__half, true>>(shape, tensors, stream);
    return launch<hopper::MlpPlan<__half, false>>(shape, tensors, stream);
  }
  if (shape.normalize_result) return launch<hopper::MlpPlan<__nv_bfloat16, true>>(shape, tensors, stream);
  launch<hopper::MlpPlan<__nv_bfloat16, false>>(shape, tensors, stream);
}

}  // namespace swinscope::cuda

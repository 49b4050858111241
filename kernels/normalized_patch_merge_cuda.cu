#include <algorithm>
#include <bit>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/hopper_patch_merge.cuh"
#include "kernels/linear.h"
#include "kernels/patch_merge.h"

namespace swinscope::cuda {
namespace {

constexpr int kSquareTile = 2;  // of hopper::kTileSizes: boxes of 128 rows of the weights
static_assert(hopper::kTileSizes[kSquareTile].columns == hopper::kRowColumns);

template <typename T>
void launch(const PatchMergeShape& shape, ElementType type, const NormalizedPatchMergeTensors& t, Stream stream) {
  using P = hopper::PatchMergePlan<T>;
  const auto kernel = hopper::patch_merge_kernel<P>;
  static const bool ready = [kernel] {
    SWINSCOPE_CUDA(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(P::kSharedBytes)));
    return true;
  }();
  require(ready, "normalized_patch_merge", "the kernel is not ready");
  hopper::PatchMergeArguments<T> a{};
  a.place = MergePlace::of(shape);
  a.rows = static_cast<int>(shape.merged_tokens());
  a.x = static_cast<const T*>(t.x);
  a.gamma = static_cast<const T*>(t.gamma);
  a.beta = static_cast<const T*>(t.beta);
  a.y = static_cast<T*>(t.y);
  hopper::ProductForm form;
  form.m = shape.merged_tokens();
  form.n = P::kOutputs;
  form.k = P::kInputs;
  form.type = type;
  const auto weight_map = std::bit_cast<CUtensorMap>(hopper::make_maps(form, kSquareTile, t.weight, t.weight).b);
  const int tiles = (a.rows + hopper::kGroupRows - 1) / hopper::kGroupRows;
  LaunchShape launch;
  launch.grid = dim3(static_cast<unsigned>(std::min(tiles, device_info().multiprocessors)));
  launch.block = dim3(P::kThreads);
  launch.shared_bytes = P::kSharedBytes;
  launch_early(kernel, launch, stream, weight_map, a);
}

}  // namespace

bool normalized_patch_merge_offered(const PatchMergeShape& shape, ElementType type) {
  // Rows are counted in 32 bits, beyond the last one by those of a turn.
  constexpr std::int64_t kMostRows = std::int64_t{1} << 30;
  return type != ElementType::kFp32 && shape.channels == hopper::kRowColumns && shape.merged_tokens() <= kMostRows &&
         hopper::offered();
}

bool normalized_patch_merge_pays(const PatchMergeShape& shape) {
  return shape.merged_tokens() / hopper::kGroupRows >= device_info().multiprocessors / 2;
}

OperationCost normalized_patch_merge_cost(const PatchMergeShape& shape, std::int64_t element_bytes) {
  const LinearShape reduction{shape.merged_tokens(), 4 * shape.channels, 2 * shape.channels, false};
  OperationCost cost = linear_forward_cost(reduction, element_bytes);
  cost.bytes_read += (shape.batch * shape.height * shape.width * shape.channels - reduction.rows * reduction.inputs +
                      2 * reduction.inputs) *
                     element_bytes;
  return cost;
}

void normalized_patch_merge_forward(const PatchMergeShape& shape, ElementType type,
                                    const NormalizedPatchMergeTensors& tensors, Stream stream) {
  require(normalized_patch_merge_offered(shape, type), "normalized_patch_merge", "there is no kernel for it here");
  require(tensors.x != nullptr && tensors.gamma != nullptr && tensors.beta != nullptr && tensors.weight != nullptr &&
              tensors.y != nullptr,
          "normalized_patch_merge", "all tensors are needed");
  if (shape.batch == 0) return;
  if (type == ElementType::kFp16) return launch<__half>(shape, type, tensors, stream);
  launch<__nv_bfloat16>(shape, type, tensors, stream);
}

}  // namespace swinscope::cuda

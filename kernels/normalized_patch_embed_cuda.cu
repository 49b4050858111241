// Launches patch embedding with its normalization as one kernel (hopper_patch_embed.cuh).
#include <algorithm>
#include <bit>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/hopper_patch_embed.cuh"
#include "kernels/patch_embed.h"

namespace swinscope::cuda {
namespace {

constexpr int kSquareTile = 2;  // of hopper::kTileSizes: boxes of 128 rows of the weights
static_assert(hopper::kTileSizes[kSquareTile].columns == hopper::kRowColumns);

template <typename T>
void launch(const PatchEmbedShape& shape, ElementType type, const NormalizedPatchEmbedTensors& t, Stream stream) {
  using P = hopper::EmbedPlan<T>;
  hopper::EmbedArguments<T> a{};
  a.patches_x = static_cast<int>(shape.width / hopper::kPatch);
  a.patches_y = static_cast<int>(shape.height / hopper::kPatch);
  a.patches = static_cast<int>(shape.tokens());
  a.image = static_cast<const T*>(t.image);
  a.pointers.bias = static_cast<const T*>(t.bias);
  a.pointers.gamma = static_cast<const T*>(t.gamma);
  a.pointers.beta = static_cast<const T*>(t.beta);
  a.pointers.y = static_cast<T*>(t.y);
  hopper::ProductForm form;
  form.m = shape.tokens();
  form.n = hopper::kRowColumns;
  form.k = shape.column_length();
  form.type = type;
  const auto weight_map = std::bit_cast<CUtensorMap>(hopper::make_maps(form, kSquareTile, t.weight, t.weight).b);
  const int tiles = (a.patches + hopper::kGroupRows - 1) / hopper::kGroupRows;
  LaunchShape launch;
  launch.grid = dim3(static_cast<unsigned>(std::min(tiles, device_info().multiprocessors)));
  launch.block = dim3(P::kThreads);
  launch_early(hopper::normalized_patch_embed_kernel<P>, launch, stream, weight_map, a);
}

}  // namespace

void normalized_patch_embed_forward(const PatchEmbedShape& shape, ElementType type,
                                    const NormalizedPatchEmbedTensors& tensors, Stream stream) {
  static const DeviceInfo gpu = device_info();
  require(normalized_patch_embed_offered(shape, type, gpu), "normalized_patch_embed", "there is no kernel for it here");
  require(tensors.image != nullptr && tensors.weight != nullptr && tensors.gamma != nullptr &&
              tensors.beta != nullptr && tensors.y != nullptr,
          "normalized_patch_embed", "all but the bias are needed");
  if (shape.batch == 0) return;
  if (type == ElementType::kFp16) return launch<__half>(shape, type, tensors, stream);
  launch<__nv_bfloat16>(shape, type, tensors, stream);
}

}  // namespace swinscope::cuda

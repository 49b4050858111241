// The instances of the GEMM whose epilogue normalizes its rows (hopper_result.cuh): tiles of 128, 192 and 256 columns,
// fp16 and bf16.
#include "kernels/hopper_product_launch.cuh"

namespace swinscope::cuda::hopper {
namespace {

template <typename T>
void launch_columns(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers,
                    Stream stream) {
  switch (kTileSizes[tile].columns) {
    case 256:
      return launch_plan<Plan<T, 256, 2, Finish::kNormalized>>(form, maps, pointers, stream);
    case 192:
      return launch_plan<Plan<T, 192, 2, Finish::kNormalized>>(form, maps, pointers, stream);
    case 128:
      return launch_plan<Plan<T, 128, 2, Finish::kNormalized>>(form, maps, pointers, stream);
    default:
      require(false, "hopper::launch", "no such tile");
  }
}

}  // namespace

void launch_normalized(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers,
                       Stream stream) {
  if (form.type == ElementType::kFp16) return launch_columns<__half>(form, tile, maps, pointers, stream);
  launch_columns<__nv_bfloat16>(form, tile, maps, pointers, stream);
}

}  // namespace swinscope::cuda::hopper

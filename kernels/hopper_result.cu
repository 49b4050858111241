// The instances of the GEMM whose epilogue normalizes its rows (hopper_result.cuh): tiles of 128, 192 and 256 columns,
// fp16 and bf16, and with fp16 results operands or a second result in e4m3.
#include <cuda_fp8.h>

#include "kernels/hopper_product_launch.cuh"

namespace swinscope::cuda::hopper {
namespace {

template <typename T, Finish kFinish = Finish::kNormalized, typename Operand = T>
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

}  // namespace

void launch_normalized(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers,
                       Stream stream) {
  constexpr Finish kBeside = Finish::kNormalizedBytes;
  if (form.type == ElementType::kBf16) return launch_columns<__nv_bfloat16>(form, tile, maps, pointers, stream);
  if (form.bytes && form.byte_result)
    return launch_columns<__half, kBeside, __nv_fp8_e4m3>(form, tile, maps, pointers, stream);
  if (form.bytes) return launch_columns<__half, Finish::kNormalized, __nv_fp8_e4m3>(form, tile, maps, pointers, stream);
  if (form.byte_result) return launch_columns<__half, kBeside>(form, tile, maps, pointers, stream);
  launch_columns<__half>(form, tile, maps, pointers, stream);
}

}  // namespace swinscope::cuda::hopper

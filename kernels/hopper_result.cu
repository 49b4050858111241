// The instances of the GEMM whose epilogue normalizes its rows (hopper_result.cuh): tiles of 128, 192 and 256 columns,
// operands in fp16 and bf16, with fp16 a second result in 8 bits. Those of operands in 8 bits stand with these.
#include "kernels/hopper_product_launch.cuh"

namespace swinscope::cuda::hopper {

void launch_normalized(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers,
                       Stream stream) {
  if (form.type == ElementType::kBf16)
    return launch_columns<__nv_bfloat16, Finish::kNormalized>(form, tile, maps, pointers, stream);
  switch (form.byte_result) {
    case ByteFormat::kNone:
      return launch_columns<__half, Finish::kNormalized>(form, tile, maps, pointers, stream);
    case ByteFormat::kE4m3:
      return launch_columns<__half, Finish::kNormalizedE4m3>(form, tile, maps, pointers, stream);
    case ByteFormat::kInt8:
      return launch_columns<__half, Finish::kNormalizedInt8>(form, tile, maps, pointers, stream);
  }
}

}  // namespace swinscope::cuda::hopper

// The instances of the GEMM for many rows (hopper_product.cuh) whose operands are e4m3.
#include "kernels/hopper_product_launch.cuh"

namespace swinscope::cuda::hopper {

void launch_e4m3(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers,
                 Stream stream) {
  launch_type<__nv_fp8_e4m3>(form, tile, maps, pointers, stream);
}

}  // namespace swinscope::cuda::hopper

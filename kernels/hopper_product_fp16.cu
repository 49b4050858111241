// The fp16 instances of the GEMM for many rows (hopper_product.cuh), in a source of their own: each type takes long to
// compile.
#include "kernels/hopper_product_launch.cuh"

namespace swinscope::cuda::hopper {

void launch_fp16(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers,
                 Stream stream) {
  launch_type<__half>(form, tile, maps, pointers, stream);
}

}  // namespace swinscope::cuda::hopper

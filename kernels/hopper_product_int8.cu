// The instances of the GEMM for many rows (hopper_product.cuh) whose operands are integers of 8 bits.
#include "kernels/hopper_product_launch.cuh"

namespace swinscope::cuda::hopper {

void launch_int8(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers,
                 Stream stream) {
  launch_type<std::int8_t>(form, tile, maps, pointers, stream);
}

}  // namespace swinscope::cuda::hopper

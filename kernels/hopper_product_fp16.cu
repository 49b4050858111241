#include "kernels/hopper_product_launch.cuh"

namespace swinscope::cuda::hopper {

void launch_fp16(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers,
                 Stream stream) {
  launch_type<__half>(form, tile, maps, pointers, stream);
}

}  // namespace swinscope::cuda::hopper

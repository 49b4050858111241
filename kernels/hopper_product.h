// Products with 16-bit operands on compute capability 9.0 by a kernel of our own (hopper_product.cuh), in several tile
// sizes. matmul.h chooses among them.
#pragma once

#include <cstdint>

#include "kernels/device.h"

namespace swinscope::cuda::hopper {

struct ProductForm {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  ElementType type = ElementType::kFp16;  // kFp16 or kBf16
  bool gelu = false;                      // tanh form, after the bias
};

struct ProductPointers {
  const void* bias = nullptr;      // [n]; null: none
  const void* residual = nullptr;  // [m, n], added at the end; null: none. May be y
  void* y = nullptr;
};

// How the copy engine finds a and b: made once for a form, a tile and two addresses.
struct alignas(128) TensorMap {
  std::uint64_t words[16];
};
struct ProductMaps {
  TensorMap a, b;
};

constexpr int kTiles = 6;

// Whether this GPU and this build have the kernel at all.
bool offered();
// Whether tile size `tile` can do it: n must be a multiple of 32 and k of 8.
bool fits(const ProductForm& form, int tile);
// a: [m, k], b: [n, k], row-major, aligned to 16 bytes.
ProductMaps make_maps(const ProductForm& form, int tile, const void* a, const void* b);
void launch(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers, Stream stream);

// For each type, in sources of their own: they take long to compile.
void launch_fp16(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers,
                 Stream stream);
void launch_bf16(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers,
                 Stream stream);

}  // namespace swinscope::cuda::hopper

// Products with operands of 16 or 8 bits on compute capability 9.0 by two kernels of our own, in several tile sizes:
// one for many rows (hopper_product.cuh), one for few (hopper_split.cuh). matmul.h chooses among them.
#pragma once

#include <cstdint>

#include "kernels/byte_format.h"
#include "kernels/device.h"

namespace swinscope::cuda::hopper {

struct ProductForm {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  ElementType type = ElementType::kFp16;  // kFp16 or kBf16
  bool gelu = false;                      // tanh form, after the bias
  bool normalize_result = false;          // the rows of the product with its bias: with gamma and beta
  // Of a and b where they have 8 bits: by the kernel for many rows, with fp16 as the type of all else; k must be a
  // multiple of 16 and, for sums of integers, kMostIntegerDepth at most.
  ByteFormat bytes = ByteFormat::kNone;
  // y has 8 bits: only as `bytes`, and without a residual. Where results are normalized, they have both, beside y.
  ByteFormat byte_result = ByteFormat::kNone;
};

// 127 * 127 times that is an integer of 32 bits.
constexpr std::int64_t kMostIntegerDepth = std::int64_t{1} << 17;

struct ProductPointers {
  const void* bias = nullptr;      // [n]; null: none
  const void* residual = nullptr;  // [m, n], added at the end; null: none. May be y
  void* y = nullptr;
  const void* gamma = nullptr;  // [n], as beta
  const void* beta = nullptr;
  bool backwards = false;         // rows from the last to the first: by the kernel for many rows
  bool late = false;              // lets the next kernel begin when the one before has ended, not at once
  const float* scales = nullptr;  // [n]: with bytes, what sums are multiplied by before the bias
  float result_scale = 1.0F;      // results in 8 bits are divided by it
  void* bytes = nullptr;          // [m, n], of normalized results
};

// How the copy engine finds a and b: made once for a form, a tile and two addresses.
struct alignas(128) TensorMap {
  std::uint64_t words[16];
};
struct ProductMaps {
  TensorMap a, b;
};

struct Tile {
  int rows, columns;
  int splits = 0;  // blocks that share k; 0: by the kernel for many rows
  int shares = 1;  // blocks that share b
};
constexpr Tile kTileSizes[] = {{128, 256},      {128, 192},     {128, 128},      {64, 128},       {64, 64},
                               {64, 32},        {64, 32, 1},    {64, 32, 2},     {64, 64, 1},     {64, 64, 2},
                               {64, 64, 4},     {64, 128, 1},   {64, 128, 2},    {64, 128, 4},    {64, 128, 8},
                               {64, 32, 1, 2},  {64, 32, 1, 4}, {64, 32, 2, 4},  {64, 64, 1, 2},  {64, 64, 1, 4},
                               {64, 64, 2, 2},  {64, 64, 2, 4}, {64, 128, 1, 2}, {64, 128, 1, 4}, {64, 128, 2, 4},
                               {64, 128, 4, 2}, {64, 96},       {64, 96, 1},     {64, 96, 2},     {64, 96, 4}};
constexpr int kTiles = sizeof(kTileSizes) / sizeof(Tile);
// Where results are normalized, so many blocks at most have the columns of a row.
constexpr int kMostBeside = 8;

// Of the kernel for few rows. Tiles of blocks that share b stand above each other; some may lie below the last row.
constexpr std::int64_t split_blocks(const ProductForm& form, const Tile& tile) {
  const auto ceil_div = [](std::int64_t count, std::int64_t per) { return (count + per - 1) / per; };
  return ceil_div(form.m, std::int64_t{tile.rows} * tile.shares) * ceil_div(form.n, tile.columns) * tile.splits *
         tile.shares;
}

// Whether this GPU and this build have the kernel at all.
bool offered();
// Whether tile size `tile` goes from row to row, and can do so backwards.
bool turns(int tile);
// Whether tile size `tile` can do it: n must be a multiple of 32 and k of 8. The kernel for few rows takes what gives
// the GPU a few blocks for each multiprocessor at most.
bool fits(const ProductForm& form, int tile);
// a: [m, k], b: [n, k], row-major, aligned to 16 bytes.
ProductMaps make_maps(const ProductForm& form, int tile, const void* a, const void* b);
// Of a row-major matrix of 16-bit elements, aligned to 16 bytes: boxes of `box_rows` rows and 64 columns.
TensorMap make_row_map(ElementType type, const void* matrix, std::int64_t rows, std::int64_t columns, int box_rows);
// The same of elements of 8 bits, in boxes of 128 columns, which are a multiple of 16.
TensorMap make_byte_map(const void* matrix, std::int64_t rows, std::int64_t columns, int box_rows);
void launch(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers, Stream stream);

// For each type and kernel, in sources of their own: they take long to compile.
void launch_fp16(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers,
                 Stream stream);
void launch_e4m3(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers,
                 Stream stream);
void launch_int8(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers,
                 Stream stream);
void launch_bf16(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers,
                 Stream stream);
void launch_split(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers,
                  Stream stream);
void launch_normalized(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers,
                       Stream stream);

}  // namespace swinscope::cuda::hopper

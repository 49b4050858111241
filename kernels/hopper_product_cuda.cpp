#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include <cuda.h>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/hopper_product.h"

namespace swinscope::cuda::hopper {
namespace {

constexpr std::uint32_t kDepth = 64;
constexpr std::uint32_t kBoxRowBytes = 128;
// Beyond that the kernel for many rows is better.
constexpr std::int64_t kSplitBlocksEach = 4;  // for each multiprocessor

static_assert(sizeof(CUtensorMap) == sizeof(TensorMap) && alignof(TensorMap) >= alignof(CUtensorMap));

// The driver's function, found by the runtime: so that nothing links the driver.
using Encoder = decltype(&cuTensorMapEncodeTiled);
Encoder encoder() {
  static const auto function = [] {
    void* address = nullptr;
    cudaDriverEntryPointQueryResult found{};
    SWINSCOPE_CUDA(
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &address, 12000, cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess) throw Error("the driver has no cuTensorMapEncodeTiled", false);
    return reinterpret_cast<Encoder>(address);
  }();
  return function;
}

template <std::size_t kRank>
struct Box {
  std::array<cuuint64_t, kRank> extents;
  std::array<cuuint64_t, kRank - 1> pitches;  // bytes
  std::array<cuuint32_t, kRank> box;
};

// Of elements as the copy engine knows them.
struct Elements {
  CUtensorMapDataType type;
  std::int64_t bytes;
};
Elements elements_of(ElementType type, ByteFormat bytes) {
  if (bytes != ByteFormat::kNone) return {CU_TENSOR_MAP_DATA_TYPE_UINT8, 1};
  return {type == ElementType::kFp16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2};
}

template <std::size_t kRank>
TensorMap encode(const Elements& elements, const void* matrix, const Box<kRank>& box) {
  CUtensorMap map{};
  std::array<cuuint32_t, kRank> steps{};
  steps.fill(1);
  const CUresult result =
      encoder()(&map, elements.type, kRank, const_cast<void*>(matrix), box.extents.data(), box.pitches.data(),
                box.box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) throw Error("cuTensorMapEncodeTiled: error " + std::to_string(result), false);
  return std::bit_cast<TensorMap>(map);
}

// Of 32 rows, row 8 t + 2 j + e goes to place 8 j + 2 t + e. A thread has the sums at places 8 j + 2 t + e of each 32
// columns (wgmma.cuh), for its t and all j: so it has 8 columns that follow each other, 16 bytes of the result. A box
// has whole groups of 32 rows, or 8 or 16 places of one.
TensorMap make_permuted_map(const Elements& elements, const void* matrix, std::int64_t rows, std::int64_t columns,
                            int box_rows) {
  const auto pitch = static_cast<cuuint64_t>(columns * elements.bytes);
  const auto depth = static_cast<cuuint32_t>(kBoxRowBytes / elements.bytes);
  return encode<5>(elements, matrix,
                   {{static_cast<cuuint64_t>(columns), 2, 4, 4, static_cast<cuuint64_t>(rows / 32)},
                    {pitch, 8 * pitch, 2 * pitch, 32 * pitch},
                    {depth, 2, 4, static_cast<cuuint32_t>(std::min(4, box_rows / 8)),
                     static_cast<cuuint32_t>(std::max(1, box_rows / 32))}});
}

TensorMap make_map(const Elements& elements, const void* matrix, std::int64_t rows, std::int64_t columns,
                   int box_rows) {
  return encode<2>(elements, matrix,
                   {{static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)},
                    {static_cast<cuuint64_t>(columns * elements.bytes)},
                    {static_cast<cuuint32_t>(kBoxRowBytes / elements.bytes), static_cast<cuuint32_t>(box_rows)}});
}

}  // namespace

TensorMap make_row_map(ElementType type, const void* matrix, std::int64_t rows, std::int64_t columns, int box_rows) {
  return make_map(elements_of(type, ByteFormat::kNone), matrix, rows, columns, box_rows);
}

TensorMap make_byte_map(const void* matrix, std::int64_t rows, std::int64_t columns, int box_rows) {
  return make_map(elements_of(ElementType::kFp16, ByteFormat::kE4m3), matrix, rows, columns, box_rows);
}

bool offered() {
  static const bool is_hopper = device_count() > 0 && device_info().major == 9;
  return is_hopper;
}

bool turns(int tile) { return kTileSizes[tile].splits == 0; }

bool fits(const ProductForm& form, int tile) {
  if (!offered() || tile < 0 || tile >= kTiles || form.type == ElementType::kFp32) return false;
  if (form.m <= 0 || form.n <= 0 || form.k <= 0 || form.n % 32 != 0 || form.k % 8 != 0) return false;
  const Tile& size = kTileSizes[tile];
  const bool of_bytes = form.bytes != ByteFormat::kNone;
  const bool to_bytes = form.byte_result != ByteFormat::kNone;
  if ((of_bytes || to_bytes) && form.type != ElementType::kFp16) return false;
  if (of_bytes && (form.k % 16 != 0 || size.splits != 0)) return false;
  if (of_bytes && to_bytes && form.bytes != form.byte_result) return false;
  if (form.bytes == ByteFormat::kInt8 && form.k > kMostIntegerDepth) return false;
  if (form.normalize_result) {
    // Whole rows, of blocks that go by the tensor cores' 64 rows twice.
    const std::int64_t beside = form.n / size.columns;
    return size.splits == 0 && size.rows == 128 && form.n % size.columns == 0 && beside <= kMostBeside &&
           std::has_single_bit(static_cast<std::uint64_t>(beside));
  }
  if (size.splits == 0) return true;
  static const std::int64_t most_blocks = kSplitBlocksEach * device_info().multiprocessors;
  return split_blocks(form, size) <= most_blocks && form.k > std::int64_t{kDepth} * (size.splits - 1) &&
         form.m > std::int64_t{size.rows} * (size.shares / 2);
}

ProductMaps make_maps(const ProductForm& form, int tile, const void* a, const void* b) {
  require(fits(form, tile), "hopper::make_maps", "the tile size does not fit");
  const Tile& size = kTileSizes[tile];
  const Elements elements = elements_of(form.type, form.bytes);
  return {make_map(elements, a, form.m, form.k, size.rows),
          make_permuted_map(elements, b, form.n, form.k, size.columns / size.shares)};
}

void launch(const ProductForm& form, int tile, const ProductMaps& maps, const ProductPointers& pointers,
            Stream stream) {
  require(fits(form, tile), "hopper::launch", "the tile size does not fit");
  if (form.bytes == ByteFormat::kE4m3) return launch_e4m3(form, tile, maps, pointers, stream);
  if (form.bytes == ByteFormat::kInt8) return launch_int8(form, tile, maps, pointers, stream);
  if (form.normalize_result) return launch_normalized(form, tile, maps, pointers, stream);
  if (kTileSizes[tile].splits > 0) return launch_split(form, tile, maps, pointers, stream);
  if (form.type == ElementType::kFp16) return launch_fp16(form, tile, maps, pointers, stream);
  launch_bf16(form, tile, maps, pointers, stream);
}

}  // namespace swinscope::cuda::hopper

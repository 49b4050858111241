// Launches the fused kernels of blocks with 128 channels: both fully connected layers (hopper_mlp.cuh), all that comes
// after attention (hopper_block_end.cuh), and normalization with the qkv projection (hopper_normalized_qkv.cuh).
#include <algorithm>
#include <bit>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/hopper_block_end.cuh"
#include "kernels/hopper_mlp.cuh"
#include "kernels/hopper_normalized_qkv.cuh"
#include "kernels/narrow_block.h"

namespace swinscope::cuda {
namespace {

constexpr int kSquareTile = 2;  // of hopper::kTileSizes: boxes of 128 rows on both sides
static_assert(hopper::kTileSizes[kSquareTile].rows == 128 && hopper::kTileSizes[kSquareTile].columns == 128);
static_assert(kNarrowChannels == hopper::kRowColumns && kNarrowTileRows == hopper::kMlpRows);

CUtensorMap row_map(const NarrowShape& shape, const void* matrix, std::int64_t rows, int box_rows) {
  return std::bit_cast<CUtensorMap>(hopper::make_row_map(shape.type, matrix, rows, kNarrowChannels, box_rows));
}

// Of a weight [outputs, inputs] whose products are stored.
CUtensorMap stored_weight_map(const NarrowShape& shape, const void* weight, std::int64_t outputs, std::int64_t inputs) {
  hopper::ProductForm form;
  form.m = shape.rows;
  form.n = outputs;
  form.k = inputs;
  form.type = shape.type;
  return std::bit_cast<CUtensorMap>(hopper::make_maps(form, kSquareTile, weight, weight).b);
}

template <typename P, typename... Parameters, typename... Arguments>
void launch_tiles(void (*kernel)(Parameters...), int blocks, Stream stream, const Arguments&... arguments) {
  static const bool ready = [kernel] {
    SWINSCOPE_CUDA(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(P::kSharedBytes)));
    return true;
  }();
  require(ready, "narrow_block", "the kernel is not ready");
  LaunchShape launch;
  launch.grid = dim3(static_cast<unsigned>(std::min(blocks, device_info().multiprocessors)));
  launch.block = dim3(P::kThreads);
  launch.shared_bytes = P::kSharedBytes;
  launch_early(kernel, launch, stream, arguments...);
}

int tiles_of(const NarrowShape& shape, int rows) { return static_cast<int>((shape.rows + rows - 1) / rows); }

template <typename T>
void launch_mlp(const NarrowShape& shape, const NarrowMlpTensors& t, Stream stream) {
  using P = hopper::MlpPlan<T>;
  const NarrowMlpWeights& w = t.weights;
  hopper::Pointers<T> pointers{static_cast<const T*>(w.bias2), static_cast<const T*>(t.x), static_cast<T*>(t.y)};
  pointers.gamma = static_cast<const T*>(w.gamma);
  pointers.beta = static_cast<const T*>(w.beta);
  const int tiles = tiles_of(shape, P::kRows);
  launch_tiles<P>(hopper::mlp_kernel<P>, tiles, stream, row_map(shape, t.x, shape.rows, P::kRows),
                  row_map(shape, w.weight1, P::kHidden, P::kPiece),
                  stored_weight_map(shape, w.weight2, P::kColumns, P::kHidden), static_cast<int>(shape.rows), tiles,
                  static_cast<const T*>(w.bias1), pointers);
}

template <typename T>
void launch_block_end(const NarrowShape& shape, const NarrowBlockEndTensors& t, Stream stream) {
  using P = hopper::MlpSizes<T>;
  const NarrowMlpWeights& w = t.weights;
  const hopper::BlockEndPointers<T> pointers{
      static_cast<const T*>(t.projection_bias), static_cast<const T*>(w.gamma), static_cast<const T*>(w.beta),
      static_cast<const T*>(w.bias1),           static_cast<const T*>(w.bias2), static_cast<T*>(t.y)};
  const int tiles = tiles_of(shape, P::kRows);
  launch_tiles<P>(
      hopper::block_end_kernel<P>, tiles, stream, row_map(shape, t.attended, shape.rows, hopper::kGroupRows),
      row_map(shape, t.residual, shape.rows, hopper::kGroupRows),
      row_map(shape, t.projection_weight, P::kColumns, P::kColumns), row_map(shape, w.weight1, P::kHidden, P::kPiece),
      stored_weight_map(shape, w.weight2, P::kColumns, P::kHidden), static_cast<int>(shape.rows), tiles,
      shape.backwards, pointers);
}

template <typename T>
void launch_qkv(const NarrowShape& shape, const NarrowQkvTensors& t, Stream stream) {
  using P = hopper::NormalizedQkvPlan<T>;
  const hopper::NormalizedQkvPointers<T> pointers{static_cast<const T*>(t.gamma), static_cast<const T*>(t.beta),
                                                  static_cast<const T*>(t.bias), static_cast<T*>(t.y)};
  const int tiles = tiles_of(shape, hopper::kGroupRows);
  launch_tiles<P>(hopper::normalized_qkv_kernel<P>, (tiles + P::kGroups - 1) / P::kGroups, stream,
                  row_map(shape, t.x, shape.rows, hopper::kGroupRows),
                  stored_weight_map(shape, t.weight, P::kOutputs, kNarrowChannels), static_cast<int>(shape.rows), tiles,
                  shape.backwards, pointers);
}

void need_kernel(const NarrowShape& shape, const char* operation) {
  static const DeviceInfo gpu = device_info();
  require(narrow_block_offered(shape.type, gpu), operation, "16-bit types and compute capability 9.0 only");
}

}  // namespace

void narrow_mlp_forward(const NarrowShape& shape, const NarrowMlpTensors& tensors, Stream stream) {
  need_kernel(shape, "narrow_mlp");
  require(!shape.backwards, "narrow_mlp", "it goes from the first row to the last");
  if (shape.rows == 0) return;
  if (shape.type == ElementType::kFp16) return launch_mlp<__half>(shape, tensors, stream);
  launch_mlp<__nv_bfloat16>(shape, tensors, stream);
}

void narrow_block_end_forward(const NarrowShape& shape, const NarrowBlockEndTensors& tensors, Stream stream) {
  need_kernel(shape, "narrow_block_end");
  if (shape.rows == 0) return;
  if (shape.type == ElementType::kFp16) return launch_block_end<__half>(shape, tensors, stream);
  launch_block_end<__nv_bfloat16>(shape, tensors, stream);
}

void narrow_qkv_forward(const NarrowShape& shape, const NarrowQkvTensors& tensors, Stream stream) {
  need_kernel(shape, "narrow_qkv");
  if (shape.rows == 0) return;
  if (shape.type == ElementType::kFp16) return launch_qkv<__half>(shape, tensors, stream);
  launch_qkv<__nv_bfloat16>(shape, tensors, stream);
}

}  // namespace swinscope::cuda

// Launches the kernels of byte_weight_gradient.cuh: how many steps a shape has, how many blocks share them, and where
// the copy engine finds the operands.
#include <algorithm>
#include <bit>

#include "kernels/byte_weight_gradient.cuh"
#include "kernels/byte_weight_gradient.h"
#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/hopper_product.h"

namespace swinscope::cuda {
namespace {

namespace wg = weight_gradient;

constexpr const char* kOperation = "byte_weight_gradient";

wg::Extents extents_of(const ByteWeightGradientShape& shape, int multiprocessors) {
  const auto ceil_div = [](std::int64_t count, std::int64_t per) { return static_cast<int>((count + per - 1) / per); };
  wg::Extents e{};
  e.outputs = static_cast<int>(shape.outputs);
  e.inputs = static_cast<int>(shape.inputs);
  e.tiles_in = ceil_div(shape.inputs, wg::kTileInputs);
  e.tiles = e.tiles_in * ceil_div(shape.outputs, wg::kTileOutputs);
  e.steps = ceil_div(shape.rows, wg::kRows);
  e.blocks = std::min({wg::kMostBlocks, e.total(), std::max(1, multiprocessors - shape.spare_multiprocessors)});
  return e;
}

}  // namespace

struct ByteWeightGradient::Launch {
  wg::Extents extents;
  wg::Result result;
  hopper::TensorMap dy, x;
};

std::int64_t byte_weight_gradient_workspace_bytes(const ByteWeightGradientShape& shape) {
  return std::int64_t{2} * extents_of(shape, wg::kMostBlocks).blocks * wg::kTileElements * 4;
}

ByteWeightGradient::ByteWeightGradient(const ByteWeightGradientShape& shape, const ByteWeightGradientTensors& tensors) {
  require(shape.rows > 0 && shape.outputs % 16 == 0 && shape.inputs % 16 == 0, kOperation,
          "outputs and inputs are multiples of 16");
  require(hopper::offered(), kOperation, "needs compute capability 9.0");
  static const bool ready = [] {
    SWINSCOPE_CUDA(cudaFuncSetAttribute(wg::weight_gradient_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(wg::kSharedBytes)));
    return true;
  }();
  (void)ready;
  const wg::Result result{tensors.dy_scale, tensors.x_scale, tensors.dweight, static_cast<float4*>(tensors.workspace),
                          shape.accumulate};
  launch_ =
      std::make_shared<const Launch>(Launch{extents_of(shape, device_info().multiprocessors), result,
                                            hopper::make_byte_map(tensors.dy, shape.rows, shape.outputs, wg::kRows),
                                            hopper::make_byte_map(tensors.x, shape.rows, shape.inputs, wg::kRows)});
}

void ByteWeightGradient::run(Stream stream) const {
  const Launch& l = *launch_;
  launch_early(wg::weight_gradient_kernel,
               {dim3(static_cast<unsigned>(l.extents.blocks)), dim3(wg::kThreads), wg::kSharedBytes}, stream,
               std::bit_cast<CUtensorMap>(l.dy), std::bit_cast<CUtensorMap>(l.x), l.extents, l.result);
  launch_early(wg::sum_tiles_kernel, {dim3(static_cast<unsigned>(l.extents.tiles * wg::kFours)), dim3(wg::kSumThreads)},
               stream, l.extents, l.result);
}

}  // namespace swinscope::cuda

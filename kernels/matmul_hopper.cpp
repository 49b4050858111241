#include "kernels/matmul_hopper.h"

namespace swinscope::cuda {
namespace {

hopper::ProductForm form_of(const MatmulShape& shape) {
  return {shape.m,
          shape.n,
          shape.k,
          shape.operand_type,
          shape.epilogue == Epilogue::kBiasGelu,
          shape.normalize_result,
          shape.operand_format(),
          shape.byte_result};
}

}  // namespace

HopperMatmul::HopperMatmul(const MatmulShape& shape, int tile, bool late) : shape_(shape), tile_(tile), late_(late) {}

bool HopperMatmul::fits(const MatmulShape& shape, int tile) {
  // It takes the whole GPU.
  return shape.spare_multiprocessors == 0 && shape.transpose_b && !shape.transpose_a && shape.batch == 1 &&
         shape.operand_type == shape.result_type && shape.scaled == (shape.operand_bytes() == 1) &&
         shape.arithmetic != MatmulArithmetic::kTf32 &&
         !(shape.byte_result != ByteFormat::kNone && !shape.normalize_result && (shape.accumulate || !shape.scaled)) &&
         !(shape.accumulate && shape.epilogue == Epilogue::kBiasGelu) &&
         !(shape.normalize_result && shape.epilogue == Epilogue::kBiasGelu) && hopper::fits(form_of(shape), tile);
}

void HopperMatmul::run(const MatmulOperands& operands, Stream stream) const {
  const hopper::ProductForm form = form_of(shape_);
  const auto [entry, is_new] = maps_.try_emplace({operands.a, operands.b});
  if (is_new) entry->second = hopper::make_maps(form, tile_, operands.a, operands.b);
  hopper::ProductPointers pointers;
  if (shape_.epilogue != Epilogue::kNone) pointers.bias = operands.bias;
  if (shape_.accumulate) pointers.residual = operands.y;
  pointers.y = operands.y;
  pointers.backwards = operands.backwards;
  pointers.late = late_;
  pointers.scales = operands.scales;
  pointers.result_scale = operands.result_scale;
  pointers.bytes = operands.bytes;
  if (shape_.normalize_result) {
    pointers.gamma = operands.gamma;
    pointers.beta = operands.beta;
  }
  hopper::launch(form, tile_, entry->second, pointers, stream);
}

}  // namespace swinscope::cuda

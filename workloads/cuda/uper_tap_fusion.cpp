// The part of TrainingBuilder that is the fusion with the enlarged maps at their own sizes (kernels/tap_fusion.h): the
// first part by a convolution, each further one by a product with the nine taps of its slice of the weight and a
// gather.
#include <fmt/format.h>

#include "workloads/cuda/training_builder.h"

namespace swinscope {

ConvolutionShape TrainingBuilder::first_part() const {
  return {.batch = batch_,
          .height = side(0),
          .width = side(0),
          .inputs = head_channels(),
          .outputs = head_channels(),
          .kernel = 3};
}

TapFusionShape TrainingBuilder::tap_part(int stage) const {
  return {.batch = batch_,
          .height = side(stage),
          .width = side(stage),
          .out_height = side(0),
          .out_width = side(0),
          .inputs = head_channels(),
          .outputs = head_channels(),
          .weight_inputs = config_.stages * head_channels()};
}

// The weight of the first part as a map of one pixel for each output and tap: between maps of one size a resize copies.
UpsampleShape TrainingBuilder::packing() const { return {1, head_channels(), 9, head_channels(), 9, head_channels()}; }

const void* TrainingBuilder::part(int stage) const {
  return stage < last_stage() ? at(uper().parts.at(static_cast<std::size_t>(stage))) : at(uper().joined.back());
}

// Slices of the weight as the convolution and the products want them.
void TrainingBuilder::pack_fusion() {
  const std::int64_t count = 9 * head_channels() * head_channels();
  for (int i = 0; i <= last_stage(); ++i) {
    const auto* const weight = static_cast<const char*>(value(fusion_weight())) + i * head_channels() * element_;
    void* const packed = at(uper().packed.at(static_cast<std::size_t>(i)));
    const ShapeExtents extents = {head_channels(), 9, head_channels()};
    std::function<void(cuda::Stream)> run = [=, shape = tap_part(i), type = type_](cuda::Stream stream) {
      cuda::tap_fusion_pack(shape, type, weight, packed, stream);
    };
    if (i == 0) {
      cuda::UpsampleGradientTensors tensors;
      tensors.dy = weight;
      tensors.dy_stride = config_.stages * head_channels();
      tensors.dx = packed;
      run = [=, shape = packing(), type = type_](cuda::Stream stream) {
        cuda::upsample_backward(shape, type, tensors, stream);
      };
    }
    step(part_path(i) + ".pack", OperationClass::kLayout, moves(count, count), extents, extents, std::move(run));
  }
}

// Leaves in fusion().regions.convolved what is normalized next.
void TrainingBuilder::cut_fusion() {
  if (!inferring_) pack_fusion();
  void* const y = at(uper().fusion.convolved);
  convolve(part_path(0) + ".conv", first_part(), part(0), at(uper().packed.front()), y);
  void* const taps = at(uper().taps);
  for (int i = 1; i <= last_stage(); ++i) {
    const TapFusionShape shape = tap_part(i);
    cuda::MatmulShape product;
    product.m = shape.pixels();
    product.n = 9 * shape.outputs;
    product.k = shape.inputs;
    product.operand_type = product.result_type = type_;
    if (options_.precision == Precision::kTf32) product.arithmetic = cuda::MatmulArithmetic::kTf32;
    const cuda::Matmul& matmul = prepare_(product);
    const void* const x = part(i);
    const void* const packed = at(uper().packed.at(static_cast<std::size_t>(i)));
    const ShapeExtents extents = {batch_, shape.height, shape.width, shape.inputs};
    OperationCost cost = moves(shape.pixels() * shape.inputs + product.n * product.k, shape.tap_elements());
    cost.flops = 2 * product.m * product.n * product.k;
    step(part_path(i) + ".taps", OperationClass::kGemm, cost, extents, {shape.pixels(), 9, shape.outputs},
         [=, &matmul](cuda::Stream stream) {
           matmul.run({x, packed, nullptr, taps}, stream);
         });
    const std::int64_t out = shape.out_pixels() * shape.outputs;
    step(part_path(i) + ".gather", OperationClass::kElementwise, moves(shape.tap_elements() + out, out),
         {shape.pixels(), 9, shape.outputs}, {batch_, shape.out_height, shape.out_width, shape.outputs},
         [=, type = type_](cuda::Stream stream) { cuda::tap_fusion_gather(shape, type, taps, y, stream); });
  }
}

// From the gradient of the fusion's output, in `wide`; as uper_fusion_backward().
void TrainingBuilder::cut_fusion_backward() {
  normalize_backward(fusion(), {at(uper().wide)});
  float* const dpacked = floats(uper().packed_gradient);
  // All parts first: going backward through the outputs' normalizations overwrites convolved_gradient.
  for (int i = 1; i <= last_stage(); ++i)
    tap_part_backward(i, at(uper().joined_gradients.at(static_cast<std::size_t>(i))));
  convolve_backward(part_path(0) + ".conv", first_part(), part(0), at(uper().packed.front()), dpacked, at(uper().wide));
  const cuda::UpsampleTensors tensors{dpacked, nullptr, gradient(fusion_weight()), config_.stages * head_channels()};
  const std::int64_t count = 9 * head_channels() * head_channels();
  const ShapeExtents extents = {head_channels(), 9, head_channels()};
  step(part_path(0) + ".unpack", OperationClass::kLayout, {0, count * 4, count * 4}, extents, extents,
       [=, shape = packing()](cuda::Stream stream) {
         cuda::upsample_forward(shape, ElementType::kFp32, tensors, stream);
       });
  for (int i = 0; i < last_stage(); ++i) {
    const auto index = static_cast<std::size_t>(i);
    void* const djoined = at(uper().joined_gradients.at(index));
    const Slice dy = {i == 0 ? at(uper().wide) : djoined};
    conv_norm_backward(output(i), at(uper().joined.at(index)), dy, djoined);
  }
}

// dx: the gradient of the part.
void TrainingBuilder::tap_part_backward(int stage, void* dx) {
  const TapFusionShape shape = tap_part(stage);
  const void* const dy = at(uper().convolved_gradient);
  void* const dtaps = at(uper().taps);
  const ShapeExtents tap_extents = {shape.pixels(), 9, shape.outputs};
  step(part_path(stage) + ".gather", OperationClass::kElementwise,
       moves(shape.out_pixels() * shape.outputs, shape.tap_elements()),
       {batch_, shape.out_height, shape.out_width, shape.outputs}, tap_extents,
       [=, type = type_](cuda::Stream stream) { cuda::tap_fusion_gather_backward(shape, type, dy, dtaps, stream); });
  cuda::MatmulShape product;
  product.m = shape.pixels();
  product.n = shape.inputs;
  product.k = 9 * shape.outputs;
  product.transpose_b = false;
  product.operand_type = product.result_type = type_;
  if (options_.precision == Precision::kTf32) product.arithmetic = cuda::MatmulArithmetic::kTf32;
  const cuda::Matmul& input = prepare_(product);
  const void* const packed = at(uper().packed.at(static_cast<std::size_t>(stage)));
  OperationCost cost = moves(shape.tap_elements() + product.n * product.k, shape.pixels() * shape.inputs);
  cost.flops = 2 * product.m * product.n * product.k;
  step(part_path(stage) + ".taps", OperationClass::kGemm, cost, tap_extents, {shape.pixels(), shape.inputs},
       [=, &input](cuda::Stream stream) {
         input.run({dtaps, packed, nullptr, dx}, stream);
       });
  product.m = 9 * shape.outputs;
  product.n = shape.inputs;
  product.k = shape.pixels();
  product.transpose_a = true;
  product.result_type = ElementType::kFp32;
  const cuda::Matmul& weights = prepare_(product);
  const void* const x = part(stage);
  float* const dpacked = floats(uper().packed_gradient);
  cost = {2 * product.m * product.n * product.k, (shape.tap_elements() + shape.pixels() * shape.inputs) * element_,
          product.m * product.n * 4};
  step(part_path(stage) + ".taps", OperationClass::kGemm, cost, tap_extents, {9, shape.outputs, shape.inputs},
       [=, &weights](cuda::Stream stream) {
         weights.run({dtaps, x, nullptr, dpacked}, stream);
       });
  float* const dweight = gradient(fusion_weight()) + stage * head_channels();
  step(part_path(stage) + ".unpack", OperationClass::kLayout, {0, product.m * product.n * 4, product.m * product.n * 4},
       {9, shape.outputs, shape.inputs}, {shape.outputs, 9, shape.inputs},
       [=, accumulate = accumulate_](cuda::Stream stream) {
         cuda::tap_fusion_unpack(shape, dpacked, accumulate, dweight, stream);
       });
}

}  // namespace swinscope

// The part of ModelBuilder whose blocks have few channels and many rows: see kernels/narrow_block.h.
#include "workloads/cuda/model_builder.h"

namespace swinscope {

bool ModelBuilder::is_narrow(const Block& block) const {
  return options_.features.layernorm && block.stage.width == cuda::kNarrowChannels &&
         cuda::narrow_block_offered(type_, gpu_) && cuda::narrow_block_pays(block.tokens, gpu_);
}

bool ModelBuilder::has_narrow_qkv(const Block& block) const {
  const Features& features = options_.features;
  return v1() && features.normqkv && features.qkvbias && features.window && is_narrow(block);
}

bool ModelBuilder::has_narrow_mlp(const Block& block) const {
  const Features& features = options_.features;
  return features.mlp && features.residual && (!v1() || features.window) && tanh_gelu() && is_narrow(block);
}

void ModelBuilder::narrow_qkv(const Block& block, const void* bias, void* y) {
  cuda::NarrowQkvTensors tensors;
  tensors.x = block.x;
  tensors.gamma = weights_.find(block.parameters + ".norm1.weight");
  tensors.beta = weights_.find(block.parameters + ".norm1.bias");
  tensors.weight = weights_.find(block.parameters + ".attn.qkv.weight");
  tensors.bias = bias;
  tensors.y = y;
  const cuda::NarrowShape shape{block.tokens, type_, serpentine_.against_the_last(true)};
  step(
      block.path + ".attn.qkv", OperationClass::kGemm, cuda::narrow_qkv_cost(shape),
      {block.tokens, cuda::kNarrowChannels}, {block.tokens, 3 * cuda::kNarrowChannels},
      [=](cuda::Stream stream) { cuda::narrow_qkv_forward(shape, tensors, stream); }, shape.backwards);
}

cuda::NarrowMlpWeights ModelBuilder::narrow_mlp_weights(const Block& block) const {
  const auto parameter = [&](const char* name) { return weights_.find(block.parameters + name); };
  return {parameter(".mlp.fc1.weight"), parameter(".mlp.fc1.bias"), parameter(".mlp.fc2.weight"),
          parameter(".mlp.fc2.bias"),   parameter(".norm2.weight"), parameter(".norm2.bias")};
}

void ModelBuilder::narrow_block_end(const Block& block) {
  cuda::NarrowBlockEndTensors tensors;
  tensors.attended = activations_.tokens[1].data();
  tensors.projection_weight = weights_.find(block.parameters + ".attn.proj.weight");
  tensors.projection_bias = weights_.find(block.parameters + ".attn.proj.bias");
  tensors.weights = narrow_mlp_weights(block);
  tensors.residual = block.x;
  tensors.y = block.x;
  const cuda::NarrowShape shape{block.tokens, type_, serpentine_.against_the_last(true)};
  const ShapeExtents extents = {block.tokens, cuda::kNarrowChannels};
  step(
      block.path + ".mlp", OperationClass::kGemm, cuda::narrow_block_end_cost(shape), extents, extents,
      [=](cuda::Stream stream) { cuda::narrow_block_end_forward(shape, tensors, stream); }, shape.backwards);
}

void ModelBuilder::narrow_mlp(const Block& block) {
  const cuda::NarrowShape shape{block.tokens, type_};
  const cuda::NarrowMlpTensors tensors{block.x, narrow_mlp_weights(block), block.x};
  const ShapeExtents extents = {block.tokens, cuda::kNarrowChannels};
  step(block.path + ".mlp", OperationClass::kGemm, cuda::narrow_mlp_cost(shape), extents, extents,
       [=](cuda::Stream stream) { cuda::narrow_mlp_forward(shape, tensors, stream); });
}

}  // namespace swinscope

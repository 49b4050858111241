// The part of ModelBuilder between the qkv projection and the output projection.
#include "kernels/continuous_bias.h"
#include "kernels/convert.h"
#include "kernels/qkv_attention.h"
#include "kernels/window.h"
#include "kernels/window_attention_steps.h"
#include "workloads/cuda/attention_steps.h"
#include "workloads/cuda/model_builder.h"

namespace swinscope {
namespace {

ContinuousBiasShape continuous_shape(const StageShape& stage) {
  return {{stage.window, stage.window}, stage.heads, kCpbHidden, {}};
}

}  // namespace

// V2 has no key bias: q's and v's stand around zeros, put together once or, without the feature, in each pass.
const void* ModelBuilder::qkv_bias(const Block& block) {
  const std::string prefix = block.parameters + ".attn.";
  if (v1()) return weights_.find(prefix + "qkv.bias");
  const std::int64_t width = block.stage.width;
  void* const joint = weights_.reserve(3 * width * element_);
  void* const v_part = static_cast<char*>(joint) + 2 * width * element_;
  const std::vector<float> zeros(static_cast<std::size_t>(width));
  const cuda::DeviceBuffer staging(width * element_bytes(ElementType::kFp32));
  cuda::copy_to_device(staging.data(), zeros.data(), staging.bytes(), stream_);
  cuda::convert(width, ElementType::kFp32, staging.data(), type_, static_cast<char*>(joint) + width * element_,
                stream_);
  cuda::synchronize(stream_);
  const void* const q_bias = weights_.find(prefix + "q_bias");
  const void* const v_bias = weights_.find(prefix + "v_bias");
  const auto assemble = [=, type = type_](cuda::Stream stream) {
    cuda::convert(width, type, q_bias, type, joint, stream);
    cuda::convert(width, type, v_bias, type, v_part, stream);
  };
  if (options_.features.qkvbias) {
    assemble(stream_);
  } else {
    step(block.path + ".attn.qkv.join", OperationClass::kLayout, moves(2 * width, 2 * width), {2, width}, {3 * width},
         assemble);
  }
  return joint;
}

// [bias_table_rows, heads]: V1's parameter, or what V2's network makes of the coordinates.
const float* ModelBuilder::position_table(const Block& block) {
  const std::string prefix = block.parameters + ".attn.";
  if (v1()) return weights_.find_floats(prefix + "relative_position_bias_table");
  const ContinuousBiasShape shape = continuous_shape(block.stage);
  const float* const weight1 = weights_.find_floats(prefix + "cpb_mlp.0.weight");
  const float* const bias1 = weights_.find_floats(prefix + "cpb_mlp.0.bias");
  const float* const weight2 = weights_.find_floats(prefix + "cpb_mlp.2.weight");
  auto* const table = static_cast<float*>(weights_.reserve(shape.rows() * shape.heads * 4));
  const auto compute = [=](cuda::Stream stream) {
    cuda::continuous_bias_forward(shape, weight1, bias1, weight2, table, stream);
  };
  if (options_.features.prebias) {
    compute(stream_);
  } else {
    step(block.path + ".attn.bias", OperationClass::kGemm, continuous_bias_forward_cost(shape, 4), {shape.rows(), 2},
         {shape.rows(), shape.heads}, compute);
  }
  return table;
}

void ModelBuilder::attend(const Block& block, const void* bias) {
  const auto order = options_.features.window ? cuda::TokenOrder::kImage : cuda::TokenOrder::kWindow;
  if (options_.features.attention) {
    attend_at_once(block, bias, order);
  } else {
    attend_by_steps(block, bias, order);
  }
}

const void* ModelBuilder::attention_bias(const Block& block) {
  const WindowAttentionShape shape = block.attention;
  const float* const table = position_table(block);
  void* const bias = weights_.reserve(cuda::attention_bias_bytes(shape, type_));
  const auto expand = [=, type = type_](cuda::Stream stream) {
    cuda::expand_attention_bias(shape, type, table, bias, stream);
  };
  const std::int64_t tokens = shape.grid.window_tokens();
  if (options_.features.prebias) {
    expand(stream_);
  } else {
    step(block.path + ".attn.bias.gather", OperationClass::kLayout,
         {0, bias_table_rows(shape.grid.window) * shape.heads * 4, cuda::attention_bias_bytes(shape, type_)},
         {bias_table_rows(shape.grid.window), shape.heads}, {shape.heads, tokens, tokens}, expand);
  }
  return bias;
}

void ModelBuilder::attend_at_once(const Block& block, const void* pad, cuda::TokenOrder order) {
  const WindowAttentionShape shape = block.attention;
  cuda::WindowAttentionTensors tensors;
  tensors.qkv = activations_.wide.data();
  tensors.bias = attention_bias(block);
  if (!v1()) tensors.logit_scale = weights_.find_floats(block.parameters + ".attn.logit_scale");
  tensors.pad_qkv = pad;
  tensors.out = activations_.tokens[1].data();
  const ShapeExtents extents = {shape.grid.window_count(), shape.heads, shape.grid.window_tokens(), shape.head_dim};
  OperationCost cost = window_attention_forward_cost(shape, element_);
  cost.bytes_written -= shape.grid.tokens() * shape.heads * element_;  // inference writes no LSE
  tensors.backwards = serpentine_.against_the_last(cuda::attention_on_tensor_cores(shape, type_));
  if (options_.features.cachehints) {
    const std::int64_t bytes = shape.grid.tokens() * shape.heads * shape.head_dim * element_;
    tensors.out_eviction = cuda::eviction_of_result(bytes, gpu_.l2_bytes);
  }
  step(
      block.path + ".attn.window", OperationClass::kAttention, cost, extents, extents,
      [=, type = type_](cuda::Stream stream) { cuda::window_attention_forward(shape, type, order, tensors, stream); },
      tensors.backwards);
}

bool ModelBuilder::has_qkv_attention(const Block& block) const {
  const Features& features = options_.features;
  if (!features.qkvattention || !features.attention || !features.window || !features.qkvbias) return false;
  if (v1()) {
    return features.normqkv && features.layernorm &&
           cuda::normalized_qkv_attention_offered(block.attention, type_, gpu_) &&
           cuda::normalized_qkv_attention_pays(block.attention, gpu_);
  }
  return cuda::qkv_attention_offered(block.attention, type_, gpu_) && cuda::qkv_attention_pays(block.attention, gpu_);
}

void ModelBuilder::attend_with_qkv(const Block& block, const void* bias) {
  const WindowAttentionShape shape = block.attention;
  cuda::QkvAttentionTensors tensors;
  tensors.x = block.x;
  if (v1()) {
    tensors.gamma = weights_.find(block.parameters + ".norm1.weight");
    tensors.beta = weights_.find(block.parameters + ".norm1.bias");
  }
  tensors.weight = weights_.find(block.parameters + ".attn.qkv.weight");
  tensors.qkv_bias = bias;
  tensors.bias = attention_bias(block);
  if (!v1()) tensors.logit_scale = weights_.find_floats(block.parameters + ".attn.logit_scale");
  tensors.out = activations_.tokens[1].data();
  tensors.backwards = serpentine_.against_the_last(true);
  const ShapeExtents extents = {shape.grid.window_count(), shape.heads, shape.grid.window_tokens(), shape.head_dim};
  step(
      block.path + ".attn.window", OperationClass::kAttention, cuda::qkv_attention_forward_cost(shape, element_),
      extents, extents,
      [=, type = type_](cuda::Stream stream) { cuda::qkv_attention_forward(shape, type, tensors, stream); },
      tensors.backwards);
}

void ModelBuilder::attend_by_steps(const Block& block, const void* pad, cuda::TokenOrder order) {
  const WindowAttentionShape shape = block.attention;
  const std::string path = block.path + ".attn.";
  const std::int64_t tokens = shape.grid.window_tokens();
  const float* const table = position_table(block);
  const std::int64_t bias_elements = shape.heads * tokens * tokens;
  auto* const bias = static_cast<float*>(weights_.reserve(bias_elements * 4));
  const auto gather = [=](cuda::Stream stream) { cuda::steps::gather_position_bias(shape, table, bias, stream); };
  if (options_.features.prebias) {
    gather(stream_);
  } else {
    step(path + "bias.gather", OperationClass::kLayout, {0, bias_elements * 4, bias_elements * 4},
         {bias_table_rows(shape.grid.window), shape.heads}, {shape.heads, tokens, tokens}, gather);
  }
  AttentionStepBuffers buffers;
  buffers.heads = activations_.heads.data();
  buffers.norms = static_cast<float*>(activations_.norms.data());
  buffers.probabilities = activations_.probabilities.data();
  buffers.scores = static_cast<float*>(activations_.scores.data());
  buffers.cosines = buffers.scores;
  buffers.attended = static_cast<char*>(buffers.heads) + 3 * AttentionStepSizes(shape).part * element_;
  cuda::WindowAttentionTensors tensors;
  tensors.qkv = activations_.wide.data();
  tensors.bias = bias;
  if (!v1()) tensors.logit_scale = weights_.find_floats(block.parameters + ".attn.logit_scale");
  tensors.pad_qkv = pad;
  tensors.out = activations_.tokens[1].data();
  const auto emit = [&](const std::string& name, OperationClass operation_class, const OperationCost& cost,
                        const ShapeExtents& input, const ShapeExtents& output, std::function<void(cuda::Stream)> run) {
    step(path + name, operation_class, cost, input, output, std::move(run));
  };
  const auto prepare = [&](const cuda::MatmulShape& product) -> const cuda::Matmul& {
    return library_.prepare(product, stream_);
  };
  AttentionSteps(shape, options_.precision, order, buffers, emit, prepare).forward(tensors);
}

// The windows' rows, in a buffer that the normalization and the attention leave alone.
const void* ModelBuilder::into_windows(const Block& block, const void* x) {
  const WindowGrid grid = block.attention.grid;
  const std::int64_t width = block.stage.width;
  const ElementType type = type_;
  const ShapeExtents map = {batch_, grid.map.height, grid.map.width, width};
  void* const rolled = activations_.tokens[2].data();
  void* const windows = activations_.tokens[3].data();
  if (grid.shift.area() > 0) {
    step(block.path + ".attn.roll", OperationClass::kLayout, moves(block.tokens * width, block.tokens * width), map,
         map, [=](cuda::Stream stream) { cuda::window_roll(grid, width, type, true, x, rolled, stream); });
    x = rolled;
  }
  step(block.path + ".attn.partition", OperationClass::kLayout, moves(block.tokens * width, block.rows * width), map,
       {grid.window_count(), grid.window_tokens(), width},
       [=](cuda::Stream stream) { cuda::window_partition(grid, width, type, x, windows, stream); });
  return windows;
}

// From the windows' rows in `branch` to the image's rows in tokens[0].
void ModelBuilder::out_of_windows(const Block& block, const void* branch) {
  const WindowGrid grid = block.attention.grid;
  const std::int64_t width = block.stage.width;
  const ElementType type = type_;
  const bool shifted = grid.shift.area() > 0;
  const ShapeExtents map = {batch_, grid.map.height, grid.map.width, width};
  const ShapeExtents windows = {grid.window_count(), grid.window_tokens(), width};
  void* const side = activations_.tokens[0].data();
  void* const reversed = shifted ? activations_.tokens[2].data() : side;
  step(block.path + ".attn.reverse", OperationClass::kLayout, moves(block.rows * width, block.tokens * width), windows,
       map, [=](cuda::Stream stream) { cuda::window_reverse(grid, width, type, branch, reversed, stream); });
  if (!shifted) return;
  step(block.path + ".attn.unroll", OperationClass::kLayout, moves(block.tokens * width, block.tokens * width), map,
       map, [=](cuda::Stream stream) { cuda::window_roll(grid, width, type, false, reversed, side, stream); });
}

}  // namespace swinscope

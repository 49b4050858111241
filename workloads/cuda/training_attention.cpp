// The part of TrainingBuilder between a block's input and the end of its output projection, forward and backward.
#include <fmt/format.h>

#include "kernels/continuous_bias.h"
#include "kernels/residual.h"
#include "kernels/window.h"
#include "kernels/window_attention_steps.h"
#include "workloads/cuda/attention_steps.h"
#include "workloads/cuda/training_builder.h"

namespace swinscope {

// qkv, attention within windows, output projection; V1's branch lies in `token`, V2's where it is normalized.
void TrainingBuilder::attention_half(const Block& block) {
  const BlockRegions& regions = block.regions;
  void* const branch = v1() ? at(layout_.token) : at(regions.norm1_side);
  if (copies()) into_windows(block, attention_input(block), at(layout_.side), at(regions.windows), false);
  linear(qkv(block), qkv_input(block), at(qkv_place(block)));
  attend(block);
  linear(projection(block), at(regions.attended), copies() ? at(layout_.side) : branch);
  if (copies()) out_of_windows(block, at(layout_.side), at(layout_.wide), branch, false);
}

// What a block's branch begins with, and that in the order in which qkv takes it.
const void* TrainingBuilder::attention_input(const Block& block) const {
  return v1() ? at(block.regions.norm1_side) : at(block.input);
}
const void* TrainingBuilder::qkv_input(const Block& block) const {
  return copies() ? at(block.regions.windows) : attention_input(block);
}

// By steps q, k and v are copied out of it at once.
Region TrainingBuilder::qkv_place(const Block& block) const {
  return options_.features.attention ? block.regions.qkv : layout_.wide;
}

// Shifted and cut into windows, each a copy; or, in the backward pass, what undoes that of the forward pass.
void TrainingBuilder::into_windows(const Block& block, const void* x, void* rolled, void* windows, bool undoes) {
  const WindowGrid grid = block.attention.grid;
  const std::int64_t width = block.stage.width;
  const ShapeExtents map = {batch_, grid.map.height, grid.map.width, width};
  const std::int64_t count = block.tokens * width;
  if (grid.shift.area() > 0) {
    step(block.path + (undoes ? ".attn.unroll" : ".attn.roll"), OperationClass::kLayout, moves(count, count), map, map,
         [=, type = type_](cuda::Stream stream) { cuda::window_roll(grid, width, type, true, x, rolled, stream); });
    x = rolled;
  }
  step(block.path + (undoes ? ".attn.reverse" : ".attn.partition"), OperationClass::kLayout,
       moves(count, block.rows * width), map, {grid.window_count(), grid.window_tokens(), width},
       [=, type = type_](cuda::Stream stream) { cuda::window_partition(grid, width, type, x, windows, stream); });
}

void TrainingBuilder::out_of_windows(const Block& block, const void* windows, void* reversed, void* y, bool undoes) {
  const WindowGrid grid = block.attention.grid;
  const std::int64_t width = block.stage.width;
  const ShapeExtents map = {batch_, grid.map.height, grid.map.width, width};
  const std::int64_t count = block.tokens * width;
  const bool shifted = grid.shift.area() > 0;
  void* const to = shifted ? reversed : y;
  step(block.path + (undoes ? ".attn.partition" : ".attn.reverse"), OperationClass::kLayout,
       moves(block.rows * width, count), {grid.window_count(), grid.window_tokens(), width}, map,
       [=, type = type_](cuda::Stream stream) { cuda::window_reverse(grid, width, type, windows, to, stream); });
  if (!shifted) return;
  step(block.path + (undoes ? ".attn.roll" : ".attn.unroll"), OperationClass::kLayout, moves(count, count), map, map,
       [=, type = type_](cuda::Stream stream) { cuda::window_roll(grid, width, type, false, reversed, y, stream); });
}

// From qkv to the attended values.
void TrainingBuilder::attend(const Block& block) {
  const BlockRegions& regions = block.regions;
  const WindowAttentionShape shape = block.attention;
  cuda::WindowAttentionTensors tensors;
  tensors.qkv = at(qkv_place(block));
  tensors.bias = at(regions.bias);
  if (!v1()) tensors.logit_scale = master(block.parameters + ".attn.logit_scale");
  tensors.pad_qkv = qkv(block).bias;
  tensors.out = at(regions.attended);
  if (!options_.features.attention) {
    attention_steps(block).forward(tensors);
    return;
  }
  if (!inferring_) tensors.lse = floats(regions.lse);
  const ShapeExtents extents = {shape.grid.window_count(), shape.heads, shape.grid.window_tokens(), shape.head_dim};
  tensors.backwards = serpentine_.against_the_last(cuda::attention_on_tensor_cores(shape, type_));
  step(
      block.path + ".attn.window", OperationClass::kAttention, window_attention_forward_cost(shape, element_), extents,
      extents,
      [=, type = type_, order = order()](cuda::Stream stream) {
        cuda::window_attention_forward(shape, type, order, tensors, stream);
      },
      tensors.backwards);
}

AttentionSteps TrainingBuilder::attention_steps(const Block& block) {
  const BlockRegions& regions = block.regions;
  AttentionStepBuffers buffers;
  buffers.heads = at(regions.heads);
  buffers.norms = floats(regions.norms);
  buffers.cosines = floats(regions.cosines);
  buffers.probabilities = at(regions.probabilities);
  buffers.scores = floats(layout_.scores);
  buffers.rounded_scores = at(layout_.rounded_scores);
  buffers.head_gradients = at(layout_.head_gradients);
  buffers.attended =
      static_cast<char*>(buffers.head_gradients) + 3 * AttentionStepSizes(block.attention).part * element_;
  const std::string path = block.path + ".attn.";
  const auto emit = [this, path](const std::string& name, OperationClass operation_class, const OperationCost& cost,
                                 const ShapeExtents& input, const ShapeExtents& output,
                                 std::function<void(cuda::Stream)> run) {
    step(path + name, operation_class, cost, input, output, std::move(run));
  };
  return {block.attention, options_.precision, order(), buffers, emit, prepare_};
}

// V2 has no key bias: q's and v's stand around zeros.
void TrainingBuilder::qkv_bias(const Block& block) {
  if (v1()) return;
  const std::int64_t width = block.stage.width;
  void* const joint = at(block.regions.joint_bias);
  void* const v_part = static_cast<char*>(joint) + 2 * width * element_;
  const void* const q_bias = value(block.parameters + ".attn.q_bias");
  const void* const v_bias = value(block.parameters + ".attn.v_bias");
  step(block.path + ".attn.qkv.join", OperationClass::kLayout, moves(2 * width, 2 * width), {2, width}, {3 * width},
       [=, bytes = width * element_](cuda::Stream stream) {
         cuda::copy_on_device(joint, q_bias, bytes, stream);
         cuda::copy_on_device(v_part, v_bias, bytes, stream);
       });
}

// From the table, V2's made by its network, to a value for each pair of tokens.
void TrainingBuilder::position_bias(const Block& block) {
  const WindowAttentionShape shape = block.attention;
  const std::string prefix = block.parameters + ".attn.";
  const std::int64_t rows = bias_table_rows(shape.grid.window);
  const float* table = nullptr;
  if (v1()) {
    table = master(prefix + "relative_position_bias_table");
  } else {
    const ContinuousBiasShape network{shape.grid.window, shape.heads, kCpbHidden, {}};
    const float* const weight1 = master(prefix + "cpb_mlp.0.weight");
    const float* const bias1 = master(prefix + "cpb_mlp.0.bias");
    const float* const weight2 = master(prefix + "cpb_mlp.2.weight");
    float* const made = floats(block.regions.table);
    step(block.path + ".attn.bias", OperationClass::kGemm, continuous_bias_forward_cost(network, 4), {rows, 2},
         {rows, shape.heads},
         [=](cuda::Stream stream) { cuda::continuous_bias_forward(network, weight1, bias1, weight2, made, stream); });
    table = made;
  }
  void* const bias = at(block.regions.bias);
  const std::int64_t tokens = shape.grid.window_tokens();
  step(block.path + ".attn.bias.gather", OperationClass::kLayout, {0, rows * shape.heads * 4, block.regions.bias.bytes},
       {rows, shape.heads}, {shape.heads, tokens, tokens},
       [=, type = type_, steps = !options_.features.attention](cuda::Stream stream) {
         if (steps) {
           cuda::steps::gather_position_bias(shape, table, static_cast<float*>(bias), stream);
         } else {
           cuda::expand_attention_bias(shape, type, table, bias, stream);
         }
       });
}

void TrainingBuilder::attention_half_backward(const Block& block, void* stream) {
  const BlockRegions& regions = block.regions;
  const Linear out = projection(block);
  const void* dbranch = at(layout_.side);
  if (v1()) {
    dbranch = branch_gradient(block, 0, out, stream);
  } else {
    branch_norm_backward(norm1(block), block, 0, out, at(regions.norm1_side), stream);
  }
  if (copies()) {
    into_windows(block, dbranch, at(layout_.token), at(layout_.wide), true);
    dbranch = at(layout_.wide);
  }
  product_backward(out, dbranch, at(regions.attended), at(layout_.token), false);
  attention_backward(block);
  if (!v1()) split_qkv_bias_gradient(block);
  const void* const dqkv = at(layout_.wide);
  if (!v1() && !copies() && options_.features.residual) {
    product_backward(qkv(block), dqkv, qkv_input(block), stream, true);
    return;
  }
  const void* dinput = at(layout_.token);
  product_backward(qkv(block), dqkv, qkv_input(block), at(layout_.token), false);
  if (copies()) {
    out_of_windows(block, dinput, at(layout_.side), at(layout_.wide), true);
    dinput = at(layout_.wide);
  }
  if (v1()) {
    const BlockPlace before{block.place.stage, block.place.index - 1, block.place.number - 1};
    norm_into_stream(norm1(block), block, 0, at(block.input), dinput, stream,
                     block.first ? nullptr : branch_bias_sums(before, 1));
  } else {
    add_into_stream(block, 0, dinput, stream);
  }
}

// From `token` to `wide`, with the gradients of the position bias, of V2's scales and of the qkv bias.
void TrainingBuilder::attention_backward(const Block& block) {
  const BlockRegions& regions = block.regions;
  WindowAttentionShape shape = block.attention;
  shape.spare_multiprocessors = options_.spare_multiprocessors;
  const std::string prefix = block.parameters + ".attn.";
  cuda::WindowAttentionGradientTensors tensors;
  tensors.qkv = at(regions.qkv);
  tensors.bias = at(regions.bias);
  tensors.pad_qkv = qkv(block).bias;
  tensors.lse = floats(regions.lse);
  tensors.dout = at(layout_.token);
  tensors.dqkv = at(layout_.wide);
  tensors.dtable = v1() ? gradient(prefix + "relative_position_bias_table") : floats(layout_.table_gradient);
  tensors.dqkv_bias = v1() ? gradient(prefix + "qkv.bias") : floats(layout_.bias_gradient);
  if (!v1()) {
    tensors.logit_scale = master(prefix + "logit_scale");
    tensors.dlogit_scale = gradient(prefix + "logit_scale");
  }
  tensors.accumulate = accumulate_;
  tensors.workspace = workspace();
  // V2's scratch is of this pass alone, while the scales' gradients go on.
  if (accumulate_ && !v1()) {
    const std::int64_t bytes = layout_.table_gradient.bytes + layout_.bias_gradient.bytes;
    step(block.path + ".attn.clear", OperationClass::kOther, {0, 0, bytes}, {}, {bytes},
         [=, table = layout_.table_gradient.bytes, bias = layout_.bias_gradient.bytes](cuda::Stream stream) {
           cuda::clear(tensors.dtable, table, stream);
           cuda::clear(tensors.dqkv_bias, bias, stream);
         });
  }
  const ShapeExtents extents = {shape.grid.window_count(), shape.heads, shape.grid.window_tokens(), shape.head_dim};
  if (!options_.features.attention) {
    attention_steps(block).backward(tensors);
  } else {
    step(block.path + ".attn.window", OperationClass::kAttention, window_attention_backward_cost(shape, element_),
         extents, extents, [=, type = type_, order = order()](cuda::Stream stream) {
           cuda::window_attention_backward(shape, type, order, tensors, stream);
         });
  }
  if (v1()) return;
  cuda::ContinuousBiasGradientTensors network;
  network.weight1 = master(prefix + "cpb_mlp.0.weight");
  network.bias1 = master(prefix + "cpb_mlp.0.bias");
  network.weight2 = master(prefix + "cpb_mlp.2.weight");
  network.table = floats(regions.table);
  network.dtable = tensors.dtable;
  network.dweight1 = gradient(prefix + "cpb_mlp.0.weight");
  network.dbias1 = gradient(prefix + "cpb_mlp.0.bias");
  network.dweight2 = gradient(prefix + "cpb_mlp.2.weight");
  network.accumulate = accumulate_;
  const ContinuousBiasShape bias_shape{shape.grid.window, shape.heads, kCpbHidden, {}};
  step(block.path + ".attn.bias", OperationClass::kGemm, continuous_bias_backward_cost(bias_shape, 4),
       {bias_shape.rows(), shape.heads}, {bias_shape.rows(), 2},
       [=](cuda::Stream stream) { cuda::continuous_bias_backward(bias_shape, network, stream); });
}

// V2's is summed up for q, k and v together; there is none for k.
void TrainingBuilder::split_qkv_bias_gradient(const Block& block) {
  const std::int64_t width = block.stage.width;
  const std::string prefix = block.parameters + ".attn.";
  const float* const joint = floats(layout_.bias_gradient);
  float* const q_bias = gradient(prefix + "q_bias");
  float* const v_bias = gradient(prefix + "v_bias");
  step(block.path + ".attn.qkv.split", OperationClass::kLayout, {0, 2 * width * 4, 2 * width * 4}, {3 * width},
       {2, width}, [=, accumulate = accumulate_](cuda::Stream stream) {
         if (accumulate) {
           cuda::add_into(width, ElementType::kFp32, joint, q_bias, stream);
           cuda::add_into(width, ElementType::kFp32, joint + 2 * width, v_bias, stream);
         } else {
           cuda::copy_on_device(q_bias, joint, width * 4, stream);
           cuda::copy_on_device(v_bias, joint + 2 * width, width * 4, stream);
         }
       });
}

}  // namespace swinscope

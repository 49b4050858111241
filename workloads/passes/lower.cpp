// From the model's ops to the device's: a patch embedding is a copy into columns and a product; attention takes the
// bias of all pairs of tokens, made from the table, and by steps has room for what lies between them.
#include <utility>

#include "workloads/cuda/attention_steps.h"
#include "workloads/passes/passes.h"

namespace swinscope {
namespace {

void lower_patch_embed(Rewrite& rewrite, Op& embed) {
  const auto shape = embed.as<PatchEmbedShape>();
  const TensorId columns = embed.out[1];
  rewrite.graph().at(columns).shape = {shape.tokens(), shape.column_length()};
  Op copy{OpKind::kPatchColumns, false, "patch_embed.columns", shape, {embed.in[0]}, {columns}};
  rewrite.insert_before(&embed, std::move(copy));
  embed.kind = OpKind::kLinear;
  embed.shape = LinearShape{shape.tokens(), shape.column_length(), shape.outputs};
  embed.in[0] = columns;
  embed.out.resize(1);
}

// Position biases are used in fp32, whatever the model's type.
void keep_floats(Graph& graph, const Op& op) {
  for (const TensorId id : op.in)
    graph.at(id).type = DataType::kFp32;
  graph.at(op.out[0]).type = DataType::kFp32;
}

// By steps: what the backward pass needs of the heads, their probabilities and norms, and what lies between the steps.
void make_room_for_steps(Rewrite& rewrite, Op& op) {
  Graph& graph = rewrite.graph();
  const auto& shape = op.as<WindowAttentionShape>();
  const AttentionStepSizes sizes(shape);
  const bool cosine = shape.score == AttentionScore::kCosine;
  const auto floats = [&](std::int64_t count) {
    const TensorId id = rewrite.tensor(op.path, {count});
    graph.at(id).type = DataType::kFp32;
    return id;
  };
  op.out[1] = kNoTensor;
  op.out.insert(op.out.end(), {rewrite.tensor(op.path, {3 * sizes.part}), rewrite.tensor(op.path, {sizes.scores}),
                               cosine ? floats(2 * sizes.norms) : kNoTensor,
                               cosine && graph.training ? floats(sizes.scores) : kNoTensor, floats(sizes.scores),
                               rewrite.tensor(op.path, {sizes.part})});
}

void lower_attention(Rewrite& rewrite, Op& op, const PassContext& context) {
  Graph& graph = rewrite.graph();
  const auto& shape = op.as<WindowAttentionShape>();
  const std::int64_t tokens = shape.grid.window_tokens();
  graph.at(op.in[1]).type = DataType::kFp32;
  if (op.in[3] != kNoTensor) graph.at(op.in[3]).type = DataType::kFp32;
  // Whose gradient is attention's to sum up, with that of padding.
  if (graph.training) op.in[2] = rewrite.producer(op.in[0], OpKind::kLinear)->in[2];
  op.by_steps = !context.features.attention;
  const TensorId pairs = rewrite.tensor(op.path, {shape.heads, tokens, tokens});
  GraphTensor& bias = graph.at(pairs);
  bias.role = TensorRole::kConstant;
  bias.type = DataType::kFp32;
  if (!op.by_steps) bias.stored_bytes = cuda::attention_bias_bytes(shape, element_type_of(graph.type));
  Op expand{OpKind::kExpandBias, false,  op.path.substr(0, op.path.rfind('.')) + ".bias.gather", shape,
            {op.in[1]},          {pairs}};
  expand.by_steps = op.by_steps;
  rewrite.insert_before(&op, std::move(expand));
  op.in[1] = pairs;
  if (op.by_steps) {
    make_room_for_steps(rewrite, op);
  } else if (op.out[1] != kNoTensor) {
    graph.at(op.out[1]).type = DataType::kFp32;
  }
}

}  // namespace

void lower(Graph& graph, const PassContext& context) {
  Rewrite rewrite(graph);
  // Outputs for comparisons are none of a device's.
  for (const auto& [name, id] : graph.named) {
    GraphTensor& tensor = graph.at(id);
    if (tensor.role == TensorRole::kOutput && name != "logits" && name != "auxiliary")
      tensor.role = TensorRole::kActivation;
    if (name.starts_with("drop_path")) tensor.type = DataType::kFp32;
  }
  for (Op* const op : rewrite.all(OpKind::kPatchEmbed))
    lower_patch_embed(rewrite, *op);
  for (Op* const op : rewrite.all(OpKind::kLayerNorm))
    op->out.resize(1);  // the backward pass takes its statistics again
  for (Op* const op : rewrite.all(OpKind::kWindowAttention))
    lower_attention(rewrite, *op, context);
  for (Op* const op : rewrite.all(OpKind::kPositionBias)) {
    keep_floats(graph, *op);
    op->out.resize(1);
    graph.at(op->out[0]).role = TensorRole::kConstant;
  }
  for (Op* const op : rewrite.all(OpKind::kJointBias))
    graph.at(op->out[0]).role = TensorRole::kConstant;
}

void separate_biases(Graph& graph, const PassContext& context) {
  Rewrite rewrite(graph);
  const Features& features = context.features;
  for (Op* const op : rewrite.all(OpKind::kLinear)) {
    const bool apart = (is_layer(*op, "attn.qkv") && !features.qkvbias) ||
                       (is_layer(*op, "mlp.fc1") && !features.gelu) ||
                       ((is_layer(*op, "attn.proj") || is_layer(*op, "mlp.fc2")) && !features.residual);
    if (!apart) continue;
    const TensorId y = op->out[0];
    op->out[0] = rewrite.tensor(op->path, graph.at(y).shape);
    Op bias{OpKind::kBias, false, op->path + ".bias", {}, {op->out[0], op->in[2]}, {y}};
    op->in[2] = kNoTensor;
    auto shape = op->as<LinearShape>();
    shape.bias = false;
    op->shape = shape;
    rewrite.insert_after(op, std::move(bias));
  }
}

}  // namespace swinscope

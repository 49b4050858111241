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

void lower_attention(Rewrite& rewrite, Op& op, const PassContext& context) {
  Graph& graph = rewrite.graph();
  const auto& shape = op.as<WindowAttentionShape>();
  const std::int64_t tokens = shape.grid.window_tokens();
  graph.at(op.in[1]).type = DataType::kFp32;
  if (op.in[3] != kNoTensor) graph.at(op.in[3]).type = DataType::kFp32;
  op.by_steps = !context.features.attention;
  const TensorId pairs = rewrite.tensor(op.path, {shape.heads, tokens, tokens});
  GraphTensor& bias = graph.at(pairs);
  bias.role = TensorRole::kConstant;
  bias.type = DataType::kFp32;
  Op expand{OpKind::kExpandBias, false,  op.path.substr(0, op.path.rfind('.')) + ".bias.gather", shape,
            {op.in[1]},          {pairs}};
  expand.by_steps = op.by_steps;
  rewrite.insert_before(&op, std::move(expand));
  op.in[1] = pairs;
  if (!op.by_steps) return;
  const AttentionStepSizes sizes(shape);
  const TensorId scores = rewrite.tensor(op.path, {sizes.scores});
  const TensorId norms = rewrite.tensor(op.path, {2 * sizes.norms});
  graph.at(scores).type = graph.at(norms).type = DataType::kFp32;
  op.out.insert(op.out.end(),
                {rewrite.tensor(op.path, {4 * sizes.part}), scores, rewrite.tensor(op.path, {sizes.scores}), norms});
}

}  // namespace

void lower(Graph& graph, const PassContext& context) {
  Rewrite rewrite(graph);
  // Outputs for comparisons are none of a device's.
  for (const auto& [name, id] : graph.named)
    if (graph.at(id).role == TensorRole::kOutput && name != "logits") graph.at(id).role = TensorRole::kActivation;
  for (Op* const op : rewrite.all(OpKind::kPatchEmbed))
    lower_patch_embed(rewrite, *op);
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

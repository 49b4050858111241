// Blocks with 128 channels and many rows: V1's normalization with the qkv projection, all that follows attention in V1,
// and V2's fully connected layers with the normalization of their result, each as one kernel (kernels/narrow_block.h).
#include "kernels/narrow_block.h"
#include "workloads/passes/passes.h"

namespace swinscope {
namespace {

bool is_narrow(const Graph& graph, const Op& op, const PassContext& context) {
  const GraphTensor& x = graph.at(op.in[0]);
  return context.features.layernorm && x.channels() == cuda::kNarrowChannels &&
         cuda::narrow_block_offered(element_type_of(graph.type), context.gpu) &&
         cuda::narrow_block_pays(x.rows(), context.gpu);
}

std::string block_path(const Op& op) { return op.path.substr(0, op.path.find('.', op.path.find(".block") + 1)); }

// fc1 with GELU and fc2.
struct Layers {
  Op* fc1 = nullptr;
  Op* fc2 = nullptr;
};

Layers layers_from(Rewrite& rewrite, Op* fc1) {
  if (fc1 == nullptr || !fc1->gelu) return {};
  return {fc1, rewrite.reader(fc1->out[0], OpKind::kLinear)};
}

void fuse_block_ends(Rewrite& rewrite, const PassContext& context) {
  for (Op* const proj : rewrite.all(OpKind::kLinear)) {
    if (!is_layer(*proj, "attn.proj") || proj->in.size() < 4 || !is_narrow(rewrite.graph(), *proj, context)) continue;
    const TensorId r = proj->out[0];
    for (Op* const norm : rewrite.all(OpKind::kLayerNorm)) {
      if (norm->in[0] != r || norm->in.size() > 3) continue;
      const Layers mlp = layers_from(rewrite, rewrite.reader(norm->out[0], OpKind::kLinear));
      if (mlp.fc2 == nullptr || mlp.fc2->input(3) != r) continue;
      mlp.fc2->kind = OpKind::kNarrowBlockEnd;
      mlp.fc2->path = block_path(*proj) + ".mlp";
      mlp.fc2->in = {proj->in[0],    proj->in[1],    proj->in[2],    proj->in[3], mlp.fc1->in[1],
                     mlp.fc1->in[2], mlp.fc2->in[1], mlp.fc2->in[2], norm->in[1], norm->in[2]};
      for (Op* const op : {proj, norm, mlp.fc1})
        rewrite.remove(op);
      break;
    }
  }
}

void fuse_layers(Rewrite& rewrite, const PassContext& context) {
  for (Op* const fc1 : rewrite.all(OpKind::kLinear)) {
    if (!is_layer(*fc1, "mlp.fc1") || !is_narrow(rewrite.graph(), *fc1, context)) continue;
    const Layers mlp = layers_from(rewrite, fc1);
    if (mlp.fc2 == nullptr || mlp.fc2->in[2] == kNoTensor) continue;
    Op* const norm = rewrite.reader(mlp.fc2->out[0], OpKind::kLayerNorm);
    if (norm == nullptr || norm->input(3) != fc1->in[0]) continue;
    norm->kind = OpKind::kNarrowMlp;
    norm->path = block_path(*fc1) + ".mlp";
    norm->in = {fc1->in[0], fc1->in[1], fc1->in[2], mlp.fc2->in[1], mlp.fc2->in[2], norm->in[1], norm->in[2]};
    rewrite.remove(fc1);
    rewrite.remove(mlp.fc2);
  }
}

}  // namespace

void fuse_narrow_block(Graph& graph, const PassContext& context) {
  if (!context.features.mlp || !context.features.residual) return;
  Rewrite rewrite(graph);
  fuse_block_ends(rewrite, context);
  fuse_layers(rewrite, context);
}

// What fuse_qkv_attention left.
void fuse_narrow_qkv(Graph& graph, const PassContext& context) {
  if (!context.features.normqkv || !context.features.qkvbias || !context.features.window) return;
  Rewrite rewrite(graph);
  for (Op* const norm : rewrite.all(OpKind::kLayerNorm)) {
    Op* const qkv = rewrite.reader(norm->out[0], OpKind::kLinear);
    if (qkv == nullptr || !is_layer(*qkv, "attn.qkv") || qkv->in[2] == kNoTensor || norm->in.size() > 3 ||
        !is_narrow(graph, *norm, context))
      continue;
    qkv->kind = OpKind::kNarrowQkv;
    qkv->in = {norm->in[0], norm->in[1], norm->in[2], qkv->in[1], qkv->in[2]};
    rewrite.remove(norm);
  }
}

}  // namespace swinscope

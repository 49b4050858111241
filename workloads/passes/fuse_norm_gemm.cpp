// Normalizations within the kernel of what is behind them: of the qkv projection and the attention behind that (V2's
// have no normalization there), and of products of 256 channels and many rows.
#include "kernels/normalized_rows.h"
#include "kernels/qkv_attention.h"
#include "workloads/passes/passes.h"

namespace swinscope {

void fuse_qkv_attention(Graph& graph, const PassContext& context) {
  const Features& features = context.features;
  if (!features.qkvattention || !features.attention || !features.window || !features.qkvbias) return;
  const ElementType type = element_type_of(graph.type);
  Rewrite rewrite(graph);
  for (Op* const attention : rewrite.all(OpKind::kWindowAttention)) {
    const auto& shape = attention->as<WindowAttentionShape>();
    Op* const qkv = rewrite.producer(attention->in[0], OpKind::kLinear);
    if (qkv == nullptr || attention->to_bytes) continue;  // 8 bits
    TensorId gamma = kNoTensor, beta = kNoTensor, x = qkv->in[0];
    if (shape.score == AttentionScore::kScaledDot) {
      Op* const norm = rewrite.producer(x, OpKind::kLayerNorm);
      if (norm == nullptr || !features.normqkv || !features.layernorm ||
          !cuda::normalized_qkv_attention_offered(shape, type, context.gpu) ||
          !cuda::normalized_qkv_attention_pays(shape, context.gpu))
        continue;
      x = norm->in[0];
      gamma = norm->in[1];
      beta = norm->in[2];
      rewrite.remove(norm);
    } else if (!cuda::qkv_attention_offered(shape, type, context.gpu) ||
               !cuda::qkv_attention_pays(shape, context.gpu)) {
      continue;
    }
    attention->kind = OpKind::kQkvAttention;
    attention->in = {x, gamma, beta, qkv->in[1], qkv->in[2], attention->in[1], attention->in[3]};
    rewrite.remove(qkv);
  }
}

void fuse_norm_rows(Graph& graph, const PassContext& context) {
  const Features& features = context.features;
  if (!features.normrows || !features.layernorm || !features.window) return;
  Rewrite rewrite(graph);
  for (Op* const norm : rewrite.all(OpKind::kLayerNorm)) {
    Op* const linear = rewrite.reader(norm->out[0], OpKind::kLinear);
    if (linear == nullptr || linear->in[2] == kNoTensor || linear->in.size() > 3 || norm->in.size() > 3) continue;
    if (!is_layer(*linear, "attn.qkv") && !is_layer(*linear, "mlp.fc1")) continue;
    const auto& shape = linear->as<LinearShape>();
    const cuda::NormalizedRowsShape rows{shape.rows, shape.inputs, shape.outputs, linear->gelu,
                                         element_type_of(graph.type)};
    if (!cuda::normalized_rows_offered(rows, context.gpu) || !cuda::normalized_rows_pays(rows, context.gpu)) continue;
    linear->kind = OpKind::kNormalizedRows;
    linear->in = {norm->in[0], norm->in[1], norm->in[2], linear->in[1], linear->in[2]};
    rewrite.remove(norm);
  }
}

}  // namespace swinscope

// Training: V1's residual sum within the normalization behind it; and of the backward pass what only adds up, within
// the kernel that makes what is added up: sums of two gradients, and the gradients of biases, which are sums of
// columns.
#include <utility>

#include "workloads/passes/passes.h"

namespace swinscope {
namespace {

bool is_block_norm(const Op& op) { return is_layer(op, "norm1") || is_layer(op, "norm2"); }

void fuse_residual_norm(Rewrite rewrite) {
  for (Op* const norm : rewrite.all(OpKind::kLayerNorm)) {
    if (norm->backward || norm->gather || norm->in.size() > 3) continue;
    if (!is_block_norm(*norm) && norm->path != "norm") continue;
    Op* const sum = rewrite.producer(norm->in[0], OpKind::kResidual);
    if (sum == nullptr) continue;
    norm->kind = OpKind::kResidualNorm;
    norm->in = {sum->in[0], sum->in[1], sum->in[2], norm->in[1], norm->in[2]};
    norm->out = {sum->out[0], norm->out[0]};
    rewrite.remove(sum);
  }
}

// The op then adds its result to what was there.
void accumulate(Rewrite& rewrite, Op* op, std::size_t addend) {
  if (op->out[0] == kNoTensor) return;
  Op* const sum = rewrite.reader(op->out[0], OpKind::kAdd);
  if (sum == nullptr || sum->in[1] != op->out[0]) return;
  if (op->in.size() <= addend) op->in.resize(addend + 1, kNoTensor);
  op->in[addend] = sum->in[0];
  op->out[0] = sum->out[0];
  rewrite.remove(sum);
}

void fuse_sums(Rewrite& rewrite, const Features& features) {
  if (features.layernorm)
    for (Op* const norm : rewrite.all(OpKind::kLayerNorm))
      if (norm->backward && !norm->gather && norm->input(6) == kNoTensor) accumulate(rewrite, norm, 5);
  if (features.residual)
    for (Op* const linear : rewrite.all(OpKind::kLinear))
      if (linear->backward) accumulate(rewrite, linear, 3);
  for (const OpKind kind : {OpKind::kGridPool, OpKind::kResize})
    for (Op* const op : rewrite.all(kind))
      accumulate(rewrite, op, 1);
}

void fuse_bias(Rewrite& rewrite, Op* bias, const Features& features) {
  const TensorId dy = bias->in[1];
  if (Op* const scaled = rewrite.producer(dy, OpKind::kResidual); scaled != nullptr && features.residual) {
    bias->path = scaled->path;
    bias->in = scaled->in;
    bias->out[0] = dy;
    rewrite.remove(scaled);
    return;
  }
  Op* const norm = rewrite.producer(dy, OpKind::kLayerNorm);
  Op* const gelu = rewrite.producer(dy, OpKind::kGelu);
  if (norm != nullptr && features.layernorm && norm->backward && !norm->gather && is_block_norm(*norm)) {
    norm->out.push_back(bias->out[1]);
  } else if (gelu != nullptr && features.gelu && gelu->backward) {
    gelu->out.push_back(bias->out[1]);
  } else {
    return;
  }
  rewrite.remove(bias);
}

}  // namespace

void fuse_residual_norm(Graph& graph, const PassContext& context) {
  if (!context.features.layernorm) return;
  fuse_residual_norm(Rewrite(graph, graph.forward));
  fuse_residual_norm(Rewrite(graph, graph.backward));
}

void fuse_gradients(Graph& graph, const PassContext& context) {
  Rewrite rewrite(graph, graph.backward);
  fuse_sums(rewrite, context.features);
  for (Op* const bias : rewrite.all(OpKind::kBias))
    if (bias->backward && bias->in[0] == kNoTensor) fuse_bias(rewrite, bias, context.features);
}

}  // namespace swinscope

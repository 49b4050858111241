// The backward pass of a device's ops: each gradient of a product and of its bias is an op of its own, gradients of
// parameters are fp32, and attention sums up that of the qkv bias by itself.
#include <algorithm>
#include <utility>

#include "workloads/cuda/attention_steps.h"
#include "workloads/graph/backward.h"
#include "workloads/passes/passes.h"

namespace swinscope {
namespace {

constexpr std::string_view kBiasSuffix = ".bias";

bool is_qkv(const Op& op) { return is_layer(op, "attn.qkv") || is_layer(op, "attn.qkv.bias"); }

class Gradients {
 public:
  Gradients(Graph& graph, const PassContext& context)
      : graph_(graph), rewrite_(graph, graph.backward), weight_first_(context.features.serpentine) {}

  void run() {
    for (GraphTensor& tensor : graph_.tensors)
      if (tensor.role == TensorRole::kGradient) tensor.type = DataType::kFp32;
    for (Op* const op : rewrite_.all(OpKind::kBias))
      separate_bias(*op);
    for (Op* const op : rewrite_.all(OpKind::kLinear))
      product(*op);
    for (Op* const op : rewrite_.all(OpKind::kWindowAttention))
      attention(*op);
    for (const OpKind kind : {OpKind::kConvolution, OpKind::kTapProduct})
      for (Op* const op : rewrite_.all(kind))
        map_product(*op);
    for (Op* const op : rewrite_.all(OpKind::kBatchSums)) {
      graph_.at(op->out[0]).type = DataType::kFp32;
      graph_.at(op->out[0]).shape = {2 * op->as<BatchNormShape>().channels};
    }
    for (Op* const op : rewrite_.all(OpKind::kTapPack))
      graph_.at(op->in[0]).type = DataType::kFp32;
    for (Op* const op : rewrite_.all(OpKind::kPositionBias))
      op->out.resize(3);
  }

 private:
  void separate_bias(Op& op) {
    if (!is_qkv(op)) place_bias(&op, op.path.substr(0, op.path.size() - kBiasSuffix.size()), op.in[1], op.out[1]);
    rewrite_.remove(&op);
  }

  // The column sums of dy: before the op, and before the copies that brought dy into windows.
  void place_bias(const Op* op, const std::string& path, TensorId dy, TensorId dbias) {
    for (;;) {
      const Op* copy = rewrite_.producer(dy, OpKind::kWindowReverse);
      if (copy == nullptr) copy = rewrite_.producer(dy, OpKind::kWindowRoll);
      if (copy == nullptr) break;
      op = copy;
      dy = copy->in[0];
    }
    Op sums{OpKind::kBias, true, path, {}, {kNoTensor, dy, ones(graph_.at(dy))}, {kNoTensor, dbias}};
    rewrite_.insert_before(op, std::move(sums));
  }

  // A classifier's columns may be too few for the kernel: then it is a product with as many ones as there are rows.
  TensorId ones(const GraphTensor& dy) {
    if (dy.channels() % 8 == 0) return kNoTensor;
    const auto [found, is_new] = graph_.named.try_emplace("ones", kNoTensor);
    if (is_new) found->second = graph_.add({"ones", {0}, graph_.type, TensorRole::kInput});
    std::int64_t& count = graph_.at(found->second).shape[0];
    count = std::max(count, dy.rows());
    return found->second;
  }

  // The weight's gradient first where the next op is to find dx in the L2 cache. The images need none.
  void product(Op& op) {
    auto shape = op.as<LinearShape>();
    shape.bias = false;
    op.shape = shape;
    const TensorId dx = op.out[0], dweight = op.out[1], dbias = op.out[2];
    const bool last = op.path.starts_with("head.");
    if (dbias != kNoTensor && !is_qkv(op) && !last) place_bias(&op, op.path, op.in[2], dbias);
    Op weight = op;
    weight.in[1] = kNoTensor;
    weight.out = {kNoTensor, dweight};
    if (weight_first_) rewrite_.insert_before(&op, weight);
    if (rewrite_.readers(dx) > 0) {
      Op input = op;
      input.in[0] = kNoTensor;
      input.out = {dx};
      rewrite_.insert_before(&op, std::move(input));
    }
    if (!weight_first_) rewrite_.insert_before(&op, std::move(weight));
    if (dbias != kNoTensor && last) place_bias(&op, op.path, op.in[2], dbias);
    rewrite_.remove(&op);
  }

  void map_product(Op& op) {
    const bool weight_first = op.kind == OpKind::kConvolution;
    Op weight = op;
    weight.out[0] = kNoTensor;
    Op input = op;
    input.out.resize(1);
    rewrite_.insert_before(&op, weight_first ? weight : input);
    rewrite_.insert_before(&op, weight_first ? input : weight);
    rewrite_.remove(&op);
  }

  void attention(Op& op) {
    op.out[4] = kNoTensor;  // the device has a workspace for all
    for (const TensorId sums : {op.out[1], op.out[2]})
      graph_.at(sums).type = DataType::kFp32;
    if (op.by_steps) steps(op);
    // V2: from the table to its network, and from the joint bias to those of q and v.
    Op* const network = rewrite_.reader(op.out[1], OpKind::kPositionBias);
    Op* const split = rewrite_.reader(op.out[2], OpKind::kJointBias);
    if (split == nullptr) return;
    split->path.replace(split->path.rfind("join"), 4, "split");
    rewrite_.insert_after(network, *split);
    rewrite_.remove(split);
  }

  // The heads are there still, in place of what they were made of.
  void steps(Op& op) {
    std::fill_n(op.in.begin(), 3, kNoTensor);
    const AttentionStepSizes sizes(op.as<WindowAttentionShape>());
    const TensorId scores = rewrite_.tensor(op.path, {sizes.scores});
    graph_.at(scores).type = DataType::kFp32;
    const bool rounds = graph_.type != DataType::kFp32;
    op.out.insert(op.out.end(), {scores, rounds ? rewrite_.tensor(op.path, {sizes.scores}) : scores,
                                 rewrite_.tensor(op.path, {3 * sizes.part}), rewrite_.tensor(op.path, {sizes.part})});
  }

  Graph& graph_;
  Rewrite rewrite_;
  bool weight_first_;
};

}  // namespace

void differentiate(Graph& graph, const PassContext& context) {
  if (!graph.training) return;
  add_backward(graph);
  Gradients(graph, context).run();
}

}  // namespace swinscope

// Shift, partition and their reverses as copies, as the framework has them: x is rolled where windows are shifted and
// cut into windows before the qkv projection; after the output projection it is put together and rolled back. Between
// them rows stand window after window, padding among them.
#include <utility>

#include "workloads/passes/passes.h"

namespace swinscope {
namespace {

class Copies {
 public:
  Copies(Rewrite& rewrite, Op& attention)
      : rewrite_(rewrite),
        graph_(rewrite.graph()),
        attention_(attention),
        shape_(attention.as<WindowAttentionShape>()),
        path_(attention.path.substr(0, attention.path.rfind('.'))),
        map_{shape_.grid.batch, shape_.grid.map.height, shape_.grid.map.width, shape_.channels()} {}

  void run() {
    Op* const bias = rewrite_.producer(attention_.in[0], OpKind::kBias);
    Op* const qkv = rewrite_.producer(bias == nullptr ? attention_.in[0] : bias->in[0], OpKind::kLinear);
    Op* const proj = rewrite_.reader(attention_.out[0], OpKind::kLinear);
    Op* const proj_bias = rewrite_.reader(proj->out[0], OpKind::kBias);
    into_windows(*qkv);
    for (Op* const op : {qkv, bias, &attention_, proj, proj_bias})
      if (op != nullptr) in_windows(*op);
    out_of_windows(proj_bias == nullptr ? *proj : *proj_bias);
    attention_.windows = true;
  }

 private:
  bool shifted() const { return shape_.grid.shift.area() > 0; }
  TensorId map() { return rewrite_.tensor(path_, map_); }
  std::vector<std::int64_t> windows(std::int64_t channels) const {
    return {shape_.grid.window_count(), shape_.grid.window_tokens(), channels};
  }
  Op copy(OpKind kind, const char* name, TensorId from, TensorId to) const {
    return {kind, false, path_ + name, shape_, {from}, {to}};
  }

  void into_windows(Op& qkv) {
    TensorId x = qkv.in[0];
    if (shifted()) {
      const TensorId rolled = map();
      rewrite_.insert_before(&qkv, copy(OpKind::kWindowRoll, ".roll", x, rolled));
      x = rolled;
    }
    qkv.in[0] = rewrite_.tensor(path_, windows(shape_.channels()));
    rewrite_.insert_before(&qkv, copy(OpKind::kWindowPartition, ".partition", x, qkv.in[0]));
  }

  void in_windows(Op& op) {
    GraphTensor& y = graph_.at(op.out[0]);
    y.shape = windows(y.channels());
    if (op.kind == OpKind::kWindowAttention && op.out[1] != kNoTensor)
      graph_.at(op.out[1]).shape = {shape_.grid.window_count() * shape_.grid.window_tokens(), shape_.heads};
    if (op.kind != OpKind::kLinear) return;
    auto shape = op.as<LinearShape>();
    shape.rows = y.rows();
    op.shape = shape;
  }

  void out_of_windows(Op& last) {
    const TensorId y = last.out[0];
    last.out[0] = rewrite_.tensor(path_, windows(shape_.channels()));
    graph_.at(y).shape = map_;
    const TensorId reversed = shifted() ? map() : y;
    rewrite_.insert_after(&last, copy(OpKind::kWindowReverse, ".reverse", last.out[0], reversed));
    if (!shifted()) return;
    Op unroll = copy(OpKind::kWindowRoll, ".unroll", reversed, y);
    unroll.undo = true;
    rewrite_.insert_after(&last, std::move(unroll));
  }

  Rewrite& rewrite_;
  Graph& graph_;
  Op& attention_;
  WindowAttentionShape shape_;
  std::string path_;
  std::vector<std::int64_t> map_;
};

}  // namespace

void copy_windows(Graph& graph, const PassContext& context) {
  if (context.features.window) return;
  Rewrite rewrite(graph);
  for (Op* const op : rewrite.all(OpKind::kWindowAttention))
    Copies(rewrite, *op).run();
}

}  // namespace swinscope

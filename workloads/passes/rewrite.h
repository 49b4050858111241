// What passes have in common: who makes and who reads a tensor, and ops that are taken out or put in.
#pragma once

#include <string_view>
#include <vector>

#include "workloads/graph/graph.h"

namespace swinscope {

// Of one list of a graph's ops, which it changes when it is destroyed. Ops keep their places until then.
class Rewrite {
 public:
  Rewrite(Graph& graph, std::vector<Op>& ops);
  explicit Rewrite(Graph& graph) : Rewrite(graph, graph.forward) {}
  ~Rewrite();
  Rewrite(const Rewrite&) = delete;
  Rewrite& operator=(const Rewrite&) = delete;
  Rewrite(Rewrite&&) = delete;
  Rewrite& operator=(Rewrite&&) = delete;

  Graph& graph() { return graph_; }
  // Those that are still there, in order.
  std::vector<Op*> all(OpKind kind);
  // The op that makes a tensor, where it is of that kind and, as the only one of its ops, still there; else null.
  Op* producer(TensorId id, OpKind kind);
  // The only op that reads a tensor that no one else wants, where it is of that kind; else null.
  Op* reader(TensorId id, OpKind kind);
  int readers(TensorId id) const;

  void remove(const Op* op);
  // They belong to the same section of the model.
  void insert_before(const Op* op, Op more);
  void insert_after(const Op* op, Op more);
  // A new tensor of that shape.
  TensorId tensor(const std::string& name, std::vector<std::int64_t> shape);

 private:
  std::size_t place(const Op* op) const { return static_cast<std::size_t>(op - ops_.data()); }

  Graph& graph_;
  std::vector<Op>& ops_;
  std::vector<bool> removed_;
  std::vector<std::vector<Op>> before_, after_;
};

// Whether an op belongs to a block, and within it to the layer of that name: "attn.qkv".
bool is_layer(const Op& op, std::string_view layer);

}  // namespace swinscope

#include "workloads/passes/rewrite.h"

#include <algorithm>
#include <utility>

namespace swinscope {

Rewrite::Rewrite(Graph& graph, std::vector<Op>& ops)
    : graph_(graph), ops_(ops), removed_(ops.size()), before_(ops.size()), after_(ops.size()) {}

Rewrite::~Rewrite() {
  std::vector<Op> ops;
  for (std::size_t i = 0; i < removed_.size(); ++i) {
    std::ranges::move(before_[i], std::back_inserter(ops));
    if (!removed_[i]) ops.push_back(std::move(ops_[i]));
    std::ranges::move(after_[i], std::back_inserter(ops));
  }
  ops_ = std::move(ops);
}

std::vector<Op*> Rewrite::all(OpKind kind) {
  std::vector<Op*> found;
  for (Op& op : ops_)
    if (op.kind == kind && !removed_[place(&op)]) found.push_back(&op);
  return found;
}

Op* Rewrite::producer(TensorId id, OpKind kind) {
  for (Op& op : ops_)
    if (!removed_[place(&op)] && op.out[0] == id) return op.kind == kind ? &op : nullptr;
  return nullptr;
}

int Rewrite::readers(TensorId id) const {
  int count = 0;
  for (const Op& op : ops_)
    if (!removed_[place(&op)]) count += static_cast<int>(std::ranges::count(op.in, id));
  return count;
}

Op* Rewrite::reader(TensorId id, OpKind kind) {
  if (graph_.at(id).role == TensorRole::kOutput || readers(id) != 1) return nullptr;
  for (Op& op : ops_)
    if (!removed_[place(&op)] && std::ranges::find(op.in, id) != op.in.end()) return op.kind == kind ? &op : nullptr;
  return nullptr;
}

void Rewrite::remove(const Op* op) { removed_[place(op)] = true; }
void Rewrite::insert_before(const Op* op, Op more) {
  more.section = op->section;
  before_[place(op)].push_back(std::move(more));
}
void Rewrite::insert_after(const Op* op, Op more) {
  more.section = op->section;
  after_[place(op)].push_back(std::move(more));
}

TensorId Rewrite::tensor(const std::string& name, std::vector<std::int64_t> shape) {
  return graph_.add({name, std::move(shape), graph_.type, TensorRole::kActivation});
}

bool is_layer(const Op& op, std::string_view layer) {
  const std::size_t block = op.path.find(".block");
  return block != std::string::npos && std::string_view(op.path).substr(op.path.find('.', block + 1) + 1) == layer;
}

}  // namespace swinscope

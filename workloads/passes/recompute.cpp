// Training: blocks keep nothing but their outputs and what is made of parameters alone; what else their backward pass
// reads is computed again before it.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "workloads/passes/passes.h"

namespace swinscope {
namespace {

std::string block_of(const Op& op) {
  const std::size_t start = op.path.find(".block");
  return start == std::string::npos ? "" : op.path.substr(0, op.path.find('.', start + 1));
}

class Block {
 public:
  explicit Block(Graph& graph) : graph_(graph) {}

  void add(const Op& op) { ops_.push_back(&op); }

  // The ops that make what `readers` take, in order; the readers then take what these make.
  std::vector<Op> again(const std::vector<Op*>& readers) {
    std::vector<Op> ops;
    for (const Op* const reader : readers)
      for (const TensorId id : reader->in)
        need(id);
    for (const Op* const op : std::vector<const Op*>(ops_.rbegin(), ops_.rend())) {
      if (std::ranges::none_of(op->out, [&](TensorId id) { return again_.contains(id); })) continue;
      for (const TensorId id : op->out)
        if (id != kNoTensor) again_.try_emplace(id, id);
      for (const TensorId id : op->in)
        need(id);
      ops.push_back(*op);
    }
    for (auto& [old, id] : again_)
      id = graph_.add(graph_.at(old));
    std::ranges::reverse(ops);
    for (Op& op : ops) {
      rename(op.in);
      rename(op.out);
    }
    for (Op* const reader : readers)
      rename(reader->in);
    return ops;
  }

 private:
  // What the block makes before its output.
  void need(TensorId id) {
    if (id == kNoTensor || id == ops_.back()->out[0]) return;
    const auto makes = [&](const Op* op) { return std::ranges::find(op->out, id) != op->out.end(); };
    if (std::ranges::any_of(ops_, makes)) again_.try_emplace(id, id);
  }
  void rename(std::vector<TensorId>& ids) const {
    for (TensorId& id : ids)
      if (const auto found = again_.find(id); found != again_.end()) id = found->second;
  }

  Graph& graph_;
  std::vector<const Op*> ops_;
  std::unordered_map<TensorId, TensorId> again_;  // by what there was
};

}  // namespace

void recompute(Graph& graph, const PassContext& context) {
  if (!context.recompute) return;
  std::unordered_map<std::string, Block> blocks;
  for (const Op& op : graph.forward) {
    const bool stays =
        op.kind == OpKind::kExpandBias || op.kind == OpKind::kPositionBias || op.kind == OpKind::kJointBias;
    if (!block_of(op).empty() && !stays) blocks.try_emplace(block_of(op), graph).first->second.add(op);
  }
  std::vector<Op> all;
  for (auto op = graph.backward.begin(); op != graph.backward.end();) {
    const std::string block = block_of(*op);
    const auto end = std::find_if(op, graph.backward.end(),
                                  [&](const Op& other) { return !other.path.empty() && block_of(other) != block; });
    if (!block.empty()) {
      std::vector<Op*> readers;
      for (auto reader = op; reader != end; ++reader)
        readers.push_back(&*reader);
      std::ranges::move(blocks.at(block).again(readers), std::back_inserter(all));
    }
    std::move(op, end, std::back_inserter(all));
    op = end;
  }
  graph.backward = std::move(all);
}

}  // namespace swinscope

#include "workloads/graph/backward.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace swinscope {
namespace {

class Backward {
 public:
  explicit Backward(Graph& graph)
      : graph_(graph),
        exchanges_(std::ranges::any_of(graph.forward, [](const Op& op) { return op.kind == OpKind::kAllReduce; })) {}

  void seed(const std::string& name) {
    const TensorId output = graph_.find(name);
    const TensorId gradient =
        graph_.add({"gradient of " + name, graph_.at(output).shape, graph_.at(output).type, TensorRole::kInput});
    graph_.named[graph_.at(gradient).name] = gradient;
    gradients_[output] = {gradient, {}};
  }

  void differentiate(const Op& op) {
    op_ = &op;
    const TensorId dy = gradient_of(op.out[0]);
    if (dy != kNoTensor) rule(op, dy);
  }

 private:
  struct Gradient {
    TensorId id = kNoTensor;
    std::string path;  // of the op that it came from
  };

  // Of a part of a wider tensor: the same part of that one's gradient.
  TensorId gradient_of(TensorId id) {
    if (const auto found = gradients_.find(id); found != gradients_.end()) return found->second.id;
    const GraphTensor& tensor = graph_.at(id);
    const auto whole = gradients_.find(tensor.whole);
    if (whole == gradients_.end()) return kNoTensor;
    GraphTensor part = tensor;
    part.whole = whole->second.id;
    return graph_.add(std::move(part));
  }

  void rule(const Op& op, TensorId dy) {
    switch (op.kind) {
      case OpKind::kPatchEmbed:
        return emit({op.in[1], op.out[1], dy}, {sum(op.in[1]), sum(op.in[2])});
      case OpKind::kLayerNorm:
        return layernorm(op, dy);
      case OpKind::kLinear:
        return overwrite({op.in[0], op.in[1], dy}, {op.in[0]}, {sum(op.in[1]), sum(op.in[2])});
      case OpKind::kGelu:
        return overwrite({op.in[0], dy}, {op.in[0]});
      case OpKind::kRelu:
        return overwrite({op.out[0], dy}, {op.in[0]});
      case OpKind::kResidual:
        return residual(op, dy);
      case OpKind::kWindowAttention:
        return attention(op, dy);
      case OpKind::kPositionBias:
        return position_bias(op, dy);
      case OpKind::kJointBias:
        return emit({dy}, {sum(op.in[0]), sum(op.in[1])});
      case OpKind::kBias:
        contribute(op.in[0], dy);
        return emit({kNoTensor, dy}, {kNoTensor, sum(op.in[1])});
      case OpKind::kTapPack:
        return emit({dy}, {sum(op.in[0])});
      case OpKind::kTapProduct:
        return overwrite({op.in[0], op.in[1], dy}, {op.in[0]}, {sum(op.in[1])});
      case OpKind::kTapGather:
        contribute(op.in[0], dy);
        return overwrite({dy}, {op.in[1]});
      case OpKind::kExpandBias:  // is attention's
      case OpKind::kPatchColumns:
        return;
      case OpKind::kPatchMerge:
      case OpKind::kPool:
      case OpKind::kGridPool:
      case OpKind::kWindowRoll:
      case OpKind::kWindowPartition:
      case OpKind::kWindowReverse:
        return overwrite({dy}, {op.in[0]});
      case OpKind::kConvolution:
        return overwrite({op.in[0], op.in[1], dy}, {op.in[0]}, {sum(op.in[1])});
      case OpKind::kBatchNorm:
        return batch_norm(op, dy);
      case OpKind::kResize:
        if (op.input(1) != kNoTensor) contribute(op.in[1], dy);
        return overwrite({dy}, {op.in[0]});
      case OpKind::kConcat:
        return overwrite({dy}, op.in);
      case OpKind::kTapFusion:
        contribute(op.in[0], dy);
        return overwrite({op.in[1], op.in[2], dy}, {op.in[1]}, {sum(op.in[2]), like(op.out[1])});
      default:
        throw std::logic_error("backward: no rule for " + op.path);
    }
  }

  // With a residual sum behind it, whose layer would have been <block>.residual1 for <block>.norm1.
  void layernorm(const Op& op, TensorId dy) {
    if (op.input(3) != kNoTensor) {
      std::string path = op.path;
      contribute(op.in[3], dy, path.replace(path.rfind("norm"), 4, "residual"));
    }
    overwrite({op.in[0], op.in[1], kept(1), kept(2), dy, kNoTensor, op.input(4)}, {op.in[0]},
              {sum(op.in[1]), sum(op.in[2])});
  }

  void residual(const Op& op, TensorId dy) {
    contribute(op.in[0], dy);
    if (op.in[2] == kNoTensor) return contribute(op.in[1], dy);
    overwrite({op.in[2], dy}, {op.in[1]});
  }

  // On devices the bias of all pairs of tokens is made of the table, whose gradient it is.
  void attention(const Op& op, TensorId dy) {
    std::vector<TensorId> in = {op.in[0], op.in[1], op.in[2], op.in[3], kept(1)};
    for (std::size_t i = 2; i < 6; ++i)
      if (op.by_steps) in.push_back(kept(i));
    in.push_back(dy);
    TensorId table = op.in[1];
    for (const Op& other : graph_.forward)
      if (other.kind == OpKind::kExpandBias && other.out[0] == table) table = other.in[0];
    const TensorId workspace =
        activation({cpu::window_attention_backward_workspace(op.as<WindowAttentionShape>())}, DataType::kFp64);
    overwrite(std::move(in), {op.in[0]}, {sum(table), sum(op.in[2]), sum(op.in[3]), workspace});
  }

  void position_bias(const Op& op, TensorId dy) {
    const TensorId workspace = activation({op.as<ContinuousBiasShape>().backward_workspace()}, graph_.type);
    emit({op.in[0], op.in[1], op.in[2], kept(1), kept(2), op.out[0], dy},
         {sum(op.in[0]), sum(op.in[1]), sum(op.in[2]), workspace});
  }

  // The statistics are functions of the input, too: the sums over the batch carry what comes back through them.
  void batch_norm(const Op& op, TensorId dy) {
    const TensorId x = op.in[0], mean = op.in[1], rstd = op.in[2], gamma = op.in[3];
    const std::string base = op.path.substr(0, op.path.rfind('.'));
    const TensorId sums = activation({op.as<BatchNormShape>().sum_elements()}, DataType::kFp64);
    const TensorId beta = op.in[4];
    append(OpKind::kBatchSums, base + ".sums", {x, mean, rstd, gamma, beta, dy}, {sums, sum(gamma), sum(beta)});
    if (exchanges_) append(OpKind::kAllReduce, base + ".allreduce", {sums}, {sums});
    overwrite({x, mean, rstd, gamma, beta, sums, dy}, {x});
  }

  // What the op leaves beside its result, where it does.
  TensorId kept(std::size_t index) const { return index < op_->out.size() ? op_->out[index] : kNoTensor; }
  TensorId activation(std::vector<std::int64_t> shape, DataType type) {
    return graph_.add({"gradient at " + op_->path, std::move(shape), type, TensorRole::kActivation});
  }
  TensorId like(TensorId id) { return activation(graph_.at(id).shape, graph_.at(id).type); }

  // Where the gradient of what is like a parameter is added to; what is none of its own begins with zeros.
  TensorId sum(TensorId of) {
    if (of == kNoTensor) return kNoTensor;
    const auto [known, is_new] = gradients_.try_emplace(of);
    if (!is_new) return known->second.id;
    if (graph_.at(of).role == TensorRole::kParameter) {
      const GraphTensor& parameter = graph_.at(of);
      known->second.id = graph_.add({parameter.name, parameter.shape, parameter.type, TensorRole::kGradient});
    } else {
      known->second.id = like(of);
      append(OpKind::kZero, op_->path.substr(0, op_->path.rfind('.')) + ".clear", {}, {known->second.id});
    }
    return known->second.id;
  }

  void contribute(TensorId to, TensorId gradient) { contribute(to, gradient, op_->path); }
  void contribute(TensorId to, TensorId gradient, const std::string& path) {
    const auto [known, is_new] = gradients_.try_emplace(to, Gradient{gradient, path});
    if (is_new) return;
    const TensorId both = like(to);
    append(OpKind::kAdd, known->second.path, {known->second.id, gradient}, {both});
    known->second.id = both;
  }

  // The op's backward form.
  void emit(std::vector<TensorId> in, std::vector<TensorId> out) {
    append(op_->kind, op_->path, std::move(in), std::move(out));
  }
  // With new gradients of `of` before `more`.
  void overwrite(std::vector<TensorId> in, const std::vector<TensorId>& of, const std::vector<TensorId>& more = {}) {
    std::vector<TensorId> out;
    std::ranges::transform(of, std::back_inserter(out), [this](TensorId id) { return like(id); });
    std::vector<TensorId> all = out;
    all.insert(all.end(), more.begin(), more.end());
    emit(std::move(in), std::move(all));
    for (std::size_t i = 0; i < of.size(); ++i)
      contribute(of[i], out[i]);
  }
  void append(OpKind kind, const std::string& path, std::vector<TensorId> in, std::vector<TensorId> out) {
    Op op = *op_;
    op.kind = kind;
    op.backward = kind != OpKind::kAdd && kind != OpKind::kZero && kind != OpKind::kAllReduce;
    op.path = path;
    op.in = std::move(in);
    op.out = std::move(out);
    graph_.backward.push_back(std::move(op));
  }

  Graph& graph_;
  const Op* op_ = nullptr;
  std::unordered_map<TensorId, Gradient> gradients_;
  bool exchanges_;  // between ranks
};

}  // namespace

void add_backward(Graph& graph) {
  std::vector<std::string_view> losses = {"logits"};
  if (graph.find("auxiliary") != kNoTensor) losses.emplace_back("auxiliary");
  add_backward(graph, losses);
}

void add_backward(Graph& graph, const std::vector<std::string_view>& losses) {
  Backward backward(graph);
  for (const std::string_view name : losses)
    backward.seed(std::string(name));
  std::for_each(graph.forward.rbegin(), graph.forward.rend(), [&](const Op& op) { backward.differentiate(op); });
}

}  // namespace swinscope

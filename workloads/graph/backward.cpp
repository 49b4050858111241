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
    const auto found = gradients_.find(op.out[0]);
    if (found != gradients_.end()) rule(op, found->second.id);
  }

 private:
  struct Gradient {
    TensorId id = kNoTensor;
    std::string path;  // of the op that it came from
  };

  void rule(const Op& op, TensorId dy) {
    switch (op.kind) {
      case OpKind::kPatchEmbed:
        return emit({op.in[1], op.out[1], dy}, {sum(op.in[1]), sum(op.in[2])});
      case OpKind::kLayerNorm:
        return overwrite({op.in[0], op.in[1], op.out[1], op.out[2], dy}, {op.in[0]}, {sum(op.in[1]), sum(op.in[2])});
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
      case OpKind::kPatchMerge:
      case OpKind::kPool:
      case OpKind::kGridPool:
        return overwrite({dy}, {op.in[0]});
      case OpKind::kConvolution:
        return overwrite({op.in[0], op.in[1], dy}, {op.in[0]}, {sum(op.in[1])});
      case OpKind::kBatchNorm:
        return batch_norm(op, dy);
      case OpKind::kResize:
        if (op.in[1] != kNoTensor) contribute(op.in[1], dy);
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

  void residual(const Op& op, TensorId dy) {
    contribute(op.in[0], dy);
    if (op.in[2] == kNoTensor) return contribute(op.in[1], dy);
    overwrite({op.in[2], dy}, {op.in[1]});
  }

  void attention(const Op& op, TensorId dy) {
    std::vector<TensorId> in = op.in;
    in.insert(in.end(), {op.out[1], dy});
    const TensorId workspace =
        activation({cpu::window_attention_backward_workspace(op.as<WindowAttentionShape>())}, DataType::kFp64);
    overwrite(std::move(in), {op.in[0]}, {sum(op.in[1]), sum(op.in[2]), sum(op.in[3]), workspace});
  }

  void position_bias(const Op& op, TensorId dy) {
    const TensorId workspace = activation({op.as<ContinuousBiasShape>().backward_workspace()}, graph_.type);
    emit({op.in[2], op.out[1], op.out[2], op.out[0], dy}, {sum(op.in[0]), sum(op.in[1]), sum(op.in[2]), workspace});
  }

  // The statistics are functions of the input, too: the sums over the batch carry what comes back through them.
  void batch_norm(const Op& op, TensorId dy) {
    const TensorId x = op.in[0], mean = op.in[1], rstd = op.in[2], gamma = op.in[3];
    const std::string base = op.path.substr(0, op.path.rfind('.'));
    const TensorId sums = activation({op.as<BatchNormShape>().sum_elements()}, DataType::kFp64);
    append(OpKind::kBatchSums, base + ".sums", {x, mean, rstd, dy}, {sums, sum(gamma), sum(op.in[4])});
    if (exchanges_) append(OpKind::kAllReduce, base + ".allreduce", {sums}, {sums});
    overwrite({x, mean, rstd, gamma, sums, dy}, {x});
  }

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
      append(OpKind::kZero, "", {}, {known->second.id});
    }
    return known->second.id;
  }

  void contribute(TensorId to, TensorId gradient) {
    const auto [known, is_new] = gradients_.try_emplace(to, Gradient{gradient, op_->path});
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
    const bool backward = kind != OpKind::kAdd && kind != OpKind::kZero && kind != OpKind::kAllReduce;
    graph_.backward.push_back(
        {kind, backward, path, op_->shape, std::move(in), std::move(out), op_->section, op_->weight_offset});
  }

  Graph& graph_;
  const Op* op_ = nullptr;
  std::unordered_map<TensorId, Gradient> gradients_;
  bool exchanges_;  // between ranks
};

}  // namespace

void add_backward(Graph& graph, const std::vector<std::string>& losses) {
  Backward backward(graph);
  for (const std::string& name : losses)
    backward.seed(name);
  std::for_each(graph.forward.rbegin(), graph.forward.rend(), [&](const Op& op) { backward.differentiate(op); });
}

}  // namespace swinscope

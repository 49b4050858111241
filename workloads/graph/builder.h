// Writes a graph layer by layer, forward only: each call appends an op and returns what it gives. Extents follow from
// the operands. Parameters are declared by the layers that have them, in the order of the calls: that is their order in
// files and, backward, in memory.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "workloads/graph/graph.h"

namespace swinscope {

// Instead of a bias: the layer's own parameter.
inline constexpr TensorId kOwnBias = -2;

// The parameters of a convolution without bias, a batch normalization and a ReLU behind it: <name>.0.weight, .1.weight,
// .1.bias and the buffers .1.running_mean and .1.running_var.
struct ConvNorm {
  std::string path;  // <path>.conv, .sums, .allreduce, .norm, .relu
  TensorId weight, gamma, beta, running_mean, running_variance;
};

class GraphBuilder {
 public:
  // ranks: that batches are normalized over.
  GraphBuilder(DataType type, bool training, int ranks);

  bool training() const { return graph_.training; }
  const GraphTensor& at(TensorId id) const { return graph_.at(id); }
  // What follows belongs together: its gradients are final at once.
  void begin_section() { ++section_; }
  Graph finish() { return std::move(graph_); }

  TensorId input(const std::string& name, std::vector<std::int64_t> shape);
  // The same name is the same tensor.
  TensorId parameter(const std::string& name, std::vector<std::int64_t> shape, bool decays);
  TensorId buffer(const std::string& name, std::int64_t count);
  // Keeps a tensor until the next pass, to be found by that name.
  void output(const std::string& name, TensorId id);

  // `name`: of the parameters, <name>.weight and <name>.bias.
  TensorId patch_embed(const std::string& path, const std::string& name, TensorId images, std::int64_t outputs,
                       std::int64_t patch);
  TensorId layernorm(const std::string& path, const std::string& name, TensorId x);
  TensorId linear(const std::string& path, const std::string& name, TensorId x, std::int64_t outputs,
                  TensorId bias = kOwnBias);
  TensorId gelu(const std::string& path, TensorId x);
  TensorId residual(const std::string& path, TensorId x, TensorId branch, TensorId scale);
  // qkv_bias is what padding holds, the projection of zeros.
  TensorId window_attention(const std::string& path, const WindowAttentionShape& shape, TensorId qkv, TensorId table,
                            TensorId qkv_bias, TensorId logit_scale);
  // Swin V2's table from <name>.0.weight, <name>.0.bias and <name>.2.weight.
  TensorId position_bias(const std::string& path, const std::string& name, const ContinuousBiasShape& shape);
  TensorId joint_bias(const std::string& path, TensorId q, TensorId v);
  TensorId patch_merge(const std::string& path, TensorId x);
  TensorId pool(const std::string& path, TensorId x);

  ConvNorm conv_norm(const std::string& path, const std::string& name, std::int64_t inputs, std::int64_t outputs,
                     std::int64_t kernel);
  TensorId apply(const ConvNorm& layer, TensorId x);
  TensorId norm_relu(const ConvNorm& layer, TensorId x);
  // With as many of the weight's input channels as x has, from the first one on.
  TensorId convolution(const std::string& path, TensorId x, TensorId weight);
  // sum + the 3x3 convolution of x, enlarged, with the weight's input channels from `first` on.
  TensorId tap_fusion(const std::string& path, TensorId sum, TensorId x, TensorId weight, std::int64_t first);
  TensorId grid_pool(const std::string& path, TensorId x, std::int64_t side);
  // Bilinear; the addend, which may be absent, has the result's extents.
  TensorId resize(const std::string& path, TensorId x, std::int64_t side, TensorId addend = kNoTensor);
  TensorId concat(const std::string& path, const std::vector<TensorId>& parts);

 private:
  TensorId activation(const std::string& path, std::vector<std::int64_t> shape);
  TensorId activation(const std::string& path, std::vector<std::int64_t> shape, DataType type);
  TensorId like(const std::string& path, TensorId x) { return activation(path, graph_.at(x).shape); }
  // Appends the op; returns the first of `out`.
  TensorId append(OpKind kind, const std::string& path, const OpShape& shape, std::vector<TensorId> in,
                  std::vector<TensorId> out);

  Graph graph_;
  int ranks_;
  int section_ = 0;
  std::unordered_map<std::string, TensorId> stored_;  // parameters and buffers
};

}  // namespace swinscope

// A model as a list of operations on tensors, in the order in which they run. Each kind of operation is one of
// kernels/; its shape is that operation's own.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "kernels/adaptive_pool.h"
#include "kernels/batchnorm.h"
#include "kernels/continuous_bias.h"
#include "kernels/convolution.h"
#include "kernels/layernorm.h"
#include "kernels/linear.h"
#include "kernels/patch_embed.h"
#include "kernels/patch_merge.h"
#include "kernels/pool.h"
#include "kernels/residual.h"
#include "kernels/tap_fusion.h"
#include "kernels/upsample.h"
#include "kernels/window_attention.h"
#include "workloads/graph/tensor.h"

namespace swinscope {

// What an op of each kind takes -> gives. Operands in brackets may be absent (kNoTensor); those in parentheses are kept
// for the backward pass, or are workspaces. Of a backward op: see the second line. Gradients of parameters are added
// to, others are overwritten.
enum class OpKind : std::uint8_t {
  kPatchEmbed,         // images, weight, bias -> y, (columns)
                       //   weight, columns, dy -> dweight, dbias
  kLayerNorm,          // x, gamma, beta -> y, (mean), (rstd)
                       //   x, gamma, mean, rstd, dy -> dx, dgamma, dbeta
  kLinear,             // x, weight, [bias] -> y
                       //   x, weight, dy -> dx, dweight, [dbias]
  kGelu,               // x -> y
                       //   x, dy -> dx
  kRelu,               // x -> y
                       //   y, dy -> dx
  kResidual,           // x, branch, [scale of each sample] -> x + scale * branch
                       //   scale, dy -> dbranch
  kAdd,                // a, b -> a + b: where gradients of two paths meet
  kZero,               // -> zeros, where gradients are added up
  kWindowAttention,    // qkv, table, [qkv bias, of padding], [logit scale] -> attended, [(lse)]
                       //   qkv, table, [qkv bias], [logit scale], lse, dy -> dqkv, dtable, [dbias], [dscale], (sums)
  kPositionBias,       // weight1, bias1, weight2 -> table, (coordinates), (activations)
                       //   weight2, coordinates, activations, table, dtable -> dweight1, dbias1, dweight2, (workspace)
  kJointBias,          // q's, v's -> q's, zeros, v's
                       //   dy -> dq, dv
  kPatchMerge,         // x -> y
                       //   dy -> dx
  kPool,               // x -> y
                       //   dy -> dx
  kConvolution,        // x, weight -> y
                       //   x, weight, dy -> dx, dweight
  kBatchSums,          // x -> sums
                       //   x, mean, rstd, dy -> sums, dgamma, dbeta
  kAllReduce,          // sums -> the same, of all ranks
  kBatchStatistics,    // sums, running mean, running variance -> mean, rstd; the running ones move
  kRunningStatistics,  // running mean, running variance -> mean, rstd
  kBatchNorm,          // x, mean, rstd, gamma, beta -> y
                       //   x, mean, rstd, gamma, sums, dy -> dx
  kGridPool,           // x -> y
                       //   dy -> dx
  kResize,             // x, [addend] -> y
                       //   dy -> dx
  kConcat,             // parts -> their channels side by side
                       //   dy -> gradients of the parts
  kTapFusion,          // sum so far, x, weight -> sum, (taps)
                       //   x, weight, dy -> dx, dweight, (taps)
};

using OpShape = std::variant<std::monostate, PatchEmbedShape, LayerNormShape, LinearShape, ResidualShape,
                             WindowAttentionShape, ContinuousBiasShape, PatchMergeShape, PoolShape, ConvolutionShape,
                             BatchNormShape, AdaptivePoolShape, UpsampleShape, TapFusionShape>;

struct Op {
  OpKind kind = OpKind::kAdd;
  bool backward = false;
  std::string path;  // of the layer, as annotations have it; empty: nothing to speak of
  OpShape shape;
  std::vector<TensorId> in, out;
  int section = 0;                 // of the model: backward, its gradients are final together
  std::int64_t weight_offset = 0;  // elements, where an op takes a slice of its weight's input channels

  template <typename Shape>
  const Shape& as() const {
    return std::get<Shape>(shape);
  }
};

struct Graph {
  DataType type = DataType::kFp32;
  bool training = false;
  std::deque<GraphTensor> tensors;        // references stay when more are added
  std::vector<Op> once;                   // makes the constants
  std::vector<Op> forward, backward;      // a pass
  std::map<std::string, TensorId> named;  // inputs and outputs

  const GraphTensor& at(TensorId id) const { return tensors[static_cast<std::size_t>(id)]; }
  GraphTensor& at(TensorId id) { return tensors[static_cast<std::size_t>(id)]; }
  // kNoTensor for one that this graph lacks.
  TensorId find(const std::string& name) const {
    const auto found = named.find(name);
    return found == named.end() ? kNoTensor : found->second;
  }
  TensorId add(GraphTensor tensor) {
    tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(tensors.size()) - 1;
  }
};

}  // namespace swinscope

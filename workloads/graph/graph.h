// A model as a list of operations on tensors, in the order in which they run. Each kind of operation is one of
// kernels/; its shape is that operation's own.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernels/adaptive_pool.h"
#include "kernels/batchnorm.h"
#include "kernels/continuous_bias.h"
#include "kernels/convolution.h"
#include "kernels/eviction.h"
#include "kernels/layernorm.h"
#include "kernels/linear.h"
#include "kernels/patch_embed.h"
#include "kernels/patch_merge.h"
#include "kernels/pool.h"
#include "kernels/quantize.h"
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
  kLayerNorm,          // x, gamma, beta, [residual, [its scale of each sample]] -> y, (mean), (rstd)
                       //   x, gamma, mean, rstd, dy, [addend of dx], [scale] -> dx, dgamma, dbeta, [sums of dx]
  kLinear,             // x, weight, [bias] -> y
                       //   x, weight, dy, [addend of dx] -> dx, dweight, [dbias]
  kGelu,               // x -> y
                       //   x, dy -> dx, [sums of dx]
  kRelu,               // x -> y
                       //   y, dy -> dx
  kResidual,           // x, branch, [scale of each sample] -> x + scale * branch
                       //   scale, dy -> dbranch
  kAdd,                // a, b -> a + b: where gradients of two paths meet
  kZero,               // -> zeros, where gradients are added up
  kWindowAttention,    // qkv, table, [qkv bias, of padding], [logit scale] -> attended, [(lse)]
                       //   qkv, table, [qkv bias], [logit scale], lse, dy -> dqkv, dtable, [dbias], [dscale], (sums)
  kPositionBias,       // weight1, bias1, weight2 -> table, (coordinates), (activations)
                       //   weight1, bias1, weight2, coordinates, activations, table, dtable
                       //   -> dweight1, dbias1, dweight2, (workspace)
  kJointBias,          // q's, v's -> q's, zeros, v's
                       //   dy -> dq, dv
  kPatchMerge,         // x -> y
                       //   dy -> dx
  kPool,               // x -> y
                       //   dy -> dx
  kConvolution,        // x, weight -> y
                       //   x, weight, dy -> dx, dweight
  kBatchSums,          // x -> sums
                       //   x, mean, rstd, gamma, beta, dy -> sums, dgamma, dbeta
  kAllReduce,          // sums -> the same, of all ranks
  kBatchStatistics,    // sums, running mean, running variance -> mean, rstd; the running ones move
  kRunningStatistics,  // running mean, running variance -> mean, rstd
  kBatchNorm,          // x, mean, rstd, gamma, beta -> y
                       //   x, mean, rstd, gamma, beta, sums, dy -> dx; on devices mean and rstd are one tensor
  kGridPool,           // x -> y
                       //   dy, [addend of dx] -> dx
  kResize,             // x, [addend] -> y
                       //   dy, [addend of dx] -> dx
  kConcat,             // parts -> their channels side by side
                       //   dy -> gradients of the parts
  kTapFusion,          // sum so far, x, weight -> sum, (taps)
                       //   x, weight, dy -> dx, dweight, (taps)
  // What passes for devices put in the place of the above. Attention by steps also has tensors that it keeps and works
  // on, see AttentionStepBuffers: q k v, probabilities, norms, [cosines], scores, attended
  //   q k v, probabilities, norms, [cosines] before dy -> after the rest scores, rounded scores, gradients, attended
  kPatchColumns,     // images -> columns
  kBias,             // x, bias -> x + bias
                     //   [scale of each sample], dy, [ones] -> [scale * dy], dbias
  kResidualNorm,     // x, branch, [scale of each sample], gamma, beta -> sum, LN(sum)
  kWindowRoll,       // x -> y; either way
  kWindowPartition,  // x -> rows of windows
  kWindowReverse,    // rows of windows -> x
  kExpandBias,       // table -> bias of all pairs of tokens
  kTapPack,          // weight -> its slice, densely packed
                     //   dpacked -> dweight
  kTapProduct,       // x, packed -> taps
                     //   x, packed, dtaps -> dx, dpacked
  kTapGather,        // sum so far, taps -> sum
                     //   dy -> dtaps
  // Inference only. Linear then also takes [an addend] and [gamma, beta] of a normalization of its result.
  kQkvAttention,          // x, [gamma, beta], weight, bias, pairs, [logit scale] -> attended
  kNormalizedRows,        // x, gamma, beta, weight, bias -> linear(LN(x)), GELU of it where `gelu`
  kNormalizedPatchEmbed,  // images, weight, bias, gamma, beta -> y
  kNarrowQkv,             // x, gamma, beta, weight, bias -> qkv
  kNarrowMlp,             // x, weight1, bias1, weight2, bias2, gamma, beta -> x + LN(fc2(GELU(fc1(x))))
  kNarrowBlockEnd,        // attended, weight, bias, x, weight1, bias1, weight2, bias2, gamma, beta -> y
  // In 8 bits (byte_format.h):
  kQuantize,        // x -> x in 8 bits
  kQuantizeWeight,  // weight -> weight in 8 bits, factors of the sums
  // x in 8 bits, weight in 8 bits, bias, [addend], factors of the sums, [gamma, beta] of a normalization -> y
  kQuantizedLinear,
  kCountMagnitudes,  // x -> counts, added to
  // Training in 8 bits: quantized products, also as gradients of their inputs; kQuantize with a scale in memory; and
  kAdvanceScales,  // -> kByteScales, of the next step
  // x in 8 bits, dy in 8 bits, kByteScales -> dweight, added to
  kByteWeightGradient,
  // kByteScales, weights -> of each in 8 bits, factors of the sums, [transposed, factors of its sums]
  kByteWeights,
};

using OpShape = std::variant<std::monostate, PatchEmbedShape, LayerNormShape, LinearShape, ResidualShape,
                             WindowAttentionShape, ContinuousBiasShape, PatchMergeShape, PoolShape, ConvolutionShape,
                             BatchNormShape, AdaptivePoolShape, UpsampleShape, TapFusionShape, WeightShape>;

struct Op {
  OpKind kind = OpKind::kAdd;
  bool backward = false;
  std::string path;  // of the layer, as annotations have it; empty: nothing to speak of
  OpShape shape;
  std::vector<TensorId> in, out;
  int section = 0;                 // of the model: backward, its gradients are final together
  std::int64_t weight_offset = 0;  // elements, where an op takes a slice of its weight's input channels
  // On devices:
  bool gelu = false;  // Linear, NormalizedRows, QuantizedLinear: of the result, in its tanh form
  // LayerNorm, WindowAttention, QuantizedLinear: the result is in 8 bits; of a LayerNorm with a residual also, in
  // out[1].
  bool to_bytes = false;
  // Products that normalize: the result is also in 8 bits, in out[1]. Training: it is, in out[bytes_index()], unless
  // nobody wants it in 16 bits: then it is so in place of that.
  bool beside = false;
  bool relu = false;      // BatchNorm and its sums: of the result
  bool by_steps = false;  // WindowAttention, ExpandBias: by a kernel for each of the framework's operations
  bool windows = false;   // WindowAttention: rows stand window after window
  bool undo = false;      // WindowRoll: back
  std::optional<PatchMergeShape> gather = {};                // LayerNorm: of these pixels, gathered
  cuda::Eviction in_policy = cuda::Eviction::kNormal;        // LayerNorm: which of x, and
  cuda::Eviction out_policy = cuda::Eviction::kNormal;       // it and attention: of the result, the L2 cache is to keep
  TensorId ahead_first = kNoTensor, ahead_last = kNoTensor;  // LayerNorm: weights that are brought into the L2 cache

  template <typename Shape>
  const Shape& as() const {
    return std::get<Shape>(shape);
  }
  // kNoTensor for one that is absent.
  TensorId input(std::size_t index) const { return index < in.size() ? in[index] : kNoTensor; }
};

// Where a backward op has the gradient that it starts from.
inline std::size_t gradient_index(const Op& op) {
  switch (op.kind) {
    case OpKind::kLayerNorm:
      return 4;
    case OpKind::kLinear:
      return 2;
    case OpKind::kBias:
      return 1;
    case OpKind::kGridPool:
    case OpKind::kResize:
      return 0;
    default:
      return op.in.size() - 1;
  }
}

// Where an op of training, `beside`, has its result in 8 bits: behind all else.
inline std::size_t bytes_index(const Op& op) {
  switch (op.kind) {
    case OpKind::kLayerNorm:
      return op.backward ? 4 : 1;
    case OpKind::kGelu:
      return op.backward ? 2 : 1;
    case OpKind::kWindowAttention:
      return op.backward ? 5 : 2;
    default:
      return 2;
  }
}

// Where such an op has the same in 16 bits.
inline std::size_t rounded_index(const Op& op) { return op.kind == OpKind::kResidualNorm ? 1 : 0; }

// Of kByteWeights, for each weight.
inline constexpr std::size_t kByteWeightTensors = 4;
// The name of the input that holds all DelayedScale.
inline constexpr const char* kByteScales = "byte scales";

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
  // Training: whether an op's kernel, which could leave its result in 8 bits beside it, leaves nothing else.
  bool only_in_bytes(const Op& op) const {
    if (!training || op.beside || op.kind == OpKind::kQuantize || op.out.size() <= rounded_index(op)) return false;
    const TensorId id = op.out[rounded_index(op)];
    return id != kNoTensor && at(id).scale_slot >= 0 && byte_format_of(at(id).type) != ByteFormat::kNone;
  }
  TensorId add(GraphTensor tensor) {
    tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(tensors.size()) - 1;
  }
};

}  // namespace swinscope

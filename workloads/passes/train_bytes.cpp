// Training with products of 8-bit operands (kernels/delayed_scale.h): of blocks' layers y = x W^T and, where gradients
// are asked for, dx = dy W and dW = dy^T x. What makes x or dy leaves it in 8 bits, too, or a kernel of its own rounds
// it; the weights are rounded at the beginning of a step. What nobody then reads in 16 bits is not written so. Rounding
// counts as the identity (straight-through estimate), so that nothing else of the backward pass changes.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "kernels/delayed_scale.h"
#include "workloads/passes/passes.h"

namespace swinscope {
namespace {

constexpr std::int64_t kInputUnit = 16;   // of the products' kernel
constexpr std::int64_t kOutputUnit = 32;  // the same
constexpr std::int64_t kTransposedUnit = 64;

// What a layer has in 8 bits.
struct Layer {
  LinearShape shape;
  TensorId weight = kNoTensor;
  TensorId bytes = kNoTensor, factors = kNoTensor;
  TensorId transposed = kNoTensor, transposed_factors = kNoTensor;
};

bool is_made(const Op& op) {
  return is_layer(op, "attn.qkv") || is_layer(op, "attn.proj") || is_layer(op, "mlp.fc1") || is_layer(op, "mlp.fc2");
}

class ByteTraining {
 public:
  ByteTraining(Graph& graph, const PassContext& context) : graph_(graph), context_(context) {}

  void run() {
    scales_ = graph_.add({kByteScales, {0}, DataType::kFp32, TensorRole::kInput});
    convert(graph_.forward);
    convert(graph_.backward);
    leave_out_what_nobody_reads();
    if (slots_ == 0) return;
    graph_.named[kByteScales] = scales_;
    graph_.at(scales_).shape = {slots_, static_cast<std::int64_t>(sizeof(DelayedScale)) / 4};
    round_weights();
  }

 private:
  void convert(std::vector<Op>& ops) {
    Rewrite rewrite(graph_, ops);
    for (Op* const op : rewrite.all(OpKind::kLinear)) {
      if (!is_made(*op) || !fits(*op)) continue;
      if (!op->backward) {
        forward(rewrite, *op);
      } else if (context_.byte_gradients) {
        op->out[0] != kNoTensor ? input_gradient(rewrite, *op) : weight_gradient(rewrite, *op);
      }
    }
  }

  bool fits(const Op& op) const {
    const auto& shape = op.as<LinearShape>();
    const bool wide = std::min(shape.inputs, shape.outputs) >= context_.least_byte_width;
    const auto in_units = [&](std::int64_t input, std::int64_t output) {
      return shape.inputs % input == 0 && shape.outputs % output == 0;
    };
    return wide && in_units(kInputUnit, kOutputUnit) &&
           (!context_.byte_gradients || in_units(kTransposedUnit, kTransposedUnit));
  }

  void forward(Rewrite& rewrite, Op& op) {
    Layer& layer = layers_[op.path];
    if (layer.bytes == kNoTensor) {
      layer.shape = op.as<LinearShape>();
      layer.weight = op.in[1];
      layer.bytes = constant(op.path + ".bytes", {layer.shape.outputs, layer.shape.inputs}, own_type());
      layer.factors = factors(op.path + ".factors", layer.shape.outputs);
    }
    const TensorId x = bytes_of(rewrite, op, op.in[0], own_type(), graph_.at(layer.factors).scale_slot);
    op.kind = OpKind::kQuantizedLinear;
    op.in = {x, layer.bytes, op.in[2], op.input(3), layer.factors};
  }

  // Of a backward op's dy, the layer's weight transposed beside it.
  TensorId gradient_bytes(Rewrite& rewrite, const Op& op, Layer& layer) {
    if (layer.transposed == kNoTensor) {
      const std::string name = op.path + ".transposed";
      layer.transposed = constant(name, {layer.shape.inputs, layer.shape.outputs}, DataType::kE4m3);
      layer.transposed_factors = factors(name + ".factors", layer.shape.inputs);
    }
    return bytes_of(rewrite, op, op.in[2], DataType::kE4m3, graph_.at(layer.transposed_factors).scale_slot);
  }

  // A product like that of the forward pass, with the weight transposed.
  void input_gradient(Rewrite& rewrite, Op& op) {
    Layer& layer = layers_.at(op.path);
    const TensorId dy = gradient_bytes(rewrite, op, layer);
    op.kind = OpKind::kQuantizedLinear;
    op.backward = false;
    op.shape = LinearShape{layer.shape.rows, layer.shape.outputs, layer.shape.inputs, false};
    op.in = {dy, layer.transposed, kNoTensor, op.input(3), layer.transposed_factors};
  }

  void weight_gradient(Rewrite& rewrite, Op& op) {
    Layer& layer = layers_.at(op.path);
    const TensorId dy = gradient_bytes(rewrite, op, layer);
    const TensorId x = bytes_of(rewrite, op, op.in[0], DataType::kE4m3, graph_.at(layer.factors).scale_slot);
    op.kind = OpKind::kByteWeightGradient;
    op.backward = false;
    op.in = {x, dy, scales_};
    op.out = {op.out[1]};
  }

  DataType own_type() const { return data_type_of(context_.training_bytes); }
  TensorId constant(const std::string& name, std::vector<std::int64_t> shape, DataType type) {
    return graph_.add({name, std::move(shape), type, TensorRole::kConstant});
  }
  // Of a product's sums, with a scale of its own for what is multiplied with the weight.
  TensorId factors(const std::string& name, std::int64_t count) {
    const TensorId id = constant(name, {count}, DataType::kFp32);
    graph_.at(id).scale_slot = slots_++;
    return id;
  }

  TensorId bytes_of(Rewrite& rewrite, const Op& op, TensorId x, DataType type, int slot) {
    const auto [known, is_new] = rounded_.try_emplace(x, kNoTensor);
    if (!is_new) return known->second;
    const TensorId id = rewrite.tensor(graph_.at(x).name + " in 8 bits", graph_.at(x).shape);
    known->second = id;
    graph_.at(id).type = type;
    graph_.at(id).scale_slot = slot;
    if (Op* const maker = maker_of(rewrite, x); maker != nullptr) {
      maker->beside = true;
      maker->out.resize(bytes_index(*maker), kNoTensor);
      maker->out.push_back(id);
      return id;
    }
    rewrite.insert_before(&op, {OpKind::kQuantize, false, op.path + ".quantize", {}, {x}, {id}});
    return id;
  }

  // The op whose kernel can leave x in 8 bits, too.
  Op* maker_of(Rewrite& rewrite, TensorId x) const {
    const auto free = [](Op* op) { return op->beside ? nullptr : op; };
    const Features& features = context_.features;
    if (Op* const norm = rewrite.producer(x, OpKind::kLayerNorm); norm != nullptr)
      return features.layernorm && !norm->gather ? free(norm) : nullptr;
    for (Op* const norm : rewrite.all(OpKind::kResidualNorm))
      if (norm->out[1] == x) return free(norm);
    if (Op* const gelu = rewrite.producer(x, OpKind::kGelu); gelu != nullptr) return free(gelu);
    if (Op* const bias = rewrite.producer(x, OpKind::kBias); bias != nullptr && bias->backward) return free(bias);
    Op* const attention = rewrite.producer(x, OpKind::kWindowAttention);
    if (attention == nullptr || attention->by_steps || attention->windows) return nullptr;
    const bool fits =
        cuda::attention_on_tensor_cores(attention->as<WindowAttentionShape>(), element_type_of(graph_.type));
    return fits ? free(attention) : nullptr;
  }

  void leave_out_what_nobody_reads() {
    std::set<TensorId> wanted;
    for (const auto& [name, id] : graph_.named)
      wanted.insert(id);
    for (const std::vector<Op>* const ops : {&graph_.once, &graph_.forward, &graph_.backward})
      for (const Op& op : *ops)
        wanted.insert(op.in.begin(), op.in.end());
    for (std::vector<Op>* const ops : {&graph_.forward, &graph_.backward}) {
      for (Op& op : *ops) {
        if (!op.beside || wanted.contains(op.out[rounded_index(op)])) continue;
        op.out[rounded_index(op)] = op.out[bytes_index(op)];
        op.out.resize(bytes_index(op));
        op.beside = false;
      }
    }
  }

  void round_weights() {
    Op round{OpKind::kByteWeights,
             false,
             "weights.quantize",
             WeightShape{0, 0, 1.0F, context_.training_bytes},
             {scales_},
             {}};
    for (const auto& [path, layer] : layers_) {
      round.in.push_back(layer.weight);
      for (const TensorId id : {layer.bytes, layer.factors, layer.transposed, layer.transposed_factors})
        round.out.push_back(id);
    }
    graph_.once.push_back({OpKind::kAdvanceScales, false, "scales.advance", round.shape, {}, {scales_}});
    graph_.once.push_back(std::move(round));
  }

  Graph& graph_;
  const PassContext& context_;
  TensorId scales_ = kNoTensor;
  int slots_ = 0;
  std::map<std::string, Layer> layers_;   // by path
  std::map<TensorId, TensorId> rounded_;  // what stands in 16 bits -> in 8
};

}  // namespace

void train_in_bytes(Graph& graph, const PassContext& context) {
  if (graph.training && context.training_bytes != ByteFormat::kNone) ByteTraining(graph, context).run();
}

std::vector<DelayedScale> first_scales(const Graph& graph) {
  const TensorId id = graph.find(kByteScales);
  std::vector<DelayedScale> scales(id == kNoTensor ? 0 : static_cast<std::size_t>(graph.at(id).shape[0]));
  for (const Op& op : graph.forward) {
    if (op.kind != OpKind::kByteWeights) continue;
    for (std::size_t i = 0; i < op.out.size(); i += kByteWeightTensors) {
      const auto set = [&](TensorId factors, float scale) {
        if (factors != kNoTensor) scales.at(static_cast<std::size_t>(graph.at(factors).scale_slot)).scale = scale;
      };
      set(op.out[i + 1], kFirstInputScale);
      set(op.out[i + 3], kFirstGradientScale);
    }
  }
  return scales;
}

}  // namespace swinscope

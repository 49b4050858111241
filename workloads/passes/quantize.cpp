// Products within blocks whose operands are 8-bit numbers: their weights are rounded once, and what they read is
// rounded by the kernel that makes it, a normalization, attention or the product before, or by one of its own.
#include "workloads/passes/passes.h"

namespace swinscope {
namespace {

constexpr int kHopper = 9;
// Narrower blocks have kernels that do more at once (narrow_block.h).
constexpr std::int64_t kLeastWidth = 192;
constexpr std::int64_t kTile = 128;

bool is_block_product(const Op& op) {
  return is_layer(op, "attn.qkv") || is_layer(op, "attn.proj") || is_layer(op, "mlp.fc1") || is_layer(op, "mlp.fc2");
}

class Quantizer {
 public:
  Quantizer(Graph& graph, const PassContext& context) : graph_(graph), context_(context), rewrite_(graph) {}

  void run() {
    for (Op* const linear : rewrite_.all(OpKind::kLinear)) {
      const auto range = context_.input_ranges->find(linear->path);
      if (range != context_.input_ranges->end() && is_supported(*linear) && is_profitable(*linear))
        quantize(*linear, scale_of(range->second));
    }
    for (Op* const attention : rewrite_.all(OpKind::kWindowAttention))
      quantize_inputs(*attention);
  }

 private:
  DataType type() const { return data_type_of(context_.bytes); }
  float scale_of(float range) const { return byte_scale(context_.bytes, range); }
  bool is_supported(const Op& op) const {
    const auto& shape = op.as<LinearShape>();
    return context_.gpu.major == kHopper && graph_.type == DataType::kFp16 && is_block_product(op) &&
           shape.inputs % 16 == 0 && shape.outputs % 32 == 0;
  }
  // Tiles occupy half of the GPU: with fewer, the time is that of launches and of reading weights.
  bool is_profitable(const Op& op) const {
    const auto& shape = op.as<LinearShape>();
    const std::int64_t tiles = (shape.rows / kTile) * (shape.outputs / kTile);
    return shape.inputs >= kLeastWidth && shape.outputs >= kLeastWidth && tiles >= context_.gpu.multiprocessors / 2;
  }

  void quantize(Op& op, float scale) {
    const auto shape = op.as<LinearShape>();
    const TensorId weight = rewrite_.tensor(op.path, {shape.outputs, shape.inputs});
    graph_.at(weight).type = type();
    const TensorId factors = rewrite_.tensor(op.path, {shape.outputs});
    graph_.at(factors).type = DataType::kFp32;
    for (const TensorId id : {weight, factors})
      graph_.at(id).role = TensorRole::kConstant;
    graph_.once.push_back({OpKind::kQuantizeWeight,
                           false,
                           op.path + ".weight",
                           WeightShape{shape.outputs, shape.inputs, scale, context_.bytes},
                           {op.in[1]},
                           {weight, factors}});
    op.kind = OpKind::kQuantizedLinear;
    op.in = {bytes_of(op, scale), weight, op.in[2], op.input(3), factors};
  }

  // Of V1: V2's cosines, times up to 100, are too fine for 8 bits.
  void quantize_inputs(Op& attention) {
    const auto& shape = attention.as<WindowAttentionShape>();
    const auto range = context_.input_ranges->find(attention.path);
    Op* const qkv = rewrite_.producer(attention.in[0], OpKind::kQuantizedLinear);
    if (qkv == nullptr || range == context_.input_ranges->end() || attention.by_steps || attention.windows ||
        shape.grid.padded() || shape.score != AttentionScore::kScaledDot || rewrite_.readers(attention.in[0]) != 1)
      return;
    qkv->to_bytes = true;
    graph_.at(attention.in[0]).type = type();
    graph_.at(attention.in[0]).scale = scale_of(range->second);
  }

  TensorId bytes_of(const Op& op, float scale) {
    const TensorId x = op.in[0];
    if (Op* const maker = maker_of(x); maker != nullptr) {
      maker->to_bytes = true;
      if (maker->kind == OpKind::kLayerNorm && maker->input(3) != kNoTensor) {
        const TensorId bytes = new_bytes(op, scale);
        maker->out.push_back(bytes);
        return bytes;
      }
      graph_.at(x).type = type();
      graph_.at(x).scale = scale;
      return x;
    }
    const TensorId bytes = new_bytes(op, scale);
    rewrite_.insert_before(&op, {OpKind::kQuantize, false, op.path + ".quantize", {}, {x}, {bytes}});
    return bytes;
  }

  TensorId new_bytes(const Op& op, float scale) {
    const TensorId id = rewrite_.tensor(op.path, graph_.at(op.in[0]).shape);
    graph_.at(id).type = type();
    graph_.at(id).scale = scale;
    return id;
  }

  // The op that can round x itself: the only reader of what it makes is this product, or it also adds to a residual,
  // which goes on in 16 bits.
  Op* maker_of(TensorId x) {
    const Features& features = context_.features;
    if (Op* const norm = rewrite_.producer(x, OpKind::kLayerNorm); norm != nullptr) {
      const bool adds = norm->input(3) != kNoTensor;
      const bool can = features.layernorm && !norm->gather && norm->out.size() == 1;
      return can && (adds || rewrite_.readers(x) == 1) ? norm : nullptr;
    }
    if (rewrite_.readers(x) != 1) return nullptr;
    if (Op* const attention = rewrite_.producer(x, OpKind::kWindowAttention); attention != nullptr)
      return attention->by_steps || attention->windows ? nullptr : attention;
    Op* const product = rewrite_.producer(x, OpKind::kQuantizedLinear);
    return product != nullptr && product->input(3) == kNoTensor ? product : nullptr;
  }

  Graph& graph_;
  const PassContext& context_;
  Rewrite rewrite_;
};

}  // namespace

void quantize_products(Graph& graph, const PassContext& context) {
  if (context.bytes != ByteFormat::kNone) Quantizer(graph, context).run();
}

void count_inputs(Graph& graph) {
  Rewrite rewrite(graph);
  const auto count = [&](const Op& op) {
    const TensorId counts = rewrite.tensor(op.path, {kMagnitudeBins});
    graph.at(counts).type = DataType::kFp32;  // as large as a count
    graph.at(counts).role = TensorRole::kConstant;
    graph.named["counts." + op.path] = counts;
    rewrite.insert_before(&op, {OpKind::kCountMagnitudes, false, op.path + ".counts", {}, {op.in[0]}, {counts}});
  };
  for (const Op* const linear : rewrite.all(OpKind::kLinear))
    if (is_block_product(*linear)) count(*linear);
  for (const Op* const attention : rewrite.all(OpKind::kWindowAttention))
    count(*attention);
}

}  // namespace swinscope

// Swin Transformer (Liu et al., arXiv 2103.14030) and Swin Transformer V2 (arXiv 2111.09883), as timm has them. What V2
// does differently: it normalizes the result of a layer and not its input, scores by the cosine with a learned scale,
// computes its position bias from coordinates, and has no bias for keys.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "workloads/graph/backward.h"
#include "workloads/models/model.h"
#include "workloads/stochastic_depth.h"

namespace swinscope {
namespace {

struct Block {
  StageShape stage;
  int number = 0;          // through the model
  int index = 0;           // in its stage
  std::string name, path;  // of its parameters, layers.2.blocks.4; of its ops, stage3.block5
};

class Swin {
 public:
  Swin(GraphBuilder& g, const SwinConfig& config, const ModelOptions& options)
      : g_(g), config_(config), options_(options), v1_(config.version == SwinVersion::kV1) {}

  // The outputs of all stages.
  std::vector<TensorId> stages(TensorId images) {
    TensorId x = g_.patch_embed("patch_embed.proj", "patch_embed.proj", images, config_.embed_dim, kPatchSize);
    x = g_.layernorm("patch_embed.norm", "patch_embed.norm", x);
    g_.output("stem", x);
    std::vector<TensorId> outputs;
    int number = 0;
    for (int stage = 0; stage < config_.stages; ++stage) {
      if (stage > 0) x = merge(stage, x);
      const StageShape shape = stage_shape(config_, stage);
      for (int i = 0; i < shape.depth; ++i, ++number)
        if (!is_identity(stage, i))
          x = block({shape, number, i, fmt::format("layers.{}.blocks.{}", stage, i),
                     fmt::format("stage{}.block{}", stage + 1, i + 1)},
                    x);
      g_.output(fmt::format("stage{}", stage + 1), x);
      outputs.push_back(x);
    }
    return outputs;
  }

  void classify(TensorId x) {
    g_.begin_section();
    const TensorId normalized = g_.layernorm("norm", "norm", x);
    g_.output("normalized", normalized);
    g_.output("logits", g_.linear("head.fc", "head.fc", g_.pool("head.pool", normalized), config_.classes));
  }

 private:
  bool is_identity(int stage, int block) const {
    return std::ranges::any_of(options_.identity_blocks,
                               [&](const BlockIndex& at) { return at.stage == stage && at.block == block; });
  }

  // V1 layer(LN(x)), V2 LN(layer(x)).
  template <typename Layer>
  TensorId normalized(const std::string& path, const std::string& name, TensorId x, const Layer& layer) {
    return v1_ ? layer(g_.layernorm(path, name, x)) : g_.layernorm(path, name, layer(x));
  }

  // From [r, r, C] to [r / 2, r / 2, 2 C].
  TensorId merge(int stage, TensorId x) {
    g_.begin_section();
    const std::string path = fmt::format("stage{}.merge", stage);
    const std::string name = fmt::format("layers.{}.downsample", stage);
    return normalized(path + ".norm", name + ".norm", g_.patch_merge(path + ".gather", x), [&](TensorId gathered) {
      return g_.linear(path + ".reduction", name + ".reduction", gathered, g_.at(gathered).channels() / 2, kNoTensor);
    });
  }

  TensorId block(const Block& b, TensorId x) {
    x = half(b, 0, x, [&](TensorId y) { return attention(b, y); });
    return half(b, 1, x, [&](TensorId y) { return mlp(b, y); });
  }

  // x + layer, normalized.
  template <typename Layer>
  TensorId half(const Block& b, int which, TensorId x, const Layer& layer) {
    g_.begin_section();
    const std::string norm = fmt::format(".norm{}", which + 1);
    const TensorId branch = normalized(b.path + norm, b.name + norm, x, layer);
    return g_.residual(fmt::format("{}.residual{}", b.path, which + 1), x, branch, drop_scale(b, which, x));
  }

  TensorId drop_scale(const Block& b, int which, TensorId x) {
    if (!options_.training || drop_probability(options_.drop_path, b.number, block_count(config_)) == 0.0) {
      return kNoTensor;
    }
    return g_.input(drop_path_name(b.number, which), {g_.at(x).shape.front()});
  }

  TensorId mlp(const Block& b, TensorId x) {
    const std::int64_t width = b.stage.width;
    x = g_.linear(b.path + ".mlp.fc1", b.name + ".mlp.fc1", x, kMlpRatio * width);
    return g_.linear(b.path + ".mlp.fc2", b.name + ".mlp.fc2", g_.gelu(b.path + ".mlp.gelu", x), width);
  }

  TensorId attention(const Block& b, TensorId x) {
    const std::int64_t width = b.stage.width;
    const std::int64_t shift = b.index % 2 == 0 ? 0 : b.stage.shift;
    const Extent2 window{b.stage.window, b.stage.window};
    const WindowAttentionShape shape{
        {g_.at(x).shape.front(), {b.stage.resolution, b.stage.resolution}, window, {shift, shift}},
        b.stage.heads,
        width / b.stage.heads,
        v1_ ? AttentionScore::kScaledDot : AttentionScore::kCosine};
    const std::string path = b.path + ".attn";
    const std::string name = b.name + ".attn";
    TensorId logit_scale = kNoTensor, table = kNoTensor, bias = kOwnBias;
    PositionNetwork network{};
    if (v1_) {
      table = g_.parameter(name + ".relative_position_bias_table", {bias_table_rows(window), b.stage.heads}, false);
    } else {
      logit_scale = g_.parameter(name + ".logit_scale", {b.stage.heads, 1, 1}, false);
      const TensorId q = g_.parameter(name + ".q_bias", {width}, false);
      const TensorId v = g_.parameter(name + ".v_bias", {width}, false);
      network = g_.position_network(name + ".cpb_mlp", {window, b.stage.heads, kCpbHidden, {}});
      bias = g_.joint_bias(path + ".qkv.join", q, v);
    }
    const TensorId qkv = g_.linear(path + ".qkv", name + ".qkv", x, 3 * width, bias);
    if (v1_) {
      bias = g_.parameter(name + ".qkv.bias", {3 * width}, false);
    } else {
      table = g_.position_bias(path + ".bias", network);
    }
    const TensorId attended = g_.window_attention(path + ".window", shape, qkv, table, bias, logit_scale);
    return g_.linear(path + ".proj", name + ".proj", attended, width);
  }

  GraphBuilder& g_;
  const SwinConfig& config_;
  const ModelOptions& options_;
  const bool v1_;
};

}  // namespace

int block_count(const SwinConfig& config) {
  return std::accumulate(config.depths.begin(), config.depths.begin() + config.stages, 0);
}

std::string drop_path_name(int block, int half) { return fmt::format("drop_path.{}", 2 * block + half); }

Graph build_forward(const SwinConfig& config, std::int64_t batch, const ModelOptions& options, DataType type,
                    int ranks) {
  GraphBuilder g(type, options.training, ranks);
  Swin swin(g, config, options);
  const std::vector<TensorId> stages =
      swin.stages(g.input("images", {batch, kImageChannels, config.image_size, config.image_size}));
  if (config.task == Task::kSegmentation) {
    add_segmentation_head(g, config, options, stages);
  } else {
    swin.classify(stages.back());
  }
  return g.finish();
}

Graph build_model(const SwinConfig& config, std::int64_t batch, const ModelOptions& options, DataType type, int ranks) {
  Graph graph = build_forward(config, batch, options, type, ranks);
  if (options.training) add_backward(graph);
  return graph;
}

}  // namespace swinscope

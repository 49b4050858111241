// The optimization ladder: what a forward pass on the GPU fuses or leaves out, feature by feature.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace swinscope {

// Without any of them every operation of the framework is a kernel of its own. Precision is no feature.
struct Features {
  bool prebias = false;    // inference: position bias of all pairs of tokens computed once, not in each pass
  bool qkvbias = false;    // bias of the qkv projection within its product
  bool layernorm = false;  // normalization in one pass; with V2's residual sum and V1's patch merging
  // Inference: normalization of a product's result within that product, where that is faster. V2: after proj, fc2 and
  // merging; after patch embedding.
  bool postnorm = false;
  // Inference, V1, few tokens: normalizations bring the weights of the products after the next kernel into the L2
  // cache.
  bool weightsahead = false;
  // Inference, many rows of 128 channels, 16-bit types: fc1, GELU and fc2 as one kernel, in V2 with the normalization
  // of their result, in V1 (with `window`) all that follows attention: also the projection, both residual sums and the
  // normalization.
  bool mlp = false;
  // Inference, V1 (with `window`), many rows of 128 channels, 16-bit types: the normalization before qkv within its
  // product's kernel.
  bool normqkv = false;
  // Inference, V1 (with `window`), many rows of 256 channels, 16-bit types: the normalizations before qkv and fc1
  // within their products' kernels.
  bool normrows = false;
  // Inference, 128 channels, 16-bit types: the patch embedding and its normalization as one kernel, from the images.
  bool patchembed = false;
  // Each operation goes through the tokens against the direction of the one before, whose last results are still in the
  // L2 cache; in training, gradients of weights come before that which the next operation takes.
  bool serpentine = false;
  // Inference: normalizations and attention say which of their rows the L2 cache is to keep for the next operation.
  bool cachehints = false;
  bool gelu = false;       // bias and GELU of fc1 within its product
  bool residual = false;   // bias and, in V1, residual sum of proj and fc2 within their products
  bool adamw = false;      // training: one update of all parameters, not one of each tensor
  bool window = false;     // no copies for shift, partition and their reverses: rows are found by address
  bool attention = false;  // attention within windows as one kernel
  // Inference, 16-bit types: the qkv projection within the attention kernel. In V2 where there are many windows of 64
  // tokens; in V1 with `normqkv`, where its normalization is there, too.
  bool qkvattention = false;
  bool graph = false;  // the whole pass launched as one CUDA graph

  friend bool operator==(const Features&, const Features&) = default;
};

enum class FeatureUse { kAny, kInference, kTraining };

struct FeatureName {
  std::string_view name;
  bool Features::*member;
  FeatureUse use = FeatureUse::kAny;
};
std::span<const FeatureName> feature_names();

// From the bottom up, each with what the one below it has.
struct Level {
  std::string_view name;
  Features features;
  std::string_view default_precision;  // "fp32" on the lowest rung, which has no tensor cores, else "fp16"
};
std::span<const Level> ladder();

// Throws WorkloadError (kUsage) for an unknown level.
const Level& find_level(std::string_view name);
// The level's features for inference or training, with some more or less. Throws WorkloadError (kUsage) for a feature
// that is unknown, or that this use does not have: it would change nothing.
Features select_features(const Level& level, const std::vector<std::string>& with,
                         const std::vector<std::string>& without, FeatureUse use);
// Without those of another use.
Features features_for(FeatureUse use, Features features);

// "prebias, qkvbias"; "none".
std::string describe(const Features& features);

}  // namespace swinscope

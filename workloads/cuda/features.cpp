#include "workloads/cuda/features.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workloads/error.h"

namespace swinscope {
namespace {

constexpr std::array kNames = {
    FeatureName{"prebias", &Features::prebias, FeatureUse::kInference},
    FeatureName{"qkvbias", &Features::qkvbias},
    FeatureName{"layernorm", &Features::layernorm},
    FeatureName{"postnorm", &Features::postnorm, FeatureUse::kInference},
    FeatureName{"weightsahead", &Features::weightsahead, FeatureUse::kInference},
    FeatureName{"mlp", &Features::mlp, FeatureUse::kInference},
    FeatureName{"normqkv", &Features::normqkv, FeatureUse::kInference},
    FeatureName{"normrows", &Features::normrows, FeatureUse::kInference},
    FeatureName{"patchembed", &Features::patchembed, FeatureUse::kInference},
    FeatureName{"serpentine", &Features::serpentine},
    FeatureName{"cachehints", &Features::cachehints, FeatureUse::kInference},
    FeatureName{"gelu", &Features::gelu},
    FeatureName{"residual", &Features::residual},
    FeatureName{"adamw", &Features::adamw, FeatureUse::kTraining},
    FeatureName{"window", &Features::window},
    FeatureName{"attention", &Features::attention},
    FeatureName{"qkvattention", &Features::qkvattention, FeatureUse::kInference},
    FeatureName{"graph", &Features::graph},
};

constexpr Features kFused = {.prebias = true,
                             .qkvbias = true,
                             .layernorm = true,
                             .postnorm = true,
                             .weightsahead = true,
                             .mlp = true,
                             .normqkv = true,
                             .normrows = true,
                             .patchembed = true,
                             .serpentine = true,
                             .cachehints = true,
                             .gelu = true,
                             .residual = true,
                             .adamw = true};

constexpr Features with(Features features, bool Features::*more) {
  features.*more = true;
  return features;
}
constexpr Features kWindow = with(kFused, &Features::window);
constexpr Features kAttention = with(with(kWindow, &Features::attention), &Features::qkvattention);
constexpr Features kGraph = with(kAttention, &Features::graph);

constexpr std::array kLadder = {
    Level{"eager", {}, "fp32"},       Level{"tensorcore", {}, "fp16"},        Level{"fused", kFused, "fp16"},
    Level{"window", kWindow, "fp16"}, Level{"attention", kAttention, "fp16"}, Level{"graph", kGraph, "fp16"},
};

template <typename Rows>
[[noreturn]] void refuse(const char* what, std::string_view name, const Rows& rows) {
  std::vector<std::string_view> names;
  names.reserve(rows.size());
  for (const auto& row : rows)
    names.push_back(row.name);
  throw WorkloadError(WorkloadErrorKind::kUsage, fmt::format("unknown {} '{}'", what, name), {},
                      fmt::format("known are {}", fmt::join(names, ", ")));
}

bool is_of(const FeatureName& feature, FeatureUse use) {
  return feature.use == FeatureUse::kAny || use == FeatureUse::kAny || feature.use == use;
}

void set(Features& features, const std::string& name, bool value, FeatureUse use) {
  const auto found = std::ranges::find(kNames, name, &FeatureName::name);
  if (found == kNames.end()) refuse("feature", name, kNames);
  if (!is_of(*found, use)) {
    throw WorkloadError(WorkloadErrorKind::kUsage, fmt::format("feature '{}' would change nothing here", name), {},
                        found->use == FeatureUse::kInference ? "it is of inference only" : "it is of training only");
  }
  features.*(found->member) = value;
}

}  // namespace

std::span<const FeatureName> feature_names() { return kNames; }
std::span<const Level> ladder() { return kLadder; }

const Level& find_level(std::string_view name) {
  const auto found = std::ranges::find(kLadder, name, &Level::name);
  if (found == kLadder.end()) refuse("level", name, kLadder);
  return *found;
}

Features select_features(const Level& level, const std::vector<std::string>& with,
                         const std::vector<std::string>& without, FeatureUse use) {
  Features features = features_for(use, level.features);
  for (const std::string& name : with)
    set(features, name, true, use);
  for (const std::string& name : without) {
    if (std::ranges::find(with, name) != with.end()) {
      throw WorkloadError(WorkloadErrorKind::kUsage, fmt::format("feature '{}' is both wanted and not", name), {},
                          "name it after --with or after --without");
    }
    set(features, name, false, use);
  }
  return features;
}

Features features_for(FeatureUse use, Features features) {
  for (const FeatureName& feature : kNames) {
    if (!is_of(feature, use)) features.*(feature.member) = false;
  }
  return features;
}

std::string describe(const Features& features) {
  std::vector<std::string_view> names;
  for (const FeatureName& feature : kNames) {
    if (features.*(feature.member)) names.push_back(feature.name);
  }
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace swinscope

#include "workloads/cuda/features.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workloads/error.h"

namespace swinscope {
namespace {

constexpr std::array kNames = {
    FeatureName{"prebias", &Features::prebias},     FeatureName{"qkvbias", &Features::qkvbias},
    FeatureName{"layernorm", &Features::layernorm}, FeatureName{"normfold", &Features::normfold},
    FeatureName{"postnorm", &Features::postnorm},   FeatureName{"gelu", &Features::gelu},
    FeatureName{"residual", &Features::residual},   FeatureName{"adamw", &Features::adamw},
    FeatureName{"window", &Features::window},       FeatureName{"attention", &Features::attention},
    FeatureName{"graph", &Features::graph},
};

constexpr Features kFused = {true, true, true, true, true, true, true, true, false, false, false};
constexpr Features kWindow = {true, true, true, true, true, true, true, true, true, false, false};
constexpr Features kAttention = {true, true, true, true, true, true, true, true, true, true, false};
constexpr Features kGraph = {true, true, true, true, true, true, true, true, true, true, true};

constexpr std::array kLadder = {
    Level{"eager", {}, "fp32"},       Level{"tensorcore", {}, "fp16"},        Level{"fused", kFused, "fp16"},
    Level{"window", kWindow, "fp16"}, Level{"attention", kAttention, "fp16"}, Level{"graph", kGraph, "fp16"},
};

template <typename Rows>
[[noreturn]] void refuse(const char* what, std::string_view name, const Rows& rows) {
  std::vector<std::string_view> names;
  for (const auto& row : rows)
    names.push_back(row.name);
  throw WorkloadError(WorkloadErrorKind::kUsage, fmt::format("unknown {} '{}'", what, name), {},
                      fmt::format("known are {}", fmt::join(names, ", ")));
}

void set(Features& features, const std::string& name, bool value) {
  const auto found = std::ranges::find(kNames, name, &FeatureName::name);
  if (found == kNames.end()) refuse("feature", name, kNames);
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
                         const std::vector<std::string>& without) {
  Features features = level.features;
  for (const std::string& name : with)
    set(features, name, true);
  for (const std::string& name : without) {
    if (std::ranges::find(with, name) != with.end()) {
      throw WorkloadError(WorkloadErrorKind::kUsage, fmt::format("feature '{}' is both wanted and not", name), {},
                          "name it after --with or after --without");
    }
    set(features, name, false);
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

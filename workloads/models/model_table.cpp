#include "workloads/models/model_table.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workloads/error.h"

namespace swinscope {
namespace {

constexpr auto kV1 = SwinVersion::kV1;
constexpr auto kV2 = SwinVersion::kV2;
constexpr int kNanoHead = 64;

// The nano models are for tests and demonstrations: both of their stages have more than one window, so that every code
// path of the large ones (shift, mask, merging) runs.
constexpr std::array kModels = {
    SwinConfig{"swin_nano", kV1, 64, 32, 2, {2, 2}, {2, 4}, 4, 10, Task::kClassification, kNanoHead},
    SwinConfig{"swinv2_nano", kV2, 64, 32, 2, {2, 2}, {2, 4}, 4, 10, Task::kClassification, kNanoHead},
    SwinConfig{"swin_tiny", kV1, 224, 96, 4, {2, 2, 6, 2}, {3, 6, 12, 24}, 7, 1000},
    SwinConfig{"swin_small", kV1, 224, 96, 4, {2, 2, 18, 2}, {3, 6, 12, 24}, 7, 1000},
    SwinConfig{"swin_base", kV1, 224, 128, 4, {2, 2, 18, 2}, {4, 8, 16, 32}, 7, 1000},
    SwinConfig{"swin_large", kV1, 224, 192, 4, {2, 2, 18, 2}, {6, 12, 24, 48}, 7, 1000},
    SwinConfig{"swinv2_tiny", kV2, 256, 96, 4, {2, 2, 6, 2}, {3, 6, 12, 24}, 8, 1000},
    SwinConfig{"swinv2_small", kV2, 256, 96, 4, {2, 2, 18, 2}, {3, 6, 12, 24}, 8, 1000},
    SwinConfig{"swinv2_base", kV2, 256, 128, 4, {2, 2, 18, 2}, {4, 8, 16, 32}, 8, 1000},
    SwinConfig{"swinv2_large", kV2, 256, 192, 4, {2, 2, 18, 2}, {6, 12, 24, 48}, 8, 1000},
};

// Levenshtein distance: insertions, deletions and substitutions.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

[[noreturn]] void refuse(const SwinConfig& config, const std::string& why, const std::string& hint) {
  throw WorkloadError(WorkloadErrorKind::kUsage,
                      fmt::format("{} cannot be built at {} pixels", config.name, config.image_size), why, hint);
}

}  // namespace

std::span<const SwinConfig> model_table() { return kModels; }

const SwinConfig& find_model(std::string_view name) {
  const auto found = std::ranges::find(kModels, name, &SwinConfig::name);
  if (found != kModels.end()) return *found;
  const std::vector<std::string> near = nearest_models(name);
  throw WorkloadError(WorkloadErrorKind::kUsage, fmt::format("unknown model '{}'", name), {},
                      near.empty()
                          ? "`swin list` prints all models"
                          : fmt::format("did you mean {}? `swin list` prints all models", fmt::join(near, " or ")));
}

std::vector<std::string> nearest_models(std::string_view name) {
  constexpr std::size_t kAtMost = 3;
  // A third of the letters wrong is still a misspelling; more is another word.
  const std::size_t limit = std::max<std::size_t>(3, name.size() / 3);
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const SwinConfig& config : kModels) {
    const std::size_t distance = edit_distance(name, config.name);
    if (distance <= limit) ranked.emplace_back(distance, config.name);
  }
  std::ranges::stable_sort(ranked, {}, &std::pair<std::size_t, std::string>::first);
  std::vector<std::string> names;
  for (const auto& [distance, candidate] : ranked) {
    if (names.size() == kAtMost) break;
    names.push_back(candidate);
  }
  return names;
}

StageShape stage_shape(const SwinConfig& config, int stage) {
  const auto index = static_cast<std::size_t>(stage);
  StageShape shape;
  shape.resolution = config.image_size / kPatchSize >> stage;
  shape.width = config.embed_dim << stage;
  shape.heads = config.heads.at(index);
  shape.depth = config.depths.at(index);
  const bool one_window = shape.resolution <= config.window;
  shape.window = one_window ? shape.resolution : config.window;
  shape.shift = one_window ? 0 : config.window / 2;
  return shape;
}

void check_config(const SwinConfig& config) {
  const int divisor = kPatchSize << (config.stages - 1);
  if (config.image_size < divisor || config.image_size % divisor != 0) {
    refuse(config, fmt::format("patches and mergings need a multiple of {}", divisor),
           fmt::format("the model's own size is {}", find_model(config.name).image_size));
  }
  for (int stage = 0; stage < config.stages; ++stage) {
    const StageShape shape = stage_shape(config, stage);
    if (shape.width % shape.heads != 0) refuse(config, "heads do not divide the channels", {});
  }
}

}  // namespace swinscope

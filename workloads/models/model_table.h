// The models, as data. Swin V1: Liu et al., "Swin Transformer", arXiv 2103.14030; V2: arXiv 2111.09883. Names, sizes
// and parameter shapes are those of timm's swin_*_patch4_window7_224 and swinv2_*_window8_256 (the large V2 is not in
// timm: it is the base one with the large one's width and heads).
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/window_attention.h"

namespace swinscope {

enum class SwinVersion : int { kV1 = 1, kV2 = 2 };

// What the head on top of the stages answers: one class for the image, or one for each pixel.
enum class Task : int { kClassification, kSegmentation };

inline constexpr int kMaxStages = 4;
inline constexpr int kPatchSize = 4;
inline constexpr int kImageChannels = 3;
inline constexpr int kMlpRatio = 4;
inline constexpr int kMostWindow = 24;  // tokens along one side: what window attention takes on every device
// Sides of the grids that the segmentation head's pyramid averages over.
inline constexpr std::array<int, 4> kPyramidSides = {1, 2, 3, 6};
// Hidden channels of V2's continuous position bias network.
inline constexpr int kCpbHidden = 512;

struct SwinConfig {
  std::string_view name;  // storage outlives the program (the table's literal)
  SwinVersion version = SwinVersion::kV1;
  int image_size = 224;  // pixels, square
  int embed_dim = 96;    // channels of stage 0; each further stage doubles them
  int stages = 4;
  std::array<int, kMaxStages> depths = {};
  std::array<int, kMaxStages> heads = {};
  int window = 7;  // tokens along one side
  int classes = 1000;
  Task task = Task::kClassification;
  int head_channels = 512;  // of the segmentation head; even
};

// One stage of a model at its image size. `window` is never larger than the stage's resolution; then there is no shift.
struct StageShape {
  int resolution = 0;  // tokens along one side
  int width = 0;       // channels
  int heads = 0;
  int depth = 0;   // blocks
  int window = 0;  // tokens along one side
  int shift = 0;   // of the odd blocks
};

// All models, smallest first.
std::span<const SwinConfig> model_table();

// The model of that name. Throws WorkloadError (kUsage) naming the nearest names.
const SwinConfig& find_model(std::string_view name);

// Up to three names of the table nearest to `name` by edit distance; all equally near ones come in table order. Empty
// when nothing is near enough to be a misspelling.
std::vector<std::string> nearest_models(std::string_view name);

// `stage` counts from 0.
StageShape stage_shape(const SwinConfig& config, int stage);

// What V2 does differently: its layers' results are normalized, not their inputs, and its attention scores by the
// cosine.
constexpr bool normalizes_results(const SwinConfig& config) { return config.version == SwinVersion::kV2; }
constexpr AttentionScore attention_score(const SwinConfig& config) {
  return normalizes_results(config) ? AttentionScore::kCosine : AttentionScore::kScaledDot;
}

// Throws WorkloadError (kUsage) when the configuration cannot be built: an image size that the patches and the mergings
// do not divide (windows need not divide a map: it is padded, as in timm), heads that do not divide the width.
void check_config(const SwinConfig& config);

}  // namespace swinscope

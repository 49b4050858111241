// Loading a model's weights from a safetensors file with timm's names.
#pragma once

#include "workloads/parameters.h"
#include "workloads/safetensors.h"

namespace swinscope {

// Behind the name of a weight in 8 bits: what each output's row is multiplied by.
inline constexpr std::string_view kScaleSuffix = "_scale";

// Reads every parameter of the store from the file. Also understood: the names of the original checkpoints, where a
// merging belongs to the stage before it (layers.0.downsample is layers.1.downsample here) and the classifier is
// head.weight. Buffers that are computed (relative_position_index, relative_coords_table, attn_mask) are skipped, and
// so is the optimizer's part of a checkpoint of ours. Weights in 8 bits (F8_E4M3, I8) are multiplied by their factors.
//
// Throws one WorkloadError (kInput) that lists every missing, misshapen and unexpected tensor.
template <typename T>
void load_weights(const SafetensorsFile& file, ParameterStore<T>& store);

// The same to begin a fine-tuning with: where the file's classifier is for another number of classes, or there is none,
// the store keeps the values that its own has. A segmentation model takes the stages of a file that has no such head,
// and keeps its own head. Everything else must match. Returns whether the classifier, or the head, was loaded.
template <typename T>
bool load_weights_to_tune(const SafetensorsFile& file, ParameterStore<T>& store);

// Classes that the classifier in the file tells apart; `otherwise` where it has none.
int classes_in(const SafetensorsFile& file, int otherwise);
inline constexpr int kMostHeadChannels = 4096;
// Channels of the segmentation head in the file; `otherwise` where it has none.
int head_channels_in(const SafetensorsFile& file, int otherwise);

}  // namespace swinscope

// What a model's logits lose, and its pass gains, by 8 bits in some of its layers: each kind of layer of a stage alone,
// and which of them had better stay in 16 bits.
#pragma once

#include <string>
#include <vector>

#include "workloads/cuda/device_model.h"

namespace swinscope {

// How far logits are from those in fp16 on the same images.
struct LogitChange {
  double cosine = 1.0;
  std::int64_t changed_classes = 0;  // images whose largest logit is another one
};

// All layers of one kind in a stage: "stage3.mlp.fc1".
struct LayerGroup {
  std::string name;
  LogitChange alone;          // where only these are in 8 bits
  double before_ns = 0.0;     // their operations in a pass in fp16,
  double quantized_ns = 0.0;  // and with all groups in 8 bits
  bool kept = true;           // in 8 bits
};

struct Sensitivity {
  std::vector<LayerGroup> groups;  // that can be quantized on this GPU, by name
  LogitChange all;                 // with all of them
  LogitChange chosen;              // with those that are kept
  InputRanges ranges;              // of these
};

// images: [batch, 3, size, size]. Groups are left out, the one that changes the logits most alone first, until the
// logits' cosine is `least_cosine` at least.
Sensitivity find_sensitivity(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options,
                             const ParameterStore<float>& store, const std::vector<float>& images,
                             const InputRanges& ranges, double least_cosine);

// "stage3.mlp.fc1" of "stage3.block5.mlp.fc1". What attention reads belongs to the product that makes it.
std::string group_of(const std::string& layer);

}  // namespace swinscope

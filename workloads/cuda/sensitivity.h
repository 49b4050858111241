// What 8 bits cost a model's logits and gain of its pass, each kind of layer of a stage apart, and which of them had
// better stay in 16 bits.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "workloads/cuda/device_model.h"
#include "workloads/cuda/step_profile.h"

namespace swinscope {

// How far logits are from those in fp16 on the same images.
struct LogitChange {
  double cosine = 1.0;
  std::int64_t changed_classes = 0;  // images whose largest logit is another one
};

// All layers of one kind in a stage, "stage3.mlp.fc1", by what differs when only they stay in fp16.
struct LayerGroup {
  std::string name;
  double error = 0.0;               // that 8 bits in them add to 1 - cosine
  double saved_milliseconds = 0.0;  // of a pass
  bool kept = true;                 // in 8 bits
};

struct Sensitivity {
  std::vector<LayerGroup> groups;                      // by name
  double fp16_milliseconds = 0.0, milliseconds = 0.0;  // of a pass: in fp16, and with the groups that are kept
  LogitChange all;                                     // with all of them
  LogitChange chosen;                                  // with those that are kept
  InputRanges ranges;                                  // of these
};

// Of groups, by their indices, those whose 8 bits together save least of a pass among all choices that take `error` off
// 1 - cosine, errors being added up. Groups that save less than `least_saved` milliseconds are for nothing: all of them
// that take off anything. All groups where no choice takes off as much.
std::vector<std::size_t> cheapest_in_16_bits(std::span<const LayerGroup> groups, double error, double least_saved);

// options.precision: kFp8 or kInt8. images: [batch, 3, size, size]. The cheapest groups are left out with which the
// logits' cosine is `least_cosine` at least. pass_time: milliseconds of a pass.
using PassTime = std::function<double(std::span<const DeviceStep>, cuda::Stream)>;
Sensitivity find_sensitivity(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options,
                             const ParameterStore<float>& store, const std::vector<float>& images,
                             const InputRanges& ranges, double least_cosine, const PassTime& pass_time = time_as_graph);

}  // namespace swinscope

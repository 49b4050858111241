#include "workloads/cuda/training_plan.h"

#include <algorithm>

#include "kernels/upsample_loss.h"
#include "workloads/cuda/device_control.h"
#include "workloads/cuda/element_type.h"
#include "workloads/cuda/gradient_buckets.h"
#include "workloads/models/model.h"
#include "workloads/passes/passes.h"

namespace swinscope {
namespace {

constexpr std::int64_t kAlignment = 256;
constexpr std::string_view kDropPath = "drop_path.";
// Narrower products are bound by memory: what is written in 8 bits, too, costs what they gain.
constexpr std::int64_t kLeastTrainedWidth = 384;
// As narrow as any that inference has in 8 bits (passes/quantize.cpp).
constexpr std::int64_t kLeastTunedWidth = 192;

// Without drops, of running statistics and without an auxiliary head, an evaluation is no training's forward pass.
Graph graph_of(const SwinConfig& config, const DeviceTrainerOptions& options, std::int64_t batch, bool training,
               std::int64_t ranks) {
  ModelOptions model;
  model.training = training;
  model.drop_path = training ? options.trainer.drop_path : 0.0;
  model.tap_fusion = options.trainer.tap_fusion;
  Graph graph = build_forward(config, batch, model, data_type_of(options.precision), static_cast<int>(ranks));
  PassContext context;
  context.features = training_features(options.features);
  context.ranks = ranks;
  context.recompute = options.recompute && training;
  context.training_bytes = byte_format_of(options.precision);
  context.byte_gradients = options.byte_gradients;
  context.least_byte_width = least_byte_width(options);
  optimize_training(graph, context);
  return graph;
}

// What an evaluation of pixels' losses works on, too.
std::int64_t loss_workspace_bytes(const SwinConfig& config, const Graph& graph) {
  std::int64_t bytes = 0;
  if (config.task != Task::kSegmentation) return bytes;
  for (const char* const name : {"logits", "auxiliary"}) {
    const std::vector<std::int64_t>& map = graph.at(graph.find(name)).shape;
    const UpsampleShape shape{map[0], map[1], map[2], config.image_size, config.image_size, map[3]};
    bytes = std::max(bytes, cuda::upsample_loss_workspace_bytes(shape));
  }
  return bytes;
}

}  // namespace

std::int64_t least_byte_width(const DeviceTrainerOptions& options) {
  if (options.least_byte_width > 0) return options.least_byte_width;
  return options.byte_gradients ? kLeastTrainedWidth : kLeastTunedWidth;
}

Features training_features(Features features) { return features_for(FeatureUse::kTraining, features); }

TrainingPlan::TrainingPlan(const SwinConfig& config, const DeviceTrainerOptions& options, std::int64_t batch,
                           const TrainingRanks& ranks)
    : parameters(config),
      training(graph_of(config, options, batch, true, ranks.count)),
      evaluation(graph_of(config, options, batch, false, ranks.count)),
      training_plan_(plan_memory(training, false)),
      evaluation_plan_(plan_memory(evaluation, false)) {
  place_parameters(options, ranks);
  const bool segments = config.task == Task::kSegmentation;
  const std::int64_t count = segments ? batch * config.image_size * config.image_size : batch;
  labels = take(count * (segments ? 1 : 4));
  predicted = take(labels.bytes);
  control = take(sizeof(DeviceControl));
  if (options.trainer.drop_path > 0.0) depth_scales = take(std::int64_t{2} * block_count(config) * batch * 4);
  if (!segments) row_loss = take(batch * 4);
  lse = take(count * 4);
  if (segments) auxiliary_lse = take(count * 4);
  place_named(training);
  place_named(evaluation);
  arena_ = take(std::max(training_plan_.bytes, evaluation_plan_.bytes));
  workspace =
      take(std::max({workspace_bytes(training), workspace_bytes(evaluation), loss_workspace_bytes(config, training)}));
}

Region TrainingPlan::take(std::int64_t bytes) {
  const Region region{bytes_, bytes};
  bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return region;
}

void TrainingPlan::place_parameters(const DeviceTrainerOptions& options, const TrainingRanks& ranks) {
  const std::int64_t count = parameters.flat_count();
  const ElementType reduced = options.reduce_type;
  const std::int64_t sums = ranks.reduce_by_copies ? padded_gradients(count, ranks.count, reduced) : count;
  masters = take(count * 4);
  if (training.type != DataType::kFp32) copies = take(count * data_bytes(training.type));
  gradients = take(sums * 4);
  if (reduced != ElementType::kFp32) rounded_gradients = take(sums * element_bytes(reduced));
  first_moments = take(count * 4);
  second_moments = take(count * 4);
  buffers = take(parameters.buffer_count() * 4);
}

// Constants and inputs that both graphs have are the same.
void TrainingPlan::place_named(const Graph& graph) {
  for (const GraphTensor& tensor : graph.tensors) {
    if (tensor.role == TensorRole::kInput && !tensor.name.starts_with(kDropPath) && !inputs_.contains(tensor.name))
      inputs_[tensor.name] = take(tensor.bytes());
    if (tensor.role == TensorRole::kConstant && !constants_.contains(tensor.name))
      constants_[tensor.name] = take(tensor.bytes());
  }
}

std::int64_t TrainingPlan::largest_bytes() const {
  std::int64_t largest = 0;
  for (const GraphTensor& tensor : training.tensors)
    largest = std::max(largest, tensor.bytes());
  return largest;
}

DeviceMemory TrainingPlan::place(const Graph& graph, void* memory) const {
  const MemoryPlan& plan = graph.training ? training_plan_ : evaluation_plan_;
  auto* const begin = static_cast<char*>(memory);
  DeviceMemory result;
  result.workspace = begin + workspace.offset;
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const GraphTensor& tensor = graph.tensors[i];
    void* place = place_of(graph, tensor, begin);
    if (place == nullptr && plan.offsets[i] >= 0)
      place = begin + arena_.offset + plan.offsets[i] + tensor.first * data_bytes(tensor.type);
    result.tensors.push_back(place);
  }
  return result;
}

void* TrainingPlan::place_of(const Graph& graph, const GraphTensor& tensor, char* memory) const {
  switch (tensor.role) {
    case TensorRole::kParameter: {
      const std::int64_t offset = parameters.find(tensor.name).offset;
      if (tensor.type == DataType::kFp32) return memory + masters.offset + offset * 4;
      return memory + copies.offset + offset * data_bytes(graph.type);
    }
    case TensorRole::kGradient:
      return memory + gradients.offset + parameters.find(tensor.name).offset * 4;
    case TensorRole::kBuffer:
      return memory + buffers.offset + parameters.find_buffer(tensor.name).offset * 4;
    case TensorRole::kConstant:
      return memory + constants_.at(tensor.name).offset;
    case TensorRole::kInput:
      if (!tensor.name.starts_with(kDropPath)) return memory + inputs_.at(tensor.name).offset;
      return memory + depth_scales.offset + std::stoll(tensor.name.substr(kDropPath.size())) * tensor.bytes();
    default:
      return nullptr;
  }
}

}  // namespace swinscope

#include "workloads/model_cost.h"

#include <string_view>

#include "workloads/graph/cost.h"
#include "workloads/models/model.h"

namespace swinscope {
namespace {

// The part that an op belongs to, by its layer path, or a parameter by its name.
PartCost& part_of_path(ModelCost& cost, std::string_view path) {
  if (path.starts_with("patch_embed.")) return cost.stem;
  if (path.starts_with("stage")) return cost.stages.at(static_cast<std::size_t>(path[5] - '1'));
  return path.starts_with("head.aux.") ? cost.auxiliary : cost.head;
}
PartCost& part_of_parameter(ModelCost& cost, std::string_view name) {
  if (name.starts_with("patch_embed.")) return cost.stem;
  if (!name.starts_with("layers.")) return name.starts_with("h.aux.") ? cost.auxiliary : cost.head;
  const int stage = name[7] - '0';
  return cost.stages.at(static_cast<std::size_t>(name.substr(9).starts_with("downsample") ? stage - 1 : stage));
}

}  // namespace

std::int64_t ModelCost::flops() const {
  std::int64_t sum = stem.flops + head.flops;
  for (const PartCost& stage : stages)
    sum += stage.flops;
  return sum;
}

// A product has two gradient products.
std::int64_t ModelCost::training_flops() const { return 3 * (flops() + auxiliary.flops); }

std::int64_t ModelCost::parameters() const {
  std::int64_t sum = stem.parameters + head.parameters + auxiliary.parameters;
  for (const PartCost& stage : stages)
    sum += stage.parameters;
  return sum;
}

ModelCost model_cost(const SwinConfig& config) {
  const Graph graph = build_model(config, 1, {.training = true}, DataType::kFp32);
  ModelCost cost;
  for (const Op& op : graph.forward)
    if (op.kind != OpKind::kPositionBias) part_of_path(cost, op.path).flops += cost_of(graph, op).flops;
  for (const GraphTensor& tensor : graph.tensors)
    if (tensor.role == TensorRole::kParameter) part_of_parameter(cost, tensor.name).parameters += tensor.count();
  return cost;
}

}  // namespace swinscope

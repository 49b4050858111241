#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/model_cost.h"
#include "workloads/models/model_table.h"
#include "workloads/program/commands.h"

namespace swinscope {
namespace {

nlohmann::ordered_json describe_model(const SwinConfig& config) {
  const ModelCost cost = model_cost(config);
  nlohmann::ordered_json row;
  row["model"] = config.name;
  row["version"] = static_cast<int>(config.version);
  row["image_size"] = config.image_size;
  row["window"] = config.window;
  row["embed_dim"] = config.embed_dim;
  row["depths"] = std::vector<int>(config.depths.begin(), config.depths.begin() + config.stages);
  row["heads"] = std::vector<int>(config.heads.begin(), config.heads.begin() + config.stages);
  row["classes"] = config.classes;
  row["parameters"] = cost.parameters();
  row["flops_per_image_forward"] = cost.flops();
  return row;
}

void print_table() {
  fmt::print("{:<14}{:>8}{:>8}{:>8}{:>12}{:>14}\n", "model", "image", "window", "width", "params M", "GFLOP/image");
  for (const SwinConfig& config : model_table()) {
    const ModelCost cost = model_cost(config);
    fmt::print("{:<14}{:>8}{:>8}{:>8}{:>12.1f}{:>14.2f}\n", config.name, config.image_size, config.window,
               config.embed_dim, static_cast<double>(cost.parameters()) * 1e-6,
               static_cast<double>(cost.flops()) * 1e-9);
  }
}

void print_json() {
  nlohmann::ordered_json document;
  document["schema"] = "swin.list/1";
  document["warnings"] = nlohmann::ordered_json::array();
  document["data"] = nlohmann::ordered_json::array();
  for (const SwinConfig& config : model_table())
    document["data"].push_back(describe_model(config));
  fmt::print("{}\n", document.dump(2));
}

}  // namespace

void add_list_command(Program& program) {
  Command& command = program.add_command("list", "Print the models, their parameters and their work per image");
  const auto json = std::make_shared<bool>(false);
  command.flag("--json", *json, "print as JSON");
  command.does([json] {
    if (*json) {
      print_json();
    } else {
      print_table();
    }
    return 0;
  });
}

}  // namespace swinscope

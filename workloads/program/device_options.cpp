#include <cstdlib>

#include <CLI/CLI.hpp>

#include "workloads/error.h"
#include "workloads/process_identity.h"
#include "workloads/program/device_commands.h"

namespace swinscope {

void add_device_options(CLI::App& command, InferOptions& options) {
  const std::vector<CLI::Option*> given = {
      command
          .add_option("--level", options.level,
                      "cuda: rung of the ladder: eager, tensorcore, fused, window, attention, graph")
          ->capture_default_str(),
      command.add_option("--with", options.with, "cuda: features beside those of the level")->delimiter(','),
      command.add_option("--without", options.without, "cuda: features of the level to leave out")->delimiter(','),
      command.add_option("--gelu", options.gelu, "cuda: auto (tanh with 16 bits, else erf), erf or tanh")
          ->check(CLI::IsMember({"auto", "erf", "tanh"}))
          ->capture_default_str(),
      command
          .add_option(
              "--tune-seconds", options.tune_seconds,
              "cuda: at most so long ways to compute products are tried in the whole pass, once for a shape and GPU; "
              "0: they are chosen alone (default: 20, or 0 for passes of more than 1 TFLOP)")
          ->check(CLI::Range(0.0, 3600.0)),
      command.add_flag("--operations", options.operations, "cuda: time of each operation"),
      command.add_option("--logits", options.logits,
                         "cuda: write the images and their logits to this safetensors file"),
  };
  command.final_callback([&options, given] {
    for (const CLI::Option* option : given)
      options.given = options.given || option->count() > 0;
  });
}

void refuse_device_options(const InferOptions& options) {
  if (!options.given) return;
  throw WorkloadError(WorkloadErrorKind::kUsage,
                      "--level, --with, --without, --gelu, --tune-seconds, --operations and --logits are for a GPU", {},
                      "add --device cuda");
}

std::filesystem::path algorithm_folder() {
  if (const char* const cache = process_environment("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return std::filesystem::path(cache) / "swinscope";
  }
  const char* const home = process_environment("HOME");
  return home == nullptr || *home == '\0' ? std::filesystem::path() : std::filesystem::path(home) / ".cache/swinscope";
}

}  // namespace swinscope

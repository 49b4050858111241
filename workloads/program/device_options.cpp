#include <cstdlib>

#include "workloads/error.h"
#include "workloads/process_identity.h"
#include "workloads/program/device_commands.h"

namespace swinscope {

std::vector<Option> add_device_options(Command& command, InferOptions& options) {
  return {
      command
          .option("--level", options.level,
                  "cuda: rung of the ladder: eager, tensorcore, fused, window, attention, graph")
          .show_default(),
      command.option("--with", options.with, "cuda: features beside those of the level").separated_by(','),
      command.option("--without", options.without, "cuda: features of the level to leave out").separated_by(','),
      command.option("--gelu", options.gelu, "cuda: auto (tanh with 16 bits, else erf), erf or tanh")
          .one_of({"auto", "erf", "tanh"})
          .show_default(),
      command
          .option(
              "--tune-seconds", options.tune_seconds,
              "cuda: at most so long ways to compute products are tried in the whole pass, once for a shape and GPU; "
              "0: they are chosen alone (default: 20, or 0 for passes of more than 1 TFLOP)")
          .within(0.0, 3600.0),
      command.flag("--operations", options.operations, "cuda: time of each operation"),
      command.option("--logits", options.logits, "cuda: write the images and their logits to this safetensors file"),
  };
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

// swin quantize: weights in 8 bits for `swin infer --precision fp8` and int8.
#include <memory>

#include "workloads/program/commands.h"
#include "workloads/program/device_commands.h"

namespace swinscope {

void add_quantize_command(Program& program) {
  Command& command = program.add_command("quantize", "Round a model's weights to 8 bits, and show what that costs");
  const auto options = std::make_shared<QuantizeOptions>();
  options->run.batch = 32;
  command.option("--model", options->run.model, "see `swin list`").required();
  command.option("--weights", options->run.weights, "safetensors file (default: drawn from the seed)");
  command.option("--calibration-data", options->calibration_data,
                 "folder of JPEG files like those that the model is to see (default: synthetic images)");
  command.option("--images", options->images, "calibration images at most")
      .within(std::int64_t{1}, std::int64_t{100'000})
      .show_default();
  command.option("--batch", options->run.batch, "images a pass").positive().show_default();
  command
      .option("--observer", options->observer,
              "how a layer's range is chosen: minmax, percentile (99.99 %) or mse (the least squared error)")
      .one_of({"minmax", "percentile", "mse"})
      .show_default();
  command.option("--precision", options->precision).one_of({"fp8", "int8"}).show_default();
  command
      .option("--least-cosine", options->least_cosine,
              "of the logits with those in fp16: layers that cost most stay in fp16 until it is reached")
      .within(0.0, 1.0)
      .show_default();
  command.option("--seed", options->run.seed).show_default();
  command.option("-o,--output", options->output, "safetensors file to write").required();
  command.flag("--force", options->force, "replace the file if it exists");
  command.flag("--json", options->run.json, "print as JSON");
  command.does([options] { return quantize_on_device(*options); });
}

}  // namespace swinscope

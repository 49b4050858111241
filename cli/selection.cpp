#include "cli/selection.h"

#include <fmt/format.h>

#include "store/error.h"

namespace swinscope::cli {
void SelectionOptions::add_to(Command& command) {
  const auto group = [&](Option option) { option.group("What the figures are of"); };
  group(
      command
          .option("--scope", scope, "steps (the measured steps: all after the warm-up) or trace (everything recorded)")
          .one_of({"steps", "trace"}));
  group(command.option("--steps", steps, "Only steps A:B, counted from 1, both included, or one step"));
  group(command.option("--rank", selection.rank, "Only this rank"));
  group(command.option("--device", selection.device, "Only this GPU"));
  group(command.option("--stream", selection.stream, "Only this stream"));
  group(command.option("--name", selection.name,
                       "Only kernels and copies whose full name matches this regular expression"));
  group(
      command.option("--step", selection.step_name, "Ranges whose name matches this regular expression are the steps"));
  group(command
            .option("--warmup-steps", selection.warmup_steps,
                    "Steps left out at the beginning (default: as the experiment of the run says, else 0)")
            .not_negative());
}

Selection SelectionOptions::get() const {
  Selection chosen = selection;
  chosen.scope = scope == "trace" ? Scope::kTrace : Scope::kSteps;
  if (!steps.empty()) chosen.steps = parse_steps(steps);
  if (chosen.steps && chosen.scope == Scope::kTrace) {
    throw Error(ErrorKind::kUsage, "--steps with --scope trace: choose one", {},
                "leave --scope away for figures of these steps");
  }
  return chosen;
}

void SelectionOptions::refuse_for(const std::string& experiment) const {
  if (get() == Selection()) return;
  throw Error(ErrorKind::kUsage, fmt::format("{}: an experiment, of which no part can be chosen", experiment),
              "its figures are of the steps that it measured, at every point",
              "give the folder of one of its recordings instead");
}

}  // namespace swinscope::cli

// swinscope scale, sweep: measure an experiment and show it.
#include <memory>

#include <fmt/format.h>

#include "analyzer/documents.h"
#include "cli/experiment_runner.h"
#include "store/error.h"

namespace swinscope::cli {
namespace fs = std::filesystem;
namespace {

struct ScaleOptions {
  CommonOptions common;
  RunnerOptions runner;
  std::vector<int> gpus;
  std::vector<std::string> vary;
  std::string mode = "weak";
  int batch = 0;
  bool no_trace = false;
  Experiment experiment;
};

void add_runner_options(CLI::App& command, ScaleOptions& options) {
  command.add_option("--repeat", options.runner.repeat, "Timing runs for each point")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command
      .add_option("--launcher", options.runner.launcher, "How the ranks are started: local, torchrun, mpirun or srun")
      ->check(CLI::IsMember({"local", "torchrun", "mpirun", "srun"}));
  command.add_flag("--cpus-only", options.runner.cpus_only,
                   "Ranks run on CPUs; the numbers of GPUs are numbers of ranks");
  command.add_flag("--no-trace", options.no_trace, "Only timing runs");
  command.add_option("--images", options.experiment.images, "Images of the training whose time is extrapolated")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--images-per-step", options.experiment.images_per_step,
                  "For programs that do not say: images of all ranks in a step, at the first point")
      ->check(CLI::PositiveNumber);
  command.add_option("--warmup-steps", options.experiment.warmup_steps, "Steps left out at the beginning of each run")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("CMD", options.experiment.command, "The command, after --; {gpus}, {batch}, {out} are replaced")
      ->required();
  options.common.add_to(command);
  command.get_option("--output")->required()->description("Experiment folder; an interrupted experiment goes on in it");
}

// "batch=2,4" -> {"batch", {"2", "4"}}
std::pair<std::string, std::vector<std::string>> parse_factor(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw Error(ErrorKind::kUsage, fmt::format("--vary {}: not KEY=VALUE,VALUE…", text), {},
                "for example --vary batch=4,8");
  }
  return {text.substr(0, equals), CLI::detail::split(text.substr(equals + 1), ',')};
}

// The same experiment goes on in its folder; another one needs --force.
void claim_folder(const ScaleOptions& options) {
  const fs::path& folder = options.experiment.folder;
  fs::create_directories(folder);
  if (!is_experiment(folder)) return;
  const Experiment there = read_experiment(folder);
  if (there.command == options.experiment.command && there.mode == options.experiment.mode) return;
  if (!options.common.force) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: holds another experiment", folder.string()),
                "its command or mode is a different one", "give another folder with -o, or --force to replace it");
  }
  for (const ExperimentPoint& point : there.points)
    fs::remove_all(point.folder);
  fs::remove(folder / "experiment.json");
}

int run_and_show(ScaleOptions& options) {
  options.experiment.folder = options.common.output;
  options.runner.trace = !options.no_trace;
  options.runner.quiet = options.common.quiet;
  claim_folder(options);
  run_experiment(options.experiment, options.runner);
  CommonOptions to_stdout = options.common;
  to_stdout.output.clear();
  emit(experiment_document(read_experiment(options.experiment.folder)), to_stdout);
  return 0;
}

int run_scale(ScaleOptions& options) {
  Experiment& experiment = options.experiment;
  experiment.mode = options.mode;
  for (const int gpus : options.gpus) {
    ExperimentPoint point;
    point.folder = fs::path(options.common.output) / fmt::format("gpus{}", gpus);
    point.factors["gpus"] = std::to_string(gpus);
    if (options.batch > 0) {
      const bool strong = options.mode == "strong";
      if (strong && options.batch % gpus != 0) {
        throw Error(ErrorKind::kUsage, fmt::format("--batch {} cannot be divided by {} GPUs", options.batch, gpus),
                    "strong scaling keeps the global batch", "give a batch that every number of GPUs divides");
      }
      point.factors["batch"] = std::to_string(strong ? options.batch / gpus : options.batch);
    }
    experiment.points.push_back(std::move(point));
  }
  return run_and_show(options);
}

int run_sweep(ScaleOptions& options) {
  std::vector<std::map<std::string, std::string>> combinations = {{}};
  for (const std::string& text : options.vary) {
    const auto [key, values] = parse_factor(text);
    std::vector<std::map<std::string, std::string>> grown;
    for (const auto& combination : combinations) {
      for (const std::string& value : values) {
        grown.push_back(combination);
        grown.back()[key] = value;
      }
    }
    combinations = std::move(grown);
  }
  Experiment& experiment = options.experiment;
  experiment.mode = "sweep";
  experiment.swept = parse_factor(options.vary.front()).first;
  for (const auto& combination : combinations) {
    ExperimentPoint point;
    std::string name;
    for (const auto& [key, value] : combination)
      name += fmt::format("{}{}{}", name.empty() ? "" : "-", key, value);
    for (char& c : name)
      c = c == '/' ? '_' : c;
    point.folder = fs::path(options.common.output) / name;
    point.factors = combination;
    experiment.points.push_back(std::move(point));
  }
  return run_and_show(options);
}

}  // namespace

void add_scale(CLI::App& app, int& status) {
  auto options = std::make_shared<ScaleOptions>();
  CLI::App* command =
      app.add_subcommand("scale", "Measure a program with 1, 2, 4, … GPUs: timing runs, then a traced one");
  command->add_option("--gpus", options->gpus, "Numbers of GPUs (ranks), e.g. 1,2,4,8")
      ->required()
      ->delimiter(',')
      ->allow_extra_args(false)  // one argument, so that the -- behind it stays
      ->check(CLI::Range(1, 4096));
  command->add_option("--mode", options->mode, "weak: batch per GPU constant; strong: global batch constant")
      ->check(CLI::IsMember({"weak", "strong"}));
  command->add_option("--batch", options->batch, "Value of {batch}: per GPU in weak mode, of all GPUs in strong mode")
      ->check(CLI::PositiveNumber);
  add_runner_options(*command, *options);
  command->callback([options, &status] { status = run_scale(*options); });
}

void add_sweep(CLI::App& app, int& status) {
  auto options = std::make_shared<ScaleOptions>();
  CLI::App* command = app.add_subcommand("sweep", "Measure a program under every combination of the given factors");
  command->add_option("--vary", options->vary, "KEY=VALUE,VALUE…: {KEY} in CMD takes each value; gpus sets the ranks")
      ->required()
      ->allow_extra_args(false);
  add_runner_options(*command, *options);
  command->callback([options, &status] { status = run_sweep(*options); });
}

}  // namespace swinscope::cli

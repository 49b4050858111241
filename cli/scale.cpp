// swinscope scale, sweep: measure an experiment and show it.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/experiment_claim.h"
#include "cli/experiment_runner.h"
#include "cli/experiments.h"
#include "cli/trace_kinds.h"
#include "store/error.h"

namespace swinscope::cli {
namespace {

struct ScaleOptions {
  CommonOptions common;
  std::string launcher_arguments;
  RunnerOptions runner;
  std::vector<int> gpus;
  std::vector<std::string> vary;
  std::string mode = "weak";
  std::string progress = "auto";
  std::string price;
  int batch = 0;
  bool no_trace = false;
  std::string trace = "cuda,nvtx,sync";
  Experiment experiment;
};

// A log of CI is read later, by who wants the outcome.
bool shows_progress(const std::string& when) {
  const char* ci = std::getenv("CI");
  return when == "always" || (when == "auto" && (ci == nullptr || *ci == '\0'));
}

void add_runner_options(Command& command, ScaleOptions& options) {
  options.experiment.step_asked = "auto";
  command.option("--repeat", options.runner.repeat, "Timing runs for each point").within(1, 100).show_default();
  command
      .option("--launcher", options.runner.launcher.name, "How the ranks are started: local, torchrun, mpirun or srun")
      .one_of({"local", "torchrun", "mpirun", "srun"});
  command.option("--launcher-args", options.launcher_arguments,
                 "Arguments of the launcher itself, such as --launcher-args=--oversubscribe");
  command
      .option("--step", options.experiment.step_asked,
              "What a step is: auto, nvtx:REGEX (ranges of that name), stdout:REGEX (lines that the program prints; "
              "a group is the number of the step), launches (of CUDA), whole-run")
      .show_default();
  const Option cpus_only = command.flag("--cpus-only", options.runner.cpus_only,
                                        "Ranks run on CPUs; the numbers of GPUs are numbers of ranks");
  const Option none = command.flag("--no-trace", options.no_trace, "Only timing runs");
  add_trace_option(command, options.trace, "What the tracing run records").excludes(none);
  command.option("--images", options.experiment.images, "Images of the training whose time is extrapolated")
      .positive()
      .show_default();
  command
      .option("--images-per-step", options.experiment.images_per_step,
              "Images of all ranks in a step, at the point with the fewest GPUs; {batch} and GPUs multiply it")
      .positive();
  command
      .option("--price", options.price,
              "Of a GPU for an hour, in any currency, such as 3.5 or h200=3.5: adds what a training costs")
      .value_name("PRICE")
      .excludes(cpus_only);
  command.option("--warmup-steps", options.experiment.warmup_steps, "Steps left out at the beginning of each run")
      .not_negative()
      .show_default();
  command.option("CMD", options.experiment.command, "The command, after --; {gpus}, {batch}, {out} are replaced")
      .required();
  command
      .option("--progress", options.progress, "Say which run is measured: always, never, or auto (not where CI is set)")
      .one_of({"auto", "always", "never"})
      .show_default();
  options.common.add_to(command);
  command.get("--output").required().description("Experiment folder; an interrupted experiment goes on in it");
  command.get("--force").description("Measure again: the runs in the folder are removed");
}

struct Factor {
  std::string key;
  std::vector<std::string> values;
};

constexpr int kMostGpus = 4096;

// A number of GPUs as a factor has it.
std::string gpus_value(const std::string& text, const std::string& option) {
  int gpus = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gpus);
  if (error == std::errc() && end == text.data() + text.size() && gpus >= 1 && gpus <= kMostGpus)
    return std::to_string(gpus);
  throw Error(ErrorKind::kUsage, fmt::format("{}: \"{}\" is no number of GPUs", option, text),
              fmt::format("it must be a whole number within 1 and {}", kMostGpus), "for example --vary gpus=1,2,4");
}

void refuse_duplicates(const std::vector<std::string>& values, const std::string& option) {
  for (auto value = values.begin(); value != values.end(); ++value) {
    if (std::find(values.begin(), value, *value) == value) continue;
    throw Error(ErrorKind::kUsage, fmt::format("{}: {} is given twice", option, *value),
                "every point is measured once; its repeats are --repeat", "leave one of them out");
  }
}

std::vector<std::string> split_values(const std::string& text) {
  std::vector<std::string> values;
  std::istringstream rest(text);
  for (std::string value; std::getline(rest, value, ',');)
    values.push_back(value);
  return values;
}

// "batch=2,4" -> {"batch", {"2", "4"}}
Factor parse_factor(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string option = "--vary " + text;
  Factor factor;
  if (equals != std::string::npos) factor = {text.substr(0, equals), split_values(text.substr(equals + 1))};
  const auto is_empty = [](const std::string& value) { return value.empty(); };
  if (factor.key.empty() || factor.values.empty() || std::ranges::any_of(factor.values, is_empty)) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: not KEY=VALUE,VALUE…", option), {}, "for example --vary batch=4,8");
  }
  if (factor.key == "out") {
    throw Error(ErrorKind::kUsage, fmt::format("{}: {{out}} is the folder of a run", option), {},
                "give the factor another name, here and in the command");
  }
  if (factor.key == "gpus") {
    for (std::string& value : factor.values)
      value = gpus_value(value, option);
  }
  refuse_duplicates(factor.values, option);
  return factor;
}

std::vector<Factor> parse_factors(const ScaleOptions& options) {
  std::vector<Factor> factors;
  std::vector<std::string> keys;
  for (const std::string& text : options.vary) {
    factors.push_back(parse_factor(text));
    keys.push_back(factors.back().key);
  }
  refuse_duplicates(keys, "--vary");
  for (const std::string& key : keys) {
    const std::string placeholder = fmt::format("{{{}}}", key);
    const auto uses = [&](const std::string& word) { return word.find(placeholder) != std::string::npos; };
    if (key == "gpus" || std::ranges::any_of(options.experiment.command, uses)) continue;
    throw Error(ErrorKind::kUsage, fmt::format("--vary {}: the command does not use {}", key, placeholder),
                "all its values would measure the same",
                fmt::format("write {} where the command takes the value", placeholder));
  }
  return factors;
}

// What is asked for holds at once; what `auto` comes to is known after the first run.
void settle_step_rule(Experiment& experiment) {
  const StepRule rule = parse_step_rule(experiment.step_asked);
  if (rule.source == StepSource::kWholeRun) experiment.warmup_steps = 0;  // there is no other step
  // Launches are settled by the runner, which measures what their recording costs.
  if (rule.source != StepSource::kAuto && rule.source != StepSource::kLaunches) experiment.step = text_of(rule);
}

void add_arguments(const std::string& line, Launcher& launcher) {
  try {
    for (const std::string& word : split_words(line))
      launcher.extra.push_back(word);
  } catch (const OptionError& error) {
    throw Error(ErrorKind::kUsage, fmt::format("--launcher-args {}: cannot be split into words", line), error.what(),
                "quote them as a shell has them, or put \\ before a quote that is meant as it is");
  }
}

int run_and_show(ScaleOptions& options) {
  Experiment& experiment = options.experiment;
  if (!options.price.empty()) experiment.price = parse_gpu_price(options.price);
  settle_step_rule(experiment);
  Launcher& launcher = options.runner.launcher;
  add_arguments(options.launcher_arguments, launcher);
  options.runner.trace = !options.no_trace;
  options.runner.traced = trace_options_of(options.trace);
  options.runner.quiet = options.common.quiet;
  options.runner.progress = shows_progress(options.progress);
  experiment.made_with = made_with(experiment, launcher, options.runner.cpus_only);
  claim_folder(experiment, options.common.force);
  run_experiment(experiment, options.runner);
  show_experiment(experiment.folder, options.common);
  return 0;
}

int run_scale(ScaleOptions& options) {
  Experiment& experiment = options.experiment;
  experiment.folder = options.common.output;
  experiment.mode = options.mode;
  std::vector<std::string> counts;
  for (const int gpus : options.gpus)
    counts.push_back(std::to_string(gpus));
  refuse_duplicates(counts, fmt::format("--gpus {}", fmt::join(counts, ",")));
  for (const int gpus : options.gpus) {
    ExperimentPoint point;
    point.folder = experiment.folder / fmt::format("gpus{}", gpus);
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

std::vector<std::map<std::string, std::string>> combinations_of(const std::vector<Factor>& factors) {
  std::vector<std::map<std::string, std::string>> combinations = {{}};
  for (const Factor& factor : factors) {
    std::vector<std::map<std::string, std::string>> grown;
    for (const auto& combination : combinations) {
      for (const std::string& value : factor.values) {
        grown.push_back(combination);
        grown.back()[factor.key] = value;
      }
    }
    combinations = std::move(grown);
  }
  return combinations;
}

int run_sweep(ScaleOptions& options) {
  const std::vector<Factor> factors = parse_factors(options);
  Experiment& experiment = options.experiment;
  experiment.folder = options.common.output;
  experiment.mode = "sweep";
  experiment.swept = factors.front().key;
  std::vector<std::string> names;
  for (const auto& combination : combinations_of(factors)) {
    std::string name;
    for (const auto& [key, value] : combination)
      name += fmt::format("{}{}{}", name.empty() ? "" : "-", key, value);
    std::ranges::replace(name, '/', '_');
    names.push_back(name);
    ExperimentPoint point;
    point.folder = experiment.folder / name;
    point.factors = combination;
    experiment.points.push_back(std::move(point));
  }
  refuse_duplicates(names, "--vary: the folder of a point");
  return run_and_show(options);
}

}  // namespace

void add_scale(Program& program) {
  auto options = std::make_shared<ScaleOptions>();
  Command& command =
      program.add_command("scale", "Measure a program with 1, 2, 4, … GPUs: timing runs, then a traced one");
  command.option("--gpus", options->gpus, "Numbers of GPUs (ranks), e.g. 1,2,4,8")
      .required()
      .separated_by(',')
      .one_word_each()  // one argument, so that the -- behind it stays
      .within(1, kMostGpus);
  command.option("--mode", options->mode, "weak: batch per GPU constant; strong: global batch constant")
      .one_of({"weak", "strong"});
  command
      .option("--batch", options->batch,
              "Images per step, and the value of {batch}: per GPU in weak mode, of all GPUs in strong mode")
      .positive();
  add_runner_options(command, *options);
  command.does([options] { return run_scale(*options); });
}

void add_sweep(Program& program) {
  auto options = std::make_shared<ScaleOptions>();
  Command& command = program.add_command("sweep", "Measure a program under every combination of the given factors");
  command.option("--vary", options->vary, "KEY=VALUE,VALUE…: {KEY} in CMD takes each value; gpus sets the ranks")
      .required()
      .one_word_each();
  add_runner_options(command, *options);
  command.does([options] { return run_sweep(*options); });
}

}  // namespace swinscope::cli

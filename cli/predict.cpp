// swinscope predict EXPERIMENT --gpus N,…: steps on numbers of GPUs that were not measured.
#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/experiment/prediction.h"
#include "analyzer/importers/open.h"
#include "analyzer/report/documents.h"
#include "cli/command.h"
#include "store/error.h"

namespace swinscope::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string experiment;
  std::string like;
  std::string price;
  PredictOptions predict;
};

// Of all points, as their recordings say.
std::set<std::string> gpu_names(const Experiment& experiment) {
  std::set<std::string> names;
  for (const ExperimentPoint& point : experiment.points) {
    if (point.runs() == 0) continue;
    const std::string& run = point.tracing.empty() ? point.timing.front() : point.tracing;
    for (const Rank& rank : open_trace(point.folder / run).ranks) {
      for (const GpuInfo& gpu : rank.run.gpus)
        names.insert(gpu.name);
    }
  }
  return names;
}

// Refuses the price of another GPU than the experiment's.
GpuPrice price_for(const std::string& text, const Experiment& experiment) {
  if (text.empty()) return experiment.price;
  GpuPrice price = parse_gpu_price(text);
  const std::set<std::string> names = gpu_names(experiment);
  if (price.gpu.empty() || std::ranges::any_of(names, [&](const std::string& name) { return price.is_of(name); }))
    return price;
  throw Error(ErrorKind::kUsage, fmt::format("--price {}: not the GPU of the experiment", text),
              names.empty() ? "its recordings name no GPU" : fmt::format("that is {}", fmt::join(names, ", ")),
              fmt::format("give the price of that: --price {}", price.per_hour));
}

int run_predict(Options options) {
  const Experiment experiment = read_experiment(options.experiment);
  options.predict.price = price_for(options.price, experiment);
  const std::vector<ScalingRow> rows = scaling_table(experiment);
  if (!options.like.empty()) options.predict.like = {options.like, scaling_table(read_experiment(options.like))};
  const Document document = prediction_document(experiment, rows, options.predict);
  print_warnings(experiment_document(experiment, rows).warnings, options.common);
  emit(document, options.common);
  return 0;
}

}  // namespace

void add_predict(Program& program) {
  auto options = std::make_shared<Options>();
  Command& command = program.add_command(
      "predict", "Step time, efficiency and cost on numbers of GPUs that were not measured, with a band");
  command
      .option("EXPERIMENT", options->experiment,
              "Scaling experiment with two or more numbers of GPUs, with --like one or more")
      .required();
  command.option("--gpus", options->predict.gpus, "Numbers of GPUs: 4,8,64").separated_by(',').positive().required();
  command
      .option("--like", options->like,
              "Experiment of another program on these GPUs, whose losses tell this one's: one number of GPUs is enough")
      .value_name("EXPERIMENT");
  command.option("--gpus-per-host", options->predict.gpus_per_host, "GPUs that reach each other without a network")
      .positive()
      .show_default();
  command
      .option("--price", options->price,
              "Of a GPU for an hour, in any currency, such as 3.5 or h200=3.5: adds what a training costs (default: "
              "the experiment's)")
      .value_name("PRICE");
  options->common.tables.add_to(command);
  options->common.add_to(command);
  command.does([options] { return run_predict(*options); });
}

}  // namespace swinscope::cli

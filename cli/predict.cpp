// swinscope predict EXPERIMENT --gpus N,…: steps on numbers of GPUs that were not measured.
#include <memory>

#include "analyzer/experiment/prediction.h"
#include "analyzer/report/documents.h"
#include "cli/command.h"

namespace swinscope::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string experiment;
  std::string like;
  PredictOptions predict;
};

int run_predict(Options options) {
  const Experiment experiment = read_experiment(options.experiment);
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
  command.option("--price", options->predict.price, "Of a GPU for an hour, in any currency: adds what a training costs")
      .value_name("PRICE");
  options->common.tables.add_to(command);
  options->common.add_to(command);
  command.does([options] { return run_predict(*options); });
}

}  // namespace swinscope::cli

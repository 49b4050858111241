// swinscope advise RUN: what changes of the program would gain, ranked by what they save of the step.
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "advisor/answers.h"
#include "advisor/ledger.h"
#include "cli/command.h"
#include "cli/selection.h"
#include "store/small_file.h"

namespace swinscope::cli {
namespace {

struct AdviseOptions {
  CommonOptions common;
  SelectionOptions selection;
  AdviceOptions advice;
  std::string run;
  std::string peaks;
  std::string ledger;
  std::string label;
  std::string check;
};

std::string content_of(const std::string& path) { return read_small_file(path, "give the file of --ledger"); }

// The entry is added behind those that are there.
void write_down(const RunFacts& run, const Advice& advice, const AdviseOptions& options) {
  std::error_code ignored;
  Ledger ledger;
  if (std::filesystem::exists(options.ledger, ignored))
    ledger = Ledger::parse(content_of(options.ledger), options.ledger);
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  ledger.predictions.push_back(predict(run, advice, options.label, fmt::format("{:%FT%TZ}", now)));
  write_file(options.ledger, ledger.text(), true);
}

// What became of predictions: the run is of the changed program.
int check_ledger(const AdviseOptions& options) {
  const Ledger ledger = Ledger::parse(content_of(options.check), options.check);
  const Trace trace = open_run(options.run, options.common);
  const RunScope scope(trace, options.selection.get());
  if (!scope.is_of_steps())
    throw Error(ErrorKind::kUsage, fmt::format("{}: has no steps", options.run), "", "name them with --step REGEX");
  Document document;
  document.schema = "advise";
  document.run = options.run;
  document.warnings = trace.warnings;
  document.tables = {score_table(ledger, scope.step_ns())};
  document.notes = {"Error: (predicted - measured) / measured step of the changed program."};
  emit(document, options.common);
  return status_of(trace);
}

int run_advise(const AdviseOptions& options) {
  if (!options.check.empty()) return check_ledger(options);
  const Trace trace = open_run(options.run, options.common);
  const RunFacts run(trace, options.selection.get());
  AdviceOptions wanted = options.advice;
  if (!options.peaks.empty()) wanted.peaks = options.peaks;
  const Advisor advisor(run, wanted);
  const Advice advice = advise(advisor, wanted.applied);
  if (!options.ledger.empty()) write_down(run, advice, options);
  const Document document = advice_of(run, advisor, advice);
  // Those of the trace, which come first, were said when it was opened.
  const auto own = document.warnings.begin() + std::ssize(trace.warnings);
  print_warnings({own, document.warnings.end()}, options.common);
  emit(document, options.common);
  return status_of(trace);
}

}  // namespace

void add_advise(Program& program) {
  auto options = std::make_shared<AdviseOptions>();
  Command& command = program.add_command("advise", "What fusion, CUDA graphs and other changes would save of a step");
  command.option("RUN", options->run, "Trace to analyze").required();
  command
      .option("--apply", options->advice.applied,
              "Changes that are simulated together, by their ids (default: all but the speculative ones)")
      .separated_by(',');
  command
      .option(
          "--keep-precision", options->advice.kept_precision,
          "Layers whose products stay in the precision that they have, such as those that `swin quantize` leaves in "
          "fp16: stage3.attn.proj means that of every block")
      .value_name("LAYER")
      .separated_by(',');
  const Option peaks =
      command.option("--peaks", options->peaks,
                     "The GPU's rates, as `swinscope peaks --rates FILE` writes them (default: those of data/peaks)");
  command
      .option("--gpu", options->advice.gpu,
              "Whose rates of data/peaks to take, by a part of the name, such as h200 (default: the run's GPU)")
      .value_name("GPU")
      .excludes(peaks);
  command.option("--ledger", options->ledger, "Adds the prediction (the step with what is applied) to this file");
  command.option("--label", options->label, "What the prediction is of, in the ledger (default: the ids)");
  command.option("--check", options->check,
                 "Scores the predictions of a ledger by the step of RUN, the changed program");
  options->selection.add_to(command);
  options->common.add_class_rules(command);
  options->common.tables.add_to(command);
  options->common.add_to(command);
  command.does([options] { return run_advise(*options); });
}

}  // namespace swinscope::cli

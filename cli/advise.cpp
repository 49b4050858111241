// swinscope advise RUN: what changes of the program would gain, ranked by what they save of the step.
#include "advisor/advice.h"

#include <memory>

#include "cli/command.h"
#include "cli/selection.h"

namespace swinscope::cli {
namespace {

struct AdviseOptions {
  CommonOptions common;
  SelectionOptions selection;
  AdviceOptions advice;
  std::string run;
};

int run_advise(const AdviseOptions& options) {
  const Trace trace = open_run(options.run, options.common);
  const RunFacts run(trace, options.selection.get());
  const Advice advice = advise(run, options.advice);
  emit(advice_document(trace, advice), options.common);
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
  options->selection.add_to(command);
  options->common.add_class_rules(command);
  options->common.add_to(command);
  command.does([options] { return run_advise(*options); });
}

}  // namespace swinscope::cli

// swinscope gate BASE RUN: for CI, whether a run is slower than another by more than is allowed.
#include "analyzer/experiment/gate.h"

#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.h"
#include "cli/runs.h"
#include "cli/selection.h"
#include "cli/share.h"

namespace swinscope::cli {
namespace {

constexpr int kNotPassed = 1;  // exit status: a regression, or nothing can be said

struct GateOptions {
  CommonOptions common;
  SelectionOptions selection;
  std::string base;
  std::string run;
  std::string fail_above = fmt::format("{:g}%", 100 * kGateAbove);
  std::size_t top = 10;
};

int run_gate(const GateOptions& options) {
  const double above = share_of("--fail-above", options.fail_above);
  const OpenedRuns opened = open_runs({options.base, options.run}, options.selection.get(), options.common);
  GateResult result = gate_document(opened.runs[0], opened.runs[1], above, options.top);
  result.document.run = fmt::format("{}", fmt::join(opened.paths, " "));
  print_warnings(result.document.warnings, options.common);
  emit(result.document, options.common);
  return result.outcome == GateOutcome::kPass ? 0 : kNotPassed;
}

}  // namespace

void add_gate(Program& program) {
  auto options = std::make_shared<GateOptions>();
  Command& command = program.add_command(
      "gate", "For CI: whether RUN is slower than BASE; 0 passes, 1 is a regression or cannot be told");
  command.option("BASE", options->base, "Run or trace to measure against").required();
  command.option("RUN", options->run, "Run or trace to judge").required();
  command
      .option("--fail-above", options->fail_above,
              "How much slower the step, or a kernel that takes 1 % of it, may be, beyond the noise")
      .value_name("PERCENT")
      .show_default();
  command.option("--top", options->top, "Kernels and layers to list of those whose time changed most")
      .show_default()
      .not_negative();
  options->selection.add_to(command);
  options->common.add_class_rules(command);
  options->common.tables.add_sorting_to(command);
  options->common.add_to(command);
  command.does([options] { return run_gate(*options); });
}

}  // namespace swinscope::cli

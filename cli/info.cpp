// swinscope info RUN: what is in it.
#include <memory>

#include "analyzer/report/analysis_documents.h"
#include "cli/command.h"

namespace swinscope::cli {
namespace {

struct InfoOptions {
  CommonOptions common;
  std::string run;
};

int run_info(const InfoOptions& options) {
  const Trace trace = open_run(options.run, options.common);
  emit(info_document(trace, options.common.verbose || options.common.format != "table"), options.common);
  return status_of(trace);
}

}  // namespace

void add_info(Program& program) {
  auto options = std::make_shared<InfoOptions>();
  Command& command = program.add_command("info", "What is in a run: ranks, GPUs, duration, counts, drops");
  command.option("RUN", options->run, "Trace to describe").required();
  options->common.add_class_rules(command);
  options->common.tables.add_to(command);
  options->common.add_to(command);
  command.does([options] { return run_info(*options); });
}

}  // namespace swinscope::cli

// swinscope record -- CMD: runs a command with the collector in every process of it.
#include "collector/record.h"

#include <chrono>
#include <memory>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/store_timelines.h"

namespace swinscope::cli {
namespace {

struct RecordCommandOptions {
  RecordOptions record;
  std::string folder;
  std::string trace = "cuda,nvtx";
  std::string graphs = "node";
  bool quiet = false;
};

// Named by the local time, so that runs list in the order they were made.
std::string default_folder() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("run-{:%Y%m%d-%H%M%S}", fmt::localtime(now));
}

int run_record(RecordCommandOptions options) {
  std::string unknown;
  const auto trace = parse_trace_list(options.trace, unknown);
  if (!trace) {
    throw Error(ErrorKind::kUsage, fmt::format("--trace {}: \"{}\" is unknown", options.trace, unknown), "",
                "give any of cuda, nvtx, api, sync, overhead, separated by commas");
  }
  options.record.trace = *trace;
  options.record.trace.graph_level = options.graphs == "graph";
  options.record.folder = options.folder.empty() ? default_folder() : options.folder;
  if (options.quiet) {
    options.record.report = [](const std::string&) {};
  }
  const int status = record(options.record);
  store_timelines(options.record.folder, options.quiet, &interrupted());
  if (!options.quiet) {
    fmt::print(stderr, "swinscope: recorded {0}; look at it with: swinscope analyze {0}\n",
               options.record.folder.string());
  }
  return status;
}

}  // namespace

void add_record(CLI::App& app, int& status) {
  auto options = std::make_shared<RecordCommandOptions>();
  CLI::App* command = app.add_subcommand("record", "Run a command and record it; ends with the command's exit status");
  command->add_option("-o,--output", options->folder, "Run folder to make (default: run-DATE-TIME)");
  command
      ->add_option("--sample", options->record.sample_hz,
                   "Samples of threads and processes per second; 0: of processes only, once a second")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  command
      ->add_option("--trace", options->trace,
                   "What to record: cuda (kernels, copies, sets, and the calls behind them), nvtx, api (every CUDA "
                   "call), sync, overhead")
      ->capture_default_str();
  command->add_option("--cuda-graph-trace", options->graphs, "CUDA graphs by their nodes, or each as one (cheaper)")
      ->check(CLI::IsMember({"node", "graph"}))
      ->capture_default_str();
  command->add_flag("--force", options->record.force, "Replace a run that is in the folder");
  command->add_flag("-q,--quiet", options->quiet, "Only errors on stderr");
  command->add_option("CMD", options->record.command, "The command, after --")->required();
  command->callback([options, &status] { status = run_record(*options); });
}

}  // namespace swinscope::cli

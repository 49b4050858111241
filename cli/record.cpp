// swinscope record -- CMD: runs a command with the collector in every process of it.
#include "collector/launcher/record.h"

#include <chrono>
#include <memory>
#include <new>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/output_pattern.h"
#include "cli/store_timelines.h"
#include "cli/trace_kinds.h"
#include "collector/base/identity.h"
#include "collector/launcher/run_folder.h"
#include "store/private_file.h"
#include "store/shell.h"

namespace swinscope::cli {
namespace {

namespace fs = std::filesystem;

// A file with nothing but its tables has half of that.
constexpr std::uint64_t kLeastSize = std::uint64_t{1} << 20U;

struct RecordCommandOptions {
  RecordOptions record;
  std::string folder;
  std::string trace = "cuda,nvtx";
  std::string graphs = "node";
  std::string steps;
  std::string range;
  bool armed = false;
  double duration_s = 0;
  std::uint64_t max_size = 0;
  bool quiet = false;
};

// Named by the local time, so that runs list in the order they were made; the second one of a second ends with -2. The
// folder is made here: of several recorders one has it.
std::string make_default_folder() {
  constexpr int kMost = 100'000;
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::string name = fmt::format("run-{:%Y%m%d-%H%M%S}", fmt::localtime(now));
  if (make_new_folder(name)) return name;
  for (int n = 2; n < kMost; ++n) {
    std::string next = fmt::format("{}-{}", name, n);
    if (make_new_folder(next)) return next;
  }
  throw Error(ErrorKind::kFailure, fmt::format("{}: no name is left for a run folder", name), "", "name one with -o");
}

// The program runs, whatever recording cannot do. A mistake of someone who types the command is told instead: a folder
// that holds an earlier run. A rank of a job runs even then, for the others would wait for it.
bool starts_unrecorded(const Error& error) {
  return error.kind() != ErrorKind::kUsage || rank_from_environment().is_given;
}

[[noreturn]] void run_unrecorded(const std::vector<std::string>& command, const Error& error) {
  const std::string why =
      error.cause().empty() ? std::string(error.what()) : fmt::format("{} ({})", error.what(), error.cause());
  const RankIdentity identity = rank_from_environment();
  const std::string who = identity.is_given ? fmt::format("rank {} ", identity.rank) : "";
  fmt::print(stderr, "swinscope: {}{}; the command runs all the same\n", who, could_not_be_recorded(why));
  if (!error.hint().empty()) fmt::print(stderr, "  hint: {}\n", error.hint());
  become_command(find_command(command.front()), command);
}

WindowOptions window_of(const RecordCommandOptions& options) {
  std::string text = "whole";
  std::string given;
  if (!options.steps.empty()) text = "steps:" + options.steps, given = "--steps " + options.steps;
  if (!options.range.empty()) text = options.range, given = "--capture-range " + options.range;
  if (options.armed) text = "armed";
  auto window = parse_window(text);
  if (!window) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: not understood", given), "",
                options.steps.empty() ? "give cudaProfilerApi, or nvtx: and the name of a range"
                                      : "give the first step and the one behind the last, such as --steps 10:20");
  }
  window->duration_ns = static_cast<std::int64_t>(options.duration_s * 1e9);
  return *window;
}

int record_or_run(RecordCommandOptions& options) {
  RecordOutcome outcome;
  int status = 0;
  find_command(options.record.command.front());  // nothing is made for a command that is not there
  try {
    options.record.folder =
        options.folder.empty() ? make_default_folder() : fill_pattern(options.folder, pattern_values());
    status = record(options.record, &outcome);
  } catch (const CommandError&) {
    throw;
  } catch (const Error& error) {
    if (outcome.has_started || !starts_unrecorded(error)) throw;
    std::error_code kept;  // unless it is empty
    if (options.folder.empty() && !options.record.folder.empty()) fs::remove(options.record.folder, kept);
    run_unrecorded(options.record.command, error);
  }
  try {
    store_timelines(outcome.files, options.quiet, &interrupted());
    if (!options.quiet) {
      const std::string folder = options.record.folder.string();
      fmt::print(stderr, "swinscope: recorded {}; look at it with: swinscope analyze {}\n", folder,
                 path_argument(folder));
    }
  } catch (const std::bad_alloc&) {
    // The command's status counts; the window builds the timeline itself.
  }
  return status;
}

int run_record(RecordCommandOptions options) {
  options.record.trace = trace_options_of(options.trace);
  options.record.trace.graph_level = options.graphs == "graph";
  options.record.window = window_of(options);
  options.record.max_bytes = static_cast<std::int64_t>(options.max_size);
  if (options.max_size > 0 && options.max_size < kLeastSize) {
    throw Error(ErrorKind::kUsage, fmt::format("--max-size {}: too small", options.max_size),
                "the tables alone take half a megabyte", "give 1M or more");
  }
  if (options.record.rotates && options.max_size == 0) {
    throw Error(ErrorKind::kUsage, "--rotate: of what size is not said", "", "give --max-size, such as --max-size 2G");
  }
  if (options.quiet) {
    options.record.report = [](const std::string&) {};
  }
  return record_or_run(options);
}

}  // namespace

void add_record(Program& program) {
  auto options = std::make_shared<RecordCommandOptions>();
  Command& command = program.add_command("record", "Run a command and record it; ends with the command's exit status");
  command.option("-o,--output", options->folder,
                 "Run folder (default: run-DATE-TIME, made anew); %q{NAME} is a variable of the environment, %h the "
                 "host, %p the process id, %r the rank, %% a percent");
  command
      .option("--sample", options->record.sample_hz,
              "Samples of threads and processes per second; 0: of processes only, once a second")
      .within(0.0, 1000.0)
      .show_default();
  add_trace_option(command, options->trace, "What to record");
  command.option("--cuda-graph-trace", options->graphs, "CUDA graphs by their nodes, or each as one (cheaper)")
      .one_of({"node", "graph"})
      .show_default();
  const Option steps =
      command.option("--steps", options->steps,
                     "Record CUDA in steps A to B-1 only (A:B, counted from 0); steps are ranges named step, step N "
                     "or ProfilerStep#N");
  const Option range =
      command.option("--capture-range", options->range,
                     "Record CUDA between cudaProfilerStart and cudaProfilerStop (cudaProfilerApi), or in "
                     "ranges of a name (nvtx:NAME)");
  const Option armed =
      command.flag("--armed", options->armed, "Record CUDA from `swinscope trigger` on, until the next one");
  steps.excludes(range).excludes(armed);
  range.excludes(armed);
  command.option("--duration", options->duration_s, "Record CUDA for this many seconds from its first call, or trigger")
      .positive();
  command.option("--max-size", options->max_size, "End the file of a process at this size, such as 2G; at least 1M")
      .size_in_bytes();
  command.flag("--rotate", options->record.rotates,
               "At --max-size drop the oldest events instead, and count them: the file keeps the newest");
  command
      .option("--gpu-metrics", options->record.gpu_metrics_hz,
              "Samples of clocks, power, temperature, memory and SM activity of all GPUs per second; 0: none")
      .within(0.0, 100.0)
      .show_default();
  command.flag("--torch-modules", options->record.torch_modules,
               "Ranges around the forward of PyTorch's modules, named by their path, for `swinscope layers`");
  command.flag("--force", options->record.force, "Replace a run that is in the folder");
  command.flag("-q,--quiet", options->quiet, "Only errors on stderr");
  command.option("CMD", options->record.command, "The command, after --").required();
  command.does([options] { return run_record(*options); });
}

}  // namespace swinscope::cli

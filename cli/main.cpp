// The `swinscope` program: one sub-command per file; this one declares them and turns errors into messages and exit
// statuses.
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/config.h"
#include "cli/examples.h"
#include "cli/last_resort.h"
#include "cli/steady_stderr.h"
#include "collector/launcher/command.h"
#include "options/completion.h"
#include "options/options.h"
#include "store/error.h"

namespace swinscope::cli {
namespace {

constexpr int kInterruptedStatus = 130;

int run(int argc, char** argv) {
  Program program("swinscope", "Profiling and scaling analysis for CUDA deep learning");
  program.set_version("swinscope " SWINSCOPE_VERSION);
  add_record(program);
  add_trigger(program);
  add_scale(program);
  add_sweep(program);
  add_join(program);
  add_import(program);
  add_info(program);
  add_analyze(program);
  add_kernels(program);
  add_layers(program);
  add_ranges(program);
  add_ranks(program);
  add_stragglers(program);
  add_collectives(program);
  add_launches(program);
  add_gaps(program);
  add_roofline(program);
  add_critical_path(program);
  add_advise(program);
  add_peaks(program);
  add_compare(program);
  add_gate(program);
  add_platforms(program);
  add_predict(program);
  add_query(program);
  add_export(program);
  add_report(program);
  add_gui(program);
  add_launch(program);
  add_mcp(program);
  add_doctor(program);
  add_completion(program);
  add_examples(program);
  program.set_footer(
      "RUN is a trace file, a run folder, an Nsight Systems .sqlite export or a PyTorch trace (.json, .json.gz).\n"
      "`swinscope help COMMAND` says what a command takes.\n\n"
      "Examples:\n  swinscope analyze trace.json.gz\n  swinscope record -o run -- python3 train.py");
  const ConfigFiles files(program);
  const std::vector<std::string> words = in_order(program, {argv + 1, argv + argc});
  try {
    if (!program.parse(words)) return 0;
  } catch (const OptionError& error) {
    throw refused_words(program, words, error);
  }
  files.report(program);
  refuse_wrong_variables(*program.chosen());
  try {
    return program.chosen()->run();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kFailure) emit_abstention(*program.chosen(), error);
    throw;
  }
}

}  // namespace
}  // namespace swinscope::cli

int main(int argc, char** argv) {
  using swinscope::Error;
  using swinscope::ErrorKind;
  swinscope::cli::prepare_last_resort(argc, argv);
  swinscope::cli::make_stderr_steady();
  swinscope::cli::watch_interrupts();
  try {
    return swinscope::cli::run(argc, argv);
  } catch (const swinscope::CommandError& error) {
    // `record` and `launch` could not start the command: the status that a shell gives.
    swinscope::cli::print_error(error);
    return error.exit_status();
  } catch (const Error& error) {
    if (swinscope::cli::interrupted()) {
      fmt::print(stderr, "interrupted\n");
      return swinscope::cli::kInterruptedStatus;
    }
    swinscope::cli::print_error(error);
    return static_cast<int>(error.kind());
  } catch (const std::bad_alloc&) {
    swinscope::cli::print_error(Error(ErrorKind::kFailure, "not enough memory",
                                      "this machine, or a limit of it (ulimit -v, a container's), gives no more",
                                      "record fewer steps, or run it where there is more memory"));
    return static_cast<int>(ErrorKind::kFailure);
  } catch (const std::exception& error) {
    swinscope::cli::print_error(Error(ErrorKind::kFailure, error.what(), "an unexpected failure",
                                      "please report it with the command and its input"));
    return static_cast<int>(ErrorKind::kFailure);
  }
}

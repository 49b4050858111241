// The `swinscope` program: one sub-command per file; this one declares them and turns errors into messages and exit
// statuses.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/config.h"
#include "cli/steady_stderr.h"
#include "collector/launcher/command.h"
#include "store/error.h"

namespace swinscope::cli {
namespace {

constexpr int kInterruptedStatus = 130;

int run(int argc, char** argv) {
  CLI::App app("Profiling and scaling analysis for CUDA deep learning", "swinscope");
  app.set_version_flag("-V,--version", "swinscope " SWINSCOPE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "RUN is a trace file, a run folder, an Nsight Systems .sqlite export or a PyTorch trace (.json, .json.gz).\n"
      "`swinscope help COMMAND` says what a command takes.");
  int status = 0;
  add_record(app, status);
  add_trigger(app, status);
  add_scale(app, status);
  add_sweep(app, status);
  add_join(app, status);
  add_import(app, status);
  add_info(app, status);
  add_analyze(app, status);
  add_kernels(app, status);
  add_layers(app, status);
  add_ranges(app, status);
  add_ranks(app, status);
  add_launches(app, status);
  add_peaks(app, status);
  add_compare(app, status);
  add_platforms(app, status);
  add_query(app, status);
  add_export(app, status);
  add_report(app, status);
  add_gui(app, status);
  add_launch(app, status);
  add_doctor(app, status);
  const ConfigFiles files(app);
  app.parse_complete_callback([&] {
    files.report(app);
    refuse_wrong_variables(app);
  });
  const std::vector<std::string> words = in_order(app, {argv + 1, argv + argc});
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    // --help and --version end in such an error too. CLI11's own numbers are no contract of ours.
    if (error.get_exit_code() == 0) return app.exit(error);
    throw refused_words(app, words, error);
  }
  return status;
}

}  // namespace
}  // namespace swinscope::cli

int main(int argc, char** argv) {
  using swinscope::Error;
  using swinscope::ErrorKind;
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
  } catch (const std::exception& error) {
    swinscope::cli::print_error(Error(ErrorKind::kFailure, error.what(), "an unexpected failure",
                                      "please report it with the command and its input"));
    return static_cast<int>(ErrorKind::kFailure);
  }
}

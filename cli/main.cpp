// The `swinscope` program: one sub-command per file; this one declares them and turns errors into messages and exit
// statuses.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/suggest.h"
#include "collector/command.h"
#include "store/error.h"

namespace swinscope::cli {
namespace {

constexpr int kInterruptedStatus = 130;

std::vector<std::string> commands_of(CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames())
      names.push_back("--" + name);
  }
  return names;
}

std::string meant(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string found = nearest(word, candidates);
  return found.empty() ? "" : fmt::format("; did you mean {}?", found);
}

bool is_number(const std::string& word) {
  return word.find_first_not_of("-+.0123456789eE") == std::string::npos && word.find_first_of("0123456789") <= 2;
}

// The first word before `--` that looks like an option of the command and is none; "" where there is no such word.
std::string unknown_option(const CLI::App& command, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--") break;
    if (word.size() < 2 || word[0] != '-' || is_number(word)) continue;
    const bool is_long = word[1] == '-';
    const std::string name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);  // -oNAME
    if (command.get_option_no_throw(name) == nullptr) return is_long ? name : word;
  }
  return {};
}

// CLI11 tells of an option that it does not know by the words that are left over, in an order of its own, or not at
// all.
[[noreturn]] void refuse_words(CLI::App& app, int argc, char** argv, const CLI::ParseError& error) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto chosen = app.get_subcommands();
  const auto behind = chosen.empty() ? words.end() : std::find(words.begin(), words.end(), chosen.front()->get_name());
  if (const std::string option = unknown_option(app, {words.begin(), behind}); !option.empty()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: unknown before a command{}", option, meant(option, options_of(app))),
                "the command comes first, its options behind it", "`swinscope --help` lists the commands");
  }
  if (chosen.empty() && !words.empty()) {
    const std::string name = app.remaining().empty() ? words.front() : app.remaining().front();
    throw Error(ErrorKind::kUsage, fmt::format("there is no command '{}'{}", name, meant(name, commands_of(app))), {},
                "`swinscope --help` lists the commands");
  }
  const std::string option = chosen.empty() ? "" : unknown_option(*chosen.front(), {behind, words.end()});
  if (option.empty()) {
    throw Error(ErrorKind::kUsage, error.what(), {},
                "`swinscope --help` and `swinscope COMMAND --help` say what there is");
  }
  const CLI::App& command = *chosen.front();
  const bool runs_command = command.get_option_no_throw("CMD") != nullptr;
  throw Error(ErrorKind::kUsage, fmt::format("{}: unknown{}", option, meant(option, options_of(command))),
              fmt::format("`swinscope {}` has no such option", command.get_name()),
              fmt::format("`swinscope {} --help` lists them{}", command.get_name(),
                          runs_command ? "; the command that it runs, with its own options, stands behind --" : ""));
}

int run(int argc, char** argv) {
  CLI::App app("Profiling and scaling analysis for CUDA deep learning", "swinscope");
  app.set_version_flag("--version", "swinscope " SWINSCOPE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "RUN is a trace file, a run folder, an Nsight Systems .sqlite export or a PyTorch trace (.json, .json.gz).");
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
  apply_config_files(app);
  app.parse_complete_callback([&app] { refuse_wrong_variables(app); });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // --help and --version end in such an error too. CLI11's own numbers are no contract of ours.
    if (error.get_exit_code() == 0) return app.exit(error);
    refuse_words(app, argc, argv, error);
  }
  return status;
}

}  // namespace
}  // namespace swinscope::cli

int main(int argc, char** argv) {
  using swinscope::Error;
  using swinscope::ErrorKind;
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

#include "workloads/program/program.h"

#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "workloads/error.h"
#include "workloads/program/commands.h"

namespace swinscope {
namespace {

constexpr int kUsageStatus = 2;

int run(int argc, char** argv) {
  CLI::App app("Instrumented Swin Transformer workloads", "swin");
  app.require_subcommand(1);
  const std::vector<std::pair<const char*, Command>> commands = {
      {"list", add_list_command(app)},     {"infer", add_infer_command(app)},         {"train", add_train_command(app)},
      {"verify", add_verify_command(app)}, {"make-data", add_make_data_command(app)}, {"peaks", add_peaks_command(app)},
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? 0 : kUsageStatus;
  }
  for (const auto& [name, command] : commands) {
    if (app.got_subcommand(name)) return command();
  }
  return kUsageStatus;
}

}  // namespace

int run_swin(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const WorkloadError& error) {
    std::fputs(format_error(error).c_str(), stderr);
    return static_cast<int>(error.kind());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}

}  // namespace swinscope

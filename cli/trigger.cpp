// swinscope trigger RUN: opens and closes an armed recording.
#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "collector/capture_window.h"

namespace swinscope::cli {
namespace {

namespace fs = std::filesystem;

// The processes of the run look for the file a few times a second, on every host that shares the folder.
int run_trigger(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / "run.json", error)) {
    throw Error(ErrorKind::kInput, fmt::format("{}: no run is being recorded there", folder.string()),
                "it has no run.json", "give the folder that `swinscope record --armed -o` was given");
  }
  const fs::path file = folder / kTriggerFile;
  if (fs::remove(file, error)) {
    fmt::print(stderr, "swinscope: {}: CUDA is not recorded any more\n", folder.string());
    return 0;
  }
  std::ofstream out(file);
  out.close();
  if (!out)
    throw Error(ErrorKind::kFailure, fmt::format("{}: cannot be written", file.string()), "", "check its permissions");
  fmt::print(stderr, "swinscope: {}: CUDA is recorded from now on\n", folder.string());
  return 0;
}

}  // namespace

void add_trigger(CLI::App& app, int& status) {
  auto folder = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("trigger", "Start an armed recording (`record --armed`), or stop it again");
  command->add_option("RUN", *folder, "Run folder")->required();
  command->callback([folder, &status] { status = run_trigger(*folder); });
}

}  // namespace swinscope::cli

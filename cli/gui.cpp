// swinscope gui: starts the desktop program, which is a program of its own, so that this one needs no Qt.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.h"
#include "collector/launcher/command.h"
#include "store/error.h"

namespace swinscope::cli {

std::filesystem::path gui_program() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return self.parent_path() / "swinscope-gui";
}

namespace {

[[noreturn]] void start_gui(const std::vector<std::string>& runs) {
  const std::filesystem::path program = gui_program();
  std::vector<std::string> arguments = {program.string()};
  arguments.insert(arguments.end(), runs.begin(), runs.end());
  execv(program.c_str(), argument_pointers(arguments).data());
  if (errno == ENOENT) {
    throw Error(ErrorKind::kFailure, fmt::format("{}: no such program", program.string()),
                "the desktop program was not built: Qt 6.4 was not found when swinscope was configured",
                "install qt6-base-dev, then configure and build again");
  }
  throw Error(ErrorKind::kFailure, fmt::format("{}: cannot be started", program.string()), std::strerror(errno),
              "check its permissions");
}

}  // namespace

void add_gui(Program& program) {
  auto runs = std::make_shared<std::vector<std::string>>();
  Command& command = program.add_command("gui", "Look at runs and experiments in the desktop program");
  command.option("RUN", *runs, "Traces, run folders, experiments, foreign files");
  command.does([runs]() -> int { start_gui(*runs); });
}

}  // namespace swinscope::cli

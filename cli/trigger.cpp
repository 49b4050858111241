// swinscope trigger RUN: opens and closes an armed recording.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.h"
#include "collector/base/capture_window.h"
#include "collector/launcher/run_piece.h"
#include "store/private_file.h"

namespace swinscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHint =
    "start one with `swinscope record --armed -o RUN -- COMMAND`, and trigger it while it runs";

[[noreturn]] void refuse(const fs::path& folder, const std::string& what, const std::string& cause) {
  throw Error(ErrorKind::kUsage, fmt::format("{}: {}", folder.string(), what), cause, kHint);
}

// Throws Error(kUsage) unless this recorder looks for the trigger.
void require_listening(const fs::path& folder, const RunPiece& piece) {
  if (!piece.is_recording && !piece.end_utc_ns)
    refuse(folder, "nothing tells whether the recording is armed", "an older swinscope records, or recorded, it");
  if (piece.end_utc_ns) {
    refuse(folder, "the recording has ended", fmt::format("its {} says when", piece.file.filename().string()));
  }
  if (piece.window != "armed") {
    refuse(folder, "the recording is not armed",
           piece.window == "whole" ? "it records CUDA throughout"
                                   : fmt::format("it records CUDA in the window {}", piece.window));
  }
  // On another host that shares the folder its process cannot be seen.
  if (piece.recorder.is_visible() && !piece.recorder.is_running())
    refuse(folder, "the recording has ended", "its recorder was killed before it could say so");
}

// Throws Error(kUsage) where no recorder looks for the trigger: with the reason of the first one.
void require_listener(const fs::path& folder) {
  const std::vector<RunPiece> pieces = read_run_pieces(folder);
  if (pieces.empty()) refuse(folder, "no run is being recorded there", "it has no run.json");
  std::optional<Error> first;
  for (const RunPiece& piece : pieces) {
    try {
      return require_listening(folder, piece);
    } catch (const Error& error) {
      if (!first) first = error;
    }
  }
  throw Error(*first);
}

// The processes of the run look for the file a few times a second, on every host that shares the folder.
int run_trigger(const fs::path& folder) {
  require_listener(folder);
  std::error_code error;
  const fs::path file = folder / kTriggerFile;
  if (fs::remove(file, error)) {
    fmt::print(stderr, "swinscope: {}: CUDA is not recorded any more\n", folder.string());
    return 0;
  }
  const int made = create_private_file(file);
  if (made < 0) {
    throw Error(ErrorKind::kFailure, fmt::format("{}: cannot be written", file.string()), std::strerror(errno),
                "check the permissions of the folder");
  }
  close(made);
  fmt::print(stderr, "swinscope: {}: CUDA is recorded from now on\n", folder.string());
  return 0;
}

}  // namespace

void add_trigger(Program& program) {
  auto folder = std::make_shared<std::string>();
  Command& command = program.add_command("trigger", "Start an armed recording (`record --armed`), or stop it again");
  command.option("RUN", *folder, "Run folder").required();
  command.does([folder] { return run_trigger(*folder); });
}

}  // namespace swinscope::cli

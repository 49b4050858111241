// swinscope trigger RUN: opens and closes an armed recording.
#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "collector/capture_window.h"
#include "collector/identity.h"
#include "collector/process_stat.h"

namespace swinscope::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kHint =
    "start one with `swinscope record --armed -o RUN -- COMMAND`, and trigger it while it runs";

[[noreturn]] void refuse(const fs::path& folder, const std::string& what, const std::string& cause) {
  throw Error(ErrorKind::kUsage, fmt::format("{}: {}", folder.string(), what), cause, kHint);
}

// Another process may have its number by now, but no other began when it did.
bool is_alive(const Json& recorder) {
  const auto stat = read_process_stat(static_cast<pid_t>(recorder.value("pid", std::int64_t{0})));
  return stat && stat->state != 'Z' && stat->start_ticks == recorder.value("start_ticks", std::uint64_t{0});
}

// Throws Error(kUsage) where no process looks for the trigger.
void require_listener(const fs::path& folder) {
  std::ifstream file(folder / "run.json");
  if (!file) refuse(folder, "no run is being recorded there", "it has no run.json");
  const Json run = Json::parse(file, nullptr, false);
  if (!run.is_object()) refuse(folder, "no run is being recorded there", "its run.json is no JSON object");
  try {
    if (run.contains("end_utc_ns") && !run["end_utc_ns"].is_null())
      refuse(folder, "the recording has ended", "its run.json says when");
    if (!run.contains("window") || !run.contains("recorder"))
      refuse(folder, "nothing tells whether the recording is armed", "an older swinscope records, or recorded, it");
    if (const std::string window = run["window"]; window != "armed") {
      refuse(
          folder, "the recording is not armed",
          window == "whole" ? "it records CUDA throughout" : fmt::format("it records CUDA in the window {}", window));
    }
    // On another host that shares the folder its processes cannot be seen.
    const std::string host = run.value("host", "");
    if (host == host_name() && !is_alive(run["recorder"]))
      refuse(folder, "the recording has ended", "its recorder was killed before it could say so");
  } catch (const Json::exception& error) {
    refuse(folder, "nothing tells whether the recording is armed", error.what());
  }
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

// swinscope peaks: runs `swin peaks`, which links CUDA, so that this program does not.
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
namespace {

struct PeaksOptions {
  double seconds = 10.0;
  bool json = false;
  std::string format = "table";
  std::string rates;
  bool force = false;
};

std::filesystem::path swin_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "swin";
}

[[noreturn]] void start_peaks(const PeaksOptions& options) {
  if (options.format != "table" && options.format != "json") {
    throw Error(ErrorKind::kUsage, fmt::format("--format {}: not a format of peaks", options.format), {},
                "there are table and json");
  }
  const std::filesystem::path program = swin_program();
  std::vector<std::string> arguments = {program.string(), "peaks"};
  if (options.rates.empty()) {
    arguments.insert(arguments.end(), {"--seconds", fmt::format("{}", options.seconds)});
  } else {
    arguments.insert(arguments.end(), {"--rates", options.rates});
  }
  if (options.json || options.format == "json") arguments.emplace_back("--json");
  if (options.force) arguments.emplace_back("--force");
  execv(program.c_str(), argument_pointers(arguments).data());
  throw Error(ErrorKind::kFailure, fmt::format("{}: cannot be started", program.string()), std::strerror(errno),
              errno == ENOENT ? "`swin` is installed beside swinscope: build or install it" : "check its permissions");
}

}  // namespace

void add_peaks(Program& program) {
  auto options = std::make_shared<PeaksOptions>();
  Command& command = program.add_command("peaks", "Measure what this GPU reaches: copies, products, launches");
  const Option seconds = command.option("--seconds", options->seconds, "How long the sustained rate is measured")
                             .positive()
                             .show_default();
  const Option json = command.flag("--json", options->json, "As --format json: the option of `swin peaks`");
  // Judged when the command runs: a file of settings may hold another one for all commands.
  const Option format =
      command.option("--format", options->format, "Output format").value_name("table|json").excludes(json);
  command
      .option("--rates", options->rates,
              "Instead: write to this file what the advisor asks of a GPU, as `swin peaks --rates` does")
      .value_name("FILE")
      .excludes(seconds)
      .excludes(json)
      .excludes(format);
  command.flag("--force", options->force, "Replace the file of --rates if it exists");
  command.does([options]() -> int { start_peaks(*options); });
}

}  // namespace swinscope::cli

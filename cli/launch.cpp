// swinscope launch --ranks N -- CMD: the ranks of a job on this machine. `scale` uses it; it is there for users as
// well.
#include <memory>

#include "cli/command.h"
#include "collector/launcher/local_launcher.h"

namespace swinscope::cli {

void add_launch(Program& program) {
  struct Options {
    LaunchOptions launch;
    double grace_s = 10;
  };
  auto options = std::make_shared<Options>();
  Command& command =
      program.add_command("launch", "Start N ranks of a command on this machine (RANK, WORLD_SIZE, … set)");
  command.option("--ranks", options->launch.ranks, "Processes to start").required().within(1, 4096);
  command
      .option("--grace", options->grace_s, "Seconds that the others have to end by themselves once a rank has failed")
      .within(0.0, 86400.0)
      .show_default();
  command.option("CMD", options->launch.command, "The command, after --").required();
  command.does([options] {
    options->launch.grace = std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * options->grace_s));
    return launch_local(options->launch);
  });
}

}  // namespace swinscope::cli

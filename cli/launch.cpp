// swinscope launch --ranks N -- CMD: the ranks of a job on this machine. `scale` uses it; it is there for users as
// well.
#include <memory>

#include "cli/command.h"
#include "collector/launcher/local_launcher.h"

namespace swinscope::cli {

void add_launch(CLI::App& app, int& status) {
  struct Options {
    LaunchOptions launch;
    double grace_s = 10;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("launch", "Start N ranks of a command on this machine (RANK, WORLD_SIZE, … set)");
  command->add_option("--ranks", options->launch.ranks, "Processes to start")->required()->check(CLI::Range(1, 4096));
  command
      ->add_option("--grace", options->grace_s,
                   "Seconds that the others have to end by themselves once a rank has failed")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
  command->add_option("CMD", options->launch.command, "The command, after --")->required();
  command->callback([options, &status] {
    options->launch.grace = std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * options->grace_s));
    status = launch_local(options->launch);
  });
}

}  // namespace swinscope::cli

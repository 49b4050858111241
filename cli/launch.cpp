// swinscope launch --ranks N -- CMD: the ranks of a job on this machine. `scale` uses it; it is there for users as
// well.
#include <memory>

#include "cli/command.h"
#include "collector/local_launcher.h"

namespace swinscope::cli {

void add_launch(CLI::App& app, int& status) {
  struct Options {
    int ranks = 1;
    std::vector<std::string> command;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("launch", "Start N ranks of a command on this machine (RANK, WORLD_SIZE, … set)");
  command->add_option("--ranks", options->ranks, "Processes to start")->required()->check(CLI::Range(1, 4096));
  command->add_option("CMD", options->command, "The command, after --")->required();
  command->callback([options, &status] { status = launch_local(options->ranks, options->command); });
}

}  // namespace swinscope::cli

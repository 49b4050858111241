// swinscope platforms: facts of GPUs and machines, and what others have published.
#include "analyzer/experiment/platforms.h"

#include <memory>

#include "cli/command.h"

namespace swinscope::cli {

void add_platforms(CLI::App& app, int& status) {
  auto options = std::make_shared<CommonOptions>();
  CLI::App* command =
      app.add_subcommand("platforms", "Facts of GPUs and machines, and published results to compare with");
  options->add_to(*command);
  command->callback([options, &status] {
    emit(platforms_document(), *options);
    status = 0;
  });
}

}  // namespace swinscope::cli

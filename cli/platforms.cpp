// swinscope platforms: facts of GPUs and machines, and what others have published.
#include "analyzer/experiment/platforms.h"

#include <memory>

#include "cli/command.h"

namespace swinscope::cli {

void add_platforms(Program& program) {
  auto options = std::make_shared<CommonOptions>();
  Command& command = program.add_command("platforms", "GPU specifications and published scaling results");
  options->tables.add_to(command);
  options->add_to(command);
  command.does([options] {
    emit(platforms_document(), *options);
    return 0;
  });
}

}  // namespace swinscope::cli

// Lines to copy, at the end of the help of each command.
#pragma once

#include "options/options.h"

namespace swinscope::cli {

// To be called when all commands are there.
void add_examples(Program& program);

}  // namespace swinscope::cli

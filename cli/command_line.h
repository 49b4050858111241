// The words of a command line before CLI11 reads them, and what is wrong with those that it refuses.
#pragma once

#include <string>
#include <vector>

#include "options/options.h"
#include "store/error.h"

namespace swinscope::cli {

// The same command line as CLI11 reads it: `help`, `help COMMAND`, `version` and -V become --help, COMMAND --help and
// --version; options that stand before the command move behind it.
std::vector<std::string> in_order(const Program& program, std::vector<std::string> words);

// Why CLI11 refused the words: names the option or command that is unknown, and the nearest one that there is.
Error refused_words(const Program& program, const std::vector<std::string>& words, const OptionError& error);

}  // namespace swinscope::cli

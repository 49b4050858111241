// Settings from files: they become the defaults of the sub-commands' options.
//
// ~/.config/swinscope/config.toml is the user's and may set every option. ./.swinscope.toml may have come with somebody
// else's trace: it sets how things look, and nothing else; its other settings are ignored with a warning. It goes
// before the user's file; SWINSCOPE_* and the command line go before both.
#pragma once

#include <string>
#include <vector>

#include "options/options.h"
#include "store/error.h"

namespace swinscope::cli {

class ConfigFiles {
 public:
  // Reads both files. Mistakes are kept for report().
  explicit ConfigFiles(const Program& program);

  // Once the command is known: warns of what was ignored. A mistake that concerns the command is thrown, Error
  // (kUsage); with `doctor`, which helps to find it, and with commands that run a program it is a warning, too.
  void report(const Program& program) const;

 private:
  struct Mistake {
    std::string section;  // the name of a sub-command; empty: concerns all
    Error error;
  };
  struct Ignored {
    std::string section;
    std::string warning;
  };

  void read(const std::string& file, const Program& program, bool only_looks);

  std::vector<Mistake> mistakes_;
  std::vector<Ignored> ignored_;
};

}  // namespace swinscope::cli

// What a shell completes of a program's command lines, out of the options that the program declares: commands, their
// options, and the values of options that take one of a few. Everything else is a file's name, as it is without
// completions.
#pragma once

#include <string>

#include "options/options.h"

namespace swinscope {

// A file for the shell to read: sourced by bash and fish, found as _PROGRAM on zsh's fpath.
std::string bash_completion(const Program& program);
std::string zsh_completion(const Program& program);
std::string fish_completion(const Program& program);

// Declares `completion SHELL`, which prints them, and for SHELL `man` the options for the manual page
// (options/manual.h).
void add_completion(Program& program);

}  // namespace swinscope

// The section OPTIONS of a program's manual page, out of the options that the program declares: a part for each command
// with the options that it has to itself, and one part for those that several commands have.
#pragma once

#include <string>

#include "options/options.h"

namespace swinscope {

// In roff's man macros, from the first .SS on.
std::string options_manual(const Program& program);

}  // namespace swinscope

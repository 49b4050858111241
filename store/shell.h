// Commands that a message tells the user to type.
#pragma once

#include <string>

namespace swinscope {

// A word of a shell's command line that stands for exactly this text: quoted where it has to be.
std::string shell_word(const std::string& text);

// A path as an argument of a command: quoted where it has to be, and no option when it begins with a dash.
std::string path_argument(const std::string& path);

}  // namespace swinscope

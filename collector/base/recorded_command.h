// The command line as a trace keeps it: what stands behind a word for a secret (--password, TOKEN=, user:…@ of an
// address) is "***", for traces are passed on. Whatever else is secret a trace holds as it was typed
// (docs/security.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace swinscope {

// A name behind which stands what is for nobody: TOKEN, PASSWORD, …, in any case.
bool names_a_secret(std::string_view name);

std::vector<std::string> without_secrets(std::vector<std::string> arguments);
// The same as one line for a shell.
std::string recorded_command(std::vector<std::string> arguments);

}  // namespace swinscope

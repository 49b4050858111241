// Finding and starting the command that a user names.
#pragma once

#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

#include "store/error.h"

namespace swinscope {

// The command could not be started. As a shell and env(1) do, `record` should then exit with 127 (not found) or 126
// (found, but not executable).
class CommandError : public Error {
 public:
  CommandError(int exit_status, const std::string& what, const std::string& cause, const std::string& hint)
      : Error(ErrorKind::kFailure, what, cause, hint), exit_status_(exit_status) {}
  int exit_status() const { return exit_status_; }

 private:
  int exit_status_;
};

// The file that a command names, as execvp would find it. Throws CommandError.
std::filesystem::path find_command(const std::string& name);

// The arguments for execv() and posix_spawn(), as long as `arguments` stays as it is.
std::vector<char*> argument_pointers(std::vector<std::string>& arguments);

// Starts the program with this process's environment, `variables` set, and the signal mask. Throws CommandError.
pid_t spawn_command(const std::filesystem::path& program, std::vector<std::string> arguments,
                    const std::map<std::string, std::string>& variables, const sigset_t& mask);

// Replaces this process by the program, with its environment and signal mask. Throws CommandError.
[[noreturn]] void become_command(const std::filesystem::path& program, std::vector<std::string> arguments);

}  // namespace swinscope

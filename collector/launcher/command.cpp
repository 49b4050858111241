#include "collector/launcher/command.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves the declaration to the program

namespace swinscope {
namespace fs = std::filesystem;
namespace {

constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;

// This process's environment with some variables set.
class ChildEnvironment {
 public:
  explicit ChildEnvironment(const std::map<std::string, std::string>& set) {
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
      const std::string text = *variable;
      if (set.count(text.substr(0, text.find('='))) == 0) texts_.push_back(text);
    }
    for (const auto& [name, value] : set)
      texts_.push_back(fmt::format("{}={}", name, value));
    for (std::string& text : texts_)
      pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }
  char* const* data() const { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

[[noreturn]] void fail_to_start(const std::string& name, int code) {
  throw CommandError(
      code == ENOENT ? kNotFound : kNotExecutable, fmt::format("{}: cannot be started", name), std::strerror(code),
      code == ENOEXEC ? "a script needs a first line such as #!/bin/sh" : "check the file and its interpreter");
}

}  // namespace

fs::path find_command(const std::string& name) {
  const auto is_program = [](const fs::path& path) {
    std::error_code none;
    return access(path.c_str(), X_OK) == 0 && !fs::is_directory(path, none);
  };
  if (name.empty()) throw CommandError(kNotFound, "the command is empty", "", "give it after --: … -- COMMAND");
  if (name.find('/') != std::string::npos) {
    std::error_code none;
    if (!fs::exists(name, none))
      throw CommandError(kNotFound, fmt::format("{}: no such command", name), "the file does not exist",
                         "check the path");
    if (!is_program(name)) {
      throw CommandError(kNotExecutable, fmt::format("{}: cannot be executed", name),
                         "it is a folder or has no execute permission",
                         fmt::format("chmod +x {}, or name its interpreter: … -- python {}", name, name));
    }
    return name;
  }
  const char* path = std::getenv("PATH");
  std::string folders = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  std::size_t begin = 0;
  while (begin <= folders.size()) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    fs::path candidate =
        fs::path(folders.substr(begin, end - begin).empty() ? "." : folders.substr(begin, end - begin)) / name;
    if (is_program(candidate)) return candidate;
    begin = end + 1;
  }
  throw CommandError(kNotFound, fmt::format("{}: no such command", name), "it is in none of the folders of PATH",
                     "check the spelling; a program in this folder is named ./" + name);
}

std::vector<char*> argument_pointers(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments)
    pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return pointers;
}

pid_t spawn_command(const fs::path& program, std::vector<std::string> arguments,
                    const std::map<std::string, std::string>& variables, const sigset_t& mask) {
  const ChildEnvironment environment(variables);
  const std::vector<char*> argv = argument_pointers(arguments);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int code = posix_spawn(&child, program.c_str(), nullptr, &attributes, argv.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  if (code != 0) fail_to_start(arguments.front(), code);
  return child;
}

void become_command(const fs::path& program, std::vector<std::string> arguments) {
  const std::vector<char*> argv = argument_pointers(arguments);
  execv(program.c_str(), argv.data());
  fail_to_start(arguments.front(), errno);
}

}  // namespace swinscope

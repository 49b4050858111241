#include "cli/launcher_line.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "collector/launcher/command.h"

namespace swinscope::cli {
namespace fs = std::filesystem;
namespace {

constexpr int kNotFound = 127;

std::string own_path() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  return error ? "swinscope" : path.string();
}

bool is_there(const std::string& name) {
  try {
    find_command(name);
    return true;
  } catch (const CommandError&) {
    return false;
  }
}

// python, python3, python3.11, with or without a path.
bool is_python(const std::string& word) {
  const std::string name = fs::path(word).filename().string();
  return name.starts_with("python") && name.find_first_not_of("0123456789.", 6) == std::string::npos;
}

bool is_script(const std::string& word) { return word.ends_with(".py"); }

// Whether the system can run a script by itself.
bool runs_itself(const std::string& script) {
  return script.find('/') != std::string::npos && access(script.c_str(), X_OK) == 0;
}

// Options of the interpreter that say nothing to torchrun, which prints unbuffered by itself.
bool is_unbuffered(const std::string& word) { return word == "-u"; }

std::vector<std::string> torchrun_arguments(const std::vector<std::string>& command) {
  std::vector<std::string> words = command;
  if (is_python(words.front())) {
    words.erase(words.begin());
    while (!words.empty() && is_unbuffered(words.front()))
      words.erase(words.begin());
    const bool is_target = !words.empty() && (words.front() == "-m" || words.front().front() != '-');
    if (is_target) return words;
    words = command;
  } else if (is_script(words.front()) || words.front() == "-m") {
    return words;
  }
  words.insert(words.begin(), "--no-python");
  return words;
}

std::vector<std::string> with_interpreter(std::vector<std::string> command) {
  const std::string& first = command.front();
  if (first != "-m" && (!is_script(first) || runs_itself(first))) return command;
  command.insert(command.begin(), is_there("python") ? "python" : "python3");
  return command;
}

// The first word of the command that is a file to run, "" for a module.
std::string program_of(const std::vector<std::string>& command) {
  std::size_t at = 0;
  if (is_python(command.front())) ++at;
  while (at < command.size() && is_unbuffered(command[at]))
    ++at;
  return at < command.size() && command[at] != "-m" ? command[at] : std::string();
}

std::string how_to_get(const std::string& launcher) {
  if (launcher == "torchrun") return "it comes with PyTorch (pip install torch); activate its environment";
  if (launcher == "mpirun") return "install an MPI (Debian: apt install openmpi-bin), or load its module";
  return "it comes with Slurm: start swinscope on a machine of the cluster, within an allocation";
}

}  // namespace

std::vector<std::string> launcher_line(const Launcher& launcher, int ranks, const std::vector<std::string>& command) {
  const std::string count = std::to_string(ranks);
  std::vector<std::string> line = {launcher.name, "-n", count};
  std::vector<std::string> rest = with_interpreter(command);
  if (launcher.name == "torchrun") {
    line = {launcher.name, "--nproc_per_node", count};
    rest = torchrun_arguments(command);
  } else if (launcher.name == "local") {
    line = {own_path(), "launch", "--ranks", count, "--"};
    rest = command;
  }
  line.insert(line.end(), launcher.extra.begin(), launcher.extra.end());
  line.insert(line.end(), rest.begin(), rest.end());
  return line;
}

void require_launcher(const Launcher& launcher, const std::vector<std::string>& command) {
  if (launcher.name == "local") {
    find_command(command.front());
    return;
  }
  if (!is_there(launcher.name)) {
    throw CommandError(kNotFound, fmt::format("--launcher {0}: there is no {0}", launcher.name),
                       "it is in none of the folders of PATH", how_to_get(launcher.name));
  }
  const std::string program = program_of(command);
  if (!is_script(program)) {
    if (program == command.front()) find_command(program);
    return;
  }
  std::error_code ignored;
  if (fs::is_regular_file(program, ignored)) return;
  throw CommandError(kNotFound, fmt::format("{}: no such script", program), "the file does not exist",
                     "check the path; it is looked for from the folder in which swinscope was started");
}

std::string launcher_advice(const Launcher& launcher) {
  if (launcher.name != "mpirun") return {};
  std::string advice = geteuid() == 0 ? "as root mpirun wants --launcher-args=--allow-run-as-root; " : "";
  advice += "where it has too few slots, --launcher-args=--oversubscribe lets ranks share cores";
  return advice;
}

}  // namespace swinscope::cli

#include "tests/integration/run_program.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace swinscope::tests {
namespace fs = std::filesystem;
namespace {

void check(int code, const std::string& what) {
  if (code != 0) throw std::system_error(code, std::generic_category(), what);
}

// The two ends of a pipe or of a terminal.
struct Channel {
  int read_end = -1;
  int write_end = -1;
};

Channel make_pipe() {
  std::array<int, 2> ends{};
  check(pipe2(ends.data(), O_CLOEXEC) == 0 ? 0 : errno, "pipe2");
  return {ends[0], ends[1]};
}

Channel make_terminal(unsigned short columns) {
  Channel channel;
  winsize size{};
  size.ws_row = 50;
  size.ws_col = columns;
  check(openpty(&channel.read_end, &channel.write_end, nullptr, nullptr, &size) == 0 ? 0 : errno, "openpty");
  for (const int end : {channel.read_end, channel.write_end})
    fcntl(end, F_SETFD, FD_CLOEXEC);
  return channel;
}

std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry)
    result.emplace_back(*entry);
  for (const std::string& change : changes) {
    const std::string name = change.substr(0, change.find('='));
    result.erase(
        std::remove_if(result.begin(), result.end(),
                       [&](const std::string& entry) { return entry.compare(0, name.size() + 1, name + "=") == 0; }),
        result.end());
    if (change.size() > name.size()) result.push_back(change);
  }
  return result;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Appends what can be read; false at the end. A terminal whose other side has closed reports EIO.
bool read_some(int from, std::string& into) {
  std::array<char, 65536> buffer{};
  const ssize_t count = read(from, buffer.data(), buffer.size());
  if (count > 0) into.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

void close_and_forget(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

}  // namespace

Program::Program(const std::vector<std::string>& command, const ProgramOptions& options) {
  Channel out = options.terminal_columns > 0 ? make_terminal(options.terminal_columns) : make_pipe();
  Channel err = make_pipe();
  out_ = out.read_end;
  err_ = err.read_end;

  posix_spawn_file_actions_t actions;
  check(posix_spawn_file_actions_init(&actions), "posix_spawn_file_actions_init");
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write_end, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write_end, STDERR_FILENO);
  if (!options.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str());
  // A test run in the background ignores SIGINT, and a program would inherit that.
  posix_spawnattr_t attributes;
  check(posix_spawnattr_init(&attributes), "posix_spawnattr_init");
  sigset_t reset;
  sigemptyset(&reset);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE})
    sigaddset(&reset, signal);
  posix_spawnattr_setsigdefault(&attributes, &reset);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);

  std::vector<std::string> arguments = command;
  std::vector<std::string> environment = environment_with(options.environment);
  const int code = posix_spawnp(&pid_, command.at(0).c_str(), &actions, &attributes, pointers_to(arguments).data(),
                                pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close_and_forget(out.write_end);
  close_and_forget(err.write_end);
  if (code == 0) return;
  pid_ = -1;
  close_and_forget(out_);
  close_and_forget(err_);
  check(code, command.at(0));
}

Program::~Program() {
  close_and_forget(out_);
  close_and_forget(err_);
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Program::send(int signal) const { check(kill(pid_, signal) == 0 ? 0 : errno, "kill"); }

bool Program::has_ended() const {
  siginfo_t info{};
  check(waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 ? 0 : errno, "waitid");
  return info.si_pid == pid_;
}

ProgramResult Program::wait() {
  ProgramResult result;
  while (out_ >= 0 || err_ >= 0) {
    // poll() passes over negative descriptors.
    std::array<pollfd, 2> sources = {{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};
    if (poll(sources.data(), sources.size(), -1) < 0 && errno != EINTR) check(errno, "poll");
    if (sources[0].revents != 0 && !read_some(out_, result.out)) close_and_forget(out_);
    if (sources[1].revents != 0 && !read_some(err_, result.err)) close_and_forget(err_);
  }
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0)
    check(errno == EINTR ? 0 : errno, "waitpid");
  pid_ = -1;
  result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

ProgramResult run_program(const std::vector<std::string>& command, const ProgramOptions& options) {
  return Program(command, options).wait();
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "swinscope-test-XXXXXX").string();
  check(mkdtemp(pattern.data()) != nullptr ? 0 : errno, pattern);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  if (!file) throw std::runtime_error(path.string() + ": cannot be read");
  return content.str();
}

void write_file(const fs::path& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  if (!file) throw std::runtime_error(path.string() + ": cannot be written");
}

}  // namespace swinscope::tests

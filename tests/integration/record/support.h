// Programs under record_tool, and what they left behind.
#pragma once

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/store/support.h"

namespace swinscope::test {

inline const fs::path kPrograms = SWINSCOPE_TEST_PROGRAMS;  // where the test's programs are built

// A child process with its output in a pipe.
class Process {
 public:
  Process(std::vector<std::string> command, const std::vector<std::pair<std::string, std::string>>& variables = {},
          const std::function<void()>& before_exec = {}) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      // A process group of its own, so that a test can play the terminal.
      setpgid(0, 0);
      for (const auto& [name, value] : variables)
        setenv(name.c_str(), value.c_str(), 1);
      if (before_exec) before_exec();
      std::vector<char*> arguments;
      arguments.reserve(command.size() + 1);
      for (std::string& argument : command)
        arguments.push_back(argument.data());
      arguments.push_back(nullptr);
      execvp(arguments[0], arguments.data());
      _exit(111);
    }
    close(ends[1]);
    output_ = ends[0];
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  Process(Process&&) = delete;
  Process& operator=(Process&&) = delete;
  ~Process() {
    if (pid_ > 0 && !waited_) {
      kill(-pid_, SIGKILL);
      wait();
    }
    close(output_);
  }

  pid_t pid() const { return pid_; }

  // Reads until `text` has come, or the program has closed its output. True when it came.
  bool wait_for(const std::string& text) {
    while (read_.find(text) == std::string::npos) {
      if (!read_some()) return false;
    }
    return true;
  }
  const std::string& rest() {
    while (read_some()) {
    }
    return read_;
  }

  // The exit status, 128 + n for signal n.
  int wait() {
    rest();
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    waited_ = true;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  const std::string& output() const { return read_; }

 private:
  bool read_some() {
    std::array<char, 4096> block{};
    const ssize_t got = read(output_, block.data(), block.size());
    if (got > 0) read_.append(block.data(), static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && errno == EINTR);
  }

  pid_t pid_ = -1;
  int output_ = -1;
  bool waited_ = false;
  std::string read_;
};

// record_tool FOLDER COMMAND…
inline std::vector<std::string> under_record(const fs::path& folder, const std::vector<std::string>& command) {
  std::vector<std::string> all = {(kPrograms / "record_tool").string(), folder.string()};
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

inline std::string program(const char* name) { return (kPrograms / name).string(); }

inline std::vector<fs::path> rank_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const std::string& name : names_in(folder)) {
    if (name.rfind("rank", 0) == 0) files.push_back(folder / name);
  }
  return files;
}

// A finished run: every file is a plain intact database.
inline void expect_finished(const fs::path& folder) {
  for (const std::string& name : names_in(folder)) {
    EXPECT_TRUE(name == "run.json" || name.substr(name.size() - 3) == ".db") << name;
    if (name == "run.json") continue;
    EXPECT_EQ(Sqlite(folder / name).value("PRAGMA integrity_check"), "ok") << name;
    EXPECT_EQ(Sqlite(folder / name).value("PRAGMA journal_mode"), "delete") << name;
  }
}

inline std::vector<std::string> range_names(const fs::path& file) {
  return Sqlite(file).values(
      "SELECT value FROM (SELECT n.*, coalesce(text, s.value) AS value FROM NVTX_EVENTS n LEFT JOIN StringIds s ON "
      "s.id = n.textId) WHERE eventType IN (59, 60) ORDER BY start, -end");
}

inline std::string quoted(const std::string& name) { return "'" + name + "'"; }

}  // namespace swinscope::test

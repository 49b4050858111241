// Runs a program as a user would and keeps what it printed and how it ended.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace swinscope::tests {

struct ProgramOptions {
  std::filesystem::path folder;          // working directory; empty: that of the test
  std::vector<std::string> environment;  // on top of the test's own: NAME=VALUE sets, NAME alone removes
  // Columns of a terminal that stands in for the standard output; 0: a pipe. A terminal turns \n into \r\n.
  unsigned short terminal_columns = 0;
};

struct ProgramResult {
  int status = 0;  // exit status; 128 + N when signal N ended the program
  std::string out;
  std::string err;
};

// A running program. What it prints is read by wait(): one that prints much stands still until then.
class Program {
 public:
  // `command`: the program, a path or a name in PATH, and its arguments. Throws std::system_error when it cannot start.
  explicit Program(const std::vector<std::string>& command, const ProgramOptions& options = {});
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  Program(Program&&) = delete;
  Program& operator=(Program&&) = delete;
  // Kills the program when it was not waited for.
  ~Program();

  pid_t pid() const { return pid_; }
  void send(int signal) const;
  // It ended, and wait() will not block.
  bool has_ended() const;
  // Once only.
  ProgramResult wait();

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
};

ProgramResult run_program(const std::vector<std::string>& command, const ProgramOptions& options = {});

// A folder of its own for a test; removed with its content.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// Throw std::runtime_error with the path when the file cannot be read or written.
std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& content);

}  // namespace swinscope::tests

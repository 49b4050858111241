// Starting programs from tests and collecting what they print.
#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace swinscope::test {

// A folder that is removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "swinscope-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Finished {
  int status = -1;  // exit status, or 128 + the signal that ended it
  std::string out;
  std::string err;
};

// A running program; its output goes to files in `folder`.
class Subprocess {
 public:
  // `variables` are set on top of this process's environment; those with an empty value are unset.
  Subprocess(const std::vector<std::string>& command, const std::map<std::string, std::string>& variables,
             const std::filesystem::path& folder, const std::string& name)
      : out_(folder / (name + ".out")), err_(folder / (name + ".err")) {
    std::vector<std::string> texts;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text = *entry;
      if (!variables.contains(text.substr(0, text.find('=')))) texts.push_back(text);
    }
    for (const auto& [key, value] : variables) {
      if (!value.empty()) texts.push_back(std::string(key).append("=").append(value));
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    const int error =
        ::posix_spawn(&pid_, command[0].c_str(), &actions, nullptr, pointers(command).data(), pointers(texts).data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("cannot start " + command[0]);
  }
  ~Subprocess() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Subprocess(Subprocess&& other) noexcept
      : out_(std::move(other.out_)), err_(std::move(other.err_)), pid_(std::exchange(other.pid_, -1)) {}
  Subprocess& operator=(Subprocess&&) = delete;
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  pid_t pid() const { return pid_; }

  // Returns when the program has written `text` to stderr, or has ended.
  void wait_for_message(const std::string& text) const {
    while (read(err_).find(text) == std::string::npos && !has_ended())
      std::this_thread::sleep_for(kPoll);
  }

  // A program that has not ended by then is killed (and its status says so).
  Finished wait_at_most(std::chrono::seconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!has_ended() && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(kPoll);
    ::kill(pid_, SIGKILL);  // of a program that has ended: nothing
    return wait();
  }

  Finished wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    Finished finished;
    finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    finished.out = read(out_);
    finished.err = read(err_);
    return finished;
  }

 private:
  static constexpr std::chrono::milliseconds kPoll{2};

  bool has_ended() const {
    siginfo_t info = {};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid_;
  }
  static std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    for (const std::string& text : texts)
      result.push_back(const_cast<char*>(text.c_str()));
    result.push_back(nullptr);
    return result;
  }
  static std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

  std::filesystem::path out_;
  std::filesystem::path err_;
  pid_t pid_ = -1;
};

// Unsets what a launcher around the tests may have set.
inline std::map<std::string, std::string> no_launcher() {
  return {{"RANK", ""},
          {"WORLD_SIZE", ""},
          {"LOCAL_RANK", ""},
          {"OMPI_COMM_WORLD_RANK", ""},
          {"OMPI_COMM_WORLD_SIZE", ""},
          {"SLURM_PROCID", ""},
          {"SLURM_NTASKS", ""},
          {"SLURM_LOCALID", ""},
          {"SWINSCOPE_RUN_DIR", ""}};
}

inline std::map<std::string, std::string> as_rank(int rank, int size, const std::filesystem::path& folder) {
  std::map<std::string, std::string> variables = no_launcher();
  variables["RANK"] = std::to_string(rank);
  variables["WORLD_SIZE"] = std::to_string(size);
  variables["LOCAL_RANK"] = std::to_string(rank);
  variables["SWINSCOPE_RUN_DIR"] = folder.string();
  return variables;
}

// Both ranks of a run of two, by rank; `folder` is where they meet and write their output.
inline std::array<Finished, 2> run_two_ranks(const std::vector<std::string>& command,
                                             const std::filesystem::path& folder) {
  Subprocess first(command, as_rank(0, 2, folder), folder, "first");
  Subprocess second(command, as_rank(1, 2, folder), folder, "second");
  return {first.wait(), second.wait()};
}

}  // namespace swinscope::test

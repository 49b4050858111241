// Runs a piece of a test in a process of its own.
#pragma once

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <stdexcept>

#include <sys/wait.h>
#include <unistd.h>

namespace swinscope::test {

// A child that tells its parent numbers through a pipe. It is killed, at the latest when the object dies.
class Child {
 public:
  using Tell = std::function<void(std::int64_t)>;

  explicit Child(const std::function<void(const Tell&)>& body) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("no child");
    if (pid_ == 0) {
      close(ends[0]);
      int status = 0;
      try {
        body([&](std::int64_t number) {
          if (write(ends[1], &number, sizeof number) != sizeof number) _exit(2);
        });
      } catch (...) {
        status = 1;
      }
      _exit(status);  // not exit(): the parent's test results are not ours to print
    }
    close(ends[1]);
    numbers_ = ends[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  Child(Child&&) = delete;
  Child& operator=(Child&&) = delete;
  ~Child() {
    if (pid_ > 0) kill_now();
    close(numbers_);
  }

  // The next number told; `none` when the child has ended. After kill_now(), what it had told before.
  std::int64_t hear(std::int64_t none = -1) const {
    std::int64_t number = 0;
    return read(numbers_, &number, sizeof number) == sizeof number ? number : none;
  }

  void kill_now() {
    kill(pid_, SIGKILL);
    wait_for_end();
  }

  // The exit status, -1 when a signal ended it.
  int wait_for_end() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = 0;
  int numbers_ = -1;
};

}  // namespace swinscope::test

// What a process takes on that starts a command and watches it.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>

namespace swinscope {

// Blocks the signals that this process waits for, and is the parent of its descendants' orphans; undone in the
// destructor. A file that may not grow further (RLIMIT_FSIZE) makes a write fail, and does not end this process.
class ParentRole {
 public:
  ParentRole();
  ParentRole(const ParentRole&) = delete;
  ParentRole& operator=(const ParentRole&) = delete;
  ParentRole(ParentRole&&) = delete;
  ParentRole& operator=(ParentRole&&) = delete;
  ~ParentRole();

  const sigset_t& mask_before() const { return mask_before_; }

  // The next signal that is to be forwarded, or SIGCHLD; none until the time (CLOCK_MONOTONIC) has come.
  std::optional<siginfo_t> wait_until(std::int64_t until_ns) const;

 private:
  sigset_t waited_for_{};
  sigset_t mask_before_{};
  struct sigaction child_before_ = {};
  int was_subreaper_ = 0;
};

}  // namespace swinscope

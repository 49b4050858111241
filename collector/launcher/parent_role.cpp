#include "collector/launcher/parent_role.h"

#include <algorithm>
#include <array>
#include <ctime>

#include <sys/prctl.h>

#include "collector/base/clock.h"

namespace swinscope {
namespace {

constexpr std::array<int, 6> kForwarded = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

sigset_t file_too_large() {
  sigset_t set{};
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

}  // namespace

ParentRole::ParentRole() {
  sigemptyset(&waited_for_);
  for (const int signal : kForwarded)
    sigaddset(&waited_for_, signal);
  sigaddset(&waited_for_, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &waited_for_, &mask_before_);
  const sigset_t too_large = file_too_large();
  pthread_sigmask(SIG_BLOCK, &too_large, nullptr);
  // Ignored, it would make the kernel throw away the exit status that we return.
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &by_default, &child_before_);
  prctl(PR_GET_CHILD_SUBREAPER, &was_subreaper_);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

ParentRole::~ParentRole() {
  prctl(PR_SET_CHILD_SUBREAPER, was_subreaper_);
  const sigset_t too_large = file_too_large();
  const timespec now{};
  sigtimedwait(&too_large, nullptr, &now);
  sigaction(SIGCHLD, &child_before_, nullptr);
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

std::optional<siginfo_t> ParentRole::wait_until(std::int64_t until_ns) const {
  const std::int64_t left_ns = std::max(until_ns - monotonic_ns(), std::int64_t{0});
  const timespec timeout{left_ns / 1'000'000'000, left_ns % 1'000'000'000};
  siginfo_t info{};
  return sigtimedwait(&waited_for_, &info, &timeout) > 0 ? std::optional(info) : std::nullopt;
}

}  // namespace swinscope

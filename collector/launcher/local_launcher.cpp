#include "collector/launcher/local_launcher.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/base/clock.h"

namespace swinscope {
namespace {

constexpr int kKilledBase = 128;
constexpr std::array<int, 4> kForwarded = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// A port that was free a moment ago. Another process may take it before the job does; the job then fails and says so.
int free_port() {
  const int socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool ok = socket_fd >= 0 && bind(socket_fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                  getsockname(socket_fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  const int reason = errno;
  if (socket_fd >= 0) close(socket_fd);
  if (!ok) {
    throw Error(ErrorKind::kFailure, "no free port on the loopback interface", std::strerror(reason),
                "bring the loopback interface up (ip link set lo up)");
  }
  return ntohs(address.sin_port);
}

// The processes of one job. Those that are left when it ends early are killed.
class Job {
 public:
  explicit Job(const LaunchOptions& options) : options_(options), pids_(static_cast<std::size_t>(options.ranks), 0) {
    sigemptyset(&waited_for_);
    sigaddset(&waited_for_, SIGCHLD);
    for (const int signal : kForwarded)
      sigaddset(&waited_for_, signal);
    pthread_sigmask(SIG_BLOCK, &waited_for_, &mask_before_);
    // Ignored, it would make the kernel throw away the statuses of the ranks.
    struct sigaction by_default = {};
    by_default.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &by_default, &child_before_);
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  Job(Job&&) = delete;
  Job& operator=(Job&&) = delete;
  ~Job() {
    signal_all(SIGKILL);
    for (const pid_t pid : pids_) {
      if (pid > 0) waitpid(pid, nullptr, 0);
    }
    sigaction(SIGCHLD, &child_before_, nullptr);
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  }

  int run() {
    const std::filesystem::path program = find_command(options_.command.empty() ? "" : options_.command.front());
    const std::string port = std::to_string(free_port());
    for (std::size_t rank = 0; rank < pids_.size(); ++rank)
      pids_[rank] = spawn_command(program, options_.command, variables_for(rank, port), mask_before_);
    while (reap()) {
      if (const auto signal = next_signal()) {
        // From the terminal it went to the whole process group, the ranks included.
        if (signal->si_signo != SIGCHLD && signal->si_code != SI_KERNEL) signal_all(signal->si_signo);
      }
      if (kill_at_ns_ && monotonic_ns() >= *kill_at_ns_) {
        signal_all(SIGKILL);
        kill_at_ns_.reset();
      }
    }
    return status_;
  }

 private:
  std::map<std::string, std::string> variables_for(std::size_t rank, const std::string& port) const {
    const std::string number = std::to_string(rank);
    const std::string count = std::to_string(pids_.size());
    return {{"RANK", number},
            {"LOCAL_RANK", number},
            {"WORLD_SIZE", count},
            {"LOCAL_WORLD_SIZE", count},
            {"MASTER_ADDR", "127.0.0.1"},
            {"MASTER_PORT", port}};
  }

  std::optional<siginfo_t> next_signal() const {
    siginfo_t info{};
    if (!kill_at_ns_) return sigwaitinfo(&waited_for_, &info) > 0 ? std::optional(info) : std::nullopt;
    const std::int64_t left_ns = std::max(*kill_at_ns_ - monotonic_ns(), std::int64_t{0});
    const timespec timeout{left_ns / 1'000'000'000, left_ns % 1'000'000'000};
    return sigtimedwait(&waited_for_, &info, &timeout) > 0 ? std::optional(info) : std::nullopt;
  }

  // False when no rank is left.
  bool reap() {
    for (std::size_t rank = 0; rank < pids_.size(); ++rank) {
      int status = 0;
      if (pids_[rank] <= 0 || waitpid(pids_[rank], &status, WNOHANG) != pids_[rank]) continue;
      pids_[rank] = 0;
      if (status != 0 && status_ == 0) fail(rank, status);
    }
    return std::any_of(pids_.begin(), pids_.end(), [](pid_t pid) { return pid > 0; });
  }

  void fail(std::size_t rank, int status) {
    const bool was_killed = WIFSIGNALED(status);
    status_ = was_killed ? kKilledBase + WTERMSIG(status) : WEXITSTATUS(status);
    fmt::print(stderr, "error: rank {} of {} {} {}\n", rank, pids_.size(),
               was_killed ? "was killed by signal" : "ended with status", was_killed ? WTERMSIG(status) : status_);
    signal_all(SIGTERM);
    kill_at_ns_ = monotonic_ns() + std::chrono::nanoseconds(options_.grace).count();
  }

  void signal_all(int signal) const {
    for (const pid_t pid : pids_) {
      if (pid > 0) kill(pid, signal);
    }
  }

  const LaunchOptions& options_;
  std::vector<pid_t> pids_;  // by rank; 0: has ended
  sigset_t waited_for_{};
  sigset_t mask_before_{};
  struct sigaction child_before_ = {};
  int status_ = 0;
  std::optional<std::int64_t> kill_at_ns_;  // CLOCK_MONOTONIC, after a rank has failed
};

}  // namespace

int launch_local(const LaunchOptions& options) { return Job(options).run(); }

}  // namespace swinscope

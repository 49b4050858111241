#include "collector/local_launcher.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/error.h"

namespace swinscope {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kGrace{10};

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

int shell_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

// The processes of one job.
class Job {
 public:
  Job(int ranks, const std::vector<std::string>& command) : pids_(static_cast<std::size_t>(ranks), 0) {
    sigset_t watched;
    sigemptyset(&watched);
    for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT})
      sigaddset(&watched, signal);
    sigprocmask(SIG_BLOCK, &watched, &inherited_mask_);
    signals_ = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    const std::string port = std::to_string(free_port());
    for (int rank = 0; rank < ranks; ++rank)
      start(rank, ranks, port, command);
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
    close(signals_);
    sigprocmask(SIG_SETMASK, &inherited_mask_, nullptr);
  }

  int run() {
    while (alive_ > 0) {
      pollfd ready{signals_, POLLIN, 0};
      poll(&ready, 1, deadline_ ? milliseconds_left() : -1);
      pass_on_signals();
      reap();
      if (deadline_ && Clock::now() >= *deadline_) signal_all(SIGKILL);
    }
    return status_;
  }

 private:
  void start(int rank, int ranks, const std::string& port, const std::vector<std::string>& command) {
    std::vector<char*> arguments;
    for (const std::string& argument : command)
      arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    const pid_t pid = fork();
    if (pid < 0) throw Error(ErrorKind::kFailure, fmt::format("rank {} cannot be started", rank), std::strerror(errno));
    if (pid == 0) {
      const auto set = [](const char* name, const std::string& value) { setenv(name, value.c_str(), 1); };
      set("RANK", std::to_string(rank));
      set("LOCAL_RANK", std::to_string(rank));
      set("WORLD_SIZE", std::to_string(ranks));
      set("LOCAL_WORLD_SIZE", std::to_string(ranks));
      set("MASTER_ADDR", "127.0.0.1");
      set("MASTER_PORT", port);
      sigprocmask(SIG_SETMASK, &inherited_mask_, nullptr);
      execvp(arguments.front(), arguments.data());
      fmt::print(stderr, "error: {}: cannot be run\n  cause: {}\n", arguments.front(), std::strerror(errno));
      _exit(errno == ENOENT ? 127 : 126);
    }
    pids_[static_cast<std::size_t>(rank)] = pid;
    ++alive_;
  }

  int milliseconds_left() const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*deadline_ - Clock::now()).count();
    return left > 0 ? static_cast<int>(left) + 1 : 0;
  }

  void pass_on_signals() {
    signalfd_siginfo info{};
    while (read(signals_, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
      if (info.ssi_signo != SIGCHLD) signal_all(static_cast<int>(info.ssi_signo));
    }
  }

  void reap() {
    int wait_status = 0;
    for (std::size_t rank = 0; rank < pids_.size(); ++rank) {
      if (pids_[rank] <= 0 || waitpid(pids_[rank], &wait_status, WNOHANG) != pids_[rank]) continue;
      pids_[rank] = 0;
      --alive_;
      if (shell_status(wait_status) != 0) failed(rank, wait_status);
    }
  }

  void failed(std::size_t rank, int wait_status) {
    if (status_ != 0) return;
    status_ = shell_status(wait_status);
    fmt::print(stderr, "error: rank {} of {} {} {}\n", rank, pids_.size(),
               WIFSIGNALED(wait_status) ? "was killed by signal" : "ended with status",
               WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : status_);
    signal_all(SIGTERM);
    deadline_ = Clock::now() + kGrace;
  }

  void signal_all(int signal) const {
    for (const pid_t pid : pids_) {
      if (pid > 0) kill(pid, signal);
    }
  }

  std::vector<pid_t> pids_;
  sigset_t inherited_mask_{};
  int signals_ = -1;
  int alive_ = 0;
  int status_ = 0;
  std::optional<Clock::time_point> deadline_;
};

}  // namespace

int launch_local(int ranks, const std::vector<std::string>& command) { return Job(ranks, command).run(); }

}  // namespace swinscope

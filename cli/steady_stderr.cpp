#include "cli/steady_stderr.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include "store/utf8.h"

namespace swinscope::cli {
namespace {

// While it lives a write to a pipe that nobody reads fails with EPIPE and does nothing else in this thread.
class NoBrokenPipe {
 public:
  NoBrokenPipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending{};
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoBrokenPipe(const NoBrokenPipe&) = delete;
  NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;
  NoBrokenPipe(NoBrokenPipe&&) = delete;
  NoBrokenPipe& operator=(NoBrokenPipe&&) = delete;
  ~NoBrokenPipe() {
    const timespec now{};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

// The lines as they may reach a terminal.
std::string lines_of(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of("\n\r");
    out += printable(text.substr(0, end));
    if (end == std::string_view::npos) break;
    out += text[end];
    text.remove_prefix(end + 1);
  }
  return out;
}

// All of it, or as much as can be written; says in any case that all was.
ssize_t write_or_drop(void* /*cookie*/, const char* text, std::size_t size) {
  const NoBrokenPipe guard;
  const std::string lines = lines_of({text, size});
  for (std::size_t done = 0; done < lines.size();) {
    const ssize_t written = write(STDERR_FILENO, lines.data() + done, lines.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    done += static_cast<std::size_t>(written);
  }
  return static_cast<ssize_t>(size);
}

void fill_closed_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // What is to be read there ends at once; what is our data must not vanish: writing it fails, as it does without us.
    const int null = open("/dev/null", (stream == STDERR_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
    // The lowest free number is the stream's own.
    if (null > STDERR_FILENO) close(null);
  }
}

}  // namespace

void make_stderr_steady() {
  fill_closed_streams();
  cookie_io_functions_t functions{};
  functions.write = write_or_drop;
  FILE* const steady = fopencookie(nullptr, "w", functions);
  if (steady == nullptr) return;  // without memory for it the old one is as good
  setvbuf(steady, nullptr, _IONBF, 0);
  stderr = steady;  // glibc's stderr is a variable; whoever prints there, prints here
}

}  // namespace swinscope::cli

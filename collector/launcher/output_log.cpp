#include "collector/launcher/output_log.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "collector/base/clock.h"
#include "collector/base/unsignalled_thread.h"
#include "store/error.h"

namespace swinscope {
namespace {

// Both ends of what the program writes into.
struct Channel {
  int reading = -1;
  int writing = -1;
};

Channel open_terminal() {
  Channel channel;
  channel.reading = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (channel.reading < 0) return {};
  std::array<char, 128> name{};
  const bool ok = grantpt(channel.reading) == 0 && unlockpt(channel.reading) == 0 &&
                  ptsname_r(channel.reading, name.data(), name.size()) == 0;
  if (ok) channel.writing = open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (channel.writing < 0) {
    close(channel.reading);
    return {};
  }
  termios settings{};
  if (tcgetattr(channel.writing, &settings) == 0) {
    cfmakeraw(&settings);
    tcsetattr(channel.writing, TCSANOW, &settings);
  }
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) size = {24, 80, 0, 0};
  ioctl(channel.writing, TIOCSWINSZ, &size);
  return channel;
}

Channel open_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  return {ends[0], ends[1]};
}

bool write_all(int file, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
  return true;
}

void close_if_open(int& file) {
  if (file >= 0) close(file);
  file = -1;
}

}  // namespace

OutputLog::OutputLog(OutputLogOptions options) : options_(std::move(options)), offset_ns_(measure_utc_offset_ns()) {
  Channel channel = open_terminal();
  is_terminal_ = channel.writing >= 0;
  if (!is_terminal_) channel = open_pipe();
  const Channel wake = channel.writing < 0 ? Channel() : open_pipe();
  saved_ = wake.writing < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (wake.writing < 0 || (saved_ < 0 && errno != EBADF)) {
    const int reason = errno;
    for (int file : {channel.reading, channel.writing, wake.reading, wake.writing})
      close_if_open(file);
    throw Error(ErrorKind::kFailure, "what the program prints cannot be kept", std::strerror(reason),
                "close other programs, or raise the limit of open files (ulimit -n)");
  }
  reading_ = channel.reading;
  wake_reading_ = wake.reading;
  wake_writing_ = wake.writing;
  std::fflush(stdout);
  dup2(channel.writing, STDOUT_FILENO);
  close(channel.writing);
  thread_ = start_unsignalled([this] { copy(); });
}

OutputLog::~OutputLog() { finish(); }

std::string OutputLog::finish() {
  if (!thread_.joinable()) return problem_;
  std::fflush(stdout);
  if (saved_ >= 0) {
    dup2(saved_, STDOUT_FILENO);
  } else {
    close(STDOUT_FILENO);
  }
  close_if_open(saved_);
  close_if_open(wake_writing_);  // the thread takes what is there, and ends
  thread_.join();
  open_files();
  for (int* file : {&reading_, &wake_reading_, &log_, &times_})
    close_if_open(*file);
  return problem_;
}

void OutputLog::copy() {
  std::array<char, 65536> buffer{};
  bool is_last = false;
  for (;;) {
    std::array<pollfd, 2> files = {{{reading_, POLLIN, 0}, {wake_reading_, POLLIN, 0}}};
    // Once this process is done, only what is there already.
    const int ready = poll(files.data(), is_last ? 1 : 2, is_last ? 0 : -1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0 || (is_last && ready == 0)) return;
    if (files[0].revents != 0) {
      const ssize_t count = read(reading_, buffer.data(), buffer.size());
      const std::int64_t now_ns = monotonic_ns() + offset_ns_;
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return;  // no process has it open any more (EIO of a terminal)
      take(buffer.data(), static_cast<std::size_t>(count), now_ns);
    } else if (!is_last && files[1].revents != 0) {
      is_last = true;
    }
  }
}

bool OutputLog::open_files() {
  for (const auto& [file, path] : {std::pair(&log_, &options_.log), std::pair(&times_, &options_.times)}) {
    if (*file >= 0 || !problem_.empty()) continue;
    *file = open(path->c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (*file < 0) fail(fmt::format("{}: {}", path->string(), std::strerror(errno)));
  }
  return problem_.empty();
}

void OutputLog::fail(const std::string& what) {
  if (problem_.empty()) problem_ = what;
}

void OutputLog::end_line(std::uint64_t end, std::int64_t now_ns) {
  if (end > line_begin_) pending_times_ += fmt::format("{} {} {}\n", now_ns, line_begin_, end - line_begin_);
  line_begin_ = end + 1;
}

void OutputLog::take(const char* bytes, std::size_t count, std::int64_t now_ns) {
  if (options_.echo_to >= 0) write_all(options_.echo_to, bytes, count);
  if (!open_files()) return;  // the program prints on, into nothing
  const std::string_view text(bytes, count);
  for (std::size_t at = text.find_first_of("\r\n"); at != std::string_view::npos;
       at = text.find_first_of("\r\n", at + 1))
    end_line(written_ + at, now_ns);
  if (!write_all(log_, bytes, count) || !write_all(times_, pending_times_.data(), pending_times_.size()))
    fail(fmt::format("{}: {}", options_.log.string(), std::strerror(errno)));
  written_ += count;
  pending_times_.clear();
}

}  // namespace swinscope

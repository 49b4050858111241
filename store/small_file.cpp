#include "store/small_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/error.h"

namespace swinscope {
namespace {

class OpenFile {
 public:
  // Nobody is waited for who would write to a pipe.
  explicit OpenFile(const char* path) : fd_(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  OpenFile(OpenFile&&) = delete;
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::string read_small_file(const std::filesystem::path& path, const std::string& hint) {
  const auto refuse = [&](const std::string& cause) {
    throw Error(ErrorKind::kInput, fmt::format("{}: cannot be read", path.string()), cause, hint);
  };
  const OpenFile file(path.c_str());
  struct stat facts {};
  if (file.fd() < 0 || fstat(file.fd(), &facts) != 0) refuse(std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) refuse("it is no regular file");
  std::string text;
  std::string block(std::size_t{1} << 16U, '\0');
  while (true) {  // to its end: what its size says may be no longer true
    const ssize_t count = read(file.fd(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse(std::strerror(errno));
    if (count == 0) return text;
    text.append(block, 0, static_cast<std::size_t>(count));
    if (text.size() > kMostSmallFileBytes) refuse(fmt::format("it has more than {} MiB", kMostSmallFileBytes >> 20U));
  }
}

}  // namespace swinscope

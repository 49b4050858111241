#include "workloads/whole_file.h"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "workloads/error.h"

namespace swinscope {
namespace {

// Of a file or a folder.
bool flush_to_disk(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool flushed = ::fsync(descriptor) == 0;
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return flushed;
}

}  // namespace

WholeFile::WholeFile(std::filesystem::path path)
    : path_(std::move(path)),
      partial_(path_.string() + fmt::format(".{}.part", ::getpid())),
      stream_(partial_, std::ios::binary | std::ios::trunc) {
  if (!stream_) fail(std::strerror(errno));
}

WholeFile::~WholeFile() {
  if (kept_) return;
  stream_.close();
  std::error_code ignored;
  std::filesystem::remove(partial_, ignored);
}

void WholeFile::keep() {
  stream_.close();
  if (!stream_) fail(std::strerror(errno));
  // Only what is on the disk may take the old file's place.
  if (!flush_to_disk(partial_)) fail(std::strerror(errno));
  std::error_code error;
  std::filesystem::rename(partial_, path_, error);
  if (error) fail(error.message());
  kept_ = true;
  // The new name, too. Some file systems cannot flush a folder; then it is theirs to keep the order.
  flush_to_disk(path_.has_parent_path() ? path_.parent_path() : ".");
}

void WholeFile::fail(const std::string& why) const {
  throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("{}: cannot be written", path_.string()), why);
}

}  // namespace swinscope

#include "store/private_file.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/error.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

constexpr mode_t kFolderMode = 0700;
constexpr mode_t kFileMode = 0600;

[[noreturn]] void fail(const fs::path& path, const char* what, int reason, const char* hint) {
  throw Error(ErrorKind::kFailure, fmt::format("{}: {}", path.string(), what), std::strerror(reason), hint);
}

constexpr const char* kFolderHint = "give another folder with -o";
constexpr const char* kFileHint = "check the free space and the permissions of the folder";

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

bool make_new_folder(const fs::path& folder) {
  if (mkdir(folder.c_str(), kFolderMode) == 0) return true;
  if (errno != EEXIST) fail(folder, "the folder cannot be created", errno, kFolderHint);
  return false;
}

bool make_private_folder(const fs::path& folder) {
  std::error_code none;
  if (fs::is_directory(folder, none)) return false;
  const fs::path above = folder.parent_path();
  try {
    if (!above.empty() && above != folder) make_private_folder(above);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: the folder cannot be created", folder.string()), error.cause(),
                error.hint());
  }
  // "run/" has an empty last part, and is there by now.
  if (folder.filename().empty()) return false;
  if (make_new_folder(folder)) return true;
  if (!fs::is_directory(folder, none)) fail(folder, "the folder cannot be created", ENOTDIR, kFolderHint);
  return false;
}

int create_private_file(const fs::path& path) noexcept {
  return open(path.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, kFileMode);
}

fs::path write_beside(const fs::path& path, const std::string& text) {
  static std::atomic<unsigned> number = 0;
  constexpr int kTries = 1000;  // names that a killed process with our number has left
  fs::path beside;
  int file = -1;
  for (int i = 0; i < kTries && file < 0; ++i) {
    beside = path.parent_path() / fmt::format(".{}.{}.{}.tmp", path.filename().string(), getpid(), number++);
    file = create_private_file(beside);
    if (file < 0 && errno != EEXIST) break;
  }
  if (file < 0) fail(path, "cannot be written", errno, kFileHint);
  const bool written = write_all(file, text);
  int reason = errno;
  const bool closed = close(file) == 0;
  if (written && closed) return beside;
  if (written) reason = errno;
  unlink(beside.c_str());
  fail(path, "cannot be written", reason, kFileHint);
}

void replace_private_file(const fs::path& path, const std::string& text) {
  const fs::path beside = write_beside(path, text);
  if (rename(beside.c_str(), path.c_str()) == 0) return;
  const int reason = errno;
  unlink(beside.c_str());
  fail(path, "cannot be written", reason, kFileHint);
}

}  // namespace swinscope

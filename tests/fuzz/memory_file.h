// What every fuzz target needs: expectations, and bytes as a file in memory.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <sys/mman.h>
#include <unistd.h>

namespace swinscope::fuzz {

// A violated expectation is a finding, like a crash.
inline void expect(bool holds, const char* what, std::string_view detail = {}) {
  if (holds) return;
  std::fprintf(stderr, "not fulfilled: %s %s\n", what, std::string(detail).c_str());
  std::abort();
}

// Bytes that can be opened by a path. Not for SQLite, which resolves links.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : file_(memfd_create("input", MFD_CLOEXEC)) {
    expect(file_ >= 0, "a file in memory can be made");
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count = write(file_, bytes.data() + done, bytes.size() - done);
      expect(count > 0, "a file in memory can be written");
      done += static_cast<std::size_t>(count);
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  MemoryFile(MemoryFile&&) = delete;
  MemoryFile& operator=(MemoryFile&&) = delete;
  ~MemoryFile() { close(file_); }

  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

// A folder in memory for the files of this process; its files are removed with it.
class MemoryFolder {
 public:
  MemoryFolder() {
    std::string pattern = "/dev/shm/swinscope-fuzz-XXXXXX";
    expect(mkdtemp(pattern.data()) != nullptr, "a folder in memory can be made");
    path_ = pattern;
  }
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;
  MemoryFolder(MemoryFolder&&) = delete;
  MemoryFolder& operator=(MemoryFolder&&) = delete;
  ~MemoryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace swinscope::fuzz

#include "workloads/images/image_files.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "workloads/error.h"
#include "workloads/images/prepare.h"

namespace swinscope {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30;

bool is_jpeg_name(const fs::path& file) {
  std::string extension = file.extension().string();
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension == ".jpg" || extension == ".jpeg";
}

[[noreturn]] void refuse(const fs::path& path, const std::string& what, const std::string& why,
                         const std::string& hint = {}) {
  throw WorkloadError(WorkloadErrorKind::kInput, fmt::format("{}: {}", path.string(), what), why, hint);
}

// Folder by folder, since a recursive iterator ends at the first one that cannot be read.
void search(const fs::path& folder, FoundFiles& found) {
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;  // an entry that vanishes is none
    if (entry->is_directory(ignored) && !entry->is_symlink(ignored)) {
      search(entry->path(), found);
    } else if (is_jpeg_name(entry->path()) && entry->is_regular_file(ignored)) {
      found.files.push_back(entry->path());
    }
  }
  if (error) found.skipped.push_back({folder, error.message()});
}

}  // namespace

FoundFiles list_jpeg_files(const fs::path& folder) {
  FoundFiles found;
  search(folder, found);
  std::ranges::sort(found.files);
  return found;
}

FoundFiles find_jpeg_files(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    refuse(path, "cannot be read", error.message());
  }
  if (fs::is_regular_file(status)) return {{path}, {}};
  if (!fs::is_directory(status)) refuse(path, "cannot be read", "it is neither a file nor a folder");
  FoundFiles found = list_jpeg_files(path);
  if (found.files.empty() && !found.skipped.empty()) {
    refuse(found.skipped.front().path, "cannot be read", found.skipped.front().reason,
           "check the folder's permissions");
  }
  if (found.files.empty()) refuse(path, "no JPEG files", "there are no .jpg or .jpeg files in it or below it");
  return found;
}

std::vector<std::uint8_t> read_bytes(const fs::path& file) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "rb"), std::fclose);
  if (!stream) refuse(file, "cannot be read", std::strerror(errno));
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  if (error) refuse(file, "cannot be read", error.message());
  if (size > kMostBytes) refuse(file, "cannot be read", fmt::format("{} bytes are no photograph", size));
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), stream.get()));
  if (std::ferror(stream.get()) != 0) refuse(file, "cannot be read", std::strerror(errno));
  return bytes;
}

void ImageReader::sample(std::size_t count) {
  if (count >= files_.size()) return;
  for (std::size_t i = 0; i < count; ++i)
    files_[i] = files_[i * files_.size() / count];
  files_.resize(count);
}

std::vector<fs::path> ImageReader::next(std::int64_t count, std::span<float> images) {
  const auto size = static_cast<std::size_t>(size_);
  const std::size_t elements = 3 * size * size;
  std::vector<fs::path> read;
  while (at_ < files_.size() && static_cast<std::int64_t>(read.size()) < count) {
    const fs::path& file = files_[at_++];
    try {
      prepare_for_evaluation(read_bytes(file), file.string(), size_, images.subspan(read.size() * elements, elements));
      read.push_back(file);
    } catch (const WorkloadError& error) {
      skipped_.push_back({file, error.cause()});
    }
  }
  return read;
}

}  // namespace swinscope

// Photographs as a model's input: which files there are, and their contents.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace swinscope {

struct SkippedPath {
  std::filesystem::path path;
  std::string reason;
};

struct FoundFiles {
  std::vector<std::filesystem::path> files;  // by name
  std::vector<SkippedPath> skipped;          // folders below that cannot be read
};

// The file itself, or all .jpg and .jpeg files (in any case) in and below the folder. Links to files are followed,
// links to folders are not. Throws WorkloadError (kInput) for a path that cannot be read or has nothing to read in it.
FoundFiles find_jpeg_files(const std::filesystem::path& path);

// Those in and below a folder, which may be none.
FoundFiles list_jpeg_files(const std::filesystem::path& folder);

// Throws WorkloadError (kInput) for a file that cannot be read or is longer than any photograph.
std::vector<std::uint8_t> read_bytes(const std::filesystem::path& file);

// Goes through files and leaves out those that cannot be read.
class ImageReader {
 public:
  ImageReader(const std::filesystem::path& path, int size) : ImageReader(find_jpeg_files(path), size) {}

  // Fills images [up to `count`, 3, size, size] (prepare_for_evaluation) and names their files; fewer than `count` only
  // at the end.
  std::vector<std::filesystem::path> next(std::int64_t count, std::span<float> images);
  // Goes through so many only, evenly spread over all.
  void sample(std::size_t count);
  const std::vector<SkippedPath>& skipped() const { return skipped_; }

 private:
  ImageReader(FoundFiles found, int size)
      : files_(std::move(found.files)), skipped_(std::move(found.skipped)), size_(size) {}

  std::vector<std::filesystem::path> files_;
  std::vector<SkippedPath> skipped_;
  int size_;
  std::size_t at_ = 0;
};

}  // namespace swinscope

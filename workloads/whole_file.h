// A file that is there whole or not at all: it is written beside the target, forced to the disk and renamed, whatever
// happens in between. Replaces an existing file.
#pragma once

#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>

namespace swinscope {

class WholeFile {
 public:
  // Throws WorkloadError (kFailure) when the disk says no, as keep() does.
  explicit WholeFile(std::filesystem::path path);
  ~WholeFile();  // without keep() nothing has happened
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  WholeFile(WholeFile&&) = delete;
  WholeFile& operator=(WholeFile&&) = delete;

  std::ostream& stream() { return stream_; }
  void keep();

 private:
  [[noreturn]] void fail(const std::string& why) const;

  std::filesystem::path path_;
  std::filesystem::path partial_;
  std::ofstream stream_;
  bool kept_ = false;
};

}  // namespace swinscope

// Where an export goes: a file, compressed when its name ends in .gz, or the standard output. Bytes are written as they
// come, so that memory does not grow with the export. A file gets its name when it is complete: what is interrupted or
// fails leaves nothing behind, and what was there before stays until then.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace swinscope {

// The name that stands for the standard output.
inline constexpr std::string_view kStandardOutput = "-";

class ExportOutput {
 public:
  // Throws Error(kUsage) when the file exists and `force` is not set, Error(kFailure) when it cannot be written.
  ExportOutput(const std::filesystem::path& path, bool force);
  ~ExportOutput();
  ExportOutput(const ExportOutput&) = delete;
  ExportOutput& operator=(const ExportOutput&) = delete;
  ExportOutput(ExportOutput&&) = delete;
  ExportOutput& operator=(ExportOutput&&) = delete;

  void write(std::string_view bytes);
  // Everything is written and the file has its name. Throws Error(kFailure).
  void finish();
  // Bytes taken, before compression.
  std::uint64_t taken() const { return taken_; }

 private:
  struct Deflater;
  struct CloseFile {
    void operator()(std::FILE* file) const;
  };

  void put(std::string_view bytes);
  void deflate(std::string_view bytes, bool last);
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;
  std::filesystem::path part_;  // empty: the standard output, or the file has its name
  bool force_ = false;
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::unique_ptr<Deflater> deflater_;
  std::uint64_t taken_ = 0;
};

// What the constructor above refuses, to be known before a long trace is read: a file that exists without `force`, a
// folder. Throws Error(kUsage).
void check_export_file(const std::filesystem::path& path, bool force);
// The same of a folder: one that holds something without `force` (files that the export does not write stay there,
// too), a file.
void check_export_folder(const std::filesystem::path& folder, bool force);
// Checks it, and makes it where it is not there. Throws Error(kFailure) where that is not possible.
void prepare_export_folder(const std::filesystem::path& folder, bool force);

}  // namespace swinscope

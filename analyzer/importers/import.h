// Converts foreign traces into a run folder of ours.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

namespace swinscope {

struct ImportedFile {
  std::filesystem::path path;  // the trace file written
  std::string source;          // the file it came from
  int rank = 0;
};

struct ImportResult {
  std::vector<ImportedFile> files;
  std::vector<std::string> warnings;
  bool corrupt = false;  // some input was truncated or damaged; what was readable is in the files
};

// Reads every input and writes `rank<N>.db` files and run.json into `folder` (created when missing). Without `force`,
// throws when the folder already holds traces. Nothing half-written is left behind when an input cannot be read.
ImportResult import_traces(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& folder,
                           bool force, const std::atomic<bool>* cancel = nullptr);

}  // namespace swinscope

// Opens whatever a user names as RUN: a trace file of ours, an Nsight Systems export, a PyTorch trace, or a folder of
// them.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "analyzer/base/memory_limit.h"
#include "analyzer/base/parallel.h"
#include "analyzer/importers/import_report.h"
#include "analyzer/importers/trace_files.h"
#include "analyzer/trace/class_rules.h"
#include "analyzer/trace/trace.h"
#include "store/sink.h"

namespace swinscope {

// Reads one file of any known format into the sink. Throws Error(kInput) when it is none.
ImportReport read_trace_file(const std::filesystem::path& path, TraceSink& sink,
                             const std::atomic<bool>* cancel = nullptr);

// The runs in a folder that holds several which are no job together (programs recorded one after another, say), each by
// the file of its first rank, in the order of the names. Empty when the folder is one job, and for a file. Cheap: no
// events are read. Files that cannot be read count for nothing.
std::vector<std::filesystem::path> independent_runs(const std::filesystem::path& folder);

// The same of files, wherever they are.
std::vector<std::filesystem::path> independent_runs_of(const std::vector<std::filesystem::path>& files);

// Throws Error(kUsage) when there are any in the folder.
void refuse_independent_runs(const std::filesystem::path& path);

struct OpenOptions {
  const std::atomic<bool>* cancel = nullptr;  // true: Error(kInterrupted) is thrown, and no part of a trace returned
  // Of SQLite files only what a timeline shows (ReadScope).
  bool spans_only = false;
  // What the user says of kernels, by their names.
  ClassRules class_rules;
  // Told now and then, on the threads that read and maybe at once, how many records more have been read.
  std::function<void(std::uint64_t)> on_records;
  // That read at the same time. Several share a SQLite file where there are fewer files, one for each so many bytes.
  int threads = processors();
  std::uintmax_t bytes_per_thread = std::uintmax_t{8} << 20U;
  // Where the process uses more memory, reading ends with MemoryError(kFailure).
  MemoryLimit memory = {};
};

// Files are read in parallel. In a folder, a file that cannot be read is a warning as long as another one can. Throws
// Error(kUsage) for a folder of independent runs.
Trace open_trace(const std::filesystem::path& path, const OpenOptions& options);
Trace open_trace(const std::filesystem::path& path, const std::atomic<bool>* cancel = nullptr);

}  // namespace swinscope

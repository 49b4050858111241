// Opens whatever a user names as RUN: a trace file of ours, an Nsight Systems export, a PyTorch trace, or a folder of
// them.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "analyzer/class_rules.h"
#include "analyzer/import_report.h"
#include "analyzer/trace.h"
#include "store/sink.h"

namespace swinscope {

// Reads one file of any known format into the sink. Throws Error(kInput) when it is none.
ImportReport read_trace_file(const std::filesystem::path& path, TraceSink& sink,
                             const std::atomic<bool>* cancel = nullptr);

// Whether the file is a SQLite file rather than one to import. Throws Error(kInput) when it can be no trace at all.
bool is_trace_database(const std::filesystem::path& path);

// The trace files that a path stands for: itself, or those in the folder, by name. Throws Error(kInput) when there is
// none.
std::vector<std::filesystem::path> trace_files(const std::filesystem::path& path);

struct OpenOptions {
  const std::atomic<bool>* cancel = nullptr;
  // Of SQLite files only what a timeline shows (ReadScope), on two threads.
  bool spans_only = false;
  // What the user says of kernels, by their names.
  ClassRules class_rules;
  // Told now and then, on the threads that read and maybe at once, how many records more have been read.
  std::function<void(std::uint64_t)> on_records;
};

// Files are read in parallel. In a folder, a file that cannot be read is a warning as long as another one can.
Trace open_trace(const std::filesystem::path& path, const OpenOptions& options);
Trace open_trace(const std::filesystem::path& path, const std::atomic<bool>* cancel = nullptr);

}  // namespace swinscope

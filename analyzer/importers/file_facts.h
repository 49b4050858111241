// What a trace file says about its run before any event is read: whose it is and when it was made. Cheap, whatever the
// size of the file: the head of a JSON file, a few rows of a database.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace swinscope {

struct FileFacts {
  std::filesystem::path file;
  std::string source;                // "swinscope", "kineto" or "nsys"
  std::optional<std::int32_t> rank;  // only where the data states it
  std::int32_t world_size = 0;       // 0: unknown
  std::uint64_t pid = 0;             // 0: unknown
  std::string host;                  // empty: unknown
  std::string command;               // empty: unknown
  std::int64_t begin_utc_ns = 0;     // 0: unknown
  std::int64_t end_utc_ns = 0;       // 0: unknown
  bool launcher = false;             // the file of `swinscope record`: what stands beside it is one run
  bool further_process = false;      // of a rank that has a file, by its name
};

// Throws Error(kInput) when the file cannot be read or is no trace.
FileFacts read_file_facts(const std::filesystem::path& file);

// The worker that PyTorch's tensorboard_trace_handler wrote the file for: "host_123" of
// host_123.1700000000000.pt.trace.json; empty for other names.
std::string trace_handler_worker(const std::filesystem::path& file);

}  // namespace swinscope

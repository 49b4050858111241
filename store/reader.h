// Reads trace files: our own, and Nsight Systems' SQLite exports, which have the same tables.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "store/database.h"
#include "store/file_ranks.h"
#include "store/read_scope.h"
#include "store/sink.h"

namespace swinscope {

// Opened, identified and version-checked; nothing else is read before `read`.
class TraceFile {
 public:
  // Throws Error(kInput) when the file is no SQLite file, no trace, or newer than this program.
  explicit TraceFile(const std::filesystem::path& path, const UntrustedOptions& options = {});
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  TraceFile(TraceFile&&) = delete;
  TraceFile& operator=(TraceFile&&) = delete;
  ~TraceFile();

  bool is_own() const { return own_; }
  // E.g. "Nsight Systems 2026.2.1.210, schema 3.25.0".
  const std::string& description() const { return description_; }

  // What is wrong with the file, after `read`: tables of which only a part could be read.
  std::vector<std::string> warnings() const;
  std::vector<std::string> doubts() const { return warnings(); }
  bool damaged() const { return db_.is_cut() || !db_.damage().empty(); }

  // Reads every record into one process sink per rank. An own file is one rank. In an Nsight Systems export the
  // processes that used a GPU become ranks: by MPI_RANKS or, of a single one, by the environment (kRankStatedBy says
  // so); else in the order of the node and of their first device. The other processes' ranges go to the first rank.
  // Rows that cannot be used (a negative duration, no start) are left out, counted and listed in RunInfo::drops; of a
  // damaged table what can be read is. An own file gives every kind of record; an export's CUDA events, memory,
  // payloads and GPU metrics are not read.
  void read(TraceSink& sink, ReadScope scope = ReadScope::kAll);

  // Several readers of the same file can share the work, each on a thread of its own. One of them reads the strings;
  // each finds the processes of its part of the rows, and reads that part with the processes of all; the first takes
  // over from each of the others what it found out and reads the rest. The result is that of `read`. Where one throws,
  // or is damaged() in the end, the file is to be read as a whole.
  bool can_be_shared() const { return !db_.is_copy() && !db_.is_cut(); }
  FileStrings strings();
  ExportProcesses processes(ReadPart part);
  // The sink and the strings must last until `read_rest`.
  void read_rows(TraceSink& sink, ReadScope scope, ReadPart part, const FileStrings& strings,
                 const ExportProcesses& processes);
  void take_over(const TraceFile& other);
  void read_rest();

  // The connection, for user queries (hardened and read-only).
  Database& database() { return db_; }

 private:
  class Reader;

  void identify();
  void find_kind();
  // Says what kind of SQLite file it is instead.
  [[noreturn]] void refuse(const std::string& name);

  Database db_;
  bool own_ = false;
  std::string description_;
  std::unique_ptr<Reader> reader_;  // from `read_rows` on
};

}  // namespace swinscope

// The ranks of a file while it is read: which processes they are, whose a record is, and what the file says of each
// beside its events (identity, host, GPUs, threads, environment, what was lost). An own file is one rank.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/database.h"
#include "store/rank_reader.h"
#include "store/sink.h"

namespace swinscope {

// The processes of an export that become ranks, each with its smallest device (0 where the table has none).
using ExportProcesses = std::map<std::uint64_t, std::int64_t>;

// Rows that were left out, counted by what they are and why.
using DroppedRows = std::map<std::pair<std::string, std::string>, std::int64_t>;

class FileRanks {
 public:
  // Processes of the sink, in the order of their ranks: that of MPI_RANKS, else of node and first device.
  // `strings` must last.
  FileRanks(Database& db, bool own, TraceSink& sink, const FileStrings& strings, ExportProcesses first_device);

  // Whose a record of that serialized process or thread id is; the first rank's where no rank has it.
  RankReader& of(std::uint64_t global_id);
  RankReader& first() { return *ranks_.front(); }

  // What those of a reader of another part have found out.
  void take_over(const FileRanks& other);

  // Reads what the file says beside its events, and hands each rank's RunInfo to its sink.
  void finish(const DroppedRows& dropped);

 private:
  std::vector<std::uint64_t> in_order_of_ranks(const ExportProcesses& first_device);
  void state_mpi_ranks();
  void read_identity();
  void read_processes();
  void read_threads();
  void read_gpus();
  void read_windows();
  void read_environment();
  void state_nodes_and_launcher();
  void read_collector();
  void read_drops(const DroppedRows& dropped);

  Database& db_;
  bool own_;
  const FileStrings& strings_;
  std::vector<std::unique_ptr<RankReader>> ranks_;
  std::unordered_map<std::uint64_t, RankReader*> reader_of_;
  std::map<std::uint64_t, std::int32_t> mpi_ranks_;  // of an export, by process
};

}  // namespace swinscope

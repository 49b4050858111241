// What Nsight Systems' exports say beside their events, in all versions of their schema: which node a process ran on,
// its rank, its GPUs, what nsys itself reports, and which tables hold more.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/database.h"
#include "store/records.h"

namespace swinscope {

// Facts in RunInfo::collector: what nsys had to say about its own recording, and of that what says that data is
// missing.
inline constexpr std::string_view kSourceWarning = "source.warning";
inline constexpr std::string_view kSourceDoubt = "source.doubt";

// The node in a serialized process or thread id: an export of several reports has several.
constexpr std::uint64_t node_of(std::uint64_t global_id) { return global_id >> 48U; }

// A fact about the export itself ("EXPORT_SCHEMA_VERSION"); the table of them has had two names. Empty: not there.
std::string export_fact(Database& db, std::string_view name);

// Whether nsys made the file, whatever it recorded.
bool is_nsys_export(Database& db);

// The rank that MPI gave, by serialized process id.
std::map<std::uint64_t, std::int32_t> mpi_ranks(Database& db);

// What a launcher told the one process that was recorded, and in which variable.
struct LauncherRank {
  std::int32_t rank = 0;
  std::int32_t world_size = 0;  // 0: unknown
  std::string variable;
};
std::optional<LauncherRank> launcher_rank(const std::vector<NamedValue>& environment);

// The host names, by node.
std::map<std::uint64_t, std::string> host_names(Database& db);

// The GPUs of each process, with the ordinals that it knows them by. `processes`: serialized ids.
std::map<std::uint64_t, std::vector<GpuInfo>> gpus_of(Database& db, const std::vector<std::uint64_t>& processes);

// Warnings and errors of nsys, each once, as kSourceWarning or kSourceDoubt.
std::vector<NamedValue> diagnostics(Database& db);

// A name as SQL takes it, whatever is in it.
std::string sql_name(std::string_view name);

// The tables with rows, but for those named and those that only describe others, with their numbers of rows.
std::vector<std::pair<std::string, std::int64_t>> other_tables(Database& db, const std::vector<std::string>& known);

// Those of an export of which nothing is read.
std::vector<std::pair<std::string, std::int64_t>> unread_tables(Database& db);

}  // namespace swinscope

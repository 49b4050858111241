// What kind of file a trace is, and of whom it tells; its records are read in reader.cpp.
#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "store/nsys_export.h"
#include "store/reader.h"
#include "store/schema.h"
#include "store/table_reader.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

// A machine has no more ranks than that; each is a process of its own in memory, and a file of its own when imported.
constexpr std::size_t kMostProcesses = 4096;

constexpr std::array<const char*, 4> kGpuTables = {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
                                                   "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"};
constexpr std::array<const char*, 2> kHostTables = {"CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"};

// Adds the processes with rows in a table, each with its smallest device.
void find_processes(Database& db, const char* table, const char* id, const char* device, ReadPart part,
                    ExportProcesses& found) {
  TableReader rows(db, table, {id, device}, 1, part);
  auto entry = found.end();
  while (rows.next()) {
    const std::uint64_t pid = global_pid_of(rows.integer<std::uint64_t>(0));
    const auto ordinal = rows.integer<std::int64_t>(1);
    if (entry == found.end() || entry->first != pid) entry = found.try_emplace(pid, ordinal).first;
    if (found.size() > kMostProcesses) {
      throw Error(ErrorKind::kInput, fmt::format("{}: too many processes", db.path().string()),
                  fmt::format("more than {} of them have events; one Nsight Systems report has those of one machine",
                              kMostProcesses),
                  "export the report again");
    }
    entry->second = std::min(entry->second, ordinal);
  }
}

std::string list_tables(Database& db) {
  Statement names = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name LIMIT 8");
  std::string list;
  while (names.step())
    list += fmt::format("{}{}", list.empty() ? "" : ", ", replace_invalid_utf8(names.text(0)));
  return list;
}

}  // namespace

void TraceFile::identify() {
  find_kind();
  // What a file is has to be known; of one that was cut off the rest may do without.
  if (db_.is_cut() || db_.damage().empty()) return;
  throw DamagedFile(ErrorKind::kInput, fmt::format("{}: the SQLite file is damaged", db_.path().string()),
                    fmt::format("{} cannot be read, and with it the version of the file", db_.damage().begin()->first),
                    "copy or export the file again");
}

void TraceFile::find_kind() {
  const std::string name = db_.path().string();
  if (TableReader run(db_, "SWINSCOPE_RUN", {"schemaVersion"}, 1); run.exists()) {
    own_ = true;
    const int version = run.next() ? run.integer<int>(0) : 0;
    if (version > kSchemaVersion) {
      throw Error(ErrorKind::kInput, fmt::format("{}: made by a newer swinscope", name),
                  fmt::format("its schema version is {}, this program reads up to {}", version, kSchemaVersion),
                  "install a newer swinscope");
    }
    description_ = version == 0 ? "swinscope trace, cut off before its identity was written"
                                : fmt::format("swinscope trace, schema {}", version);
    return;
  }
  const std::string schema = export_fact(db_, "EXPORT_SCHEMA_VERSION");
  int major = 0;
  std::from_chars(schema.data(), schema.data() + schema.size(), major);
  if (major > 3) {
    throw Error(ErrorKind::kInput, fmt::format("{}: a newer Nsight Systems export", name),
                fmt::format("its schema version is {}, this program reads 3.x", schema),
                "export the report with an older nsys, or install a newer swinscope");
  }
  const auto exists = [&](const char* table) { return db_.has_table(table); };
  if (std::ranges::none_of(kGpuTables, exists) && std::ranges::none_of(kHostTables, exists)) refuse(name);
  // Exports that are not lazy have all tables, with rows in those of what was recorded.
  const auto has_rows = [&](const char* table) { return exists(table) && db_.has_rows(table); };
  if (std::ranges::none_of(kGpuTables, has_rows) && std::ranges::none_of(kHostTables, has_rows) && !schema.empty() &&
      !unread_tables(db_).empty())
    refuse(name);
  const std::string product = export_fact(db_, "EXPORT_PRODUCT_VERSION");
  description_ = fmt::format("Nsight Systems{}{}, schema {}", product.empty() ? "" : " ", product,
                             schema.empty() ? "unknown" : schema);
}

void TraceFile::refuse(const std::string& name) {
  if (!is_nsys_export(db_)) {
    const std::string tables = list_tables(db_);
    if (!tables.empty()) {
      throw Error(ErrorKind::kInput, fmt::format("{}: a SQLite file, but not a trace", name),
                  fmt::format("its tables are: {}", tables),
                  "export the report with `nsys export --type sqlite`, or record with `swinscope record`");
    }
    throw Error(ErrorKind::kInput, fmt::format("{}: a SQLite file without tables", name),
                "a `swinscope record` that was killed, or an export that was cut off, leaves such a file",
                "nothing of it can be read; record the program again, or export the report again with `nsys export "
                "--type sqlite`");
  }
  std::string cause = "nothing of the GPU and no range of the program was recorded";
  for (const NamedValue& fact : diagnostics(db_))
    cause += fmt::format("; Nsight Systems says: {}", fact.value);
  throw Error(ErrorKind::kInput, fmt::format("{}: Nsight Systems export without CUDA or NVTX rows", name), cause,
              "record with --trace cuda,nvtx");
}

std::vector<std::string> TraceFile::warnings() const {
  std::vector<std::string> lines;
  if (db_.is_cut() && db_.damage().empty()) {
    lines.push_back(
        fmt::format("{}: the SQLite file is cut off; what it is read for could be read", db_.path().string()));
  }
  for (const auto& [table, rows] : db_.damage()) {
    lines.push_back(fmt::format("{}: the SQLite file is damaged; {} rows of {} could be read, the others are lost",
                                db_.path().string(), rows, table));
  }
  return lines;
}

FileStrings TraceFile::strings() {
  FileStrings strings;
  TableReader rows(db_, "StringIds", {"id", "value"}, 2);
  while (rows.next())
    strings.emplace(rows.integer<std::int64_t>(0), rows.text(1));
  return strings;
}

ExportProcesses TraceFile::processes(ReadPart part) {
  ExportProcesses found;
  if (own_) return found;
  const bool has_gpu_work = std::ranges::any_of(
      kGpuTables, [&](const char* table) { return TableReader(db_, table, {"globalPid"}, 1).next(); });
  if (has_gpu_work) {
    for (const char* table : kGpuTables)
      find_processes(db_, table, "globalPid", "deviceId", part, found);
  } else {
    for (const char* table : kHostTables)
      find_processes(db_, table, "globalTid", "", part, found);
  }
  return found;
}

}  // namespace swinscope

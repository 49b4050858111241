#include "analyzer/analyses/rank_summary.h"

#include <algorithm>
#include <array>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/base/parallel.h"
#include "analyzer/base/statistics.h"
#include "analyzer/importers/open.h"
#include "analyzer/importers/run_place.h"
#include "analyzer/table/cells.h"
#include "analyzer/timeline/timeline_file.h"
#include "store/schema.h"
#include "store/table_reader.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

constexpr int kVersion = 1;
constexpr const char* kTable = "SWINSCOPE_SUMMARY";

// A column of a device; of its idle time where `device` is null.
struct DeviceColumn {
  const char* name;
  std::int64_t DeviceBreakdown::*device;
  std::int64_t IdleCauses::*idle = nullptr;

  template <typename Breakdown>
  auto& of(Breakdown& breakdown) const {
    return device != nullptr ? breakdown.*device : breakdown.idle.*idle;
  }
};

constexpr std::array kDeviceColumns = {
    DeviceColumn{"events", &DeviceBreakdown::events},
    DeviceColumn{"deviceSteps", &DeviceBreakdown::steps},
    DeviceColumn{"windowNs", &DeviceBreakdown::window_ns},
    DeviceColumn{"busyNs", &DeviceBreakdown::busy_ns},
    DeviceColumn{"computeNs", &DeviceBreakdown::compute_ns},
    DeviceColumn{"mathNs", &DeviceBreakdown::math_ns},
    DeviceColumn{"unknownNs", &DeviceBreakdown::unknown_ns},
    DeviceColumn{"communicationNs", &DeviceBreakdown::communication_ns},
    DeviceColumn{"exposedCommunicationNs", &DeviceBreakdown::exposed_communication_ns},
    DeviceColumn{"memoryNs", &DeviceBreakdown::memory_ns},
    DeviceColumn{"exposedMemoryNs", &DeviceBreakdown::exposed_memory_ns},
    DeviceColumn{"exposedHostCopyNs", &DeviceBreakdown::exposed_host_copy_ns},
    DeviceColumn{"nonCommunicationNs", &DeviceBreakdown::non_communication_ns},
    DeviceColumn{"kernelSumNs", &DeviceBreakdown::kernel_sum_ns},
    DeviceColumn{"idleInputNs", nullptr, &IdleCauses::input_ns},
    DeviceColumn{"idleSynchronizationNs", nullptr, &IdleCauses::synchronization_ns},
    DeviceColumn{"idleHostNs", nullptr, &IdleCauses::host_ns},
    DeviceColumn{"idleCommunicationNs", nullptr, &IdleCauses::communication_ns},
    DeviceColumn{"idleDependencyNs", nullptr, &IdleCauses::dependency_ns},
    DeviceColumn{"idleOtherNs", nullptr, &IdleCauses::other_ns}};

// The columns before those: of the file, and of the rank.
constexpr std::array kRankColumns = {"version", "source", "rank",        "worldSize", "host",
                                     "steps",   "stepNs", "warmupSteps", "deviceId"};

std::vector<std::string> all_columns() {
  std::vector<std::string> names(kRankColumns.begin(), kRankColumns.end());
  for (const DeviceColumn& column : kDeviceColumns)
    names.emplace_back(column.name);
  return names;
}

void bind_or_null(Statement& insert, int index, const std::optional<std::int64_t>& value) {
  if (value) {
    insert.bind(index, *value);
  } else {
    insert.bind_null(index);
  }
}

void write_row(Statement& insert, const RankSummary& rank, const DeviceBreakdown* device, const std::string& source) {
  insert.bind(1, std::int64_t{kVersion});
  insert.bind(2, source);
  insert.bind(3, std::int64_t{rank.rank});
  insert.bind(4, std::int64_t{rank.world_size});
  insert.bind(5, rank.host);
  insert.bind(6, rank.steps);
  bind_or_null(insert, 7, rank.step_ns);
  bind_or_null(insert, 8, rank.warmup_steps);
  bind_or_null(insert, 9, device == nullptr ? std::nullopt : std::optional(std::int64_t{device->device}));
  int index = static_cast<int>(kRankColumns.size());
  for (const DeviceColumn& column : kDeviceColumns)
    bind_or_null(insert, ++index, device == nullptr ? std::nullopt : std::optional(column.of(*device)));
  insert.run();
}

void write_summary(Database& db, const RankSummary& rank, const std::string& source) {
  const std::vector<std::string> columns = all_columns();
  Transaction transaction(db);
  db.exec(fmt::format("DELETE FROM {}", kTable));
  Statement insert = db.prepare(fmt::format("INSERT INTO {} ({}) VALUES ({})", kTable, fmt::join(columns, ","),
                                            fmt::join(std::vector<const char*>(columns.size(), "?"), ",")));
  if (rank.devices.empty()) write_row(insert, rank, nullptr, source);
  for (const DeviceBreakdown& device : rank.devices)
    write_row(insert, rank, &device, source);
  transaction.commit();
}

std::optional<std::int64_t> optional_number(const TableReader& rows, int column) {
  return rows.is_null(column) ? std::nullopt : std::optional(rows.integer<std::int64_t>(column));
}

RankSummary read_rank(const TableReader& rows) {
  RankSummary rank;
  rank.rank = rows.integer<std::int32_t>(2);
  rank.world_size = rows.integer<std::int32_t>(3);
  rank.host = rows.text(4);
  rank.steps = rows.integer<std::int64_t>(5);
  rank.step_ns = optional_number(rows, 6);
  rank.warmup_steps = optional_number(rows, 7);
  return rank;
}

DeviceBreakdown read_device(const TableReader& rows, std::int32_t rank) {
  DeviceBreakdown device;
  device.rank = rank;
  device.device = rows.integer<std::int32_t>(8);
  int index = static_cast<int>(kRankColumns.size());
  for (const DeviceColumn& column : kDeviceColumns)
    column.of(device) = rows.integer<std::int64_t>(index++);
  return device;
}

bool is_being_written(const fs::path& trace_file) {
  std::error_code none;
  return fs::file_size(trace_file.string() + "-wal", none) > 0 && !none;
}

// By file alone: what stands in a file is what its events say.
std::vector<RankSummary> summarize_file(const fs::path& trace_file, const std::atomic<bool>* cancel) {
  const Trace trace = open_trace(trace_file, cancel);
  return rank_summaries(RunFacts(trace, {}));
}

std::int64_t per_step(const DeviceBreakdown& device, std::int64_t ns) {
  return device.steps == 0 ? ns : ns / device.steps;
}

std::int64_t median_compute(std::span<const RankSummary> ranks) {
  std::vector<std::int64_t> times;
  for (const RankSummary& rank : ranks) {
    for (const DeviceBreakdown& device : rank.devices)
      times.push_back(per_step(device, device.compute_ns));
  }
  std::ranges::sort(times);
  return quantile(times, 0.5);
}

}  // namespace

std::vector<RankSummary> rank_summaries(const RunFacts& run) {
  std::vector<RankSummary> ranks;
  for (std::size_t r = 0; r < run.trace.ranks.size(); ++r) {
    if (!run.scope.has_rank(r)) continue;
    const RunInfo& info = run.trace.ranks[r].run;
    RankSummary& rank = ranks.emplace_back();
    rank.rank = info.rank;
    rank.world_size = info.world_size;
    rank.host = info.host;
    rank.steps = run.scope.step_count(r);
    rank.step_ns = run.scope.step_ns_of_rank(r);
    rank.warmup_steps = run.scope.selection().warmup_steps;
    std::ranges::copy_if(run.devices(), std::back_inserter(rank.devices),
                         [&](const DeviceBreakdown& device) { return device.rank_index == r; });
    for (DeviceBreakdown& device : rank.devices)
      device.exposed_wait_ns = device.exposed_wire_ns = 0;  // told apart with the other ranks only, so not kept
  }
  return ranks;
}

void store_summary(const fs::path& trace_file, const std::atomic<bool>* cancel) {
  if (is_being_written(trace_file) || stored_summary(trace_file, cancel)) return;
  const std::vector<RankSummary> ranks = summarize_file(trace_file, cancel);
  if (ranks.size() != 1) return;  // what the launcher saw is no rank
  Database db = Database::open_writable(trace_file);
  db.exec(kSchemaSql);  // a file of an older version lacks the table
  write_summary(db, ranks.front(), event_tables(db));
}

std::optional<RankSummary> stored_summary(const fs::path& trace_file, const std::atomic<bool>* cancel) {
  Database db = Database::open_untrusted(trace_file, {cancel});
  const std::vector<std::string> columns = all_columns();
  std::vector<const char*> names;
  names.reserve(columns.size());
  for (const std::string& column : columns)
    names.push_back(column.c_str());
  TableReader rows(db, kTable, names, static_cast<int>(names.size()));
  if (!rows.exists() || !rows.missing_column().empty()) return std::nullopt;
  const std::string source = event_tables(db);
  std::optional<RankSummary> rank;
  while (rows.next()) {
    if (rows.integer<int>(0) != kVersion || rows.text(1) != source) return std::nullopt;
    if (!rank) rank = read_rank(rows);
    if (!rows.is_null(8)) rank->devices.push_back(read_device(rows, rank->rank));
  }
  if (!db.damage().empty()) return std::nullopt;
  if (rank && rank->warmup_steps != warmup_of_experiment(trace_file)) return std::nullopt;
  return rank;
}

std::vector<RankSummary> summarize_files(const fs::path& run, const std::atomic<bool>* cancel) {
  const std::vector<fs::path> files = trace_files(run);
  std::vector<std::vector<RankSummary>> of_files(files.size());
  const int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  parallel_for(files.size(), threads, [&](std::size_t i) {
    if (auto stored = stored_summary(files[i], cancel)) {
      of_files[i].push_back(std::move(*stored));
    } else {
      of_files[i] = summarize_file(files[i], cancel);
    }
  });
  std::vector<RankSummary> ranks;
  for (std::vector<RankSummary>& of_file : of_files)
    std::ranges::move(of_file, std::back_inserter(ranks));
  std::ranges::stable_sort(ranks, {}, &RankSummary::rank);
  return ranks;
}

Table rank_summary_table(std::span<const RankSummary> ranks) {
  Table table{"rank_summary",
              "Ranks beside each other, per step",
              {{"rank", "rank", Unit::kCount},
               {"host", "host", Unit::kText},
               {"device", "GPU", Unit::kCount},
               {"steps", "steps", Unit::kCount},
               {"step_ns", "step time", Unit::kDuration},
               {"gpu_busy_percent", "GPU busy", Unit::kPercent},
               {"compute_ns", "compute", Unit::kDuration},
               {"compute_to_median", "to median", Unit::kNumber},
               {"exposed_communication_ns", "comm exposed", Unit::kDuration},
               {"exposed_memory_ns", "copies exposed", Unit::kDuration},
               {"idle_ns", "idle", Unit::kDuration}},
              {}};
  const std::int64_t median = median_compute(ranks);
  for (const RankSummary& rank : ranks) {
    const Cell step = rank.step_ns ? Cell(*rank.step_ns) : Cell();
    const std::vector<Cell> head = {int_cell(rank.rank), rank.host, Cell(), rank.steps, step};
    if (rank.devices.empty() && rank.steps > 0) {  // without steps: a helper process, such as a loader's worker
      table.rows.push_back(head);
      table.rows.back().resize(table.columns.size());
    }
    for (const DeviceBreakdown& d : rank.devices) {
      const std::int64_t compute = per_step(d, d.compute_ns);
      table.rows.push_back(head);
      std::vector<Cell>& row = table.rows.back();
      row[2] = int_cell(d.device);
      row.insert(row.end(),
                 {100 * d.gpu_busy(), compute,
                  median == 0 ? Cell() : Cell(static_cast<double>(compute) / static_cast<double>(median)),
                  per_step(d, d.exposed_communication_ns), per_step(d, d.exposed_memory_ns), per_step(d, d.idle_ns())});
    }
  }
  return table;
}

}  // namespace swinscope

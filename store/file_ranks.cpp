#include "store/file_ranks.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "store/nsys_export.h"
#include "store/table_reader.h"
#include "store/utf8.h"

namespace swinscope {

FileRanks::FileRanks(Database& db, bool own, TraceSink& sink, const FileStrings& strings, ExportProcesses first_device)
    : db_(db), own_(own), strings_(strings) {
  if (first_device.empty()) first_device.emplace(0, 0);
  for (const std::uint64_t pid : in_order_of_ranks(first_device)) {
    auto& rank = ranks_.emplace_back(std::make_unique<RankReader>(sink.add_process(), strings_));
    rank->run.rank = static_cast<std::int32_t>(ranks_.size()) - 1;
    rank->run.global_pid = pid;
    reader_of_.emplace(pid, rank.get());
  }
  state_mpi_ranks();
}

// The processes of an export, by node and first device; one that MPI has numbered stands by its rank.
std::vector<std::uint64_t> FileRanks::in_order_of_ranks(const ExportProcesses& first_device) {
  if (!own_) mpi_ranks_ = mpi_ranks(db_);
  std::vector<std::uint64_t> order;
  order.reserve(first_device.size());
  for (const auto& [pid, device] : first_device)
    order.push_back(pid);
  std::ranges::sort(order, {}, [&](std::uint64_t pid) {
    const auto rank = mpi_ranks_.find(pid);
    return std::tuple(rank == mpi_ranks_.end() ? std::numeric_limits<std::int32_t>::max() : rank->second, node_of(pid),
                      first_device.at(pid), pid);
  });
  return order;
}

// Those without a rank of MPI get numbers that no other has.
void FileRanks::state_mpi_ranks() {
  std::set<std::int32_t> taken;
  for (const auto& rank : ranks_) {
    if (const auto stated = mpi_ranks_.find(rank->run.global_pid); stated != mpi_ranks_.end()) {
      rank->run.rank = stated->second;
      rank->run.collector.push_back({std::string(kRankStatedBy), "MPI_RANKS"});
      taken.insert(stated->second);
    }
  }
  std::int32_t next = 0;
  for (const auto& rank : ranks_) {
    if (taken.empty() || mpi_ranks_.contains(rank->run.global_pid)) continue;
    while (!taken.insert(next).second)
      ++next;
    rank->run.rank = next;
  }
}

RankReader& FileRanks::of(std::uint64_t global_id) {
  if (ranks_.size() == 1) return *ranks_.front();
  const auto found = reader_of_.find(global_pid_of(global_id));
  return found == reader_of_.end() ? *ranks_.front() : *found->second;
}

void FileRanks::take_over(const FileRanks& other) {
  for (std::size_t i = 0; i < ranks_.size(); ++i)
    ranks_[i]->run.graph_level_only |= other.ranks_[i]->run.graph_level_only;
}

void FileRanks::finish(const DroppedRows& dropped) {
  std::int64_t utc_epoch_ns = 0;
  if (TableReader rows(db_, "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, 1); rows.next()) {
    constexpr std::int64_t kMostNs = std::int64_t{1} << 61;  // so that times can be added
    const auto written_ns = rows.integer<std::int64_t>(0);
    if (written_ns > -kMostNs && written_ns < kMostNs) utc_epoch_ns = written_ns;
  }
  for (const auto& rank : ranks_) {
    rank->run.source = own_ ? "swinscope" : "nsys";
    if (!own_) rank->run.source_file = replace_invalid_utf8(db_.path().filename().string());
    rank->run.complete =
        !own_ && !db_.is_cut() && db_.damage().empty();  // a file of ours says so itself, unless it was cut off before
    rank->run.utc_epoch_ns = utc_epoch_ns;
  }
  read_identity();
  read_processes();
  read_threads();
  read_gpus();
  read_windows();
  read_environment();
  read_collector();
  read_drops(dropped);
  for (const auto& rank : ranks_)
    rank->sink().set_run(rank->run);
}

void FileRanks::read_identity() {
  TableReader rows(db_, "SWINSCOPE_RUN",
                   {"source", "sourceFile", "rank", "worldSize", "globalPid", "host", "command", "complete"}, 8);
  if (!own_ || !rows.next()) return;
  RunInfo& run = ranks_.front()->run;
  run.source = rows.text(0);
  run.source_file = rows.text(1);
  run.rank = rows.integer<std::int32_t>(2);
  run.world_size = rows.integer<std::int32_t>(3);
  run.global_pid = rows.integer<std::uint64_t>(4);
  run.host = rows.text(5);
  run.command = rows.text(6);
  run.complete = rows.integer<std::int32_t>(7) != 0;
}

void FileRanks::read_processes() {
  TableReader rows(db_, "PROCESSES", {"globalPid", "name"}, 2);
  while (rows.next()) {
    const auto pid = rows.integer<std::uint64_t>(0);
    // An export lists every process of the machine; keep those that were recorded.
    if (own_ || reader_of_.count(pid) != 0) of(pid).run.processes.push_back({pid, rows.text(1)});
  }
}

void FileRanks::read_threads() {
  TableReader rows(db_, "ThreadNames", {"nameId", "globalTid"}, 2);
  while (rows.next()) {
    const auto tid = rows.integer<std::uint64_t>(1);
    if (!own_ && reader_of_.count(global_pid_of(tid)) == 0) continue;
    const auto text = strings_.find(rows.integer<std::int64_t>(0));
    if (text != strings_.end()) of(tid).run.threads.push_back({tid, text->second});
  }
}

void FileRanks::read_gpus() {
  std::vector<std::uint64_t> processes;
  for (const auto& rank : ranks_)
    processes.push_back(rank->run.global_pid);
  for (auto& [process, gpus] : gpus_of(db_, processes))
    of(process).run.gpus = std::move(gpus);
}

void FileRanks::read_windows() {
  TableReader rows(db_, "SWINSCOPE_WINDOW", {"start", "end"}, 2);
  while (rows.next())
    ranks_.front()->run.windows.push_back({rows.integer<std::int64_t>(0), rows.integer<std::int64_t>(1)});
}

void FileRanks::read_environment() {
  TableReader own(db_, "SWINSCOPE_ENVIRONMENT", {"name", "value"}, 2);
  while (own.next())
    ranks_.front()->run.environment.push_back({own.text(0), own.text(1)});
  if (own_) return;  // TARGET_INFO_SYSTEM_ENV says the same again, in the words of Nsight Systems
  TableReader rows(db_, "TARGET_INFO_SYSTEM_ENV", {"name", "value", "globalVid"}, 2);
  while (rows.next()) {
    const std::uint64_t node = node_of(rows.integer<std::uint64_t>(2));
    const auto of_node =
        std::ranges::find_if(ranks_, [&](const auto& rank) { return node_of(rank->run.global_pid) == node; });
    RunInfo& run = of_node == ranks_.end() ? ranks_.front()->run : (*of_node)->run;
    run.environment.push_back({rows.text(0), rows.text(1)});
  }
  state_nodes_and_launcher();
}

// What an export says of the machines, and of the launcher where it recorded one process of many.
void FileRanks::state_nodes_and_launcher() {
  const std::map<std::uint64_t, std::string> hosts = host_names(db_);
  const std::uint64_t first = node_of(ranks_.front()->run.global_pid);
  const bool several =
      std::ranges::any_of(ranks_, [&](const auto& rank) { return node_of(rank->run.global_pid) != first; });
  for (const auto& rank : ranks_) {
    const std::uint64_t node = node_of(rank->run.global_pid);
    const auto host = hosts.find(node);
    if (host != hosts.end() && (several || hosts.size() == 1)) {
      rank->run.host = host->second;
    } else if (several) {
      rank->run.host = fmt::format("node {}", node);
    }
  }
  RunInfo& run = ranks_.front()->run;
  const auto launched = launcher_rank(run.environment);
  if (ranks_.size() > 1 || !launched) return;
  run.world_size = launched->world_size;
  if (!mpi_ranks_.empty()) return;
  run.rank = launched->rank;
  run.collector.push_back({std::string(kRankStatedBy), launched->variable});
}

void FileRanks::read_collector() {
  TableReader rows(db_, "SWINSCOPE_COLLECTOR", {"name", "value"}, 2);
  while (rows.next())
    ranks_.front()->run.collector.push_back({rows.text(0), rows.text(1)});
  if (own_) return;
  for (NamedValue& fact : diagnostics(db_))
    ranks_.front()->run.collector.push_back(std::move(fact));
}

void FileRanks::read_drops(const DroppedRows& dropped) {
  std::vector<DropInfo>& drops = ranks_.front()->run.drops;
  TableReader rows(db_, "SWINSCOPE_DROPS", {"what", "count", "reason"}, 3);
  while (rows.next()) {
    drops.push_back({rows.text(0), rows.integer<std::int64_t>(1), rows.text(2)});
  }
  for (const auto& [what_and_reason, count] : dropped)
    drops.push_back({what_and_reason.first, count, what_and_reason.second});
  if (own_) return;
  for (const auto& [name, count] : unread_tables(db_))
    drops.push_back({fmt::format("{} row", name), count, "this table is not read"});
}

}  // namespace swinscope

#include <algorithm>
#include <tuple>

#include "analyzer/analyses/layers.h"
#include "analyzer/table/cells.h"

namespace swinscope {

std::vector<ThreadCpuRow> thread_cpu_table(const Trace& trace) {
  std::vector<ThreadCpuRow> rows;
  for (const Rank& rank : trace.ranks) {
    const std::size_t first = rows.size();
    for (const ThreadCpuRecord& sample : rank.thread_cpu) {  // by thread, time: the last one of a thread stays
      if (rows.size() == first || rows.back().global_tid != sample.global_tid) {
        ThreadCpuRow row{rank.run.rank, sample.global_tid, tid_of(sample.global_tid) == 0 ? "(process)" : "", 0};
        for (const ThreadInfo& thread : rank.run.threads) {
          if (thread.global_tid == sample.global_tid) row.name = thread.name;
        }
        rows.push_back(std::move(row));
      }
      rows.back().cpu_ns = sample.cpu_ns;
    }
    std::sort(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
              [](const ThreadCpuRow& a, const ThreadCpuRow& b) {
                return std::tuple(tid_of(a.global_tid) != 0, -a.cpu_ns) <
                       std::tuple(tid_of(b.global_tid) != 0, -b.cpu_ns);
              });
  }
  return rows;
}

Table thread_cpu_rows_table(const std::vector<ThreadCpuRow>& rows) {
  Table table{"threads",
              "CPU time by thread",
              {{"rank", "rank", Unit::kCount},
               {"tid", "thread", Unit::kValue},
               {"name", "name"},
               {"cpu_ns", "CPU time", Unit::kDuration}},
              {}};
  for (const ThreadCpuRow& r : rows) {
    table.rows.push_back({int_cell(r.rank), int_cell(tid_of(r.global_tid)), r.name, r.cpu_ns});
  }
  return table;
}

}  // namespace swinscope

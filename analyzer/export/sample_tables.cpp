// The tables of an export about what was sampled: GPU metrics, CPU time, processes.
#include <algorithm>

#include "analyzer/export/event_tables.h"
#include "analyzer/export/table_columns.h"

namespace swinscope {
namespace {

using enum ExportType;

struct CounterRow {
  const RunInfo& run;
  std::int64_t offset_ns;
  const CounterSeries& series;
  std::size_t i;
};

const std::vector<DeclaredColumn<CounterRow>>& counter_columns() {
  static const std::vector<DeclaredColumn<CounterRow>> columns = {
      {{"rank", kInt32, kMayMiss, "Rank of the process; none for what the recorder of a host sampled"},
       [](const CounterRow& r) { return number_unless(r.run.rank, kNoRank); }},
      {{"host", kText, kMayMiss, "Host name"}, [](const CounterRow& r) { return text_or_none(r.run.host); }},
      {{"name", kText, false, "Name of the counter"}, [](const CounterRow& r) { return ExportValue(r.series.name); }},
      {{"unit", kText, kMayMiss, "Unit of the value"}, [](const CounterRow& r) { return text_or_none(r.series.unit); }},
      {{"start_ns", kInt64, false, "Start of the period, on the clock of all ranks"},
       [](const CounterRow& r) { return number(r.series.edges_ns[r.i] + r.offset_ns); }},
      {{"end_ns", kInt64, false, "End of the period"},
       [](const CounterRow& r) { return number(r.series.edges_ns[r.i + 1] + r.offset_ns); }},
      {{"value", kDouble, false, "Value in the period"},
       [](const CounterRow& r) { return ExportValue(r.series.values[r.i]); }}};
  return columns;
}

void fill_counters(const ExportSource& source, TableFile& file) {
  const Trace& trace = source.trace();
  for (const SourceCounters& counters : source.counters()) {
    const std::size_t index = counters.index;
    if (counters.is_launcher ? !source.has_launchers() : !source.scope().has_rank(index)) continue;
    const RunInfo& run = counters.is_launcher ? trace.launchers[index].run : trace.ranks[index].run;
    const std::int64_t offset_ns =
        counters.is_launcher ? source.clock().launcher_offset_ns[index] : source.clock().rank_offset_ns[index];
    for (const CounterSeries& series : counters.series) {
      for (std::size_t i = 0; i < series.values.size(); ++i) {
        if (counters.is_launcher || source.has_period(index, series.edges_ns[i], series.edges_ns[i + 1])) {
          write_row(file, counter_columns(), CounterRow{run, offset_ns, series, i});
        }
      }
    }
  }
}

struct ThreadCpuRow {
  const RunInfo& run;
  std::int64_t offset_ns;
  const ThreadCpuRecord& record;
  std::string_view name;
};

const std::vector<DeclaredColumn<ThreadCpuRow>>& thread_cpu_columns() {
  static const std::vector<DeclaredColumn<ThreadCpuRow>> columns = {
      {{"rank", kInt32, false, "Rank of the process in its job"},
       [](const ThreadCpuRow& r) { return number(r.run.rank); }},
      {{"process_id", kInt64, false, "Process"},
       [](const ThreadCpuRow& r) { return number(pid_of(r.record.global_tid)); }},
      {{"thread_id", kInt64, false, "Thread; 0 stands for the whole process"},
       [](const ThreadCpuRow& r) { return number(tid_of(r.record.global_tid)); }},
      {{"thread_name", kText, kMayMiss, "Name of the thread"},
       [](const ThreadCpuRow& r) { return text_or_none(r.name); }},
      {{"time_ns", kInt64, false, "Time of the sample, on the clock of all ranks"},
       [](const ThreadCpuRow& r) { return number(r.record.timestamp_ns + r.offset_ns); }},
      {{"cpu_ns", kInt64, false, "User and system CPU time since the thread began"},
       [](const ThreadCpuRow& r) { return number(r.record.cpu_ns); }}};
  return columns;
}

void fill_thread_cpu(const ExportSource& source, TableFile& file) {
  for (std::size_t r = 0; r < source.trace().ranks.size(); ++r) {
    const Rank& rank = source.trace().ranks[r];
    for (const ThreadCpuRecord& record : rank.thread_cpu) {
      if (!source.has_period(r, record.timestamp_ns, record.timestamp_ns + 1)) continue;
      const auto named = std::ranges::find(rank.run.threads, record.global_tid, &ThreadInfo::global_tid);
      const std::string_view name = named == rank.run.threads.end() ? std::string_view() : named->name;
      write_row(file, thread_cpu_columns(), ThreadCpuRow{rank.run, source.clock().rank_offset_ns[r], record, name});
    }
  }
}

struct ProcessRow {
  const Trace& trace;
  const RunInfo& run;
  std::int64_t offset_ns;
  const ProcessRecord& record;
};

const std::vector<DeclaredColumn<ProcessRow>>& process_columns() {
  static const std::vector<DeclaredColumn<ProcessRow>> columns = {
      {{"host", kText, kMayMiss, "Host name"}, [](const ProcessRow& r) { return text_or_none(r.run.host); }},
      {{"process_id", kInt64, false, "Process"},
       [](const ProcessRow& r) { return number(pid_of(r.record.global_pid)); }},
      {{"parent_process_id", kInt64, kMayMiss, "The process that started it; none for the command itself"},
       [](const ProcessRow& r) {
         return r.record.parent_global_pid == 0 ? ExportValue() : number(pid_of(r.record.parent_global_pid));
       }},
      {{"rank", kInt32, kMayMiss, "Rank that it belongs to, its own or that of the process above it"},
       [](const ProcessRow& r) { return number_unless(r.record.rank, kNoRank); }},
      {{"name", kText, false, "Short name"},
       [](const ProcessRow& r) { return ExportValue(r.trace.text(r.record.name)); }},
      {{"command", kText, false, "Command line"},
       [](const ProcessRow& r) { return ExportValue(r.trace.text(r.record.command)); }},
      {{"start_ns", kInt64, false, "Start, on the clock of all ranks"},
       [](const ProcessRow& r) { return number(r.record.start_ns + r.offset_ns); }},
      {{"end_ns", kInt64, kMayMiss, "End; none while it ran when the recording ended"},
       [](const ProcessRow& r) {
         return r.record.end_ns == kOpenEnd ? ExportValue() : number(r.record.end_ns + r.offset_ns);
       }},
      {{"cpu_ns", kInt64, false, "User and system CPU time without its children"},
       [](const ProcessRow& r) { return number(r.record.cpu_ns); }},
      {{"unseen_cpu_ns", kInt64, false, "CPU time of children that no sample saw"},
       [](const ProcessRow& r) { return number(r.record.unseen_cpu_ns); }},
      {{"max_rss_bytes", kInt64, false, "Largest resident memory seen"},
       [](const ProcessRow& r) { return number(r.record.max_rss_bytes); }}};
  return columns;
}

void fill_processes(const ExportSource& source, TableFile& file) {
  if (!source.has_launchers()) return;
  for (std::size_t l = 0; l < source.trace().launchers.size(); ++l) {
    const Launcher& launcher = source.trace().launchers[l];
    for (const ProcessRecord& record : launcher.processes)
      write_row(file, process_columns(),
                ProcessRow{source.trace(), launcher.run, source.clock().launcher_offset_ns[l], record});
  }
}

}  // namespace

std::vector<ExportTable> sample_tables() {
  return {{"counters", "What was sampled: clocks, power, utilization, CPU time, as a value for each period.",
           columns_of(counter_columns()), fill_counters},
          {"thread_cpu", "CPU time of the threads of recorded processes.", columns_of(thread_cpu_columns()),
           fill_thread_cpu},
          {"processes", "Processes below `swinscope record`, recorded themselves or not.",
           columns_of(process_columns()), fill_processes}};
}

}  // namespace swinscope
